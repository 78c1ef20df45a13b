// Clocks compared by barriers, and events gathered in parts, so that rank 0's memory has a bound.
#include "engine/timeline.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/host_name.hpp"
#include "base/speaker.hpp"
#include "engine/file_context.hpp"

namespace forebay {
namespace {

constexpr std::int64_t gathered_bytes = 16 << 20;

// On one node there is one clock.
ClockSamples compare_clocks(const FileContext& file) {
  ClockSamples samples;
  if (file.nodes->topology().nodes == 1) {
    samples.enter.fill(Trace::now());
    samples.leave = samples.enter;
    return samples;
  }
  for (std::size_t i = 0; i < ClockSamples::count; ++i) {
    samples.enter[i] = Trace::now();
    file.comm->barrier();
    samples.leave[i] = Trace::now();
  }
  return samples;
}

std::int64_t world_rank(const FileContext& file) {
  try {
    const std::string text = rank_by_launcher();
    std::int64_t rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error == std::errc{} && end == text.data() + text.size() && rank >= 0) return rank;
  } catch (const std::bad_alloc&) {  // the other ranks gather what this one says
  }
  return file.comm->rank();
}

std::int64_t clock_to_wall() {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count() - Trace::now();
}

TraceRank describe(const FileContext& file, const ClockSamples& at_close) {
  TraceRank mine;
  if (file.timeline) {
    mine.events = static_cast<std::int64_t>(file.timeline->trace.size());
    mine.dropped = file.timeline->trace.dropped();
    mine.at_open = file.timeline->at_open;
  } else {
    mine.at_open = at_close;  // a rank without memory has no events
  }
  mine.at_close = at_close;
  mine.world_rank = world_rank(file);
  mine.node = file.nodes->topology().node;
  host_name().copy(mine.host.data(), mine.host.size() - 1);
  return mine;
}

/// On rank 0; whatever fails there, it goes on to take part.
class Collector {
 public:
  Status status;

  void open(const FileContext& file, const std::vector<TraceRank>& ranks) {
    guarded([&] { return out_.open(file.settings.trace, file.reported_path, ranks, clock_to_wall()); });
  }
  void add(std::size_t rank, std::span<const TraceEvent> events) {
    guarded([&] { return out_.add(rank, events); });
  }
  void end() {
    guarded([&] { return out_.write(); });
  }

 private:
  template <class Work>
  void guarded(Work work) {
    if (!status.ok()) return;
    try {
      status = work();
    } catch (const std::exception& error) {
      status = {Code::internal, std::string("cannot write the timeline: ") + error.what()};
    }
  }
  TraceFile out_;
};

}  // namespace

void begin_timeline(FileContext& file, std::int64_t began) {
  try {
    if (file.comm->rank() == 0) {
      if (const Status status = continue_trace(file.settings.trace); !status.ok())
        warn_once(status.message());
    }
  } catch (const std::exception&) {  // the other ranks wait in the comparison of clocks; close tells it again
  }
  const ClockSamples at_open = compare_clocks(file);
  try {
    file.timeline = std::make_unique<Timeline>();
  } catch (const std::bad_alloc&) {
    return;
  }
  file.timeline->at_open = at_open;
  file.counters.trace = &file.timeline->trace;
  file.counters.trace->add(Span::open, began, Trace::now());
}

Status trace_at_close(FileContext& file) {
  file.counters.trace = nullptr;
  const Communicator& ranks = *file.comm;
  const bool first = ranks.rank() == 0;
  const auto count = static_cast<std::size_t>(ranks.size());
  const TraceRank mine = describe(file, compare_clocks(file));
  const std::int64_t part = std::clamp<std::int64_t>(
      gathered_bytes / (ranks.size() * static_cast<std::int64_t>(sizeof(TraceEvent))), 16,
      static_cast<std::int64_t>(Trace::most));
  std::vector<TraceRank> all;
  std::vector<TraceEvent> here, gathered;
  bool well = true;
  std::int64_t rounds = -((mine.events + part - 1) / part);
  try {
    here.resize(static_cast<std::size_t>(std::min(part, std::max<std::int64_t>(1, mine.events))));
    if (first) all.resize(count);
  } catch (const std::bad_alloc&) {
    well = false;
  }
  // As long as the longest part of any rank needs.
  std::array<std::int64_t, 3> agreed{well ? 1 : 0, rounds, -static_cast<std::int64_t>(here.size())};
  ranks.reduce(agreed, Communicator::Op::minimum);
  rounds = -agreed[1];
  const auto width = static_cast<std::size_t>(-agreed[2]);
  if (agreed[0] != 0) {
    try {
      here.resize(width);
      if (first) gathered.resize(width * count);
    } catch (const std::bad_alloc&) {
      well = false;
    }
    well = ranks.all(well);
  } else {
    well = false;
  }
  if (!well) return {Code::no_memory, "no memory to gather the timeline of " + file.options.path};

  ranks.gather(&mine, sizeof mine, all.data(), 0);
  Collector collector;
  if (first) collector.open(file, all);
  for (std::int64_t round = 0; round < rounds; ++round) {
    const std::int64_t from = round * part;
    const std::int64_t to = std::min(mine.events, from + part);
    for (std::int64_t i = from; i < to; ++i)
      here[static_cast<std::size_t>(i - from)] = file.timeline->trace[static_cast<std::size_t>(i)];
    ranks.gather(here.data(), width * sizeof(TraceEvent), gathered.data(), 0);
    if (!first) continue;
    for (std::size_t rank = 0; rank < count; ++rank) {
      const auto n = static_cast<std::size_t>(std::clamp<std::int64_t>(all[rank].events - from, 0, part));
      collector.add(rank, {gathered.data() + rank * width, n});
    }
  }
  file.timeline.reset();
  if (!first) return {};
  collector.end();
  std::int64_t dropped = 0;
  for (const TraceRank& rank : all) dropped += rank.dropped;
  if (dropped > 0)
    warn_once("the timeline of " + file.reported_path + " lacks its " + std::to_string(dropped) +
              " oldest events: a process keeps " + std::to_string(Trace::most));
  return std::move(collector.status);
}

}  // namespace forebay
