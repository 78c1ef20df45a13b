// What a node sees of a file that other nodes write, where the file system does not keep their views the
// same.
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// Storage through which one rank sees what ranks of other nodes have written, if all of them show() it,
/// then meet, then look_anew(): "sync, barrier, sync", as MPI-IO has it. MPI-IO's own sync writes out what
/// the node holds back, but the node goes on to read its old pages and the old size.
class NodeView final : public Storage {
 public:
  /// `descriptor`: of the file, by which `below` writes it or not; it stays the caller's. -1: there is none,
  /// and nothing can be done.
  NodeView(std::unique_ptr<Storage> below, int descriptor, std::string path);

  Status write(std::span<const Piece> pieces) override;
  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override;

  /// What this has written since it last did so goes to the server.
  Status show();
  /// The next read, or renew(), asks the server.
  void look_anew() { old_ = true; }
  /// Before the size is asked.
  void renew();

 private:
  std::unique_ptr<Storage> below_;
  int descriptor_;
  std::string path_;
  bool written_ = false;
  bool old_ = true;  // the node may have seen it before
};

}  // namespace forebay
