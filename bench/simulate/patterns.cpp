// The patterns that need no map.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <stdexcept>

#include "pattern.hpp"
#include "request/piece_cursor.hpp"
#include "request/piece_list.hpp"
#include "request/strided.hpp"

namespace forebay::simulate {
namespace {

constexpr std::int64_t kHeader = 8192;  // before the first variable

// NAS BT's solution array, 5 doubles a point: p x p ranks hold p cells each along the diagonals of p x p x p.
class Btio final : public Pattern {
 public:
  explicit Btio(const PatternWish& wish) {
    while ((p_ + 1) * (p_ + 1) <= wish.ranks) ++p_;
    const double all = static_cast<double>(wish.bytes_a_rank) * p_ * p_;
    points_ = std::max<std::int64_t>(p_, std::llround(std::cbrt(all / 40)));
  }

  std::vector<std::unique_ptr<Cursor>> requests(int rank) const override {
    std::vector<std::unique_ptr<Cursor>> made;
    const auto edge = [&](int i) { return points_ * i / p_; };
    const std::array<std::int64_t, 4> shape = {points_, points_, points_, 5};
    for (int c = 0; c < p_ && rank < p_ * p_; ++c) {
      const int x = (rank % p_ + c) % p_, y = (rank / p_ + c) % p_, z = c;
      const std::array<std::int64_t, 4> start = {edge(z), edge(y), edge(x), 0};
      const std::array<std::int64_t, 4> count = {edge(z + 1) - edge(z), edge(y + 1) - edge(y),
                                                 edge(x + 1) - edge(x), 5};
      made.push_back(
          std::make_unique<StridedCursor>(StridedCursor::subarray(kHeader, 8, shape, start, count)));
    }
    return made;
  }
  std::int64_t file_bytes() const override { return kHeader + points_ * points_ * points_ * 40; }

 private:
  int p_ = 1;
  std::int64_t points_;
};

// Particles dealt out in turn: the smallest pieces there are, every rank's between the others'.
class Tiny final : public Pattern {
 public:
  explicit Tiny(const PatternWish& wish)
      : ranks_(wish.ranks), mine_(std::max<std::int64_t>(1, wish.bytes_a_rank / (4 * kVariables))) {}

  std::vector<std::unique_ptr<Cursor>> requests(int rank) const override {
    std::vector<std::unique_ptr<Cursor>> made;
    for (int v = 0; v < kVariables; ++v) {
      const std::array<StridedDim, 1> dims = {StridedDim{ranks_ * 4, mine_}};
      made.push_back(
          std::make_unique<StridedCursor>(kHeader + v * ranks_ * mine_ * 4 + rank * 4, 0, 4, dims));
    }
    return made;
  }
  std::int64_t file_bytes() const override { return kHeader + kVariables * ranks_ * mine_ * 4; }

 private:
  static constexpr int kVariables = 4;
  std::int64_t ranks_;
  std::int64_t mine_;
};

// Little data far apart: records of a piece of each rank, each in a stripe of its own.
class Sparse final : public Pattern {
 public:
  explicit Sparse(const PatternWish& wish)
      : ranks_(wish.ranks), records_(std::max<std::int64_t>(1, wish.bytes_a_rank / kPiece)) {}

  std::vector<std::unique_ptr<Cursor>> requests(int rank) const override {
    std::vector<std::unique_ptr<Cursor>> made;
    const std::array<StridedDim, 1> dims = {StridedDim{distance(), records_}};
    made.push_back(std::make_unique<StridedCursor>(kHeader + rank * kPiece, 0, kPiece, dims));
    return made;
  }
  std::int64_t file_bytes() const override { return kHeader + (records_ - 1) * distance() + ranks_ * kPiece; }

 private:
  static constexpr std::int64_t kPiece = 64;
  static constexpr std::int64_t kDistance = 1 << 20;
  std::int64_t distance() const { return (ranks_ * kPiece / kDistance + 1) * kDistance; }
  std::int64_t ranks_;
  std::int64_t records_;
};

// The boxes of an adaptive mesh, level by level, a box's cells in one piece, one component a variable; dealt
// to the ranks by lot, twice as many on each finer level.
class Amr final : public Pattern {
 public:
  explicit Amr(const PatternWish& wish) {
    constexpr std::int64_t box_bytes = 343 * 8;  // on average
    components_ = std::max<std::int64_t>(1, wish.bytes_a_rank / (box_bytes * 7));
    std::mt19937 lot(20011);
    const auto edge = [&] { return std::int64_t{2 * (1 + static_cast<int>(lot() % 6))}; };  // 2 to 12 cells
    const auto ranks = static_cast<std::uint32_t>(wish.ranks);
    for (int level = 0; level < kLevels; ++level) {
      std::vector<PieceListBuilder> builders(ranks);
      std::int64_t cells = 0;
      for (std::uint32_t box = 0; box < ranks << level; ++box) {
        const std::int64_t size = edge() * edge() * edge();
        builders[lot() % ranks].add(cells, size);
        cells += size;
      }
      Level& made = levels_.emplace_back();
      made.cells = cells;
      for (PieceListBuilder& builder : builders) made.pieces.push_back(builder.finish());
    }
  }

  std::vector<std::unique_ptr<Cursor>> requests(int rank) const override {
    std::vector<std::unique_ptr<Cursor>> made;
    std::int64_t base = kHeader;
    for (const Level& level : levels_) {
      const PieceListPtr& mine = level.pieces[static_cast<std::size_t>(rank)];
      for (std::int64_t c = 0; c < components_; ++c, base += level.cells * 8) {
        made.push_back(std::make_unique<PieceListCursor>(mine, PieceMapping{base, 8, 0, 0}));
      }
    }
    return made;
  }
  std::int64_t file_bytes() const override {
    std::int64_t cells = 0;
    for (const Level& level : levels_) cells += level.cells;
    return kHeader + cells * components_ * 8;
  }

 private:
  static constexpr int kLevels = 3;
  struct Level {
    std::int64_t cells = 0;
    std::vector<PieceListPtr> pieces;  // by rank
  };
  std::int64_t components_;
  std::vector<Level> levels_;
};

}  // namespace

std::unique_ptr<Pattern> make_btio(const PatternWish& wish) {
  return std::make_unique<Btio>(wish);
}
std::unique_ptr<Pattern> make_tiny(const PatternWish& wish) {
  return std::make_unique<Tiny>(wish);
}
std::unique_ptr<Pattern> make_sparse(const PatternWish& wish) {
  return std::make_unique<Sparse>(wish);
}
std::unique_ptr<Pattern> make_amr(const PatternWish& wish) {
  return std::make_unique<Amr>(wish);
}

std::unique_ptr<Pattern> make_pattern(const std::string& name, const PatternWish& wish) {
  if (name == "f" || name == "g" || name == "i") return make_e3sm(name.front(), wish);
  if (name == "btio") return make_btio(wish);
  if (name == "tiny") return make_tiny(wish);
  if (name == "amr") return make_amr(wish);
  if (name == "sparse") return make_sparse(wish);
  throw std::invalid_argument("no pattern '" + name + "'; there are f, g, i, btio, tiny, amr, sparse");
}

std::vector<std::string> pattern_names() {
  return {"f", "g", "i", "btio", "tiny", "amr", "sparse"};
}

}  // namespace forebay::simulate
