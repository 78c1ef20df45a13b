// How many root cells the segments have: normally distributed, and the same on every machine and rank.
#pragma once

#include <cstdint>
#include <vector>

namespace amr {

struct SegmentSettings {
  int segments = 1024;
  double scale = 1;  // times these lengths, in root cells:
  double mean = 2048, deviation = 128;
  std::uint32_t seed = 5;
};

// The lengths of the segments, each at least 1. Normal numbers by the polar method (Marsaglia and Bray,
// 1964), since std::normal_distribution may differ between standard libraries.
std::vector<std::int32_t> segment_lengths(const SegmentSettings& settings);

}  // namespace amr
