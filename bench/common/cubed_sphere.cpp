// The cubed-sphere generator. Columns are numbered as spectral-element models do: element by element, face
// after face and row by row, each point where it is met first. The curve is Hilbert's on each face.
#include "cubed_sphere.hpp"

#include <array>
#include <bit>
#include <stdexcept>
#include <unordered_set>
#include <utility>

namespace forebay::bench {
namespace {

constexpr int intervals = 3;  // an element's edge has 4 points
constexpr int faces = 6;
constexpr int chunks_per_rank = 4;

// The distance along Hilbert's curve of cell (x, y) in a square of 2^order cells a side.
std::uint64_t hilbert_distance(int order, std::uint32_t x, std::uint32_t y) {
  std::uint64_t distance = 0;
  for (int level = order - 1; level >= 0; --level) {
    const std::uint32_t right = (x >> level) & 1u, upper = (y >> level) & 1u;
    distance = distance * 4 + ((3 * right) ^ upper);
    if (upper == 0) {
      // The quadrants at the bottom hold the curve mirrored on a diagonal.
      const std::uint32_t mask = (1u << level) - 1;
      if (right == 1) {
        x = mask - (x & mask);
        y = mask - (y & mask);
      }
      std::swap(x, y);
    }
  }
  return distance;
}

// Where a face's grid point lies on the cube, whose edges run from 0 to `edge`: shared points meet there.
std::uint64_t cube_point(int face, std::uint64_t a, std::uint64_t b, std::uint64_t edge) {
  const std::array<std::array<std::uint64_t, 3>, faces> at = {{
      {edge, a, b},
      {edge - a, edge, b},
      {0, edge - a, b},
      {a, 0, b},
      {edge - b, a, edge},
      {b, a, 0},
  }};
  const auto& p = at[static_cast<std::size_t>(face)];
  return (p[0] * (edge + 1) + p[1]) * (edge + 1) + p[2];
}

std::int64_t share(std::int64_t total, int rank, int ranks) {
  return total * rank / ranks;
}

}  // namespace

CubedSphere::CubedSphere(int ne, int levels) : levels_(levels) {
  if (ne < 1 || levels < 1)
    throw std::invalid_argument("a cubed sphere needs at least one element and one level");
  const auto edge = static_cast<std::uint64_t>(ne) * intervals;
  const std::size_t elements =
      static_cast<std::size_t>(faces) * static_cast<std::size_t>(ne) * static_cast<std::size_t>(ne);
  element_columns_.reserve(elements);
  std::unordered_set<std::uint64_t> shared;  // only points on an element's edge can be met twice
  for (int face = 0; face < faces; ++face) {
    for (int row = 0; row < ne; ++row) {
      for (int column = 0; column < ne; ++column) {
        const std::int64_t first = columns_;
        for (int b = 0; b <= intervals; ++b) {
          for (int a = 0; a <= intervals; ++a) {
            const bool inner = a > 0 && a < intervals && b > 0 && b < intervals;
            const auto x = static_cast<std::uint64_t>(column * intervals + a);
            const auto y = static_cast<std::uint64_t>(row * intervals + b);
            if (inner || shared.insert(cube_point(face, x, y, edge)).second) ++columns_;
          }
        }
        element_columns_.push_back({first, columns_ - first});
      }
    }
  }

  const int order = std::bit_width(static_cast<unsigned>(ne - 1));
  std::vector<std::pair<std::uint64_t, int>> along;
  along.reserve(elements);
  for (std::size_t element = 0; element < elements; ++element) {
    const auto in_face = static_cast<std::uint32_t>(element % static_cast<std::size_t>(ne * ne));
    const auto face = static_cast<std::uint64_t>(element / static_cast<std::size_t>(ne * ne));
    const auto side = static_cast<std::uint32_t>(ne);
    along.emplace_back((face << (2 * order)) + hilbert_distance(order, in_face % side, in_face / side),
                       static_cast<int>(element));
  }
  std::sort(along.begin(), along.end());
  curve_position_.resize(static_cast<std::size_t>(columns_));
  for (const auto& [distance, element] : along) {
    const Piece& held = element_columns_[static_cast<std::size_t>(element)];
    std::fill_n(curve_position_.begin() + held.offset, held.length, static_cast<std::int64_t>(curve_.size()));
    curve_.push_back(element);
  }
}

std::vector<Piece> CubedSphere::dynamics_columns(int rank, int ranks) const {
  const auto elements = static_cast<std::int64_t>(curve_.size());
  std::vector<Piece> pieces;
  for (std::int64_t at = share(elements, rank, ranks); at < share(elements, rank + 1, ranks); ++at) {
    const Piece held = element_columns_[static_cast<std::size_t>(curve_[static_cast<std::size_t>(at)])];
    if (held.length > 0) pieces.push_back(held);
  }
  return ascending(std::move(pieces));
}

// Physics costs differ from column to column, day from night: models deal the columns out in turn to four
// chunks a rank, so that a chunk is spread over the globe, and give each rank those chunks that lie nearest
// to its elements.
std::vector<std::vector<std::int64_t>> CubedSphere::physics_chunks(int rank, int ranks) const {
  const std::int64_t chunks = std::min<std::int64_t>(std::int64_t{chunks_per_rank} * ranks, columns_);
  std::vector<std::pair<std::int64_t, std::int64_t>>
      nearness;  // the middle of a chunk on the curve, the chunk
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    std::vector<std::int64_t> places;
    for (std::int64_t column = chunk; column < columns_; column += chunks)
      places.push_back(curve_position_[static_cast<std::size_t>(column)]);
    const auto middle = places.begin() + static_cast<std::ptrdiff_t>(places.size() / 2);
    std::nth_element(places.begin(), middle, places.end());
    nearness.emplace_back(*middle, chunk);
  }
  std::sort(nearness.begin(), nearness.end());

  std::vector<std::vector<std::int64_t>> mine;
  for (std::int64_t at = share(chunks, rank, ranks); at < share(chunks, rank + 1, ranks); ++at) {
    std::vector<std::int64_t> held;
    for (std::int64_t column = nearness[static_cast<std::size_t>(at)].second; column < columns_;
         column += chunks)
      held.push_back(column);
    mine.push_back(std::move(held));
  }
  std::sort(mine.begin(), mine.end());
  return mine;
}

std::vector<Decomposition> CubedSphere::cut(int rank, int ranks) const {
  std::vector<Decomposition> cuts(3);
  cuts[0] = {"D1", {columns_}, dynamics_columns(rank, ranks)};
  cuts[1] = {"D2", {columns_}, {}};
  cuts[2] = {"D3", {levels_, columns_}, {}};
  // Chunk after chunk and level after level, as the model holds its fields.
  for (const std::vector<std::int64_t>& chunk : physics_chunks(rank, ranks)) {
    for (const std::int64_t column : chunk) cuts[1].pieces.push_back({column, 1});
    for (std::int64_t level = 0; level < levels_; ++level)
      for (const std::int64_t column : chunk) cuts[2].pieces.push_back({level * columns_ + column, 1});
  }
  return cuts;
}

}  // namespace forebay::bench
