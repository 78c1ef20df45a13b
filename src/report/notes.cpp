// The plain sentences of a report: what kept Forebay from gaining anything, so that nobody searches for it.
#include <cstdio>

#include "report/report.hpp"

namespace forebay {
namespace {

// From this size on a parallel file system takes pieces well as they come.
constexpr std::int64_t large_piece = 256 << 10;
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

std::string percent(double part, double whole) {
  char text[24];
  std::snprintf(text, sizeof text, "%.0f %%", whole > 0 ? 100 * part / whole : 0);
  return text;
}

}  // namespace

std::vector<std::string> notes_on(const FileReport& report) {
  std::vector<std::string> notes;
  const Counters& c = report.total;
  if (report.facts.settings.storage == StorageKind::null) {
    notes.emplace_back(
        "forebay_storage=null: the requests were walked and discarded, the file does not hold them.");
    return notes;
  }
  if (c.requests == 0 || c.bytes == 0) {
    notes.emplace_back("The program put no data into this file: there was nothing to gather.");
    return notes;
  }
  // What commit mode kept was gathered, whoever put it.
  const bool kept = 2 * c.pooled_requests > c.requests;
  if (c.collective_flushes == 0 && !kept) {
    notes.emplace_back(
        "Every write was independent, and each went to the file by itself: nothing could be merged between "
        "ranks. "
        "Collective writes (PnetCDF's _all calls, HDF5's H5FD_MPIO_COLLECTIVE) let Forebay gather them.");
  } else if (!kept && c.independent_writes > 100 && 2 * c.independent_writes > c.writes) {
    notes.emplace_back(
        "Most writes to the file were independent calls, which are not gathered. Collective writes "
        "(PnetCDF's "
        "_all calls, HDF5's H5FD_MPIO_COLLECTIVE) let Forebay gather them.");
  } else if (report.ranks == 1) {
    notes.emplace_back(
        "One rank wrote this file alone: there is nothing to merge between ranks. Where a program moves its "
        "data to a few "
        "writers first, let more ranks write.");
  } else if (report.most_ranks_per_node == 1) {
    notes.emplace_back(
        "Every node has one rank of this file: node coalescing has nothing to gain. Where a program moves "
        "its data to one "
        "writer a node first (the I/O tasks of PIO and SCORPIO), let more ranks of a node write.");
  }
  if (c.order_conflicts > 0) {
    notes.push_back("Ranks of several nodes wrote the same " + size_text(c.order_conflicts) +
                    " without a flush between: whose bytes are in the file is not certain. Let a flush "
                    "(H5Fflush, ncmpi_sync, tcio_flush) come between, or use forebay_mode=strict.");
  }
  const auto bytes = static_cast<double>(c.bytes);
  if (c.bypass_bytes > 0 && static_cast<double>(c.bypass_bytes) >= 0.95 * bytes) {
    const std::int64_t limit = report.facts.settings.bypass_bytes;
    notes.push_back(percent(static_cast<double>(c.bypass_bytes), bytes) +
                    " of the bytes went straight to the file" +
                    (c.collective_flushes > 0 ? " as contiguous runs of at least " + size_text(limit) +
                                                    " (forebay_bypass_bytes): a copy would gain nothing."
                                              : "."));
  } else if (c.pieces > 0 && c.bytes / c.pieces >= large_piece) {
    notes.push_back("The average piece is " + size_text(c.bytes / c.pieces) +
                    ": such pieces are written well as they come, gathering them gains little.");
  }
  if (!report.facts.fills_holes && report.facts.settings.fill_holes == FillHoles::automatic &&
      c.writes > many_writes && c.written_bytes / c.writes < small_write) {
    notes.push_back("What was put in parts was written part by part, in " + std::to_string(c.writes) +
                    " writes: this file system (" + report.facts.file_system +
                    ") is not known to show at once on every node what another one wrote. Where it does, "
                    "forebay_fill_holes=enable has such blocks read, completed and written whole.");
  }
  return notes;
}

}  // namespace forebay
