// What Forebay tells about one file once it is closed: every rank's counters summed up, and sentences for
// people.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/counters.hpp"
#include "base/settings.hpp"
#include "base/status.hpp"

namespace forebay {

/// One rank's part of a report; trivially copyable, so that it can be gathered as bytes.
struct RankShare {
  Counters counters;
  std::int64_t node = 0;        ///< the same for the ranks of a node, 0 … nodes-1
  std::int64_t peak_bytes = 0;  ///< largest resident memory of the process, program and libraries included
};

/// What is the same on all ranks.
struct FileFacts {
  std::string path;
  std::string driver;  ///< "hdf5", "pnetcdf", …
  Settings settings;
  std::int64_t stripe_bytes = 0;
  std::int64_t window_bytes = 0;  ///< file range of a round
  std::string link;               ///< "put", "message"; "none" where nothing crosses nodes
  std::string storage;            ///< what was really used: "mpiio", "posix", …
  std::string file_system;        ///< by the name in the table of those that are known
  bool fills_holes = false;       ///< blocks put in part may be read, completed and written whole
  std::string thread_level;       ///< "single" … "multiple"
};

struct StageSeconds {
  double max = 0;   ///< the slowest rank
  double mean = 0;  ///< over all ranks
};

constexpr std::size_t stage_count = static_cast<std::size_t>(Stage::count);

struct FileReport {
  FileFacts facts;
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
  std::int64_t least_ranks_per_node = 0;
  std::int64_t most_ranks_per_node = 0;
  std::vector<std::int64_t> aggregators;  ///< ranks of the file's communicator that owned file domains
  Counters total;  ///< summed; rounds and collective_flushes, in which all ranks take part, are the largest
  std::array<StageSeconds, stage_count> seconds{};
  std::int64_t peak_sum_bytes = 0;
  std::int64_t peak_max_bytes = 0;
  std::vector<std::string> notes;
};

/// Sums up the shares, in rank order, and adds the notes.
FileReport summarize(const FileFacts& facts, std::span<const RankShare> shares);

/// The sentences of a report whose numbers are complete: why a setting left nothing to gain, and what to do.
std::vector<std::string> notes_on(const FileReport& report);

/// "walk", "scatter", …
const char* name_of(Stage stage);

/// Largest resident memory of this process so far, in bytes; 0 where the system does not tell.
std::int64_t peak_resident_bytes();

/// Adds the report to the JSON document at `path` (docs/report.schema.json), made if missing or empty: at its
/// end where that is as we write it, whatever its length. Safe against other processes that do the same:
/// under a lock (flock), which readers may share. Anything else than such a document at `path` is an error
/// and stays as it is.
Status append_report(const std::string& path, const FileReport& report);

/// Makes the document at `path` one without files, which tells a run in which Forebay wrote nothing from a
/// run without it. As with append_report, anything else at `path` is an error and stays.
Status start_report(const std::string& path);

/// The document's text with one report, as append_report writes it.
std::string format_report(const FileReport& report);

}  // namespace forebay
