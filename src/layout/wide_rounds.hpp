// Rounds in which every owner of the file is at work: how large they are, by what memory a node has.
#pragma once

#include <cstdint>

#include "layout/file_domains.hpp"

namespace forebay {

/// A smaller message between nodes is latency.
inline constexpr std::int64_t kWorthyMessage = 32 << 10;

/// A wide round's range is `slots` blocks of every owner. It is cut into cells, which are parts of a stripe:
/// what a node puts of one is one message. How far a round gets in its range depends on what is put: a rank
/// lists at most `listed` bytes.
struct WideRounds {
  int rails = 1;           ///< aggregators a node
  std::int64_t cell = 0;   ///< bytes, a multiple of 4096 that divides the stripe; 0: no such rounds
  std::int64_t block = 0;  ///< bytes, whole stripes
  std::int64_t slots = 0;
  std::int64_t range = 0;   ///< bytes
  std::int64_t listed = 0;  ///< bytes, at least a cell

  bool possible() const { return cell > 0; }
  std::int64_t cells() const { return range / cell; }
  /// Bits of a granule, at most `shift`, such that a cell's marks are whole words.
  int granule(int shift) const;
  bool operator==(const WideRounds&) const = default;
};

/// The largest that make sense, and take at most `bytes` of a node with `ranks` ranks; not possible() where
/// none fits, or the stripe cannot be cut into cells. `bytes_needed`: what rounds take.
WideRounds choose_wide_rounds(const FileDomains& domains, int rails, int nodes, int ranks, std::int64_t bytes,
                              std::int64_t (*bytes_needed)(const WideRounds&, int ranks));

}  // namespace forebay
