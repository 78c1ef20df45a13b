// Nanoseconds a piece: what walking a request and producing its bytes cost when pieces are as small as one float.
#include <benchmark/benchmark.h>

#include <vector>

#include "request/active_set.hpp"
#include "request/memory_source.hpp"
#include "request/strided.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kWindow = 1 << 20;
constexpr std::size_t kBatch = 512;

void per_piece(benchmark::State& state, std::int64_t pieces) {
  state.counters["per_piece"] =
      benchmark::Counter(static_cast<double>(pieces), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Walks a cursor in rounds of a window, as a flush does; with a source it scatters into a warm window too.
std::int64_t walk(Cursor& cursor, Source* source, std::vector<std::byte>& window) {
  std::vector<Run> runs(kBatch);
  std::int64_t pieces = 0;
  cursor.start(kWindow);
  for (std::int64_t next; (next = cursor.peek()) != kNoOffset;) {
    const std::int64_t round = next / kWindow;
    while (const std::size_t n = cursor.take((round + 1) * kWindow, runs)) {
      pieces += static_cast<std::int64_t>(n);
      if (source != nullptr) source->produce({runs.data(), n}, window.data(), round * kWindow);
      benchmark::DoNotOptimize(runs.data());
    }
  }
  benchmark::DoNotOptimize(window.data());
  return pieces;
}

// One float in `stride`, in rows of `row`.
StridedCursor columns(std::int64_t row, std::int64_t stride, std::int64_t rows) {
  const std::int64_t shape[] = {rows, row * stride + 5}, start[] = {0, 1}, count[] = {rows, row}, step[] = {1, stride};
  return StridedCursor::subarray(4096, 4, shape, start, count, step);
}

void strided_take(benchmark::State& state) {
  StridedCursor cursor = columns(state.range(0), 4, 1000000 / state.range(0));
  std::vector<std::byte> window(kWindow);
  std::int64_t pieces = 0;
  for (auto _ : state) pieces += walk(cursor, nullptr, window);
  per_piece(state, pieces);
}
BENCHMARK(strided_take)->Arg(1000000)->Arg(100)->Arg(8)->Arg(3)->Arg(2);

void strided_take_and_produce(benchmark::State& state) {
  StridedCursor cursor = columns(1000, 4, 1000);
  std::vector<std::byte> memory(4000000), window(kWindow);
  MemorySource source(memory.data(), static_cast<Swap>(state.range(0)));
  std::int64_t pieces = 0;
  for (auto _ : state) pieces += walk(cursor, &source, window);
  per_piece(state, pieces);
}
BENCHMARK(strided_take_and_produce)->Arg(1)->Arg(4);

// produce() alone: one batch of runs again and again, `length` bytes each.
void memory_produce(benchmark::State& state) {
  const std::int64_t length = state.range(1);
  std::vector<Run> runs(kBatch);
  for (std::size_t i = 0; i < kBatch; ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i);
    runs[i] = {at * 3 * length, at * length, length};
  }
  std::vector<std::byte> memory(kBatch * static_cast<std::size_t>(length)), window(3 * memory.size());
  MemorySource source(memory.data(), static_cast<Swap>(state.range(0)));
  for (auto _ : state) {
    source.produce(runs, window.data(), 0);
    benchmark::ClobberMemory();
  }
  per_piece(state, static_cast<std::int64_t>(state.iterations() * kBatch));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * kBatch) * length);
}
BENCHMARK(memory_produce)->ArgsProduct({{1, 2, 4, 8}, {8, 64, 1024}})->Args({1, 4})->Args({4, 4})->Args({2, 2});

// A flush of many requests, each of which has one piece in one of 700 rounds: what finding them costs.
void active_set_many(benchmark::State& state) {
  const std::int64_t count = state.range(0);
  std::vector<StridedCursor> cursors;
  std::vector<Put> puts;
  for (std::int64_t i = 0; i < count; ++i) cursors.push_back(columns(1, 1, 1));
  for (std::int64_t i = 0; i < count; ++i) {
    const StridedDim once[] = {{4, 1}};
    cursors[static_cast<std::size_t>(i)] = StridedCursor(i * 7919 % count * 700 * kWindow / count, 0, 4, once);
    puts.push_back({&cursors[static_cast<std::size_t>(i)], nullptr});
  }
  ActiveSet active(puts);
  std::int64_t pieces = 0;
  for (auto _ : state) {
    active.start(kWindow);
    for (std::int64_t round = 1; round <= 700; ++round) {
      active.visit(round * kWindow, [&](Put& put) {
        Run out[8];
        pieces += static_cast<std::int64_t>(put.cursor->take(round * kWindow, out));
      });
    }
  }
  per_piece(state, pieces);
}
BENCHMARK(active_set_many)->Arg(1000)->Arg(100000);

}  // namespace
}  // namespace forebay

BENCHMARK_MAIN();
