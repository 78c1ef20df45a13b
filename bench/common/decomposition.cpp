// Piece lists: counting, ordering, coverage.
#include "decomposition.hpp"

#include <numeric>

namespace forebay::bench {

std::int64_t volume(std::span<const std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t element_count(std::span<const Piece> pieces) {
  std::int64_t sum = 0;
  for (const Piece& piece : pieces) sum += piece.length;
  return sum;
}

std::vector<Piece> ascending(std::vector<Piece> pieces) {
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
  std::vector<Piece> joined;
  for (const Piece& piece : pieces) {
    if (!joined.empty() && piece.offset <= joined.back().offset + joined.back().length) {
      Piece& last = joined.back();
      last.length = std::max(last.length, piece.offset + piece.length - last.offset);
    } else {
      joined.push_back(piece);
    }
  }
  joined.shrink_to_fit();
  return joined;
}

void Coverage::add(std::span<const Piece> pieces) {
  for (const Piece& piece : pieces) std::fill_n(held_.begin() + piece.offset, piece.length, true);
}

}  // namespace forebay::bench
