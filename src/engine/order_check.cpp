// Ranges that more than one rank has, then their marks, one range after the other: a segment is one rank's of
// its node.
#include "engine/order_check.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace forebay {
namespace {

constexpr std::int64_t kBlock = 64 << 10;  // segments are of this size or of more, but for tests
constexpr std::int64_t kWord = 64;

/// A part of a segment that lies in one block of the file.
struct Part {
  std::int64_t block;
  std::int64_t begin;  // in the block
  std::int64_t length;
  const std::uint64_t* marks;  // from the first word of the part on
};

std::vector<Part> parts_of(const NodeSegments::Share* share) {
  std::vector<Part> parts;
  if (share == nullptr) return parts;
  share->for_each([&](Extent range, const std::uint64_t* marks) {
    for (std::int64_t at = range.begin; at < range.end;) {
      const std::int64_t end = std::min(range.end, (at / kBlock + 1) * kBlock);
      const std::uint64_t* const from = marks + (at - range.begin) / kWord;
      if (std::any_of(from, from + (end - at) / kWord, [](std::uint64_t word) { return word != 0; }))
        parts.push_back({at / kBlock, at % kBlock, end - at, from});
      at = end;
    }
  });
  return parts;
}

/// The blocks that several ranks have, ascending.
std::vector<std::int64_t> shared_blocks(const std::vector<Part>& parts, const Communicator& ranks) {
  std::vector<std::int64_t> mine;
  for (const Part& part : parts) mine.push_back(part.block);
  std::sort(mine.begin(), mine.end());
  mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  std::vector<std::int64_t> all = ranks.concatenate(mine);
  std::sort(all.begin(), all.end());
  std::vector<std::int64_t> shared;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i] == all[i - 1] && (shared.empty() || shared.back() != all[i])) shared.push_back(all[i]);
  }
  return shared;
}

}  // namespace

OrderConflicts find_order_conflicts(const NodeSegments::Share* share, const Communicator& ranks) {
  OrderConflicts found;
  const std::vector<Part> parts = parts_of(share);
  std::array<std::int64_t, kBlock / kWord> marks;
  for (const std::int64_t block : shared_blocks(parts, ranks)) {
    marks.fill(0);
    std::int64_t put = 0;
    for (const Part& part : parts) {
      if (part.block != block) continue;
      for (std::int64_t i = 0; i < part.length / kWord; ++i) {
        marks[static_cast<std::size_t>(part.begin / kWord + i)] |= static_cast<std::int64_t>(part.marks[i]);
        put += std::popcount(part.marks[i]);
      }
    }
    ranks.reduce(marks, Communicator::Op::any_bit);
    ranks.reduce({&put, 1}, Communicator::Op::sum);
    for (const std::int64_t word : marks) put -= std::popcount(static_cast<std::uint64_t>(word));
    if (put > 0 && found.bytes == 0) found.first = {block * kBlock, (block + 1) * kBlock};
    found.bytes += put;
  }
  return found;
}

}  // namespace forebay
