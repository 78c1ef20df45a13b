// forebay plan: what it says of machines, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "command.hpp"
#include "write_plan.hpp"

namespace forebay::tools {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

using PlanCommand = InFolder;

WriteQuestion question(int nodes, int ranks, std::int64_t bytes, std::int64_t pieces) {
  WriteQuestion q;
  q.nodes = nodes;
  q.ranks_per_node = ranks;
  q.rank_bytes = bytes;
  q.rank_pieces = pieces;
  return q;
}

WritePlan plan_of(const WriteQuestion& q) {
  WritePlan plan;
  const Status status = plan_write(q, plan);
  EXPECT_TRUE(status.ok()) << status.message();
  return plan;
}

// Small enough to count one by one: whose is a byte, and who owns it.
TEST(Plan, CountsWhatASlowWalkCounts) {
  for (const auto& [nodes, ranks, pieces, piece] : {std::array{2, 1, 40, 4096},
                                                    {3, 2, 64, 1000},
                                                    {5, 1, 7, 200000},
                                                    {4, 3, 300, 512},
                                                    {7, 2, 11, 65536}}) {
    WriteQuestion q = question(nodes, ranks, std::int64_t{pieces} * piece, pieces);
    q.settings.stripe_bytes = 64 << 10;
    q.settings.window_bytes = 256 << 10;
    q.settings.rounds = Rounds::window;
    const WritePlan plan = plan_of(q);
    std::int64_t rounds = 0, messages = 0, data = 0, owner_rounds = 0;
    for (std::int64_t base = 0; base < q.bytes(); base += plan.layout.round_bytes(), ++rounds) {
      std::set<std::pair<int, int>> owners;
      std::set<std::tuple<int, int, int>> pairs;
      for (std::int64_t at = base; at < std::min(base + plan.layout.round_bytes(), q.bytes()); ++at) {
        const Owner owner = plan.layout.owner(at);
        const auto from = static_cast<int>(at / piece % q.ranks()) / ranks;
        owners.insert({owner.node, owner.rail});
        if (from == owner.node) continue;
        ++data;
        pairs.insert({from, owner.node, owner.rail});
      }
      messages += static_cast<std::int64_t>(pairs.size());
      owner_rounds += static_cast<std::int64_t>(owners.size());
    }
    EXPECT_EQ(plan.rounds, rounds) << nodes;
    EXPECT_EQ(plan.data_bytes, data) << nodes;
    EXPECT_EQ(plan.owner_rounds, owner_rounds) << nodes;
    if (plan.messages_exact) {
      EXPECT_EQ(plan.messages, messages) << nodes;
    } else {
      EXPECT_GE(plan.messages, messages) << nodes;
    }
  }
}

TEST(Plan, GrowsWithTheMachine) {
  for (const int nodes : {64, 256, 1024, 8192}) {
    WriteQuestion q = question(nodes, 128, 16 << 20, 4 << 20);
    const WritePlan wide = plan_of(q);
    EXPECT_TRUE(wide.takes_wide) << nodes;
    EXPECT_EQ(wide.owners_at_work, wide.layout.owners()) << nodes;
    EXPECT_LE(wide.node_memory(), q.settings.memory_bytes * 128) << nodes;
    const double all = static_cast<double>(q.bytes());
    EXPECT_NEAR(static_cast<double>(wide.data_bytes), all * (nodes - 1) / nodes, all * 0.02) << nodes;
    q.settings.rounds = Rounds::window;
    const WritePlan window = plan_of(q);
    EXPECT_LT(window.owners_at_work, wide.owners_at_work) << nodes;
    EXPECT_GT(window.rounds, wide.rounds) << nodes;
    EXPECT_THAT(window.bound, HasSubstr("are at work")) << nodes;
    EXPECT_EQ(window.change, "forebay_rounds=automatic") << nodes;
  }
}

// What each owner gets comes from all nodes but its own.
TEST(Plan, FewerNodesOwn) {
  WriteQuestion q = question(16, 8, 8 << 20, 1 << 20);
  q.settings.owner_nodes = NodeChoice(4);
  const WritePlan plan = plan_of(q);
  EXPECT_EQ(plan.owning, (std::vector<int>{0, 4, 8, 12}));
  EXPECT_EQ(plan.layout.owners(), 8);
  EXPECT_EQ(plan.messages, plan.owner_rounds * 15);
  q.settings.aggregators = 12;  // three on each of these
  EXPECT_EQ(plan_of(q).aggregators.count, 3);
}

TEST(Plan, SaysWhatBoundsAWrite) {
  EXPECT_THAT(plan_of(question(1, 8, 1 << 15, 1 << 10)).bound, HasSubstr("too small for its owners"));
  EXPECT_THAT(plan_of(question(1, 8, 8 << 20, 1 << 10)).bound, HasSubstr("of one node"));
  WriteQuestion q = question(16, 8, 8 << 20, 1 << 20);
  EXPECT_THAT(plan_of(q).bound, HasSubstr("the network or the file system"));
  q.stripe_count = 4;
  EXPECT_THAT(plan_of(q).bound, Not(HasSubstr("stripe count")));  // 32 owners, 8 for each target
  q.stripe_count = 20;
  const WritePlan few = plan_of(q);
  EXPECT_THAT(few.bound, HasSubstr("20 storage targets let 20 of 32 aggregators"));
  EXPECT_THAT(few.change, HasSubstr("32"));
}

// A change that it names is one that helps.
TEST(Plan, NamesAChangeThatHelps) {
  WriteQuestion q = question(16, 4, 8 << 20, 1 << 20);
  q.settings.memory_bytes = 1 << 20;
  q.settings.stripe_bytes = 4 << 20;
  const WritePlan before = plan_of(q);
  ASSERT_LT(before.owners_at_work, before.layout.owners());
  ASSERT_THAT(before.change, HasSubstr("forebay_memory_bytes="));
  q.settings.memory_bytes = std::stoll(before.change.substr(before.change.find('=') + 1));
  EXPECT_GT(plan_of(q).owners_at_work, before.owners_at_work);
}

std::vector<std::string> with(std::vector<std::string> more) {
  std::vector<std::string> words{"plan",    "--nodes", "64",       "--ranks-per-node", "16",
                                 "--bytes", "4m",      "--pieces", "1048576"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(PlanCommand, PrintsATableOrJson) {
  const Outcome table = forebay_command(with({}));
  EXPECT_EQ(table.status, 0) << table.errors;
  for (const char* row : {"owners  ", "rounds  ", "messages  ", "between nodes  ", "memory a rank  ",
                          "bounded by  ", "what would help  "})
    EXPECT_THAT(table.output, HasSubstr(row));
  const Outcome printed = forebay_command(with({"--json", "-"}));
  const json plan = json::parse(printed.output);
  EXPECT_EQ(plan["bytes"], std::int64_t{4 << 20} * 64 * 16);
  EXPECT_EQ(plan["owners"], 256);
  EXPECT_EQ(plan["owners_at_work"], 256);
  EXPECT_GT(plan["between_nodes"]["header_bytes_at_most"], 0);
  EXPECT_EQ(forebay_command(with({"--json", *this / "plan.json"})).output, "");
  EXPECT_EQ(slurp(*this / "plan.json"), printed.output);
  EXPECT_EQ(forebay_command(with({"--json", *this / "no/plan.json"})).status, 1);
}

TEST_F(PlanCommand, TakesOptionsAndHints) {
  const auto plan = [&](std::vector<std::string> more, Variables variables = {}) {
    more.insert(more.end(), {"--json", "-"});
    return json::parse(forebay_with(std::move(variables), with(std::move(more))).output);
  };
  EXPECT_EQ(plan({"--aggregators-per-node", "1"})["owners"], 64);
  EXPECT_EQ(plan({"--stripe", "2m"})["stripe_bytes"], 2 << 20);
  EXPECT_EQ(plan({"--stripe-count", "48"})["owners"], 240);
  EXPECT_EQ(plan({"--cards", "8"})["owners"], 512);
  EXPECT_EQ(plan({"--cards", "8"})["aggregators_by"], "network cards");
  EXPECT_EQ(plan({"--domains", "6", "--cards", "2"})["owners"], 384);
  EXPECT_EQ(plan({"--cards", "8", "--aggregators-per-node", "3"})["aggregators_by"], "hint");
  EXPECT_EQ(plan({"--rounds", "window"})["kind"], "window");
  EXPECT_EQ(plan({}, {{"FOREBAY_HINTS", "forebay_rounds=window"}})["kind"], "window");
  EXPECT_EQ(plan({"--rounds", "wide"}, {{"FOREBAY_HINTS", "forebay_rounds=window"}})["kind"], "wide");
  EXPECT_LE(plan({"--memory-bytes", "1m"})["memory"]["bytes_per_rank"], 1 << 20);
  EXPECT_EQ(plan({})["owner_nodes"], "all");
  const json some = plan({"--owner-nodes", "0-3,8,70-99"});
  EXPECT_EQ(some["owner_nodes"], "0-3,8") << "there are nodes 0 to 63";
  EXPECT_EQ(some["owners"], 20);
  EXPECT_EQ(plan({}, {{"FOREBAY_HINTS", "forebay_owner_nodes=4"}})["owner_nodes"], "0,16,32,48");
  EXPECT_THAT(forebay_command(with({"--owner-nodes", "4"})).output, HasSubstr("0,16,32,48: 4 of 64"));
  const Outcome none = forebay_command(with({"--owner-nodes", "64-70"}));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.errors, HasSubstr("forebay_owner_nodes=64-70 names no node: the last one is number 63"));
}

TEST_F(PlanCommand, RefusesWhatIsNoMachineAndNoWrite) {
  const auto refused = [](const std::vector<std::string>& words, const char* why) {
    const Outcome outcome = forebay_command(words);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.errors, HasSubstr(why));
    EXPECT_EQ(outcome.output, "");
  };
  refused({"plan", "--nodes", "4"}, "is required");
  const auto of = [](const char* nodes, const char* ranks, const char* bytes, const char* pieces) {
    return std::vector<std::string>{"plan", "--nodes",  nodes, "--ranks-per-node", ranks, "--bytes",
                                    bytes,  "--pieces", pieces};
  };
  refused(of("0", "1", "1m", "1"), "number of nodes");
  refused(of("1000000", "10000", "1m", "1"), "number of ranks");
  refused(of("2", "2", "lots", "1"), "no number of bytes");
  refused(of("2", "2", "0", "1"), "at least 1 byte");
  refused(with({"--domains", "17"}), "those without ranks do not count");
  refused(with({"--cards", "-1"}), "network cards");
  refused(of("1000000", "1000", "1000t", "1"), "at most 2^60");
  refused(of("2", "2", "8", "9"), "no more pieces than bytes");
  refused(of("2", "2", "10", "4"), "no whole bytes");
  refused(with({"--stripe", "7"}), "forebay_stripe_bytes");
  refused(with({"--rounds", "narrow"}), "forebay_rounds");
  refused(with({"--memory-bytes", "1k"}), "forebay_memory_bytes");
  refused(with({"--stripe-count", "-1"}), "stripe count");
}

}  // namespace
}  // namespace forebay::tools
