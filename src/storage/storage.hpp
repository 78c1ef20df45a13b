// The file at the end of the flow: what every kind of storage can do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.hpp"

namespace forebay {

/// `length` bytes of memory that belong at file offset `offset`.
struct Piece {
  std::int64_t offset;
  const std::byte* data;
  std::int64_t length;
};

/// Independent operations of one rank on one open file. Messages name path, range and cause.
class Storage {
 public:
  virtual ~Storage() = default;

  /// Writes all pieces, in order; stops at the first failure. Any length, also past 2 GiB.
  virtual Status write(std::span<const Piece> pieces) = 0;

  /// Reads `length` bytes; bytes past the end of the file are zero.
  virtual Status read(std::int64_t offset, std::byte* data, std::int64_t length) = 0;
};

/// POSIX descriptor, opened here and closed with it. For file systems that are coherent between writers.
Status open_posix_storage(const std::string& path, bool writable, std::unique_ptr<Storage>& out);

/// Whether statfs says that `path` lies on a file system known to be coherent between writers (ext, xfs,
/// btrfs, tmpfs, Lustre, GPFS, …; not NFS). `kind` gets a name for messages.
bool coherent_file_system(const std::string& path, std::string& kind);

/// Whether it lies on a file system that only this machine writes, so that its page cache is the file.
bool local_file_system(const std::string& path);

/// The unit in which the file system of `path` likes to be written (st_blksize: the wsize of NFS, the block
/// of GPFS, a multiple of Lustre's stripe), or 0 where it names none or only its page or block.
std::int64_t preferred_unit(const std::string& path);

/// Fails on purpose: every write after `bytes` bytes were written ends with an injected error.
std::unique_ptr<Storage> make_failing_storage(std::unique_ptr<Storage> below, std::string path,
                                              std::int64_t bytes);

/// Waits a random time up to `usec` before every write: for finding orders that only hold by luck.
std::unique_ptr<Storage> make_delayed_storage(std::unique_ptr<Storage> below, std::int64_t usec,
                                              unsigned seed);

/// "cannot write bytes [a, b) of FILE": the beginning of every message about a range.
std::string range_message(const char* verb, const std::string& path, std::int64_t offset,
                          std::int64_t length);

}  // namespace forebay
