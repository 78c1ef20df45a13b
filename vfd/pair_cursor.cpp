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

/// Pages that were never touched cost more than everything else here, so the next index takes over the memory
/// of the last.
thread_local std::vector<Run> spare_runs;

/// Which round an offset lies in. Neighbours mostly lie in one, and a division costs more than all else.
class RoundOf {
 public:
  explicit RoundOf(std::int64_t round) : round_(round), inverse_(1.0 / static_cast<double>(round)) {}

  std::int64_t operator()(std::int64_t offset) {
    if (offset >= begin_ && offset < begin_ + round_) return current_;
    current_ = static_cast<std::int64_t>(static_cast<double>(offset) * inverse_);
    begin_ = current_ * round_;
    while (begin_ > offset) begin_ -= round_, --current_;
    while (begin_ + round_ <= offset) begin_ += round_, ++current_;
    return current_;
  }
  /// Of the round asked for last.
  std::int64_t end() const { return begin_ + round_; }

 private:
  std::int64_t round_;
  double inverse_;
  std::int64_t current_ = 0;
  std::int64_t begin_ = 0;
};

}  // namespace

PointCursor::PointCursor(const Pair& pair, const Shape& file, const Shape& memory, Order order,
                         WalkFailure& failure)
    : pair_(pair),
      file_(file),
      memory_(memory),
      order_(order),
      failure_(failure),
      hull_(hull_of(pair, file)),
      alignment_(low_bit(pair.file | pair.element)) {}

void PointCursor::start(std::int64_t round_bytes) {
  finish();
  round_ = std::max<std::int64_t>(round_bytes, 1);
  first_round_ = hull_.begin / round_;
  rounds_ = (hull_.end - 1) / round_ - first_round_ + 1;
  mode_ = Mode::fresh;
}

void PointCursor::finish() {
  walk_.close();
  if (runs_.size() > spare_runs.size()) runs_.swap(spare_runs);
  runs_ = {};
  counts_ = {};
  buckets_ = {};
  passes_ = {};
  count_ = at_ = bucket_ = pass_ = 0;
  ascending_ = false;
  mode_ = Mode::done;
}

void PointCursor::need(std::size_t runs) {
  if (runs_.size() < runs && spare_runs.size() > runs_.size()) runs_.swap(spare_runs);
  if (runs_.size() < runs) {
    runs_ = {};
    runs_.resize(runs);
  }
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
  if (mode_ == Mode::index && at_ == count_ && !next_pass()) finish();
  if (mode_ == Mode::done) return kNoOffset;
  return mode_ == Mode::index ? buckets_[bucket_].least : hull_.begin;
}

std::size_t PointCursor::take(std::int64_t limit, std::span<Run> out) {
  if (mode_ == Mode::fresh) prepare(limit);
  switch (mode_) {
    case Mode::stream:
      return walk_.take(limit, out, failure_.status);
    case Mode::index:
      return take_indexed(limit, out);
    case Mode::batches:
      return take_sorted(out);
    default:
      return 0;
  }
}

template <class F>
void PointCursor::each_within(std::int64_t begin, std::int64_t end, F&& f) {
  if (!walk_again()) return;
  RoundOf round_of(round_);
  std::array<Run, 512> batch;
  while (const std::size_t n = walk_.take(kNoOffset, batch, failure_.status)) {
    for (std::size_t i = 0; i < n; ++i) {
      Run run = batch[i];
      if (run.file >= end || run.file + run.length <= begin) continue;
      while (run.length > 0) {
        const std::int64_t round = round_of(run.file);
        const std::int64_t part = std::min(run.length, round_of.end() - run.file);
        if (run.file >= begin && run.file < end) f(round, Run{run.file, run.stream, part});
        run = {run.file + part, run.stream + part, run.length - part};
      }
    }
  }
  walk_.close();
}

void PointCursor::prepare(std::int64_t limit) {
  const bool all_at_once = order_ == Order::by_round && (limit == kNoOffset || rounds_ == 1);
  if (!all_at_once) {
    ascending_ = ascends();
    if (!ascending_ && order_ == Order::by_round) {
      mode_ = Mode::index;
      count();
      plan_passes();
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

/// How many runs lie in which round.
void PointCursor::count() {
  group_ = (rounds_ - 1) / static_cast<std::int64_t>(kMostCounts) + 1;
  counts_.assign(static_cast<std::size_t>((rounds_ - 1) / group_ + 1), 0);
  each_within(hull_.begin, hull_.end, [this](std::int64_t round, const Run&) {
    std::int64_t index = round - first_round_;
    if (group_ > 1) index /= group_;
    ++counts_[static_cast<std::size_t>(index)];
  });
}

void PointCursor::plan_passes() {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (sum > 0 && sum + counts_[i] > kMostRuns) {
      passes_.push_back((first_round_ + static_cast<std::int64_t>(i) * group_) * round_);
      sum = 0;
    }
    sum += counts_[i];
  }
  passes_.push_back((first_round_ + rounds_) * round_);
}

bool PointCursor::next_pass() {
  while (pass_ < passes_.size() && failure_.status.ok()) {
    const std::int64_t begin = pass_ == 0 ? first_round_ * round_ : passes_[pass_ - 1];
    const std::int64_t end = passes_[pass_++];
    buckets_.clear();
    count_ = at_ = bucket_ = 0;
    if (group_ == 1) {
      place(begin, end);
    } else {
      sort(begin, end);
    }
    if (count_ > 0) return true;
  }
  return false;
}

/// Brings the runs of a pass into the order of rounds, keeping list order within each.
void PointCursor::place(std::int64_t begin, std::int64_t end) {
  const auto first = static_cast<std::size_t>(begin / round_ - first_round_);
  const auto rounds = static_cast<std::size_t>((end - begin) / round_);
  buckets_.resize(rounds);
  std::size_t total = 0;
  for (std::size_t r = 0; r < rounds; ++r) {
    buckets_[r] = {total, kNoOffset};
    total += counts_[first + r];
  }
  need(total);
  each_within(begin, end, [&](std::int64_t round, const Run& run) {
    Bucket& bucket = buckets_[static_cast<std::size_t>(round - first_round_) - first];
    runs_[bucket.end++] = run;
    bucket.least = std::min(bucket.least, run.file);
  });
  count_ = failure_.status.ok() ? total : 0;
  std::erase_if(buckets_, [](const Bucket& bucket) { return bucket.least == kNoOffset; });
}

/// The same where there are too many rounds to count each: points so far apart are better sorted.
void PointCursor::sort(std::int64_t begin, std::int64_t end) {
  std::vector<std::pair<std::int64_t, Run>> sparse;
  each_within(begin, end, [&](std::int64_t round, const Run& run) { sparse.emplace_back(round, run); });
  std::stable_sort(sparse.begin(), sparse.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  need(sparse.size());
  count_ = sparse.size();
  for (std::size_t i = 0; i < count_; ++i) {
    runs_[i] = sparse[i].second;
    if (i == 0 || sparse[i].first != sparse[i - 1].first) buckets_.push_back({i, kNoOffset});
    buckets_.back().end = i + 1;
    buckets_.back().least = std::min(buckets_.back().least, runs_[i].file);
  }
}

std::size_t PointCursor::take_indexed(std::int64_t limit, std::span<Run> out) {
  std::size_t n = 0;
  while (n < out.size()) {
    if (at_ == count_ && !next_pass()) {
      finish();
      return n;
    }
    const Bucket& bucket = buckets_[bucket_];
    if (bucket.least >= limit) break;
    const std::size_t part = std::min(out.size() - n, bucket.end - at_);
    std::copy_n(runs_.begin() + static_cast<std::ptrdiff_t>(at_), part,
                out.begin() + static_cast<std::ptrdiff_t>(n));
    at_ += part;
    n += part;
    if (at_ == bucket.end) ++bucket_;
  }
  return n;
}

/// For reading: neighbours in the file come one after the other, so that they can be read together.
std::size_t PointCursor::take_sorted(std::span<Run> out) {
  if (at_ == count_) {
    need(std::min(kMostRuns / 4, static_cast<std::size_t>(file_.elements)));
    count_ = walk_.take(kNoOffset, runs_, failure_.status);
    at_ = 0;
    std::sort(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(count_),
              [](const Run& a, const Run& b) { return a.file < b.file; });
    if (count_ == 0) finish();
  }
  const std::size_t n = std::min(out.size(), count_ - at_);
  std::copy_n(runs_.begin() + static_cast<std::ptrdiff_t>(at_), n, out.begin());
  at_ += n;
  return n;
}

}  // namespace forebay::hdf5
