// What one rank counts of one file; the engine reduces it over ranks at close and writes the report.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/clock.hpp"
#include "base/thread_state.hpp"
#include "base/trace.hpp"

namespace forebay {

/// Stages of a flush, for the time column of the report.
enum class Stage : int { walk, pool, scatter, node_wait, exchange, write, read, pick, agree, count };

struct Counters {
  // counters.def lists the plain numbers; summarize.cpp, report_json.cpp and notes.cpp know the others.
#define COUNTER(member, ...) std::int64_t member = 0;
#include "base/counters.def"
  /// Histogram: bucket i counts writes of [2^i, 2^(i+1)) bytes.
  std::array<std::int64_t, 40> write_sizes{};
  /// For which of its reasons HDF5 broke collective writes: bit i of H5Pget_mpio_no_collective_cause.
  std::array<std::int64_t, 16> broken_causes{};
  std::array<double, static_cast<int>(Stage::count)> seconds{};
  std::int64_t aggregator = 0;  ///< 1 if this rank owned file domains in any flush
  Trace* trace = nullptr;       ///< this process's timeline of the file; null: none is wanted

  /// Counts one read of the file.
  void count_read(std::int64_t length) {
    ++reads;
    read_bytes += length;
  }

  /// Counts one write to the file; `unit` is the alignment that makes it an aligned one.
  void count_write(std::int64_t offset, std::int64_t length, std::int64_t unit) {
    if (length <= 0) return;
    ++writes;
    written_bytes += length;
    if (offset % unit == 0 && length % unit == 0) ++aligned_writes;
    const auto bucket = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(length)) - 1);
    ++write_sizes[std::min(bucket, write_sizes.size() - 1)];
  }
};

/// What a stage moves, so far: pieces, writes, reads or messages, and their bytes.
struct Moved {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};
inline Moved moved_by(Stage stage, const Counters& c) {
  switch (stage) {
    case Stage::walk:
    case Stage::pool:
    case Stage::scatter:
      return {c.pieces, c.bytes};
    case Stage::exchange:
      return {c.messages, c.message_bytes};
    case Stage::write:
      return {c.writes, c.written_bytes};
    case Stage::read:
      return {c.reads, c.read_bytes};
    case Stage::pick:
      return {c.get_pieces, c.get_bytes};
    default:
      return {};
  }
}

/// Adds the time of its scope to one stage, without that of timers within it: a second belongs to one stage,
/// and the stages' sum is time that has passed.
class StageTimer {
 public:
  StageTimer(Counters& counters, Stage stage)
      : counters_(counters), stage_(stage), before_(std::exchange(thread_state.timed, 0.0)), begin_(now()) {
    if (counters.trace != nullptr) [[unlikely]]
      moved_ = moved_by(stage, counters);
  }
  ~StageTimer() {
    const Clock::time_point end = now();
    const double passed = std::chrono::duration<double>(end - begin_).count();
    counters_.seconds[static_cast<std::size_t>(stage_)] += passed - thread_state.timed;
    thread_state.timed = before_ + passed;
    if (counters_.trace != nullptr) [[unlikely]]
      add_to_trace(end);
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void add_to_trace(Clock::time_point end) const noexcept {
    const auto nanoseconds = [](Clock::time_point time) {
      return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
    };
    const Moved all = moved_by(stage_, counters_);
    const bool moves = stage_ != Stage::node_wait && stage_ != Stage::agree;
    counters_.trace->add(static_cast<Span>(stage_), nanoseconds(begin_), nanoseconds(end),
                         moves ? all.count - moved_.count : -1, moves ? all.bytes - moved_.bytes : -1);
  }

  Counters& counters_;
  Stage stage_;
  double before_;
  Clock::time_point begin_;
  Moved moved_;
};

/// The time of its scope in the timeline, where one is wanted.
class TraceSpan {
 public:
  TraceSpan(const Counters& counters, Span span, std::int64_t number = -1)
      : trace_(counters.trace), span_(span), number_(number) {
    if (trace_ != nullptr) [[unlikely]]
      begin_ = Trace::now();
  }
  ~TraceSpan() {
    if (trace_ != nullptr) [[unlikely]]
      trace_->add(span_, begin_, Trace::now(), number_);
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  Trace* trace_;
  Span span_;
  std::int64_t number_;
  std::int64_t begin_ = 0;
};

}  // namespace forebay
