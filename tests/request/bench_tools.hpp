// What the benchmarks of cursors, sources and sinks share: requests as programs have them, and walks over
// them.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "request/cursor.hpp"
#include "request/piece_cursor.hpp"
#include "request/stream.hpp"

namespace forebay::test {

inline constexpr std::int64_t kWindow = 1 << 20;
inline constexpr std::size_t kBatch = 512;

inline void per_piece(benchmark::State& state, std::int64_t pieces) {
  state.counters["per_piece"] = benchmark::Counter(static_cast<double>(pieces),
                                                   benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Walks a cursor in rounds of a window, as a flush and a read do: moves(runs, window, origin) moves the bytes
// of a batch out of or into a warm window.
template <class Move>
std::int64_t walk(Cursor& cursor, std::vector<std::byte>& window, Move&& moves) {
  std::vector<Run> runs(kBatch);
  std::int64_t pieces = 0;
  cursor.start(kWindow);
  for (std::int64_t next; (next = cursor.peek()) != kNoOffset;) {
    const std::int64_t round = next / kWindow;
    while (const std::size_t n = cursor.take((round + 1) * kWindow, runs)) {
      pieces += static_cast<std::int64_t>(n);
      moves(std::span<const Run>(runs.data(), n), window.data(), round * kWindow);
      benchmark::DoNotOptimize(runs.data());
    }
  }
  benchmark::DoNotOptimize(window.data());
  return pieces;
}
inline std::int64_t walk(Cursor& cursor, Source* source, std::vector<std::byte>& window) {
  return walk(cursor, window, [&](std::span<const Run> runs, std::byte* bytes, std::int64_t origin) {
    if (source != nullptr) source->produce(runs, bytes, origin);
  });
}
inline std::int64_t walk(Cursor& cursor, Sink& sink, std::vector<std::byte>& window) {
  return walk(cursor, window, [&](std::span<const Run> runs, std::byte* bytes, std::int64_t origin) {
    sink.consume(runs, bytes, origin);
  });
}

// A decomposition like a climate model's: mostly single elements, some short runs, gaps of some hundred
// elements.
inline PieceListPtr decomposition(std::int64_t pieces, std::int64_t longest, bool shuffled) {
  std::mt19937_64 random(1);
  std::vector<std::pair<std::int64_t, std::int64_t>> list;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < pieces; ++i) {
    at += 1 + static_cast<std::int64_t>(random() % 30);
    const std::int64_t length = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(longest));
    list.push_back({at, length});
    at += length;
  }
  if (shuffled) std::shuffle(list.begin(), list.end(), random);
  PieceListBuilder builder;
  for (const auto& [offset, length] : list) builder.add(offset, length);
  return builder.finish();
}

}  // namespace forebay::test
