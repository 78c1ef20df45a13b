// Which nodes a choice means, and whose a file is then.
#include "layout/owner_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "layout/file_domains.hpp"

namespace forebay {
namespace {

using Nodes = std::vector<int>;

std::optional<Nodes> chosen(const std::string& text, int nodes) {
  const auto choice = parse_nodes(text);
  EXPECT_TRUE(choice) << text;
  return owner_nodes(choice.value_or(NodeChoice()), nodes);
}

TEST(OwnerNodes, AllAreNone) {
  EXPECT_EQ(chosen("all", 5), Nodes());
  EXPECT_EQ(chosen("5", 5), Nodes());
  EXPECT_EQ(chosen("9", 5), Nodes());
  EXPECT_EQ(chosen("0-4", 5), Nodes());
  EXPECT_EQ(chosen("0-100", 5), Nodes());
  EXPECT_EQ(chosen("1", 1), Nodes());
}

TEST(OwnerNodes, ThoseThatAreNamed) {
  EXPECT_EQ(chosen("0-3,8", 10), (Nodes{0, 1, 2, 3, 8}));
  EXPECT_EQ(chosen("3-3", 10), (Nodes{3}));
  EXPECT_EQ(chosen("8,2-100", 4), (Nodes{2, 3})) << "numbers that no node has do not matter";
  EXPECT_EQ(chosen("0-16777216", 3), Nodes());
  EXPECT_EQ(chosen("4-9", 4), std::nullopt) << "none is left";
}

TEST(OwnerNodes, SoManyLieEvenly) {
  EXPECT_EQ(chosen("1", 7), (Nodes{0}));
  EXPECT_EQ(chosen("3", 8), (Nodes{0, 2, 5}));
  for (int nodes = 1; nodes < 70; ++nodes) {
    for (int count = 1; count < nodes; ++count) {
      const Nodes all = owner_nodes(NodeChoice(count), nodes).value_or(Nodes());
      ASSERT_EQ(all.size(), static_cast<std::size_t>(count));
      // Every node has about as many behind it up to the next one.
      int least = nodes, most = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const int gap = (i + 1 < all.size() ? all[i + 1] : nodes) - all[i];
        least = std::min(least, gap);
        most = std::max(most, gap);
      }
      EXPECT_EQ(all.front(), 0);
      EXPECT_GE(least, 1);
      EXPECT_LE(most - least, 1) << count << " of " << nodes;
    }
  }
}

TEST(OwnerNodes, AreNamedAsTheyAreChosen) {
  EXPECT_EQ(text_of(choice_of({})), "all");
  for (const char* text : {"3-3", "0-3,8", "1,3,5-7"}) EXPECT_EQ(text_of(choice_of(*chosen(text, 20))), text);
}

// Against the owners of the blocks themselves.
TEST(FileDomains, OwnsIsWhoeverHasABlock) {
  for (const int nodes : {1, 2, 5, 8}) {
    for (const int rails : {1, 2, 3}) {
      for (const int factor : {0, 1, 3, 4, 7, 16}) {
        for (const char* text : {"all", "1", "2", "1-3,6"}) {
          const OwnerSet set{nodes, rails, chosen(text, nodes).value_or(Nodes())};
          const FileDomains domains({4096, factor}, 4096, set);
          std::set<std::pair<int, int>> have;
          for (int block = 0; block < domains.owners(); ++block) {
            const Owner owner = domains.owner(std::int64_t{block} * 4096);
            have.insert({owner.node, owner.rail});
          }
          for (int node = 0; node < nodes; ++node) {
            for (int rail = -1; rail < rails; ++rail) {
              EXPECT_EQ(domains.owns({node, rail}), have.contains({node, rail}))
                  << node << ' ' << rail << " of " << nodes << " by " << rails << ", " << factor << ", "
                  << text;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace forebay
