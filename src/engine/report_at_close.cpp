// Gathering for the report.
#include "engine/report_at_close.hpp"

#include <vector>

#include "base/hints.hpp"
#include "engine/file_context.hpp"
#include "layout/owner_nodes.hpp"
#include "report/report.hpp"

namespace forebay {

Status report_at_close(const FileContext& file) {
  const Topology& topology = file.nodes->topology();
  RankShare share;
  share.counters = file.counters;
  share.node = topology.node;
  share.peak_bytes = peak_resident_bytes();
  const Communicator& ranks = *file.comm;
  const bool first = ranks.rank() == 0;
  // Rank 0 is an aggregator wherever there are rails, so it knows the link.
  std::vector<RankShare> shares(first ? static_cast<std::size_t>(ranks.size()) : 0);
  ranks.gather(&share, sizeof share, shares.data(), 0);
  if (!first) return {};

  FileFacts facts;
  facts.path = file.reported_path;
  facts.driver = file.options.driver;
  facts.settings = file.settings;
  facts.stripe_bytes = file.layout.stripe_bytes();
  facts.stripe_source = file.stripe_source;
  facts.storage_targets = file.layout.striping().factor;
  facts.window_bytes = file.layout.round_bytes();
  facts.owner_nodes = text_of(choice_of(topology.owning));
  facts.link = topology.nodes == 1 ? "none" : file.nodes->link_used() == Link::put ? "put" : "message";
  facts.file_system = file.file.system().name;
  facts.fills_holes = file.file.fills_holes();
  facts.storage = word_of(file.settings.storage);
  facts.thread_level = ranks.thread_level();
  return append_report(file.settings.stats, summarize(facts, shares));
}

}  // namespace forebay
