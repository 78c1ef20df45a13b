// Nanoseconds a piece: what walking a request and producing or consuming its bytes cost when pieces are as
// small as one float.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench_tools.hpp"
#include "request/active_set.hpp"
#include "request/memory_stream.hpp"
#include "request/strided.hpp"

namespace forebay::test {
namespace {

// One float in `stride`, in rows of `row`.
StridedCursor columns(std::int64_t row, std::int64_t stride, std::int64_t rows) {
  const std::int64_t shape[] = {rows, row * stride + 5}, start[] = {0, 1}, count[] = {rows, row},
                     step[] = {1, stride};
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

void piece_list_take(benchmark::State& state) {
  PieceMapping map{4096, 4};
  if (state.range(1) != 0) map = {4096, 4, 50000, 300000};
  PieceListCursor cursor(decomposition(1000000, state.range(0), false), map);
  std::vector<std::byte> window(kWindow);
  std::int64_t pieces = 0;
  for (auto _ : state) pieces += walk(cursor, nullptr, window);
  per_piece(state, pieces);
}
BENCHMARK(piece_list_take)->ArgNames({"longest", "records"})->ArgsProduct({{1, 3}, {0, 1}});

void piece_list_take_and_produce(benchmark::State& state) {
  const PieceListPtr list = decomposition(1000000, state.range(0), false);
  PieceListCursor cursor(list, {4096, 4});
  std::vector<std::byte> memory(static_cast<std::size_t>(list->elements() * 4)), window(kWindow);
  MemorySource source(memory.data(), Swap::four);
  std::int64_t pieces = 0;
  for (auto _ : state) pieces += walk(cursor, &source, window);
  per_piece(state, pieces);
}
BENCHMARK(piece_list_take_and_produce)->ArgName("longest")->Arg(1)->Arg(3);

void piece_list_unordered(benchmark::State& state) {
  PieceListCursor cursor(decomposition(state.range(0), state.range(1), true), {4096, 4});
  std::vector<std::byte> window(kWindow);
  std::int64_t pieces = 0;
  for (auto _ : state) pieces += walk(cursor, nullptr, window);
  per_piece(state, pieces);
}
BENCHMARK(piece_list_unordered)
    ->ArgNames({"pieces", "longest"})
    ->ArgsProduct({{100000, 1000000, 10000000}, {1, 3}})
    ->Unit(benchmark::kMillisecond);

void piece_list_build(benchmark::State& state) {
  PieceListBuilder builder;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < state.range(1); ++i) builder.add(i * 40, 1 + (i & state.range(0)));
    benchmark::DoNotOptimize(builder.finish());
  }
  per_piece(state, static_cast<std::int64_t>(state.iterations()) * state.range(1));
}
BENCHMARK(piece_list_build)->ArgNames({"other_lengths", "pieces"})->ArgsProduct({{0, 3}, {10000, 1000000}});

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
BENCHMARK(memory_produce)
    ->ArgsProduct({{1, 2, 4, 8}, {8, 64, 1024}})
    ->Args({1, 4})
    ->Args({4, 4})
    ->Args({2, 2});

// The way back.
void memory_sink(benchmark::State& state) {
  const PieceListPtr list = decomposition(1000000, state.range(0), false);
  PieceListCursor cursor(list, {4096, 4});
  std::vector<float> memory(static_cast<std::size_t>(list->elements()));
  std::vector<std::byte> window(kWindow);
  MemorySink sink(memory.data(), Swap::four);
  std::int64_t pieces = 0;
  for (auto _ : state) pieces += walk(cursor, sink, window);
  per_piece(state, pieces);
}
BENCHMARK(memory_sink)->ArgName("longest")->Arg(1)->Arg(3);

// A flush of many requests, each of which has one piece in one of 700 rounds: what finding them costs.
void active_set_many(benchmark::State& state) {
  const std::int64_t count = state.range(0);
  std::vector<StridedCursor> cursors;
  std::vector<Put> puts;
  for (std::int64_t i = 0; i < count; ++i) cursors.push_back(columns(1, 1, 1));
  for (std::int64_t i = 0; i < count; ++i) {
    const StridedDim once[] = {{4, 1}};
    cursors[static_cast<std::size_t>(i)] =
        StridedCursor(i * 7919 % count * 700 * kWindow / count, 0, 4, once);
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
}  // namespace forebay::test

BENCHMARK_MAIN();
