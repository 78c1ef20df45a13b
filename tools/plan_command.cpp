// forebay plan: the question from the command line, the plan as a table and as JSON.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "announce.hpp"
#include "base/hints.hpp"
#include "commands.hpp"
#include "human.hpp"
#include "layout/owner_nodes.hpp"
#include "whole_file.hpp"
#include "write_plan.hpp"

namespace forebay::tools {
namespace {

using Row = std::pair<std::string, std::string>;

Status take(const PlanOptions& o, WriteQuestion& q) {
  Status status = apply_environment(q.settings);
  // Sizes are read by the one parser of hints, in a field that takes any.
  Settings any;
  if (status.ok() && !set_hint(any, "forebay_pool_bytes", o.bytes, Origin::command).ok())
    status = {Code::bad_hint, "--bytes: \"" + o.bytes + "\" is no number of bytes, as 65536, 512k or 1m"};
  q.rank_bytes = any.pool_bytes;
  const auto set = [&](const char* hint, const std::string& value) {
    if (status.ok() && !value.empty()) status = set_hint(q.settings, hint, value, Origin::command);
  };
  set("forebay_stripe_bytes", o.stripe);
  set("forebay_aggregators_per_node", o.aggregators_per_node);
  set("forebay_memory_bytes", o.memory_bytes);
  set("forebay_rounds", o.rounds);
  set("forebay_owner_nodes", o.owner_nodes);
  q.nodes = o.nodes;
  q.ranks_per_node = o.ranks_per_node;
  q.rank_pieces = o.pieces;
  q.stripe_count = o.stripe_count;
  q.domains = o.domains;
  q.cards = o.cards;
  return status;
}

const char* kind_of(const WritePlan& p) {
  return p.takes_wide ? "wide" : "window";
}

std::string at_most(const WritePlan& p) {
  return p.messages_exact ? "" : "about ";
}

std::vector<Row> rows_of(const WriteQuestion& q, const WritePlan& p) {
  std::vector<Row> rows;
  const auto add = [&](const char* name, std::string value) { rows.emplace_back(name, std::move(value)); };
  add("write",
      fmt::format("{} by {} on {}: {} of {} a rank", human_bytes(q.bytes()),
                  counted(q.ranks(), "rank", "ranks"), counted(q.nodes, "node", "nodes"),
                  counted(q.rank_pieces, "piece", "pieces"), human_bytes(q.rank_bytes / q.rank_pieces)));
  add("stripes", fmt::format("{}, on {}", human_bytes(p.layout.stripe_bytes()),
                             q.stripe_count > 0 ? counted(q.stripe_count, "storage target", "storage targets")
                                                : "an unknown number of storage targets"));
  add("owners", fmt::format("{}, {} a node: {}", human_count(p.layout.owners()), p.aggregators.count,
                            why_so_many_aggregators(word_of(p.aggregators.by))));
  if (!p.owning.empty())
    add("owner nodes", fmt::format("{}: {} of {}", text_of(choice_of(p.owning)), p.owning.size(), q.nodes));
  add("at work in a round", counted(p.owners_at_work, "owner", "owners"));
  add("rounds", fmt::format("{}, {}, of {} of the file", human_count(p.rounds), kind_of(p),
                            human_bytes(p.round_bytes)));
  add("why", p.why);
  if (q.nodes > 1) {
    add("messages", at_most(p) + human_count(p.messages));
    add("to an owner in a round", fmt::format("{:.1f}", p.messages_an_owner_and_round()));
    add("data a message", human_bytes(p.payload_a_message()));
    add("between nodes", fmt::format("{} of data, at most {} of headers", human_bytes(p.data_bytes),
                                     human_bytes(p.most_header_bytes)));
  }
  add("memory a rank", human_bytes(p.node_memory() / q.ranks_per_node));
  add("memory a node", fmt::format("{}: window {}, outbox {}", human_bytes(p.node_memory()),
                                   human_bytes(p.window_bytes), human_bytes(p.outbox_bytes)));
  add("bounded by", p.bound);
  add("what would help", p.change);
  return rows;
}

nlohmann::ordered_json json_of(const WriteQuestion& q, const WritePlan& p) {
  return {{"nodes", q.nodes},
          {"ranks_per_node", q.ranks_per_node},
          {"bytes", q.bytes()},
          {"bytes_per_rank", q.rank_bytes},
          {"pieces_per_rank", q.rank_pieces},
          {"stripe_bytes", p.layout.stripe_bytes()},
          {"stripe_count", q.stripe_count},
          {"domains_per_node", q.domains},
          {"cards_per_node", q.cards},
          {"aggregators_per_node", p.aggregators.count},
          {"aggregators_by", word_of(p.aggregators.by)},
          {"owner_nodes", text_of(choice_of(p.owning))},
          {"owners", p.layout.owners()},
          {"owners_at_work", p.owners_at_work},
          {"owner_rounds", p.owner_rounds},
          {"rounds", p.rounds},
          {"kind", kind_of(p)},
          {"why", p.why},
          {"round_bytes", p.round_bytes},
          {"between_nodes",
           {{"messages", p.messages},
            {"exact", p.messages_exact},
            {"messages_per_owner_and_round", p.messages_an_owner_and_round()},
            {"data_bytes_per_message", p.payload_a_message()},
            {"data_bytes", p.data_bytes},
            {"header_bytes_at_most", p.most_header_bytes}}},
          {"memory",
           {{"window_bytes_per_node", p.window_bytes},
            {"outbox_bytes_per_node", p.outbox_bytes},
            {"bytes_per_rank", p.node_memory() / q.ranks_per_node}}},
          {"bound", p.bound},
          {"change", p.change}};
}

int write_json(const std::string& name, const std::string& text) {
  if (name == "-") {
    std::fputs(text.c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : exit_failed;
  }
  const Status status = write_whole_file(name, text);
  return status.ok() ? 0 : give_up(exit_failed, status.message());
}

}  // namespace

int print_plan(const PlanOptions& options) {
  WriteQuestion question;
  WritePlan plan;
  Status status = take(options, question);
  if (status.ok()) status = plan_write(question, plan);
  if (!status.ok()) return give_up(exit_usage, status.message());
  if (!options.json.empty()) return write_json(options.json, json_of(question, plan).dump(2) + "\n");
  for (const auto& [name, value] : rows_of(question, plan)) fmt::print("{:<24}{}\n", name, value);
  return 0;
}

}  // namespace forebay::tools
