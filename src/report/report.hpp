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
  std::int64_t link_rate = 0;   ///< bytes a second, on who has measured it
  bool has_link = false;        ///< to other nodes
  bool puts = false;            ///< by one-sided puts
};

/// What is the same on all ranks.
struct FileFacts {
  std::string path;    ///< absolute
  std::string driver;  ///< "hdf5", "pnetcdf", …
  Settings settings;
  std::int64_t stripe_bytes = 0;
  std::string stripe_source;         ///< "hint", "lustre.lov", "MPI-IO", "st_blksize", "default"
  std::int64_t storage_targets = 0;  ///< that have the stripes by turns; 0: not known
  std::int64_t window_bytes = 0;     ///< file range of a round
  std::string owner_nodes;           ///< that may own parts of the file, "all" or as "0-3,8"
  std::string link;                  ///< "put", "message"; "none" where nothing crosses nodes
  std::int64_t link_rate = 0;  ///< bytes a second of the slowest rail while all send; 0: nobody has measured
  /// Of the node of rank 0; domains with ranks of their own, and cards, are 0 where nobody asked.
  struct {
    std::int64_t domains = 0;
    std::int64_t cards = 0;
    std::int64_t aggregators = 0;  ///< of each node
    std::string aggregators_by;    ///< what decided their number: word_of(CountedBy); ""
  } node;
  std::string storage;       ///< what was really used: "mpiio", "posix", …; "stock"
  std::string file_system;   ///< by the name in the table of those that are known
  bool fills_holes = false;  ///< blocks put in part may be read, completed and written whole
  std::string thread_level;  ///< "single" … "multiple"; "" where nobody asked
};

struct StageSeconds {
  double max = 0;   ///< the slowest rank
  double mean = 0;  ///< over all ranks
};

constexpr std::size_t stage_count = static_cast<std::size_t>(Stage::count);

/// Time by rank: of each group of neighbouring ranks its slowest one's, in all stages and in those that write
/// or read the file.
struct RankSeconds {
  double all = 0;
  double file = 0;
};
constexpr std::size_t most_rank_groups = 32;

/// All that happened to one file, from one open to its close or over several.
struct FileReport {
  FileFacts facts;
  std::string program;  ///< that closed it last
  std::string host;     ///< of the file's first rank
  std::string date;     ///< of the last close
  std::int64_t opens = 1;
  std::int64_t stock_opens = 0;            ///< of these, left to the library's own driver
  std::vector<std::string> stock_reasons;  ///< why, each once
  std::int64_t ranks = 0;
  std::int64_t nodes = 0;
  std::int64_t least_ranks_per_node = 0;
  std::int64_t most_ranks_per_node = 0;
  std::vector<std::int64_t> aggregators;  ///< ranks of the file's communicator that owned file domains
  Counters total;  ///< summed; rounds and collective_flushes, in which all ranks take part, are the largest
  std::array<StageSeconds, stage_count> seconds{};
  std::int64_t ranks_a_group = 0;  ///< 0: there are none, as of an open that was left to stock
  std::vector<RankSeconds> by_rank;
  std::int64_t peak_sum_bytes = 0;
  std::int64_t peak_max_bytes = 0;
  std::vector<std::string> notes;
};

/// Sums up the shares, in rank order, and adds program, host, date and notes.
FileReport summarize(const FileFacts& facts, std::span<const RankShare> shares);

/// An open of a file that was left to the library's own driver, which counts nothing here but the bytes that
/// it says itself (0: it does not).
FileReport left_to_stock(const std::string& path, const std::string& driver, const std::string& reason,
                         std::int64_t ranks, std::int64_t put_bytes, std::int64_t get_bytes);

/// What became of a file after its close: counters alone, of no open. Where the document knows the file these
/// are added to its own.
FileReport after_close(const std::string& path, const std::string& driver, const Counters& counters);

/// Adds a later open of the same file, by the same driver, to what is known of it, and makes the notes anew.
void fold(FileReport& report, const FileReport& later);

/// How a counter's values of several ranks, or of several opens, become one.
enum class Sum { all, largest };

/// One counter: where it stands in a report's JSON, and how it is summed.
struct CounterField {
  const char* place;
  std::int64_t Counters::* value;
  Sum over_ranks;
  Sum over_opens;
};
std::span<const CounterField> counter_fields();

/// The sentences of a report whose numbers are complete: what kept Forebay from gaining anything, and what to
/// do.
std::vector<std::string> notes_on(const FileReport& report);

/// What bit `bit` of H5Pget_mpio_no_collective_cause means.
std::string name_of_cause(std::size_t bit);

/// Largest resident memory of this process so far, in bytes; 0 where the system does not tell.
std::int64_t peak_resident_bytes();

/// Adds the report to the JSON document at `path` (docs/report.schema.json), made if missing or empty. A file
/// that is known to the document already gets the new numbers added. Where the document is as we write it,
/// that takes the same time whatever its length. Safe against other processes that do the same: under a lock
/// (flock), which readers may share. Anything else than such a document at `path` is an error and stays as
/// it is.
Status append_report(const std::string& path, const FileReport& report);

/// Makes the document at `path` one without files, which tells a run in which Forebay wrote nothing from a
/// run without it. `command`: what is run; "": this process. As with append_report, anything else at `path`
/// is an error and stays.
Status start_report(const std::string& path, const std::string& command = "");

}  // namespace forebay
