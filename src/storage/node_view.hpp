// What a node sees of a file that other nodes write, where the file system does not keep their views the
// same.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "storage/file_system.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// Storage through which one rank sees what ranks of other nodes have written, if all of them show() it,
/// then meet, then look_anew(): "sync, barrier, sync", as MPI-IO has it. MPI-IO's own sync writes out what
/// the node holds back, but the node goes on to read its old pages and the old size.
///
/// One thread at a time uses the file, and only that one reads through this. Another may write what is kept
/// of it, where it opens the same file once more.
class NodeView final : public Storage {
 public:
  /// `descriptor`: of the file, by which `below` writes it or not; it stays the caller's. -1: there is none,
  /// and nothing can be done.
  NodeView(std::unique_ptr<Storage> below, int descriptor, std::string path, Renewal renewal);

  Status write(std::span<const Piece> pieces) override;
  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override;

  /// What this has written since it last did so goes to the server, and what was noted.
  Status show();
  /// This process has written, or may have, through other descriptors of the file: a library's, a program's.
  /// `from_now_on`: whenever it likes.
  void note_direct_writes(bool from_now_on) {
    elsewhere_ = true;
    if (from_now_on) given_away_ = true;
  }
  /// Whether each write that comes is shown before it returns.
  void show_at_once(bool wanted) { at_once_ = wanted; }
  bool shows_at_once() const { return at_once_; }
  /// The next read, or renew(), asks the server.
  void look_anew() { old_ = true; }
  /// Before the size is asked.
  void renew();

 private:
  std::unique_ptr<Storage> below_;
  int descriptor_;
  std::string path_;
  Renewal renewal_;
  std::atomic<bool> written_{false}, elsewhere_{false}, given_away_{false};
  std::atomic<bool> old_{true};  // the node may have seen it before
  std::atomic<bool> at_once_{false};
};

}  // namespace forebay
