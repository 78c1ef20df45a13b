// Reading what a node keeps: whoever writes a segment out holds its lock, so that a byte is either here or in
// the file.
#include <array>

#include "request/byte_order.hpp"
#include "segments/node_segments.hpp"

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
  if (kept() == 0) return past.read(get, writer_.storage(), counters);
  std::array<Run, kBatch> batch;
  Rest rest;
  Cursor& cursor = *get.cursor;
  Status status;
  const auto read_rest = [&] {
    if (status.ok()) status = past.read_runs(rest.runs(), *get.sink, writer_.storage(), counters);
    rest.clear();
  };
  cursor.start(area_.bytes);
  for (std::int64_t next = cursor.peek(); next != kNoOffset && status.ok(); next = cursor.peek()) {
    const std::int64_t index = next / area_.bytes;
    const int segment = directory_.lock_present(index);
    const Held held(locks_, segment);
    const bool kept_there = segment >= 0 && bytes_.dirty(segment) > 0;
    while (const std::size_t n = cursor.take((index + 1) * area_.bytes, batch)) {
      const std::span<const Run> runs(batch.data(), n);
      // A cursor that does not come round by round would get other segments' bytes.
      const Run& final = runs.back();
      if (runs.front().file / area_.bytes != index || (final.file + final.length - 1) / area_.bytes != index)
        return {Code::internal, "a request does not come in the order of segments"};
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

// What is not kept of these runs comes from the file, near neighbours together, and what is kept over it.
Status NodeSegments::read_over(int segment, std::span<const Run> runs, Sink& sink, Counters& counters) {
  const std::int64_t origin = area_.range_of(segment).begin;
  const auto whole = [&](const Run& run) {
    return bytes_.marked(segment, run.file - origin, run.file - origin + run.length);
  };
  std::byte* const direct = sink.direct();
  for (std::size_t i = 0; i < runs.size();) {
    std::size_t last = i;
    while (last < runs.size() && whole(runs[last])) ++last;
    if (last > i) sink.consume(runs.subspan(i, last - i), area_.data_of(segment), origin);
    if ((i = last) == runs.size()) break;
    const std::int64_t begin = runs[i].file;
    std::int64_t end = begin + runs[i].length;
    for (last = i + 1; last < runs.size() && runs[last].file >= end && runs[last].file - end <= kReadGap;
         ++last)
      end = runs[last].file + runs[last].length;
    const bool single = last == i + 1 && direct != nullptr;
    std::byte* const to = single ? direct + runs[i].stream : writer_.block();
    counters.count_read(end - begin);
    if (Status status = writer_.storage().read(begin, to, end - begin); !status.ok()) return status;
    bytes_.for_each_run(segment, begin - origin, end - origin, [&](std::int64_t at, std::int64_t length) {
      copy_bytes(area_.data_of(segment) + at, to + (origin + at - begin), static_cast<std::size_t>(length));
    });
    if (!single) sink.consume(runs.subspan(i, last - i), to, begin);
    i = last;
  }
  return {};
}

}  // namespace forebay
