// What a rank has to write of all that its node keeps, as a request of a collective flush.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "request/cursor.hpp"
#include "request/stream.hpp"
#include "segments/node_segments.hpp"

namespace forebay {

/// In the order of the file. Its segments are locked while it lives. All ranks make theirs at the same time,
/// when nobody puts anything.
class NodeSegments::Share final : public Cursor, public Source {
 public:
  /// Throws std::bad_alloc.
  explicit Share(NodeSegments& of);
  ~Share() override;
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// It is in the file.
  void forget();

  /// Calls f(the range of the file, its marks, a bit a byte) for each segment.
  template <class F>
  void for_each(F&& f) const {
    for (const int segment : segments_) f(of_.area_.range_of(segment), of_.area_.words(segment));
  }

  Extent hull() const override { return hull_; }
  std::int64_t alignment() const override { return alignment_; }
  std::int64_t bytes() const override { return dirty_; }
  void start(std::int64_t round_bytes) override;
  std::int64_t peek() override;
  std::size_t take(std::int64_t limit, std::span<Run> out) override;
  void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) override;
  /// The stream is the segments' memory.
  const std::byte* direct() const override { return of_.area_.slots; }

 private:
  void look();

  NodeSegments& of_;
  std::vector<int> segments_;
  Extent hull_;
  std::int64_t alignment_ = 4096;
  std::int64_t dirty_ = 0;
  std::size_t at_ = 0;  // in segments_
  Extent next_;         // the run to take next, as bytes of that segment
};

}  // namespace forebay
