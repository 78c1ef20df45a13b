// Choosing a cursor for a pair of selections, and the ones that walk.
#include "pair_cursor.hpp"

#include <algorithm>
#include <array>

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
  if (H5Sget_regular_hyperslab(space, start.data(), stride.data(), count.data(), block.data()) < 0) return out;
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
  if (file.kind == Shape::Kind::points || memory.kind == Shape::Kind::points || file.elements != memory.elements) return false;
  const bool file_flat = file.kind == Shape::Kind::contiguous;
  const bool memory_flat = memory.kind == Shape::Kind::contiguous;
  Loops in_file;
  Loops in_memory;
  if (!file_flat) in_file = loops_of(pair.file_space, file);
  if (!memory_flat) in_memory = loops_of(pair.memory_space, memory);
  if ((!file_flat && !in_file.known) || (!memory_flat && !in_memory.known)) return false;
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

std::unique_ptr<Cursor> make_cursor(const Pair& pair, const Shape& file, const Shape& memory, Direction direction,
                                    WalkFailure& failure) {
  std::int64_t base_file = 0;
  std::int64_t base_stream = 0;
  std::vector<StridedDim> dims;
  if (combine(pair, file, memory, base_file, base_stream, dims) && StridedCursor::is_ascending(pair.element, dims)) {
    return std::make_unique<StridedCursor>(base_file, base_stream, pair.element, dims);
  }
  if (file.kind == Shape::Kind::points) {
    return std::make_unique<PointCursor>(pair, file, memory, direction, failure);
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

PointCursor::PointCursor(const Pair& pair, const Shape& file, const Shape& memory, Direction direction,
                         WalkFailure& failure)
    : pair_(pair),
      file_(file),
      memory_(memory),
      direction_(direction),
      failure_(failure),
      hull_(hull_of(pair, file)),
      alignment_(low_bit(pair.file | pair.element)) {}

void PointCursor::start(std::int64_t round_bytes) {
  finish();
  round_ = std::max<std::int64_t>(round_bytes, 1);
  mode_ = Mode::fresh;
}

void PointCursor::finish() {
  walk_.close();
  runs_ = {};
  buckets_ = {};
  passes_ = {};
  at_ = bucket_ = pass_ = 0;
  ascending_ = false;
  mode_ = Mode::done;
}

std::int64_t PointCursor::peek() {
  if (mode_ == Mode::fresh) prepare();
  if (mode_ == Mode::stream) {
    const std::int64_t next = walk_.peek(failure_.status);
    if (next == kNoOffset) finish();
    return next;
  }
  if (mode_ == Mode::list && at_ == runs_.size() && !next_pass()) finish();
  if (mode_ == Mode::done) return kNoOffset;
  return ascending_ ? runs_[at_].file : buckets_[bucket_].least;
}

std::size_t PointCursor::take(std::int64_t limit, std::span<Run> out) {
  if (mode_ == Mode::fresh && limit == kNoOffset) {
    // One round of everything: no index is needed.
    Status status = walk_.open(pair_, file_, memory_);
    mode_ = status.ok() ? Mode::stream : Mode::done;
    failure_.status.update(std::move(status));
  }
  if (mode_ == Mode::fresh) prepare();
  if (mode_ == Mode::done) return 0;
  if (mode_ == Mode::list) return take_listed(limit, out);
  const std::size_t n = direction_ == Direction::read ? take_sorted_batches(out)
                                                      : walk_.take(limit, out, failure_.status);
  if (n == 0 && limit == kNoOffset) finish();
  return n;
}

/// For reading: neighbours in the file come one after the other, so that they can be read together.
std::size_t PointCursor::take_sorted_batches(std::span<Run> out) {
  if (at_ == runs_.size()) {
    runs_.resize(std::min(kMostRuns, static_cast<std::size_t>(file_.elements)));
    runs_.resize(walk_.take(kNoOffset, runs_, failure_.status));
    at_ = 0;
    const auto before = [](const Run& a, const Run& b) { return a.file < b.file; };
    if (!std::is_sorted(runs_.begin(), runs_.end(), before)) std::sort(runs_.begin(), runs_.end(), before);
  }
  const std::size_t n = std::min(out.size(), runs_.size() - at_);
  std::copy_n(runs_.begin() + static_cast<std::ptrdiff_t>(at_), n, out.begin());
  at_ += n;
  return n;
}

/// Walks all points once: into the list where they fit, else counting how many fall into which part of the file.
void PointCursor::prepare() {
  Status status = walk_.open(pair_, file_, memory_);
  if (!status.ok()) {
    failure_.status.update(std::move(status));
    finish();
    return;
  }
  const std::int64_t rounds = (hull_.end - 1) / round_ - hull_.begin / round_ + 1;
  const std::int64_t rounds_a_bin = (rounds + 65535) / 65536;
  const std::int64_t bin_bytes = rounds_a_bin * round_;
  const std::int64_t bins_begin = hull_.begin / round_ * round_;
  std::vector<std::size_t> bins;
  const auto count = [&](std::span<const Run> part) {
    for (const Run& run : part) ++bins[static_cast<std::size_t>((run.file - bins_begin) / bin_bytes)];
  };

  ascending_ = true;
  std::int64_t reached = 0;
  std::array<Run, 512> batch;
  while (const std::size_t n = walk_.take(kNoOffset, batch, failure_.status)) {
    for (std::size_t i = 0; i < n; ++i) {
      ascending_ = ascending_ && batch[i].file >= reached;
      reached = batch[i].file + batch[i].length;
    }
    if (bins.empty() && runs_.size() + n > kMostRuns) {
      bins.resize(static_cast<std::size_t>((hull_.end - 1 - bins_begin) / bin_bytes) + 1);
      count(runs_);
      runs_ = {};
    }
    if (bins.empty()) {
      runs_.insert(runs_.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(n));
    } else {
      count(std::span(batch).first(n));
    }
  }
  walk_.close();
  mode_ = Mode::list;
  if (bins.empty()) {
    passes_ = {hull_.end};
    pass_ = 1;
    if (!ascending_) bucket();
    return;
  }
  if (ascending_) {
    status = walk_.open(pair_, file_, memory_);
    mode_ = status.ok() ? Mode::stream : Mode::done;
    failure_.status.update(std::move(status));
    return;
  }
  std::size_t sum = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (sum > 0 && sum + bins[i] > kMostRuns) {
      passes_.push_back(bins_begin + static_cast<std::int64_t>(i) * bin_bytes);
      sum = 0;
    }
    sum += bins[i];
  }
  passes_.push_back((hull_.end + round_ - 1) / round_ * round_);
}

/// Fills the list with the next part of the file that holds any points.
bool PointCursor::next_pass() {
  while (pass_ < passes_.size() && failure_.status.ok()) {
    const std::int64_t begin = pass_ == 0 ? 0 : passes_[pass_ - 1];
    collect(begin, passes_[pass_]);
    ++pass_;
    if (!runs_.empty()) {
      bucket();
      return true;
    }
  }
  return false;
}

void PointCursor::collect(std::int64_t begin, std::int64_t end) {
  runs_.clear();
  Status status = walk_.open(pair_, file_, memory_);
  std::array<Run, 512> batch;
  while (status.ok()) {
    const std::size_t n = walk_.take(kNoOffset, batch, failure_.status);
    if (n == 0) break;
    for (std::size_t i = 0; i < n; ++i) {
      // A run of neighbours may reach over the part's end.
      const Run& run = batch[i];
      const std::int64_t from = std::max(run.file, begin);
      const std::int64_t to = std::min(run.file + run.length, end);
      if (from < to) runs_.push_back({from, run.stream + (from - run.file), to - from});
    }
  }
  walk_.close();
  failure_.status.update(std::move(status));
}

/// Orders the list by round, keeping its order within each; a run that crosses a boundary is cut.
void PointCursor::bucket() {
  const auto round_of = [this](std::int64_t offset) { return offset / round_; };
  std::int64_t least = kNoOffset;
  std::int64_t most = 0;
  std::size_t cuts = 0;
  for (const Run& run : runs_) {
    const std::int64_t last = run.file + run.length - 1;
    least = std::min(least, round_of(run.file));
    most = std::max(most, round_of(last));
    cuts += static_cast<std::size_t>(round_of(last) - round_of(run.file));
  }
  std::vector<Run> pieces;
  if (cuts > 0) {
    pieces.reserve(runs_.size() + cuts);
    for (Run run : runs_) {
      while (run.length > 0) {
        const std::int64_t room = (round_of(run.file) + 1) * round_ - run.file;
        const std::int64_t part = std::min(run.length, room);
        pieces.push_back({run.file, run.stream, part});
        run = {run.file + part, run.stream + part, run.length - part};
      }
    }
    runs_.swap(pieces);
  }
  buckets_.clear();
  at_ = bucket_ = 0;
  const auto rounds = static_cast<std::size_t>(most - least + 1);
  if (rounds > 4 * runs_.size() + 1024) {
    // Few pieces far apart: sorting them costs less than counting rounds.
    std::stable_sort(runs_.begin(), runs_.end(),
                     [&](const Run& a, const Run& b) { return round_of(a.file) < round_of(b.file); });
  } else {
    std::vector<std::size_t> place(rounds + 1, 0);
    for (const Run& run : runs_) ++place[static_cast<std::size_t>(round_of(run.file) - least) + 1];
    for (std::size_t r = 1; r <= rounds; ++r) place[r] += place[r - 1];
    pieces.resize(runs_.size());
    for (const Run& run : runs_) pieces[place[static_cast<std::size_t>(round_of(run.file) - least)]++] = run;
    runs_.swap(pieces);
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (i == 0 || round_of(runs_[i].file) != round_of(runs_[i - 1].file)) buckets_.push_back({i, kNoOffset});
    buckets_.back().end = i + 1;
    buckets_.back().least = std::min(buckets_.back().least, runs_[i].file);
  }
}

std::size_t PointCursor::take_listed(std::int64_t limit, std::span<Run> out) {
  std::size_t n = 0;
  while (n < out.size()) {
    if (at_ == runs_.size() && !next_pass()) {
      finish();
      return n;
    }
    if (ascending_) {
      Run& run = runs_[at_];
      if (run.file >= limit) break;
      const std::int64_t part = std::min(run.length, limit - run.file);
      out[n++] = {run.file, run.stream, part};
      run = {run.file + part, run.stream + part, run.length - part};
      if (run.length == 0) ++at_;
      continue;
    }
    const Bucket& bucket = buckets_[bucket_];
    if (bucket.least >= limit) break;
    const std::size_t part = std::min(out.size() - n, bucket.end - at_);
    std::copy_n(runs_.begin() + static_cast<std::ptrdiff_t>(at_), part, out.begin() + static_cast<std::ptrdiff_t>(n));
    at_ += part;
    n += part;
    if (at_ == bucket.end) ++bucket_;
  }
  return n;
}

}  // namespace forebay::hdf5
