// What one rank has in memory for a pattern, and what a file must hold afterwards: each four bytes tell where
// they belong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "file.hpp"
#include "pattern.hpp"
#include "request/request.hpp"

namespace forebay::simulate {

/// Bytes of a rank that lie together in the file.
struct Item {
  std::int64_t offset;
  std::int64_t length;
  const std::byte* data;
};

class Load {
 public:
  /// Its memory is filled for writing, or zero for reading.
  Load(const Pattern& pattern, int rank, bool filled);

  std::size_t requests() const { return cursors_.size(); }
  Cursor& cursor(std::size_t request) { return *cursors_[request]; }
  std::byte* memory(std::size_t request) { return memory_.data() + begins_[request]; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(memory_.size()); }
  std::int64_t pieces() const { return pieces_; }
  /// All of it, by place in the file.
  std::vector<Item> items();
  /// The offset of the first byte that is not what it should be; -1: none.
  std::int64_t first_wrong();

 private:
  std::vector<std::unique_ptr<Cursor>> cursors_;
  std::vector<std::size_t> begins_;
  std::vector<std::byte> memory_;
  std::int64_t pieces_ = 0;
};

/// Where a file is not what the ranks have put: bytes of theirs, and those that none of them puts, which are
/// zero.
struct Wrong {
  std::int64_t bytes = 0;
  std::int64_t first = -1;  ///< offset
  int rank = -1;            ///< whose; -1: nobody's
};
Wrong compare(const File& file, const Pattern& pattern, int ranks);

}  // namespace forebay::simulate
