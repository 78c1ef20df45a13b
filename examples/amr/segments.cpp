#include "segments.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace amr {

std::vector<std::int32_t> segment_lengths(const SegmentSettings& settings) {
  std::mt19937_64 lot(settings.seed);
  const auto uniform = [&] { return static_cast<double>(lot() >> 11) * 0x1p-52 - 1; };  // [-1, 1)
  std::vector<std::int32_t> lengths;
  lengths.reserve(static_cast<std::size_t>(settings.segments));
  while (static_cast<int>(lengths.size()) < settings.segments) {
    const double x = uniform(), y = uniform(), square = x * x + y * y;
    if (square >= 1 || square == 0) continue;
    const double stretch = std::sqrt(-2 * std::log(square) / square);
    for (const double normal : {x * stretch, y * stretch}) {
      const double length = std::round((settings.mean + settings.deviation * normal) * settings.scale);
      if (static_cast<int>(lengths.size()) < settings.segments)
        lengths.push_back(static_cast<std::int32_t>(std::max(1.0, length)));
    }
  }
  return lengths;
}

}  // namespace amr
