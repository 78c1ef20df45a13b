// Choosing a cursor for a pair of selections, and the ones that walk.
#include "pair_cursor.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "request/strided.hpp"

namespace forebay::hdf5 {
namespace {

constexpr std::int64_t kMostAlignment = 4096;

std::int64_t low_bit(std::int64_t value) {
  value |= kMostAlignment;
  return value & -value;
}

Extent hull_of(const Pair& pair, const Shape& file) {
  return {pair.file + file.begin() * pair.element, pair.file + file.end() * pair.element};
}

/// The loops of a selection that is a box or regular: repetitions of a row-major walk, slowest first.
struct Loops {
  struct Loop {
    std::int64_t count;
    std::int64_t stride;  ///< in elements
  };
  std::vector<Loop> loops;
  std::int64_t first = 0;  ///< linear index of the first element
  bool known = false;

  /// One loop that walks as many elements one by one.
  void add(std::int64_t count, std::int64_t stride) {
    if (count > 1) loops.push_back({count, stride});
  }
};

Loops loops_of(hid_t space, const Shape& shape) {
  Loops out;
  out.first = shape.begin();
  if (shape.kind == Shape::Kind::box) {
    for (int d = 0; d < shape.rank; ++d) out.add(shape.size[d], shape.pitch[d]);
    out.known = true;
    return out;
  }
  if (shape.kind != Shape::Kind::hyperslab || H5Sis_regular_hyperslab(space) <= 0) return out;
  std::array<hsize_t, H5S_MAX_RANK> start;
  std::array<hsize_t, H5S_MAX_RANK> stride;
  std::array<hsize_t, H5S_MAX_RANK> count;
  std::array<hsize_t, H5S_MAX_RANK> block;
  if (H5Sget_regular_hyperslab(space, start.data(), stride.data(), count.data(), block.data()) < 0)
    return out;
  // `start` is without the offset that H5Soffset_simple may have set; the bounding box is with it.
  for (int d = 0; d < shape.rank; ++d) {
    out.add(static_cast<std::int64_t>(count[d]), static_cast<std::int64_t>(stride[d]) * shape.pitch[d]);
    out.add(static_cast<std::int64_t>(block[d]), shape.pitch[d]);
  }
  out.known = true;
  return out;
}

/// Loops over bytes of file and stream at once; false where the two sides do not run in step.
bool combine(const Pair& pair, const Shape& file, const Shape& memory, std::int64_t& base_file,
             std::int64_t& base_stream, std::vector<StridedDim>& dims) {
  if (file.kind == Shape::Kind::points || memory.kind == Shape::Kind::points ||
      file.elements != memory.elements)
    return false;
  const bool file_flat = file.kind == Shape::Kind::contiguous;
  const bool memory_flat = memory.kind == Shape::Kind::contiguous;
  Loops in_file;
  Loops in_memory;
  if (!file_flat) in_file = loops_of(pair.file_space, file);
  if (!memory_flat) in_memory = loops_of(pair.memory_space, memory);
  if ((!file_flat && !in_file.known) || (!memory_flat && !in_memory.known)) return false;
  if (file_flat && memory_flat) in_memory.add(memory.elements, 1);
  const Loops& lead = file_flat ? in_memory : in_file;
  if (!file_flat && !memory_flat) {
    if (in_file.loops.size() != in_memory.loops.size()) return false;
    for (std::size_t i = 0; i < in_file.loops.size(); ++i) {
      if (in_file.loops[i].count != in_memory.loops[i].count) return false;
    }
  }
  base_file = pair.file + file.begin() * pair.element;
  base_stream = pair.stream + memory.begin() * pair.element;
  dims.resize(lead.loops.size());
  std::int64_t inner = pair.element;
  for (std::size_t i = dims.size(); i-- > 0;) {
    dims[i].count = lead.loops[i].count;
    dims[i].file_stride = file_flat ? inner : in_file.loops[i].stride * pair.element;
    dims[i].stream_stride = memory_flat ? inner : in_memory.loops[i].stride * pair.element;
    inner *= lead.loops[i].count;
  }
  return true;
}

}  // namespace

std::unique_ptr<Cursor> make_cursor(const Pair& pair, const Shape& file, const Shape& memory, Order order,
                                    WalkFailure& failure) {
  std::int64_t base_file = 0;
  std::int64_t base_stream = 0;
  std::vector<StridedDim> dims;
  if (combine(pair, file, memory, base_file, base_stream, dims) &&
      StridedCursor::is_ascending(pair.element, dims)) {
    return std::make_unique<StridedCursor>(base_file, base_stream, pair.element, dims);
  }
  if (file.kind == Shape::Kind::points) {
    return std::make_unique<PointCursor>(pair, file, memory, order, failure);
  }
  return std::make_unique<PairStream>(pair, file, memory, failure);
}

PairStream::PairStream(const Pair& pair, const Shape& file, const Shape& memory, WalkFailure& failure)
    : pair_(pair),
      file_(file),
      memory_(memory),
      failure_(failure),
      hull_(hull_of(pair, file)),
      alignment_(low_bit(pair.file | pair.element)) {}

void PairStream::start(std::int64_t) {
  Status status = walk_.open(pair_, file_, memory_);
  done_ = !status.ok();
  failure_.status.update(std::move(status));
}

std::int64_t PairStream::peek() {
  if (done_) return kNoOffset;
  const std::int64_t next = walk_.peek(failure_.status);
  if (next == kNoOffset) {
    walk_.close();
    done_ = true;
  }
  return next;
}

std::size_t PairStream::take(std::int64_t limit, std::span<Run> out) {
  if (done_) return 0;
  return walk_.take(limit, out, failure_.status);
}

namespace {

// Pages that were never touched cost more than everything else here, so the next cursor takes over the memory
// of the last.
thread_local std::vector<Run> spare_batch;
thread_local std::vector<IndexEntry> spare_index;

constexpr std::int64_t kIndexBytes = std::int64_t{4} << 20;
constexpr std::size_t kSortedRuns = std::size_t{1} << 16;  // at a time

}  // namespace

/// A pair of selections, as RoundIndex walks it. A unit is a byte, counted from the stream of the memory
/// space's first element.
class PointPieces {
 public:
  static constexpr bool exact_hull = false;

  PointPieces(const Pair& pair, const Shape& file, const Shape& memory, WalkFailure& failure)
      : pair_(pair), file_(file), memory_(memory), failure_(failure) {}

  void leave(std::vector<IndexEntry>& entries) const {
    if (spare_index.capacity() < entries.capacity()) spare_index.swap(entries);
  }
  void take_over(std::vector<IndexEntry>& entries) const { entries.swap(spare_index); }
  bool ok() const { return failure_.status.ok(); }
  std::int64_t unit() const { return 1; }
  std::int64_t stream_at(std::int64_t bytes) const { return pair_.stream + bytes; }
  bool fits_entry() const { return memory_.end() * pair_.element < std::int64_t{1} << 31; }

  template <class F>
  void each(std::int64_t begin, std::int64_t end, F& f) {
    if (!open(all_)) return;
    while (next_of(all_, begin, end, f)) {
    }
    all_.close();
  }
  void rewind() { open(parts_); }
  template <class F>
  bool next(std::int64_t begin, std::int64_t end, F& f) {
    return next_of(parts_, begin, end, f);
  }

 private:
  bool open(PairWalk& walk) {
    Status status = walk.open(pair_, file_, memory_);
    const bool opened = status.ok();
    failure_.status.update(std::move(status));
    return opened;
  }
  template <class F>
  bool next_of(PairWalk& walk, std::int64_t begin, std::int64_t end, F& f) {
    std::array<Run, 512> batch;
    const std::size_t n = walk.take(kNoOffset, batch, failure_.status);
    for (std::size_t i = 0; i < n; ++i) {
      const Run& run = batch[i];
      if (run.file < end && run.file + run.length > begin)
        f(Fragment{run.file, run.file + run.length, run.stream - pair_.stream, run.length});
    }
    return n > 0;
  }

  const Pair& pair_;
  const Shape& file_;
  const Shape& memory_;
  WalkFailure& failure_;
  PairWalk all_;
  PairWalk parts_;
};

PointCursor::PointCursor(const Pair& pair, const Shape& file, const Shape& memory, Order order,
                         WalkFailure& failure)
    : pair_(pair),
      file_(file),
      memory_(memory),
      order_(order),
      failure_(failure),
      hull_(hull_of(pair, file)),
      alignment_(low_bit(pair.file | pair.element)) {}

PointCursor::~PointCursor() {
  finish();
}

void PointCursor::start(std::int64_t round_bytes) {
  finish();
  round_ = std::max<std::int64_t>(round_bytes, 1);
  mode_ = Mode::fresh;
}

void PointCursor::finish() {
  walk_.close();
  index_.reset();
  if (batch_.size() > spare_batch.size()) batch_.swap(spare_batch);
  batch_ = {};
  count_ = at_ = 0;
  ascending_ = false;
  mode_ = Mode::done;
}

bool PointCursor::walk_again() {
  Status status = walk_.open(pair_, file_, memory_);
  if (status.ok()) return true;
  failure_.status.update(std::move(status));
  finish();
  return false;
}

std::int64_t PointCursor::peek() {
  if (mode_ == Mode::fresh) prepare(0);
  if (mode_ == Mode::stream) {
    const std::int64_t next = walk_.peek(failure_.status);
    if (next == kNoOffset) finish();
    return next == kNoOffset || ascending_ ? next : hull_.begin;
  }
  if (mode_ == Mode::index) {
    const std::int64_t next = index_->peek();
    if (next == kNoOffset) finish();
    return next;
  }
  return mode_ == Mode::done ? kNoOffset : hull_.begin;
}

std::size_t PointCursor::take(std::int64_t limit, std::span<Run> out) {
  if (mode_ == Mode::fresh) prepare(limit);
  switch (mode_) {
    case Mode::stream:
      return walk_.take(limit, out, failure_.status);
    case Mode::index:
      return index_->take(limit, out);
    case Mode::batches:
      return take_sorted(out);
    default:
      return 0;
  }
}

void PointCursor::prepare(std::int64_t limit) {
  const bool one_round = hull_.begin / round_ == (hull_.end - 1) / round_;
  const bool all = limit == kNoOffset || one_round;
  const bool all_at_once = order_ == Order::by_round && all;
  if (!all_at_once) {
    ascending_ = ascends();
    // Also a reader that is free goes by rounds where it asks for them, as it does where a node keeps bytes.
    if (!ascending_ && !all) {
      mode_ = Mode::index;
      walk_.close();
      index_ = std::make_unique<RoundIndex<PointPieces>>(hull_, kIndexBytes, pair_, file_, memory_, failure_);
      index_->start(round_);
      return;
    }
  }
  if (!walk_again()) return;
  mode_ = all_at_once || ascending_ ? Mode::stream : Mode::batches;
}

bool PointCursor::ascends() {
  if (!walk_again()) return false;
  std::int64_t reached = 0;
  std::array<Run, 512> batch;
  while (const std::size_t n = walk_.take(kNoOffset, batch, failure_.status)) {
    for (std::size_t i = 0; i < n; ++i) {
      if (batch[i].file < reached) return false;
      reached = batch[i].file + batch[i].length;
    }
  }
  return true;
}

/// For reading: neighbours in the file come one after the other, so that they can be read together.
std::size_t PointCursor::take_sorted(std::span<Run> out) {
  if (at_ == count_) {
    const std::size_t most = std::min(kSortedRuns, static_cast<std::size_t>(file_.elements));
    if (batch_.size() < most && spare_batch.size() > batch_.size()) batch_.swap(spare_batch);
    if (batch_.size() < most) batch_ = std::vector<Run>(most);
    count_ = walk_.take(kNoOffset, batch_, failure_.status);
    at_ = 0;
    std::sort(batch_.begin(), batch_.begin() + static_cast<std::ptrdiff_t>(count_),
              [](const Run& a, const Run& b) { return a.file < b.file; });
    if (count_ == 0) finish();
  }
  const std::size_t n = std::min(out.size(), count_ - at_);
  std::copy_n(batch_.begin() + static_cast<std::ptrdiff_t>(at_), n, out.begin());
  at_ += n;
  return n;
}

}  // namespace forebay::hdf5
