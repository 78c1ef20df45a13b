// The sources of gas, one in each block of root cells, moving about in it. Nothing but + - * / and floor,
// which give the same bits everywhere.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "mesh.hpp"

namespace amr {

inline constexpr int block_edge = 4;         // in root cells
inline constexpr double source_reach = 1.2;  // how far a source pours
inline constexpr double source_swing =
    0.8;  // how far it leaves the block's middle: never reaches another block
inline constexpr double source_core = 1.0 / units;

// A number in [0, 1) drawn by the key.
KOKKOS_INLINE_FUNCTION double lot(std::uint64_t key) {
  key += 0x9e3779b97f4a7c15U;  // SplitMix64 (Steele, Lea and Flood, 2014)
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9U;
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>((key ^ (key >> 31)) >> 11) * 0x1p-53;
}

// Where the source of block `block` is along an axis after `step` steps, in root cells: to and fro, evenly.
KOKKOS_INLINE_FUNCTION double source_at(const int (&block)[3], int axis, std::int64_t step) {
  std::uint64_t key = 0;
  for (const int i : block) key = key << 20 | static_cast<std::uint64_t>(i);
  key = key << 2 | static_cast<std::uint64_t>(axis);
  const double phase = lot(key) + (0.01 + 0.02 * lot(~key)) * static_cast<double>(step);
  const double wave = phase - Kokkos::floor(phase) - 0.5;  // [-0.5, 0.5)
  return (block[axis] + 0.5) * block_edge + source_swing * (4 * (wave < 0 ? -wave : wave) - 1);
}

// What is poured per step at a point, in root cells.
KOKKOS_INLINE_FUNCTION double poured(const double (&point)[3], std::int64_t step) {
  int block[3];
  for (int axis = 0; axis < 3; ++axis) block[axis] = static_cast<int>(point[axis]) / block_edge;
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double away = point[axis] - source_at(block, axis, step);
    square += away * away;
  }
  const double fading = 1 - square / (source_reach * source_reach);
  return fading > 0 ? fading / (square + source_core * source_core) : 0;
}

}  // namespace amr
