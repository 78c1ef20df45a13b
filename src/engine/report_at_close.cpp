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
  share.has_link = topology.rail_comm != nullptr && topology.rail >= 0;
  share.puts = file.nodes->link_used() == Link::put;
  share.link_rate = file.nodes->measured_rate();
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
  facts.link = "none";
  for (const RankShare& one : shares) {
    if (!one.has_link) continue;
    facts.link = one.puts ? "put" : "message";  // the same for all rails
    facts.link_rate = one.link_rate;
  }
  facts.node = {topology.parts.domains, topology.parts.cards, topology.aggregators,
                word_of(topology.counted_by)};
  facts.file_system = file.file.system().name;
  facts.fills_holes = file.file.fills_holes();
  facts.storage = word_of(file.settings.storage);
  facts.thread_level = ranks.thread_level();
  return append_report(file.settings.stats, summarize(facts, shares));
}

}  // namespace forebay
