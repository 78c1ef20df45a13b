// Timelines of all ranks as one JSON file of trace events, which ui.perfetto.dev and Chrome open.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/trace.hpp"

namespace forebay {

/// One rank's clock around barriers of all ranks: no rank leaves one before all have entered it. Nanoseconds.
struct ClockSamples {
  static constexpr std::size_t count = 8;
  std::array<std::int64_t, count> enter{};
  std::array<std::int64_t, count> leave{};
};

/// What is told of one rank's timeline; trivially copyable, so that it can be gathered as bytes.
struct TraceRank {
  std::int64_t events = 0;
  std::int64_t dropped = 0;
  std::int64_t world_rank = 0;  ///< by the launcher, else the file's
  std::int64_t node = 0;        ///< of the file's, 0 … nodes-1
  ClockSamples at_open, at_close;
  std::array<char, 64> host{};
};

/// How far a node's clock is ahead of rank 0's: the same all the time where that may be, else a line through
/// what is known at open and at close.
struct ClockFit {
  double begin = 0, end = 0;  ///< times of this node's clock, nanoseconds
  double ahead_at_begin = 0, ahead_at_end = 0;
  double error = 0;  ///< nanoseconds; the truth at open and at close is within
  double ahead(double time) const;
};
/// By node. Barriers bound how far a clock may be ahead, from both sides; of all ranks of a node and all
/// barriers the narrowest bounds hold.
std::vector<ClockFit> fit_clocks(std::span<const TraceRank> ranks);

/// Makes the file at `path` a timeline without events, which begins now. Anything else than a timeline of
/// ours there is an error and stays.
Status start_trace(const std::string& path, const std::string& command = "");
/// The same where nothing is there; a timeline stays.
Status continue_trace(const std::string& path);

/// Adds one file's events, rank by rank in parts, to the timeline. The file is complete JSON after each part.
/// Locked meanwhile.
class TraceFile {
 public:
  TraceFile();
  ~TraceFile();

  /// `file`: the one whose timeline it is. `clock_to_wall`: what makes rank 0's steady clock time since 1970.
  Status open(const std::string& path, const std::string& file, std::span<const TraceRank> ranks,
              std::int64_t clock_to_wall);
  Status add(std::size_t rank, std::span<const TraceEvent> events);
  /// Writes what add has gathered.
  Status write();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace forebay
