// The newest of what one rank did with one file, for a timeline: which stage or call, when, how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace forebay {

/// What lasts: first the stages, as in Stage, then what they are parts of.
enum class Span : std::uint16_t {
  walk,
  pool,
  scatter,
  node_wait,
  exchange,
  write,
  read,
  pick,
  agree,
  round,
  collective_write,
  collective_read,
  flush,
  sync,
  open,
  close,
  count
};

struct TraceEvent {
  std::int64_t begin = 0;   ///< nanoseconds of this machine's steady clock
  std::int64_t length = 0;  ///< nanoseconds
  std::int64_t count =
      -1;  ///< pieces, writes, reads or messages; a round's number. -1: there is no such number
  std::int64_t bytes = -1;
  Span span = Span::count;
  std::uint16_t thread = 0;  ///< of the process, in the order in which they came; 0: the first
};

/// Takes events until its memory is full; then each takes the oldest one's place. All of a process share
/// memory for 64 Ki events. Any thread may add: another one that opens the same file makes this one flush.
class Trace {
 public:
  static constexpr std::size_t most = 64 << 10;
  static constexpr std::size_t chunk = 1 << 10;

  Trace() = default;
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  void add(Span span, std::int64_t begin, std::int64_t end, std::int64_t count = -1,
           std::int64_t bytes = -1) noexcept;

  // Once nothing is added any more:

  std::size_t size() const { return events_.size(); }
  /// By age, the oldest first.
  const TraceEvent& operator[](std::size_t i) const { return events_[(first_ + i) % events_.size()]; }
  std::int64_t dropped() const { return dropped_; }

  /// Now, in nanoseconds of the steady clock.
  static std::int64_t now() noexcept;

 private:
  bool grow() noexcept;

  std::mutex mutex_;
  std::vector<TraceEvent> events_;
  std::size_t room_ = 0;   // a multiple of chunk
  std::size_t first_ = 0;  // the oldest, once there is no room
  std::int64_t dropped_ = 0;
};

}  // namespace forebay
