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
  // what the program asked for
  std::int64_t requests = 0;  ///< put requests that carried bytes
  std::int64_t pieces =
      0;  ///< contiguous file runs of those requests, after merging neighbours within a request
  std::int64_t bytes = 0;  ///< bytes of those requests
  std::int64_t collective_flushes = 0;
  std::int64_t independent_writes = 0;  ///< calls of the program
  std::int64_t gets = 0;                ///< get requests that asked for bytes
  std::int64_t get_pieces = 0;
  std::int64_t get_bytes = 0;
  std::int64_t collective_reads = 0;
  // of the puts, what commit mode kept beyond their calls
  std::int64_t pooled_requests = 0;
  std::int64_t pooled_calls = 0;     ///< collective ones, in which all ranks kept theirs
  std::int64_t pool_conflicts = 0;   ///< flushes because a later call might overlap what was kept
  std::int64_t order_conflicts = 0;  ///< bytes that several nodes kept at once, where that is looked for
  std::int64_t pool_peak_bytes = 0;  ///< the most that this rank kept
  // after node coalescing, counted by aggregators
  std::int64_t node_runs =
      0;  ///< contiguous runs left in the windows once all ranks of a node have put theirs
  std::int64_t node_bytes = 0;
  std::int64_t rounds = 0;
  // between nodes
  std::int64_t messages = 0;
  std::int64_t message_bytes = 0;
  std::int64_t puts = 0;  ///< of the messages, those that were one-sided puts
  // what the library wrote of its own accord, apart from the program's data
  std::int64_t metadata_writes = 0;
  std::int64_t metadata_bytes = 0;
  std::int64_t fill_writes = 0;
  std::int64_t fill_bytes = 0;
  // what this rank's calls left to the library's own driver, in a file that is served otherwise
  std::int64_t stock_puts = 0;  ///< calls
  std::int64_t stock_put_bytes = 0;
  std::int64_t stock_gets = 0;
  std::int64_t stock_get_bytes = 0;
  // writes that the program made collectively and HDF5 broke into independent ones, and for which of its
  // reasons (bit i of H5Pget_mpio_no_collective_cause)
  std::int64_t broken_writes = 0;
  std::array<std::int64_t, 16> broken_causes{};
  // to the file
  std::int64_t writes = 0;
  std::int64_t written_bytes = 0;
  std::int64_t aligned_writes = 0;  ///< began and ended on a stripe (or block) boundary
  std::int64_t bypass_writes = 0;
  std::int64_t bypass_bytes = 0;
  std::int64_t rmw_blocks = 0;  ///< blocks with holes that were read, merged and written whole
  std::int64_t reads = 0;
  std::int64_t read_bytes = 0;
  std::array<std::int64_t, 40> write_sizes{};  ///< histogram: bucket i counts writes of [2^i, 2^(i+1)) bytes
  // memory and time
  std::int64_t window_bytes = 0;   ///< memory of the node's window (set by one rank of a node)
  std::int64_t segment_bytes = 0;  ///< and of what it keeps in commit mode
  std::array<double, static_cast<int>(Stage::count)> seconds{};
  std::int64_t aggregator = 0;  ///< 1 if this rank owned file domains in any flush

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
