// How one global array is spread over ranks: the pieces one rank holds, in elements of the flattened array,
// and what both libraries need to turn them into starts, counts and selections.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace forebay::bench {

using Shape = std::vector<std::int64_t>;

struct Piece {
  std::int64_t offset = 0;  // elements from the start of the array
  std::int64_t length = 0;
  bool operator==(const Piece&) const = default;
};

struct Decomposition {
  std::string name;
  Shape shape;                // the global array, slowest dimension first
  std::vector<Piece> pieces;  // this rank's, in the order of its buffer
};

// What one rank of `ranks` holds of every decomposition.
using Cutter = std::function<std::vector<Decomposition>(int rank, int ranks)>;

std::int64_t volume(std::span<const std::int64_t> shape);

std::int64_t element_count(std::span<const Piece> pieces);

// The same elements, ascending, each once, neighbours joined: the order in which HDF5 walks a selection.
std::vector<Piece> ascending(std::vector<Piece> pieces);

// Which elements of an array of `volume` elements somebody holds.
class Coverage {
 public:
  explicit Coverage(std::int64_t volume) : held_(static_cast<std::size_t>(volume), false) {}
  void add(std::span<const Piece> pieces);
  bool holds(std::int64_t element) const { return held_[static_cast<std::size_t>(element)]; }
  std::int64_t missing() const { return std::count(held_.begin(), held_.end(), false); }

 private:
  std::vector<bool> held_;
};

// Cuts the run [offset, offset + length) of an array into as few boxes as a greedy walk finds, ascending, and
// calls visit(start, count) for each; both spans are as long as the shape.
template <typename Visit>
void for_each_box(std::span<const std::int64_t> shape, Piece run, Visit&& visit) {
  const std::size_t rank = shape.size();
  Shape stride(rank, 1), start(rank), count(rank);
  for (std::size_t d = rank; d-- > 1;) stride[d - 1] = stride[d] * shape[d];
  while (run.length > 0) {
    std::int64_t rest = run.offset;
    for (std::size_t d = 0; d < rank; ++d) {
      start[d] = rest / stride[d];
      rest %= stride[d];
    }
    // The slowest dimension in which a whole step begins here and fits.
    std::size_t wide = 0;
    while (run.offset % stride[wide] != 0 || run.length < stride[wide]) ++wide;
    for (std::size_t d = 0; d < rank; ++d) count[d] = d < wide ? 1 : shape[d];
    count[wide] = std::min(run.length / stride[wide], shape[wide] - start[wide]);
    visit(std::span<const std::int64_t>(start), std::span<const std::int64_t>(count));
    const std::int64_t done = count[wide] * stride[wide];
    run.offset += done;
    run.length -= done;
  }
}

}  // namespace forebay::bench
