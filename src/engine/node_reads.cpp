// Reading what a node keeps: whoever writes a segment out holds its lock, so that a byte is either here or in
// the file.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "engine/node_segment.hpp"
#include "engine/node_segments.hpp"
#include "exchange/dirty_map.hpp"
#include "request/byte_order.hpp"

namespace forebay {
namespace {

constexpr std::size_t kBatch = 512;
constexpr std::int64_t kReadGap = 8 << 10;  // as Bypass has it

/// Runs for the file, neighbours as one.
class Rest {
 public:
  bool full() const { return count_ == runs_.size(); }
  std::span<const Run> runs() const { return {runs_.data(), count_}; }
  void clear() { count_ = 0; }
  /// There must be room.
  void add(const Run& run) {
    if (count_ > 0) {
      Run& last = runs_[count_ - 1];
      if (last.file + last.length == run.file && last.stream + last.length == run.stream) {
        last.length += run.length;
        return;
      }
    }
    runs_[count_++] = run;
  }

 private:
  std::array<Run, kBatch> runs_;
  std::size_t count_ = 0;
};

}  // namespace

Status NodeSegments::read(const Get& get, Bypass& past, Counters& counters) {
  if (kept() == 0) return past.read(get, *storage_, counters);
  std::array<Run, kBatch> batch;
  Rest rest;
  Cursor& cursor = *get.cursor;
  Status status;
  const auto read_rest = [&] {
    if (status.ok()) status = past.read_runs(rest.runs(), *get.sink, *storage_, counters);
    rest.clear();
  };
  cursor.start(bytes_);
  for (std::int64_t next = cursor.peek(); next != kNoOffset && status.ok(); next = cursor.peek()) {
    const std::int64_t index = next / bytes_;
    const int segment = lock_present(index);
    const Held held(*this, segment);
    const bool kept_there = segment >= 0 && segments_[segment].dirty.load(std::memory_order_relaxed) > 0;
    while (const std::size_t n = cursor.take((index + 1) * bytes_, batch)) {
      const std::span<const Run> runs(batch.data(), n);
      counters.get_pieces += static_cast<std::int64_t>(n);
      for (const Run& run : runs) counters.get_bytes += run.length;
      if (kept_there) {
        status.update(read_over(segment, runs, *get.sink, counters));
        continue;
      }
      for (const Run& run : runs) {
        if (rest.full()) read_rest();
        rest.add(run);
      }
    }
  }
  read_rest();
  return status;
}

bool NodeSegments::marked(int segment, Extent range) const {
  const std::uint64_t* const map = words(segment);
  for (std::int64_t at = range.begin; at < range.end;) {
    const std::int64_t end = std::min(range.end, (at | 63) + 1);
    const std::uint64_t bits = (~std::uint64_t{0} >> (64 - (end - at))) << (at & 63);
    if ((map[at >> 6] & bits) != bits) return false;
    at = end;
  }
  return true;
}

// What is not kept of these runs comes from the file, near neighbours together, and what is kept over it.
Status NodeSegments::read_over(int segment, std::span<const Run> runs, Sink& sink, Counters& counters) {
  const std::int64_t origin = segments_[segment].index.load(std::memory_order_relaxed) * bytes_;
  const auto whole = [&](const Run& run) {
    return marked(segment, {run.file - origin, run.file - origin + run.length});
  };
  std::byte* const direct = sink.direct();
  for (std::size_t i = 0; i < runs.size();) {
    std::size_t last = i;
    while (last < runs.size() && whole(runs[last])) ++last;
    if (last > i) sink.consume(runs.subspan(i, last - i), data(segment), origin);
    if ((i = last) == runs.size()) break;
    const std::int64_t begin = runs[i].file;
    std::int64_t end = begin + runs[i].length;
    for (last = i + 1; last < runs.size() && runs[last].file >= end && runs[last].file - end <= kReadGap;
         ++last)
      end = runs[last].file + runs[last].length;
    const bool alone = last == i + 1 && direct != nullptr;
    if (!alone && block_ == nullptr)
      block_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_));
    std::byte* const to = alone ? direct + runs[i].stream : block_.get();
    ++counters.reads;
    counters.read_bytes += end - begin;
    if (Status status = storage_->read(begin, to, end - begin); !status.ok()) return status;
    for_each_bit_run(words(segment), begin - origin, end - origin, [&](std::int64_t at, std::int64_t length) {
      copy_bytes(data(segment) + at, to + (origin + at - begin), static_cast<std::size_t>(length));
    });
    if (!alone) sink.consume(runs.subspan(i, last - i), to, begin);
    i = last;
  }
  return {};
}

}  // namespace forebay
