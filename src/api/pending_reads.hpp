// Reads that were asked for and not made yet: the lazy half of TCIO.
#pragma once

#include <algorithm>
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
  explicit PendingReads(std::int64_t unit) : unit_(unit) {}

  bool empty() const { return runs_.empty(); }
  const std::vector<Run>& runs() const { return runs_; }
  /// A range that holds all that is read.
  Extent hull() const { return empty() ? Extent{} : hull_; }
  /// The segment in which reads may be added; of no meaning where nothing is pending.
  Extent segment() const { return {begin_, begin_ + unit_}; }
  /// Whether another one may be added. Reads that go on through the file are not worth waiting for: their
  /// list would leave the cache.
  bool room() const {
    return runs_.size() < most_ && !(runs_.size() >= kEnough && ascending_ && hull_.size() >= kLongEnough);
  }

  /// Where nothing is pending: the segment of `offset` is the one. Throws std::bad_alloc.
  void align(std::int64_t offset);
  /// Notes a read of at least one byte within the segment. There must be room.
  void add(std::int64_t offset, void* to, std::int64_t length) {
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to));
    if (!runs_.empty()) {
      Run& last = runs_.back();
      if (last.file + last.length == offset && last.stream + last.length == address) {
        last.length += length;
        hull_.end = std::max(hull_.end, offset + length);
        return;
      }
      if (offset < hull_.end) ascending_ = false;
      hull_ = {std::min(hull_.begin, offset), std::max(hull_.end, offset + length)};
    } else {
      hull_ = {offset, offset + length};
      ascending_ = true;
    }
    runs_.push_back({offset, address, length});
  }

  /// Makes all of them and forgets them, also where that fails. `together`: collective.
  Status fill(CoreFile& core, bool together);

 private:
  static constexpr std::size_t kEnough = 1024;
  static constexpr std::int64_t kLongEnough = 64 << 10;
  static constexpr std::int64_t kBytesPerRead = 32;  // of the file, for each of the most that are noted
  static constexpr std::int64_t kLeast = 64;

  std::vector<std::vector<Run>> layers();

  std::int64_t unit_;
  std::size_t most_ = static_cast<std::size_t>(std::max(unit_ / kBytesPerRead, kLeast));
  std::int64_t begin_ = 0;
  std::vector<Run> runs_;  // the stream is this process's memory
  Extent hull_;
  bool ascending_ = true;
};

}  // namespace forebay::tcio
