// Asks as an open file asks.
#include "doctor_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <thread>

#include "base/hints.hpp"
#include "human.hpp"
#include "machine/machine.hpp"
#include "message.hpp"
#include "topology/aggregators.hpp"

namespace forebay::tools {

using Json = nlohmann::ordered_json;

Json examine_node() {
  const Machine& machine = this_machine();
  Settings settings;
  (void)apply_environment(settings);
  const int cores =
      std::max(1, machine.cores > 0 ? machine.cores : static_cast<int>(std::thread::hardware_concurrency()));
  const NodeParts parts{cores, std::max(1, static_cast<int>(machine.domains.size())),
                        static_cast<int>(machine.cards.size())};
  constexpr int nodes = 2;
  const AggregatorCount chosen = count_aggregators(settings.aggregators_per_node, settings.aggregators, nodes,
                                                   cores, aggregators_for(parts));
  Json cards = Json::array();
  for (const NetworkCard& card : machine.cards)
    cards.push_back({{"name", card.name}, {"domain", card.domain < 0 ? Json() : Json(card.domain)}});
  return {{"known_by", machine.known_by},      {"cores", cores},
          {"domains", machine.domains.size()}, {"cards", std::move(cards)},
          {"aggregators", chosen.count},       {"aggregators_by", word_of(chosen.by)}};
}

void print_node(const Json& node) {
  const auto line = [](const char* label, const std::string& text) {
    fmt::print("  {:<14}{}\n", label, printable(text));
  };
  fmt::print("This node\n");
  line("cores", human_count(node["cores"].get<std::int64_t>()));
  const auto domains = node["domains"].get<std::int64_t>();
  line("domains", domains > 0 ? counted(domains, "NUMA domain", "NUMA domains")
                              : "not known: hwloc is not there, and ranks are spread as on one");
  std::string cards;
  for (const Json& card : node["cards"]) {
    cards += cards.empty() ? "" : ", ";
    cards += card["name"].get<std::string>();
    if (domains > 1)
      cards += card["domain"].is_null() ? " (near no domain)"
                                        : fmt::format(" (domain {})", card["domain"].get<int>());
  }
  line("network cards", cards.empty() ? "none found" : cards);
  line("aggregators", fmt::format("{} on each of several such nodes: {}", node["aggregators"].get<int>(),
                                  why_so_many_aggregators(node["aggregators_by"].get<std::string>())));
}

}  // namespace forebay::tools
