// Reads that were asked for and not made yet: the lazy half of TCIO.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "engine/core_file.hpp"
#include "request/run.hpp"

namespace forebay::tcio {

/// Addresses, within one segment of the file, until they are filled together.
class PendingReads {
 public:
  explicit PendingReads(std::int64_t unit) : unit_(unit), most_(most_of(unit)) {}

  bool empty() const { return runs_.empty(); }
  /// A range that holds all that is read.
  Extent hull() const { return empty() ? Extent{} : hull_; }
  /// The segment in which reads may be added; of no meaning where nothing is pending.
  Extent segment() const { return {begin_, begin_ + unit_}; }
  bool room() const { return runs_.size() < most_; }

  /// Where nothing is pending: the segment of `offset` is the one.
  void align(std::int64_t offset) { begin_ = offset / unit_ * unit_; }
  /// Notes a read within the segment. Throws std::bad_alloc.
  void add(std::int64_t offset, void* to, std::int64_t length);

  /// Makes all of them and forgets them, also where that fails. `together`: collective.
  Status fill(CoreFile& core, bool together);

 private:
  static std::size_t most_of(std::int64_t unit);
  std::vector<std::vector<Run>> layers();

  std::int64_t unit_;
  std::size_t most_;
  std::int64_t begin_ = 0;
  std::vector<Run> runs_;  // the stream is this process's memory
  Extent hull_;
  bool ascending_ = true;
};

}  // namespace forebay::tcio
