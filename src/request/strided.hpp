// The cursor of a regular n-dimensional selection: arithmetic only, a few words per dimension, however many
// pieces it has.
#pragma once

#include <limits>
#include <vector>

#include "request/cursor.hpp"

namespace forebay {

/// "Whatever makes the stream compact": the bytes that all inner dimensions cover together.
inline constexpr std::int64_t kCompactStream = std::numeric_limits<std::int64_t>::min();

/// One loop of a selection: `count` repetitions, this many bytes apart in the file and in the stream.
struct StridedDim {
  std::int64_t file_stride = 0;
  std::int64_t count = 0;
  std::int64_t stream_stride = kCompactStream;
};

class StridedCursor final : public Cursor {
 public:
  /// Nested loops, slowest first, around contiguous pieces of `piece_bytes`. The file offsets must ascend
  /// without overlap (is_ascending); everything else is a piece list's work. Neighbouring loops that continue
  /// each other are merged.
  StridedCursor(std::int64_t base_file, std::int64_t base_stream, std::int64_t piece_bytes,
                std::span<const StridedDim> dims);

  static bool is_ascending(std::int64_t piece_bytes, std::span<const StridedDim> dims);

  /// Every stride-th element of each dimension of a row-major array of `shape` at file offset `base`.
  /// `stride` may be empty (all 1). With record_stride_bytes > 0 dimension 0 is the record dimension of a
  /// netCDF file: its elements lie that many bytes apart and shape[0] is not looked at. No dimension at all
  /// means one element.
  static StridedCursor subarray(std::int64_t base, std::int64_t element_bytes,
                                std::span<const std::int64_t> shape, std::span<const std::int64_t> start,
                                std::span<const std::int64_t> count,
                                std::span<const std::int64_t> stride = {},
                                std::int64_t record_stride_bytes = 0);

  Extent hull() const override { return hull_; }
  std::int64_t alignment() const override { return alignment_; }
  std::int64_t bytes() const override { return bytes_; }
  void start(std::int64_t round_bytes) override;
  std::int64_t peek() override { return file_ == kNoOffset ? kNoOffset : file_ + cut_; }
  std::size_t take(std::int64_t limit, std::span<Run> out) override;

  std::int64_t stream_bytes() const override { return compact_ ? bytes_ : -1; }
  std::unique_ptr<Cursor> copy() const override { return std::make_unique<StridedCursor>(*this); }

 private:
  struct Outer {
    std::int64_t count;
    std::int64_t index;
    std::int64_t file_step;  // from one row's end to the first row of the next repetition of this loop
    std::int64_t stream_step;
  };

  void next_row();

  // The selection, after merging: rows of row_count_ pieces within the outer loops, slowest first.
  std::int64_t base_file_ = 0;
  std::int64_t base_stream_ = 0;
  std::int64_t piece_ = 0;
  std::int64_t row_count_ = 0;
  std::int64_t row_file_stride_ = 0;
  std::int64_t row_stream_stride_ = 0;
  std::vector<Outer> outer_;
  std::int64_t bytes_ = 0;
  std::int64_t alignment_ = 1;
  bool compact_ = true;  // the stream begins at 0 and has no gaps
  Extent hull_;

  // The position: the piece at file_ (kNoOffset: none), of which cut_ bytes were taken; left_ pieces of its
  // row from it on.
  std::int64_t file_ = kNoOffset;
  std::int64_t stream_ = 0;
  std::int64_t cut_ = 0;
  std::int64_t left_ = 0;
};

}  // namespace forebay
