#include "picture.hpp"

#include <algorithm>
#include <cmath>

#include "agree.hpp"
#include "image.hpp"
#include "refine.hpp"

namespace amr {
namespace {

// A leaf where the slice cuts it, in units.
struct Square {
  std::int32_t x, y, edge, unused;
  double gas;
};

std::vector<Square> cut(const Mesh& mesh, int height) {
  std::vector<Square> squares;
  for (int l = 0; l <= deepest; ++l) {
    const Level& level = mesh.levels[static_cast<std::size_t>(l)];
    const int edge = cell_edge(l);
    for (int oct = 0; oct < level.octs(); ++oct)
      for (int child = 0; child < cells_of(l); ++child) {
        const int z = level.corner[2](oct) + (child >> 2 & 1) * edge;
        if ((level.refined(oct) >> child & 1) || height < z || height >= z + edge) continue;
        squares.push_back({level.corner[0](oct) + (child & 1) * edge,
                           level.corner[1](oct) + (child >> 1 & 1) * edge, edge, 0,
                           level.value(gas, child, oct)});
      }
  }
  return squares;
}

// On rank 0 the squares of all ranks, in an order that is the same for any number of them.
std::vector<Square> gather(MPI_Comm comm, const std::vector<Square>& mine) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int bytes = static_cast<int>(mine.size() * sizeof(Square));
  std::vector<int> sizes(static_cast<std::size_t>(ranks)), places(sizes.size());
  MPI_Gather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, comm);
  for (std::size_t i = 1; i < places.size(); ++i) places[i] = places[i - 1] + sizes[i - 1];
  std::vector<Square> all(rank == 0 ? static_cast<std::size_t>(places.back() + sizes.back()) / sizeof(Square)
                                    : 0);
  MPI_Gatherv(mine.data(), bytes, MPI_BYTE, all.data(), sizes.data(), places.data(), MPI_BYTE, 0, comm);
  std::sort(all.begin(), all.end(),
            [](const Square& a, const Square& b) { return std::pair(a.y, a.x) < std::pair(b.y, b.x); });
  return all;
}

// From dark to light with the logarithm of the gas, which is taken without the mathematics library.
Colour colour_of(double value) {
  static constexpr std::array<Colour, 6> ramp = {
      {{13, 13, 45}, {48, 40, 120}, {24, 110, 140}, {60, 170, 95}, {230, 205, 60}, {255, 250, 225}}};
  constexpr double darkest = -6, lightest = 12;  // powers of 2
  int exponent = 0;
  const double mantissa = std::frexp(std::max(value, 1e-30), &exponent);  // [0.5, 1)
  const double along = std::clamp((exponent - 2 + 2 * mantissa - darkest) / (lightest - darkest), 0.0, 1.0) *
                       (ramp.size() - 1);
  const auto step = std::min(static_cast<std::size_t>(along), ramp.size() - 2);
  Colour colour;
  for (std::size_t i = 0; i < 3; ++i)
    colour[i] = static_cast<std::uint8_t>(ramp[step][i] + (along - static_cast<double>(step)) *
                                                              (ramp[step + 1][i] - ramp[step][i]));
  return colour;
}

Image paint(const std::vector<Square>& squares, std::int64_t edge, int pixels) {
  constexpr int shown = 4;  // pixels from which on a cell's border is drawn
  Image image(pixels, pixels, {40, 40, 40});
  const auto pixel = [&](std::int64_t unit) { return static_cast<int>(unit * pixels / edge); };
  for (const Square& square : squares) {
    const Colour colour = colour_of(square.gas);
    const int left = pixel(square.x), low = pixel(square.y);
    const int right = std::max(left + 1, pixel(square.x + square.edge)),
              high = std::max(low + 1, pixel(square.y + square.edge));
    for (int y = low; y < high; ++y)
      for (int x = left; x < right; ++x) {
        Colour& at = image.at(x, pixels - 1 - y) = colour;
        const bool border = (x == left || y == low) && right - left >= shown && high - low >= shown;
        for (std::uint8_t& part : at) part = static_cast<std::uint8_t>(border ? part * 6 / 10 : part);
      }
  }
  return image;
}

}  // namespace

void draw(MPI_Comm comm, const std::string& path, const Domain& domain, const Mesh& mesh,
          const PictureSettings& settings) {
  const int edge = domain.edge() * units;
  const int height = std::clamp(static_cast<int>(settings.height * edge), 0, edge - 1);
  const std::vector<Square> squares = gather(comm, cut(mesh, height));
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  together(comm, [&] {
    if (rank == 0) write_image(path, paint(squares, edge, settings.pixels));
  });
}

}  // namespace amr
