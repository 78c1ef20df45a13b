// Gathering for the report.
#include "engine/report_at_close.hpp"

#include <vector>

#include "report/report.hpp"

namespace forebay {
namespace {

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

Status report_at_close(const Communicator& ranks, const ReportFacts& facts, NodeSet& nodes,
                       const Counters& mine) {
  RankShare share;
  share.counters = mine;
  share.node = nodes.topology().node;
  share.peak_bytes = peak_resident_bytes();
  const bool first = ranks.rank() == 0;
  // Rank 0 is an aggregator wherever there are rails, so it knows the link.
  std::vector<RankShare> shares(first ? static_cast<std::size_t>(ranks.size()) : 0);
  ranks.gather(&share, sizeof share, shares.data(), 0);
  if (!first) return {};

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
  file.thread_level = ranks.thread_level();
  return append_report(facts.settings.stats, summarize(file, shares));
}

}  // namespace forebay
