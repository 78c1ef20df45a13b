// Gathering for the report.
#include "engine/report_at_close.hpp"

#include <vector>

#include "report/report.hpp"

namespace forebay {
namespace {

const char* thread_level() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  switch (level) {
    case MPI_THREAD_FUNNELED:
      return "funneled";
    case MPI_THREAD_SERIALIZED:
      return "serialized";
    case MPI_THREAD_MULTIPLE:
      return "multiple";
    default:
      return "single";
  }
}

const char* storage_name(StorageKind kind) {
  switch (kind) {
    case StorageKind::posix:
      return "posix";
    case StorageKind::null:
      return "null";
    case StorageKind::failing:
      return "failing";
    default:
      return "mpiio";
  }
}

}  // namespace

Status report_at_close(MPI_Comm comm, const ReportFacts& facts, NodeSet& nodes, const Counters& mine) {
  RankShare share;
  share.counters = mine;
  share.node = nodes.topology().node;
  share.peak_bytes = peak_resident_bytes();
  const int rank = mpi::rank(comm);
  // Rank 0 is an aggregator wherever there are rails, so it knows the link.
  std::vector<RankShare> shares(rank == 0 ? static_cast<std::size_t>(mpi::size(comm)) : 0);
  MPI_Gather(&share, static_cast<int>(sizeof share), MPI_BYTE, shares.data(), static_cast<int>(sizeof share),
             MPI_BYTE, 0, comm);
  if (rank != 0) return {};

  FileFacts file;
  file.path = facts.path;
  file.driver = facts.driver;
  file.settings = facts.settings;
  file.stripe_bytes = facts.stripe_bytes;
  file.window_bytes = facts.round_bytes;
  file.link = nodes.topology().nodes == 1 ? "none" : nodes.link_used() == Link::put ? "put" : "message";
  file.file_system = facts.file.system().name;
  file.fills_holes = facts.file.fills_holes();
  file.storage = storage_name(facts.settings.storage);
  file.thread_level = thread_level();
  return append_report(facts.settings.stats, summarize(file, shares));
}

}  // namespace forebay
