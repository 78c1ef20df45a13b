// From HDF5's lists of selections and vectors to puts.
#include "request.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace forebay::hdf5 {
namespace {

constexpr std::int64_t kMostAlignment = 4096;
constexpr auto kMostOffset = static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max() / 2);

bool disjoint(std::span<const Segment> segments) {
  for (std::size_t i = 1; i < segments.size(); ++i) {
    if (segments[i].hull.begin < segments[i - 1].hull.end) return false;
  }
  return true;
}

Status range_error(haddr_t offset) {
  return {Code::bad_argument, "file offset " + std::to_string(offset) + " is larger than MPI can address"};
}

}  // namespace

ChainCursor::ChainCursor(std::vector<Segment> segments, Order order, WalkFailure& failure)
    : segments_(std::move(segments)), order_(order), failure_(failure), at_(segments_.size()) {
  std::int64_t bits = kMostAlignment;
  hull_ = segments_.front().hull;
  for (const Segment& segment : segments_) {
    hull_.end = std::max(hull_.end, segment.hull.end);
    bytes_ += segment.bytes;
    bits |= segment.one_run ? segment.hull.begin | segment.bytes : segment.pair.file | segment.pair.element;
  }
  alignment_ = bits & -bits;
}

void ChainCursor::start(std::int64_t round_bytes) {
  round_ = round_bytes;
  at_ = 0;
  done_bytes_ = 0;
  current_.reset();
}

/// Makes the current segment's cursor where it needs one.
bool ChainCursor::open_segment() {
  const Segment& segment = segments_[at_];
  if (segment.one_run || current_ != nullptr) return true;
  Shape file;
  Shape memory;
  Status status = shape_of(segment.pair.file_space, file);
  status.update(shape_of(segment.pair.memory_space, memory));
  if (!status.ok()) {
    failure_.status.update(std::move(status));
    at_ = segments_.size();
    return false;
  }
  current_ = make_cursor(segment.pair, file, memory, order_, failure_);
  current_->start(round_);
  return true;
}

std::int64_t ChainCursor::peek() {
  while (at_ < segments_.size()) {
    const Segment& segment = segments_[at_];
    if (segment.one_run) return segment.hull.begin + done_bytes_;
    if (!open_segment()) break;
    if (const std::int64_t next = current_->peek(); next != kNoOffset) return next;
    current_.reset();
    ++at_;
  }
  return kNoOffset;
}

std::size_t ChainCursor::take(std::int64_t limit, std::span<Run> out) {
  std::size_t n = 0;
  while (n < out.size() && at_ < segments_.size()) {
    const Segment& segment = segments_[at_];
    if (segment.one_run) {
      const std::int64_t at = segment.hull.begin + done_bytes_;
      if (at >= limit) break;
      const std::int64_t part = std::min(segment.bytes - done_bytes_, limit - at);
      const std::int64_t from = segment.pair.stream + done_bytes_;
      if (n > 0 && out[n - 1].file + out[n - 1].length == at &&
          out[n - 1].stream + out[n - 1].length == from) {
        out[n - 1].length += part;
      } else {
        out[n++] = {at, from, part};
      }
      done_bytes_ += part;
      if (done_bytes_ < segment.bytes) break;
      done_bytes_ = 0;
      ++at_;
      continue;
    }
    if (segment.hull.begin >= limit || !open_segment()) break;
    const std::size_t taken = current_->take(limit, out.subspan(n));
    n += taken;
    if (taken > 0) continue;
    if (limit != kNoOffset && current_->peek() != kNoOffset) break;
    current_.reset();
    ++at_;
  }
  return n;
}

std::int64_t RunCursor::alignment() const {
  const std::int64_t bits = kMostAlignment | hull_.begin | hull_.size();
  return bits & -bits;
}

std::size_t RunCursor::take(std::int64_t limit, std::span<Run> out) {
  const std::int64_t at = hull_.begin + done_;
  const std::int64_t length = std::min(hull_.end, limit) - at;
  if (length <= 0 || out.empty()) return 0;
  out[0] = {at, stream_ + done_, length};
  done_ += length;
  return 1;
}

void Request::add(Segment segment, const void* buffer) {
  const auto* at = static_cast<const std::byte*>(buffer);
  // For the moment the stream offset is relative to address 0.
  segment.pair.stream += static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(at));
  if (base_ == nullptr || std::less<>()(at, base_)) base_ = at;
  segments_.push_back(segment);
}

Status Request::add_selections(std::size_t count, const hid_t memory_spaces[], const hid_t file_spaces[],
                               const haddr_t offsets[], const std::size_t element_sizes[],
                               const void* const buffers[]) {
  std::size_t element = 0;
  const void* buffer = nullptr;
  bool same_element = false;
  bool same_buffer = false;
  segments_.reserve(segments_.size() + count);
  for (std::size_t i = 0; i < count; ++i) {
    same_element = same_element || element_sizes[i] == 0;
    same_buffer = same_buffer || buffers[i] == nullptr;
    if (!same_element) element = element_sizes[i];
    if (!same_buffer) buffer = buffers[i];
    Outline file;
    Outline memory;
    if (Status status = outline_of(file_spaces[i], file); !status.ok()) return status;
    if (file.elements == 0) continue;
    if (Status status = outline_of(memory_spaces[i], memory); !status.ok()) return status;
    if (element == 0 || buffer == nullptr)
      return {Code::bad_argument, "a selection without element size or buffer"};
    if (file.elements != memory.elements) {
      return {Code::bad_argument, "a file selection of " + std::to_string(file.elements) +
                                      " elements meets a memory selection of " +
                                      std::to_string(memory.elements)};
    }
    Segment segment;
    segment.pair.file_space = file_spaces[i];
    segment.pair.memory_space = memory_spaces[i];
    segment.pair.file = static_cast<std::int64_t>(offsets[i]);
    segment.pair.element = static_cast<std::int64_t>(element);
    std::int64_t end = 0;
    if (offsets[i] > kMostOffset || __builtin_mul_overflow(file.end, segment.pair.element, &end) ||
        static_cast<haddr_t>(end) > kMostOffset) {
      return range_error(offsets[i]);
    }
    segment.hull = {segment.pair.file + file.begin * segment.pair.element, segment.pair.file + end};
    segment.bytes = file.elements * segment.pair.element;
    segment.one_run = file.one_run && memory.one_run;
    if (segment.one_run) segment.pair.stream = memory.begin * segment.pair.element;
    add(segment, buffer);
  }
  return {};
}

Status Request::add_vector(std::size_t count, const haddr_t addrs[], const std::size_t sizes[],
                           const void* const buffers[]) {
  std::size_t size = 0;
  bool same_size = false;
  segments_.reserve(segments_.size() + count);
  for (std::size_t i = 0; i < count; ++i) {
    same_size = same_size || sizes[i] == 0;
    if (!same_size) size = sizes[i];
    if (Status status = add_bytes(addrs[i], size, buffers[i]); !status.ok()) return status;
  }
  return {};
}

Status Request::add_bytes(haddr_t addr, std::size_t size, const void* buffer) {
  if (size == 0) return {};
  if (addr > kMostOffset || size > kMostOffset) return range_error(addr);
  if (buffer == nullptr) return {Code::bad_argument, "bytes without a buffer"};
  Segment segment;
  segment.hull = {static_cast<std::int64_t>(addr), static_cast<std::int64_t>(addr + size)};
  segment.bytes = static_cast<std::int64_t>(size);
  segment.one_run = true;
  add(segment, buffer);
  return {};
}

std::span<const Put> Request::puts() {
  if (segments_.empty()) return {};
  const auto base = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(base_));
  for (Segment& segment : segments_) segment.pair.stream -= base;
  source_.emplace(base_);
  if (segments_.size() == 1 && segments_.front().one_run) {
    put_ = {&run_.emplace(segments_.front()), &*source_};
    return {&put_, 1};
  }

  std::vector<Segment> segments = std::move(segments_);
  segments_.clear();
  if (!disjoint(segments)) {
    // Lists need not be sorted. Where hulls overlap even then, the order of the list is kept.
    std::vector<Segment> sorted = segments;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Segment& a, const Segment& b) { return a.hull.begin < b.hull.begin; });
    if (disjoint(sorted)) segments = std::move(sorted);
  }
  make_puts(std::move(segments));
  return puts_;
}

std::span<const Get> Request::gets() {
  sink_.emplace(const_cast<std::byte*>(base_));
  for (const Put& put : puts()) gets_.push_back({put.cursor, &*sink_});
  return gets_;
}

void Request::make_puts(std::vector<Segment> segments) {
  const bool in_any_order = disjoint(segments);
  std::vector<Segment> chain;
  const auto end_chain = [&] {
    if (!chain.empty()) make_put(std::exchange(chain, {}));
  };
  for (const Segment& segment : segments) {
    if (segment.bytes >= kOwnPut) {
      if (!in_any_order) end_chain();
      make_put({segment});
    } else {
      if (!chain.empty() && segment.hull.begin < chain.back().hull.end) end_chain();
      chain.push_back(segment);
    }
  }
  end_chain();
}

void Request::make_put(std::vector<Segment> segments) {
  cursors_.emplace_back(std::move(segments), order_, failure_);
  puts_.push_back({&cursors_.back(), &*source_});
}

}  // namespace forebay::hdf5
