// Rounds by memory, stripes and owners.
#include "exchange/round_choice.hpp"

#include <algorithm>

#include "exchange/node_window.hpp"
#include "exchange/outbox.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kMostRound = std::int64_t{256} << 20;  // a message of a round is counted by an int
// With smaller rounds than this, messages between ranks are better than a window that hardly fits /dev/shm.
constexpr std::int64_t kLeastRoundInLittle = 64 << 10;
// With so many ranks on a node most of a window is marks. Simulated writes take 8 to 20 % less time without.
constexpr int kRanksOfMostlyMarks = 16;

/// The largest round for which a window fits `bytes` of a node's memory; 0: none does.
std::int64_t most_round(std::int64_t bytes, int ranks) {
  // Two buffers, and marks of a bit a byte, with their summaries, for each rank and buffer.
  const auto rest = bytes - static_cast<std::int64_t>(NodeWindow::bytes_needed(ranks, 1) - 2);
  return std::max<std::int64_t>(
      0, static_cast<std::int64_t>(static_cast<double>(rest) / (2 + 0.26 * static_cast<double>(ranks))));
}

/// What a round of a window covers of the file, if memory does not matter.
std::int64_t wanted_round(const Settings& settings, const Striping& striping, const OwnerSet& owners) {
  const int count = owners.count(striping.factor);
  const std::int64_t wanted =
      settings.window_bytes > 0 ? settings.window_bytes : settings.aggregator_bytes * count;
  return choose_round_bytes(striping.unit, count, wanted, kMostRound);
}

FileDomains fit(const Striping& striping, const OwnerSet& owners, std::int64_t round, std::int64_t most) {
  most = std::min(most, kMostRound);
  if (round > most) round = choose_round_bytes(striping.unit, owners.count(striping.factor), round, most);
  return {striping, round, owners};
}

}  // namespace

RoundMemory memory_for_rounds(const Settings& settings, const NodeBytes& node) {
  const std::int64_t ranks = node.ranks;
  std::int64_t window = std::min(settings.memory_bytes / 2, node.left) * ranks;
  bool little = false;
  if (node.free_shared) {
    const std::int64_t most = *node.free_shared / 2 + node.replaced;
    little = most < window;
    window = std::min(window, most);
  }
  const std::int64_t round = most_round(window, node.ranks);
  return {little && round < kLeastRoundInLittle ? 0 : std::max<std::int64_t>(round, 1), window / ranks};
}

RoundChoice choose_rounds(const Settings& settings, const RankCounts& ranks, const Striping& striping,
                          const RoundMemory& memory) {
  const OwnerSet& owners = ranks.owners;
  const std::int64_t wanted = wanted_round(settings, striping, owners);
  RoundChoice choice{fit(striping, owners, wanted, memory.round_that_fits)};
  const FileDomains& layout = choice.layout;
  if (owners.nodes == 1 || settings.rounds == Rounds::window || memory.round_that_fits == 0) return choice;
  if (settings.rounds == Rounds::automatic && all_at_work(layout) && ranks.ranks_a_node < kRanksOfMostlyMarks)
    return choice;
  // Reads need a window, too: half of the memory for each.
  choice.wide =
      choose_wide_rounds(layout, owners.rails, owners.nodes, ranks.ranks_a_node,
                         memory.window / 2 * ranks.ranks_a_node, [](const WideRounds& rounds, int count) {
                           return static_cast<std::int64_t>(Outbox::bytes_needed(rounds, count));
                         });
  if (choice.wide.possible()) choice.layout = fit(striping, owners, wanted, memory.round_that_fits / 2);
  return choice;
}

bool all_at_work(const FileDomains& layout) {
  return layout.round_bytes() >= layout.owners() * layout.block_bytes();
}

bool takes_wide(const Settings& settings, const FileDomains& layout, const WideRounds& wide, Extent hull,
                Direction direction) {
  if (!wide.possible()) return false;
  if (settings.rounds == Rounds::wide) return true;
  if (layout.round_begin(hull.begin) + layout.round_bytes() >= hull.end) return false;
  return direction == Direction::write || !all_at_work(layout);
}

}  // namespace forebay
