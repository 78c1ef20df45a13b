// Building, merging and walking the loops of a regular selection.
#include "request/strided.hpp"

#include <algorithm>
#include <cassert>

namespace forebay {
namespace {

// Gives every loop its stream stride, drops those that run once, and joins those that continue each other.
// Returns false when nothing is selected.
// `compact` is cleared where the stream has gaps, or another order than the loops.
bool normalise(std::int64_t& piece, std::span<const StridedDim> dims, std::vector<StridedDim>& loops,
               bool& compact) {
  if (piece <= 0) return false;
  loops.clear();
  std::int64_t inner = piece;  // bytes of the stream below the loop at hand, were it compact
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    if (dim->count <= 0) return false;
    StridedDim loop = *dim;
    if (loop.stream_stride == kCompactStream) loop.stream_stride = inner;
    compact = compact && (loop.count == 1 || loop.stream_stride == inner);
    inner *= loop.count;
    if (loop.count == 1) continue;
    if (loops.empty() && loop.file_stride == piece && loop.stream_stride == piece) {
      piece *= loop.count;
      continue;
    }
    if (!loops.empty()) {
      StridedDim& below = loops.back();
      if (loop.file_stride == below.file_stride * below.count &&
          loop.stream_stride == below.stream_stride * below.count) {
        below.count *= loop.count;
        continue;
      }
    }
    loops.push_back(loop);
  }
  std::reverse(loops.begin(), loops.end());
  return true;
}

}  // namespace

bool StridedCursor::is_ascending(std::int64_t piece_bytes, std::span<const StridedDim> dims) {
  std::int64_t span = piece_bytes;  // of the file, from the first to the last byte of one repetition
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    if (dim->count <= 1) continue;
    if (dim->file_stride < span) return false;
    span += (dim->count - 1) * dim->file_stride;
  }
  return true;
}

StridedCursor::StridedCursor(std::int64_t base_file, std::int64_t base_stream, std::int64_t piece_bytes,
                             std::span<const StridedDim> dims)
    : base_file_(base_file), base_stream_(base_stream) {
  std::vector<StridedDim> loops;
  hull_ = {base_file, base_file};
  compact_ = base_stream == 0;
  if (!normalise(piece_bytes, dims, loops, compact_)) return;
  assert(is_ascending(piece_bytes, loops));
  piece_ = piece_bytes;
  if (loops.empty()) loops.push_back({piece_, 1, piece_});

  const StridedDim row = loops.back();
  row_count_ = row.count;
  row_file_stride_ = row.file_stride;
  row_stream_stride_ = row.stream_stride;
  std::int64_t file_covered = row.count * row.file_stride;  // what stepping through the inner loops has added
  std::int64_t stream_covered = row.count * row.stream_stride;
  std::int64_t bits = base_file | piece_ | (row.count > 1 ? row.file_stride : 0);
  std::int64_t end = base_file + piece_ + (row.count - 1) * row.file_stride;
  bytes_ = piece_ * row.count;
  outer_.reserve(loops.size() - 1);
  for (auto loop = loops.rbegin() + 1; loop != loops.rend(); ++loop) {
    outer_.push_back(
        {loop->count, 0, loop->file_stride - file_covered, loop->stream_stride - stream_covered});
    file_covered += (loop->count - 1) * loop->file_stride;
    stream_covered += (loop->count - 1) * loop->stream_stride;
    bits |= loop->file_stride;
    end += (loop->count - 1) * loop->file_stride;
    bytes_ *= loop->count;
  }
  hull_.end = end;
  bits |= 4096;
  alignment_ = bits & -bits;
  start(1);
}

StridedCursor StridedCursor::subarray(std::int64_t base, std::int64_t element_bytes,
                                      std::span<const std::int64_t> shape,
                                      std::span<const std::int64_t> start,
                                      std::span<const std::int64_t> count,
                                      std::span<const std::int64_t> stride,
                                      std::int64_t record_stride_bytes) {
  assert(start.size() == shape.size() && count.size() == shape.size() &&
         (stride.empty() || stride.size() == shape.size()));
  std::vector<StridedDim> dims(shape.size());
  std::int64_t pitch = element_bytes;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (d == 0 && record_stride_bytes > 0) pitch = record_stride_bytes;
    dims[d] = {pitch * (stride.empty() ? 1 : stride[d]), count[d]};
    base += start[d] * pitch;
    pitch *= shape[d];
  }
  return StridedCursor(base, 0, element_bytes, dims);
}

void StridedCursor::start(std::int64_t /*round_bytes*/) {
  for (Outer& loop : outer_) loop.index = 0;
  file_ = hull_.empty() ? kNoOffset : base_file_;
  stream_ = base_stream_;
  cut_ = 0;
  left_ = row_count_;
}

void StridedCursor::next_row() {
  for (Outer& loop : outer_) {
    if (++loop.index < loop.count) {
      file_ += loop.file_step;
      stream_ += loop.stream_step;
      left_ = row_count_;
      return;
    }
    loop.index = 0;
  }
  file_ = kNoOffset;
}

std::size_t StridedCursor::take(std::int64_t limit, std::span<Run> out) {
  Run* to = out.data();
  Run* const to_end = to + out.size();
  const std::int64_t piece = piece_;
  const std::int64_t file_stride = row_file_stride_;
  const std::int64_t stream_stride = row_stream_stride_;

  if (cut_ > 0 && to != to_end && file_ + cut_ < limit) {  // finish the piece that an earlier limit cut
    const std::int64_t length = std::min(piece, limit - file_) - cut_;
    *to++ = {file_ + cut_, stream_ + cut_, length};
    cut_ += length;
    if (cut_ < piece) return 1;
    cut_ = 0;
    file_ += file_stride;
    stream_ += stream_stride;
    if (--left_ == 0) next_row();
  }
  if (cut_ > 0) return 0;

  while (to != to_end && file_ < limit) {
    std::int64_t whole = std::min<std::int64_t>(left_, to_end - to);
    if (file_ + (whole - 1) * file_stride + piece > limit) {
      whole = limit - file_ < piece ? 0 : (limit - file_ - piece) / file_stride + 1;
    }
    std::int64_t file = file_;
    std::int64_t stream = stream_;
    for (Run* const stop = to + whole; to != stop; ++to) {
      *to = {file, stream, piece};
      file += file_stride;
      stream += stream_stride;
    }
    file_ = file;
    stream_ = stream;
    left_ -= whole;
    if (left_ == 0) {
      next_row();
    } else if (to != to_end && file_ < limit) {  // the limit cuts the next piece
      cut_ = limit - file_;
      *to++ = {file_, stream_, cut_};
      break;
    }
  }
  return static_cast<std::size_t>(to - out.data());
}

}  // namespace forebay
