#include "layout/wide_rounds.hpp"

#include <algorithm>
#include <bit>

namespace forebay {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kMostCell = 256 << 10;  // one is merged in a core's second-level cache
// An owner's part of a round: below that a round's meetings show, or messages are latency. More would make
// few rounds of a flush, of which no two overlap.
constexpr std::int64_t kOwnersPart = 2 << 20;
constexpr std::int64_t kMostOwnersPart = 512 << 20;  // a message is counted by an int

/// The largest divisor of the stripe that is a multiple of a page and at most `most` bytes; 0: there is none.
std::int64_t cell_of(std::int64_t stripe, std::int64_t most) {
  if (stripe % kPage != 0) return 0;
  const std::int64_t pages = stripe / kPage;
  for (std::int64_t cell = std::min(pages, most / kPage); cell > 0; --cell) {
    if (pages % cell == 0) return cell * kPage;
  }
  return 0;
}

}  // namespace

int WideRounds::granule(int shift) const {
  const int most = std::countr_zero(static_cast<std::uint64_t>(cell)) - 6;
  return std::min(shift, most);
}

WideRounds choose_wide_rounds(const FileDomains& domains, int rails, int nodes, int ranks, std::int64_t bytes,
                              std::int64_t (*bytes_needed)(const WideRounds&, int ranks)) {
  const std::int64_t block = domains.block_bytes();
  if (block > kMostOwnersPart) return {};
  const std::int64_t wanted =
      std::clamp(std::max(kOwnersPart, kWorthyMessage * nodes), block, kMostOwnersPart);
  const auto of_cells = [&](std::int64_t cell) {
    WideRounds chosen;
    for (std::int64_t slots = 1; slots * block <= wanted; slots *= 2) {
      WideRounds rounds{rails, cell, block, slots, slots * block * domains.owners(), 0};
      // Twice a rank's share of what the node puts when every owner's part is full.
      rounds.listed = std::max(cell, (2 * rails * slots * block / ranks + kPage - 1) / kPage * kPage);
      // With less a round does not get through its range.
      while (slots == 1 && bytes_needed(rounds, ranks) > bytes && rounds.listed > cell)
        rounds.listed = std::max(cell, rounds.listed / 2 / kPage * kPage);
      if (bytes_needed(rounds, ranks) > bytes) break;
      chosen = rounds;
    }
    return chosen;
  };
  // Each rank has memory for a cell: where many do not fit, smaller ones, as long as they are messages.
  for (std::int64_t most = kMostCell; most >= kWorthyMessage; most /= 2) {
    const std::int64_t cell = cell_of(domains.stripe_bytes(), most);
    if (cell == 0) break;
    if (const WideRounds chosen = of_cells(cell); chosen.possible()) return chosen;
  }
  return {};
}

}  // namespace forebay
