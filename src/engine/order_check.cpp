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
std::vector<std::int64_t> shared_blocks(const std::vector<Part>& parts, MPI_Comm comm) {
  std::vector<std::int64_t> mine;
  for (const Part& part : parts) mine.push_back(part.block);
  std::sort(mine.begin(), mine.end());
  mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  std::vector<int> counts(static_cast<std::size_t>(ranks)), places(counts.size());
  const int count = static_cast<int>(mine.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  int sum = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) places[r] = sum, sum += counts[r];
  std::vector<std::int64_t> all(static_cast<std::size_t>(sum));
  MPI_Allgatherv(mine.data(), count, MPI_INT64_T, all.data(), counts.data(), places.data(), MPI_INT64_T,
                 comm);
  std::sort(all.begin(), all.end());
  std::vector<std::int64_t> shared;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i] == all[i - 1] && (shared.empty() || shared.back() != all[i])) shared.push_back(all[i]);
  }
  return shared;
}

}  // namespace

OrderConflicts find_order_conflicts(const NodeSegments::Share* share, MPI_Comm comm) {
  OrderConflicts found;
  const std::vector<Part> parts = parts_of(share);
  std::array<std::uint64_t, kBlock / kWord> marks;
  for (const std::int64_t block : shared_blocks(parts, comm)) {
    marks.fill(0);
    std::int64_t put = 0;
    for (const Part& part : parts) {
      if (part.block != block) continue;
      for (std::int64_t i = 0; i < part.length / kWord; ++i) {
        marks[static_cast<std::size_t>(part.begin / kWord + i)] |= part.marks[i];
        put += std::popcount(part.marks[i]);
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, marks.data(), static_cast<int>(marks.size()), MPI_UINT64_T, MPI_BOR, comm);
    MPI_Allreduce(MPI_IN_PLACE, &put, 1, MPI_INT64_T, MPI_SUM, comm);
    for (const std::uint64_t word : marks) put -= std::popcount(word);
    if (put > 0 && found.bytes == 0) found.first = {block * kBlock, (block + 1) * kBlock};
    found.bytes += put;
  }
  return found;
}

}  // namespace forebay
