// What a user can choose for one file: the typed values behind the `forebay_*` hints.
#pragma once

#include <cstdint>
#include <string>

namespace forebay {

enum class Link { automatic, put, message };  ///< how packed bytes cross between nodes
/// null walks and discards; failing is for tests. An open file's is never automatic.
enum class StorageKind { automatic, mpiio, posix, null, failing };
enum class Mode { strict, commit };  ///< when bytes must be in the file
/// What is looked for that costs time. order: bytes that several nodes keep at once.
enum class Check { none, order };
/// How a library's own data is written: as the program says, or by all ranks together.
enum class Metadata { independent, collective };
/// Whether blocks of which only parts were put are read, completed and written whole.
enum class FillHoles { automatic, enable, disable };

/// Defaults are the hint table's defaults (base/hints.cpp holds names, ranges and meanings). Sizes are bytes.
struct Settings {
  bool enabled = true;                           ///< forebay_enable: off means the stock driver
  Mode mode = Mode::strict;                      ///< forebay_mode
  StorageKind storage = StorageKind::automatic;  ///< forebay_storage
  Link link = Link::automatic;                   ///< forebay_link
  Metadata metadata = Metadata::independent;     ///< forebay_metadata
  FillHoles fill_holes = FillHoles::automatic;   ///< forebay_fill_holes
  std::int64_t stripe_bytes = 0;  ///< forebay_stripe_bytes, striping_unit; 0: the file system's, else 512 KiB
  std::int64_t window_bytes =
      0;  ///< forebay_window_bytes: one round of file range; 0: chosen from owners and stripe
  std::int64_t memory_bytes =
      16 << 20;  ///< forebay_memory_bytes: bound a rank on what Forebay allocates itself
  std::int64_t bypass_bytes =
      1 << 20;  ///< forebay_bypass_bytes: contiguous runs at least this long skip the windows; 0: never
  std::int64_t pool_bytes = 0;     ///< forebay_pool_bytes: what a rank keeps in commit mode; 0: a quarter of
                                   ///< memory_bytes
  std::int64_t segment_bytes = 0;  ///< forebay_segment_bytes: of what a node keeps; 0: the stripe, or less
  int segments = 0;  ///< forebay_segments: how many of them for each rank; 0: as pool_bytes says
  int patience_seconds =
      60;  ///< forebay_patience_seconds: how long a rank waits for others in silence; 0: for ever
  int commit_seconds = 30;       ///< forebay_commit_seconds: how long it keeps that
  Check check = Check::none;     ///< forebay_check
  int aggregators_per_node = 0;  ///< forebay_aggregators_per_node, nc_num_aggrs_per_node; 0: chosen
  int aggregators = 0;  ///< cb_nodes: owners of the whole file, where aggregators_per_node is 0; 0: chosen
  std::int64_t aggregator_bytes =
      0;  ///< cb_buffer_size: an owner's share of a round, where window_bytes is 0; 0: chosen
  int ranks_per_node =
      0;  ///< forebay_ranks_per_node: split nodes into pseudo nodes of so many ranks; 0: as MPI says
  std::string stats;  ///< forebay_stats: append the report of each file to this JSON file at close
  std::int64_t fail_after_bytes =
      0;               ///< forebay_fail_after_bytes: storage=failing fails once so many bytes were written
  int fail_rank = -1;  ///< forebay_fail_rank: the only rank on which storage=failing fails; -1: every rank
  std::int64_t delay_usec =
      0;  ///< forebay_delay_usec: random delay up to this before file accesses, for tests
};

}  // namespace forebay
