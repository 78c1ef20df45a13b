// What one rank counts of one file; the engine reduces it over ranks at close and writes the report.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

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

/// Adds the time of its scope to one stage.
class StageTimer {
 public:
  StageTimer(Counters& counters, Stage stage)
      : seconds_(counters.seconds[static_cast<std::size_t>(stage)]),
        begin_(std::chrono::steady_clock::now()) {}
  ~StageTimer() {
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace forebay
