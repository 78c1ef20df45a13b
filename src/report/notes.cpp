// The plain sentences of a report: what kept Forebay from gaining anything, and what to do about it.
#include <algorithm>
#include <cstdio>

#include "report/report.hpp"

namespace forebay {
namespace {

// From this size on a parallel file system takes pieces well as they come.
constexpr std::int64_t large_piece = 256 << 10;
// Fewer writes than this are no trouble, whatever their size.
constexpr std::int64_t small_write = 4 << 10, many_writes = 1000;

std::string size_text(std::int64_t bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

// "3.9 million", "12 thousand", "12".
std::string count_text(std::int64_t count) {
  char text[48];
  if (count >= 1'000'000)
    std::snprintf(text, sizeof text, "%.1f million", static_cast<double>(count) / 1e6);
  else if (count >= 10'000)
    std::snprintf(text, sizeof text, "%.0f thousand", static_cast<double>(count) / 1e3);
  else
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(count));
  return text;
}

std::string counted(std::int64_t count, const std::string& what) {
  return count_text(count) + " " + what + (count == 1 ? "" : "s");
}

std::string percent(double part, double whole) {
  char text[24];
  std::snprintf(text, sizeof text, "%.0f %%", whole > 0 ? 100 * part / whole : 0);
  return text;
}

/// What of the file the library's own driver did.
void add_stock(const FileReport& report, std::vector<std::string>& notes) {
  const Counters& c = report.total;
  const std::string& driver = report.facts.driver;
  const std::string library = driver == "hdf5" ? "HDF5" : driver == "pnetcdf" ? "PnetCDF" : driver;
  if (report.stock_opens > 0) {
    std::string reasons;
    for (const std::string& reason : report.stock_reasons) reasons += (reasons.empty() ? "" : "; ") + reason;
    const std::string which =
        report.stock_opens == report.opens
            ? "This file was left"
            : count_text(report.stock_opens) + " of " + counted(report.opens, "open") + " were left";
    notes.push_back(which + " to " + library + "'s own driver: " + reasons +
                    ". Its writes are not counted here.");
  }
  if (c.stock_puts == 0) return;
  const std::string what = counted(c.stock_puts, "put") + " (" + size_text(c.stock_put_bytes) + ") went by ";
  if (driver == "hdf5") {
    notes.push_back(
        what +
        "MPI-IO's own collective writes: HDF5 hands such transfers over as datatypes where "
        "selection I/O is off (H5Pset_selection_io) or not possible (H5Pget_no_selection_io_cause).");
  } else {
    notes.push_back(what + library +
                    "'s own driver, each by itself, as independent ones in strict mode do: "
                    "there nothing could be merged, and the number of records is that driver's to keep. "
                    "forebay run without --mode, or forebay_keeper=start, gathers them.");
  }
}

void add_broken(const FileReport& report, std::vector<std::string>& notes) {
  const Counters& c = report.total;
  if (c.broken_writes == 0) return;
  std::string causes;
  for (std::size_t i = 0; i < c.broken_causes.size(); ++i) {
    if (c.broken_causes[i] > 0) causes += (causes.empty() ? "" : "; ") + name_of_cause(i);
  }
  notes.push_back("The program wrote collectively, but HDF5 made " +
                  counted(c.broken_writes, "independent write") +
                  " of it: " + (causes.empty() ? "it does not say why" : causes) +
                  (report.facts.settings.mode == Mode::strict
                       ? ". forebay run without --mode, or forebay_keeper=start, gathers these, too."
                       : "."));
}

/// Independent writes, and what helps: never "write collectively" where the program did, or where the library
/// wrote of its own accord.
bool add_independent(const FileReport& report, std::vector<std::string>& notes) {
  const Counters& c = report.total;
  const bool strict = report.facts.settings.mode == Mode::strict;
  const std::int64_t own = c.independent_writes - std::min(c.independent_writes, c.broken_writes);
  const bool kept = 2 * c.pooled_requests > c.requests;
  if (kept || own == 0) return false;
  const std::string advice =
      std::string(strict ? "forebay run without --mode, or forebay_keeper=start, gathers them; so do"
                         : "Try") +
      " collective writes (PnetCDF's _all calls, HDF5's H5FD_MPIO_COLLECTIVE).";
  if (c.collective_flushes == 0) {
    notes.push_back(
        "Every write was independent, and each went to the file by itself: nothing could be merged "
        "between ranks. " +
        advice);
    return true;
  }
  const std::int64_t data_writes = c.writes - std::min(c.writes, c.metadata_writes);
  if (own > 100 && 2 * own > data_writes) {
    notes.push_back("Most writes to the file were independent calls, which are not gathered. " + advice);
    return true;
  }
  return false;
}

void add_tiny_writes(const FileReport& report, std::vector<std::string>& notes) {
  const Counters& c = report.total;
  const Settings& s = report.facts.settings;
  if (c.metadata_writes > many_writes / 10 && 2 * c.metadata_writes > c.writes) {
    notes.push_back(count_text(c.metadata_writes) + " of " + counted(c.writes, "write") +
                    " are HDF5's metadata, " + size_text(c.metadata_bytes / c.metadata_writes) +
                    " on average; forebay_metadata=collective writes it together.");
    return;
  }
  if (c.writes < many_writes || c.written_bytes / c.writes >= small_write) return;
  const std::string what =
      counted(c.writes, "write") + " of " + size_text(c.written_bytes / c.writes) + " on average: ";
  if (s.mode == Mode::commit) {
    const std::int64_t pool = s.pool_bytes > 0 ? s.pool_bytes : s.memory_bytes / 4;
    // Else it is something else that is small, as the number of records that each put writes.
    if (c.pool_peak_bytes < pool / 2) return;
    notes.push_back(what +
                    "what is kept does not hold enough of the file at once. Raise forebay_pool_bytes (now " +
                    size_text(pool) + " a rank).");
  } else if (c.independent_writes > 0) {
    notes.push_back(what + "forebay run without --mode, or forebay_keeper=start, gathers them over calls.");
  }
}

/// Where ranks waited for room in the log.
void add_log(const FileReport& report, std::vector<std::string>& notes) {
  const Counters& c = report.total;
  if (c.log_full_waits == 0) return;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3f s", static_cast<double>(c.log_full_wait_microseconds) / 1e6);
  notes.push_back(
      "The log was full " + counted(c.log_full_waits, "time") + ", and ranks waited " + seconds +
      " for room. " +
      (report.facts.settings.drain == Drain::background
           ? "The file takes less than the program writes: raise forebay_log_bytes, or sync less often."
           : "Raise forebay_log_bytes, or let the keeper process drain it meanwhile "
             "(forebay_drain=background)."));
}

/// Where the file does not lie as forebay_stripe asks.
void add_stripes(const FileFacts& facts, std::vector<std::string>& notes) {
  const NewStripes asked = facts.settings.new_stripes;
  if (asked == NewStripes::none || facts.stripe_source.empty()) return;
  if (facts.file_system != "lustre") {
    notes.push_back("forebay_stripe lays out files on Lustre; this one lies on " + facts.file_system + ".");
    return;
  }
  const bool known = asked != NewStripes::automatic && facts.stripe_source == "lustre.lov";
  if (!known || (facts.stripe_bytes == unit_of(asked) && facts.storage_targets == count_of(asked))) return;
  notes.push_back("The file has stripes of " + size_text(facts.stripe_bytes) + " on " +
                  std::to_string(facts.storage_targets) +
                  " storage targets, not those of forebay_stripe: it was there already, its folder has a "
                  "layout of its own, PnetCDF created it, or there are no more targets.");
}

}  // namespace

std::string name_of_cause(std::size_t bit) {
  constexpr const char* names[] = {
      "another rank asked for independent transfer",
      "the datatype in memory is another than in the file, and the conversion buffer is too small "
      "(H5Pset_buffer), or selection I/O is off",
      "a data transform is set (H5Pset_data_transform)",
      "HDF5_MPI_OPT_TYPES switches it off",
      "a dataspace is neither simple nor scalar",
      "the dataset is neither contiguous nor chunked",
      "this HDF5 writes no filtered data in parallel",
      "HDF5 met an error while it looked",
      "selection I/O is off (H5Pset_selection_io), or not possible for this transfer",
  };
  return bit < std::size(names) ? names[bit]
                                : "cause " + std::to_string(bit) + " of H5Pget_mpio_no_collective_cause";
}

std::vector<std::string> notes_on(const FileReport& report) {
  std::vector<std::string> notes;
  const Counters& c = report.total;
  if (report.facts.settings.storage == StorageKind::null) {
    notes.emplace_back(
        "forebay_storage=null: the requests were walked and discarded, the file does not hold them.");
    return notes;
  }
  add_stock(report, notes);
  if (report.stock_opens == report.opens) return notes;
  add_stripes(report.facts, notes);
  if (c.requests == 0 || c.bytes == 0) {
    if (c.stock_puts == 0 && c.get_bytes == 0)
      notes.emplace_back("The program put no data into this file: there was nothing to gather.");
    return notes;
  }
  add_broken(report, notes);
  add_log(report, notes);
  if (!add_independent(report, notes)) {
    if (report.ranks == 1) {
      notes.emplace_back(
          "One rank wrote this file alone: there is nothing to merge between ranks. Where a program moves "
          "its data to a few writers first, let more ranks write.");
    } else if (report.most_ranks_per_node == 1) {
      notes.emplace_back(
          "Every node has one rank of this file: node coalescing has nothing to gain. Where a program moves "
          "its data to one writer a node first (the I/O tasks of PIO and SCORPIO), let more ranks of a node "
          "write.");
    }
    add_tiny_writes(report, notes);
  }
  if (c.order_conflicts > 0) {
    notes.push_back("Ranks of several nodes wrote the same " + size_text(c.order_conflicts) +
                    " without a flush between: whose bytes are in the file is not certain. Let a flush "
                    "(H5Fflush, ncmpi_sync, tcio_flush) come between, or use forebay_mode=strict.");
  }
  const auto bytes = static_cast<double>(c.bytes + c.fill_bytes);
  if (c.bypass_bytes > 0 && static_cast<double>(c.bypass_bytes) >= 0.95 * bytes) {
    notes.push_back(percent(static_cast<double>(c.bypass_bytes), bytes) +
                    " of the bytes went straight to the file" +
                    (c.collective_flushes > 0
                         ? " as long contiguous runs (forebay_bypass_bytes): a copy would gain nothing."
                         : "."));
  } else if (c.pieces > 0 && c.bytes / c.pieces >= large_piece) {
    notes.push_back("The average piece is " + size_text(c.bytes / c.pieces) +
                    ": such pieces are written well as they come, gathering them gains little.");
  }
  const std::int64_t data_writes = c.writes - c.metadata_writes;
  if (!report.facts.fills_holes && report.facts.settings.fill_holes == FillHoles::automatic &&
      data_writes > many_writes && (c.written_bytes - c.metadata_bytes) / data_writes < small_write) {
    notes.push_back("What was put in parts was written part by part, in " + std::to_string(data_writes) +
                    " writes: this file system (" + report.facts.file_system +
                    ") is not known to show at once on every node what another one wrote. Where it does, "
                    "forebay_fill_holes=enable has such blocks read, completed and written whole.");
  }
  return notes;
}

}  // namespace forebay
