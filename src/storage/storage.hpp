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

/// By pwrite and pread on a descriptor that stays the caller's. For file systems that are coherent between
/// writers.
std::unique_ptr<Storage> make_posix_storage(int descriptor, std::string path);

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
