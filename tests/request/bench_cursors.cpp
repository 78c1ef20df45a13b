// Nanoseconds a piece: what walking a request and producing or consuming its bytes cost when pieces are as
// small as one float.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <vector>

#include "request/active_set.hpp"
#include "request/convert_sink.hpp"
#include "request/convert_source.hpp"
#include "request/memory_sink.hpp"
#include "request/memory_source.hpp"
#include "request/piece_cursor.hpp"
#include "request/strided.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kWindow = 1 << 20;
constexpr std::size_t kBatch = 512;

void per_piece(benchmark::State& state, std::int64_t pieces) {
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
std::int64_t walk(Cursor& cursor, Source* source, std::vector<std::byte>& window) {
  return walk(cursor, window, [&](std::span<const Run> runs, std::byte* bytes, std::int64_t origin) {
    if (source != nullptr) source->produce(runs, bytes, origin);
  });
}
std::int64_t walk(Cursor& cursor, Sink& sink, std::vector<std::byte>& window) {
  return walk(cursor, window, [&](std::span<const Run> runs, std::byte* bytes, std::int64_t origin) {
    sink.consume(runs, bytes, origin);
  });
}

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

// A decomposition like a climate model's: mostly single elements, some short runs, gaps of some hundred
// elements.
PieceListPtr decomposition(std::int64_t pieces, std::int64_t longest, bool shuffled) {
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

std::vector<double> some_doubles(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i) * 0.5;
  return values;
}

void convert_double_to(benchmark::State& state) {
  const auto external = static_cast<ExternalType>(state.range(0));
  const std::vector<double> in = some_doubles(4096);
  std::vector<double> out(in.size());
  const auto fill = default_fill(external);
  const Converter converter(external, MemoryType::f64, fill.data());
  for (auto _ : state) {
    benchmark::DoNotOptimize(converter.convert(reinterpret_cast<const std::byte*>(in.data()),
                                               reinterpret_cast<std::byte*>(out.data()), in.size()));
    benchmark::ClobberMemory();
  }
  per_piece(state, static_cast<std::int64_t>(state.iterations() * in.size()));
}
BENCHMARK(convert_double_to)->ArgName("external")->Arg(3)->Arg(4)->Arg(5)->Arg(6)->Arg(10);

// Single elements, as a decomposition has them; and pieces of 1 to 3.
void convert_source(benchmark::State& state) {
  const PieceListPtr list = decomposition(1000000, state.range(0), false);
  PieceListCursor cursor(list, {4096, 4});
  const std::vector<double> memory = some_doubles(static_cast<std::size_t>(list->elements()));
  std::vector<std::byte> window(kWindow);
  const auto fill = default_fill(ExternalType::f32);
  ConvertSource source(memory.data(), ExternalType::f32, MemoryType::f64, fill.data());
  std::int64_t pieces = 0;
  for (auto _ : state) pieces += walk(cursor, &source, window);
  per_piece(state, pieces);
}
BENCHMARK(convert_source)->ArgName("longest")->Arg(1)->Arg(3);

// A transposed array of floats, by single elements and by rows of 100.
void gather_source(benchmark::State& state) {
  const std::int64_t count[] = {1000, 1000}, imap[] = {1, 1000};
  const std::vector<float> memory(1000000);
  std::vector<std::byte> window(kWindow);
  GatherSource source(memory.data(), count, imap, ExternalType::f32, MemoryType::f32, nullptr);
  const StridedDim dims[] = {{state.range(0) * 8, 1000000 / state.range(0)}};
  StridedCursor cursor(0, 0, state.range(0) * 4, dims);
  std::int64_t pieces = 0;
  for (auto _ : state) pieces += walk(cursor, &source, window);
  per_piece(state, pieces);
}
BENCHMARK(gather_source)->Arg(1)->Arg(100);

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

void convert_sink(benchmark::State& state) {
  const PieceListPtr list = decomposition(1000000, state.range(0), false);
  PieceListCursor cursor(list, {4096, 4});
  std::vector<double> memory(static_cast<std::size_t>(list->elements()));
  std::vector<std::byte> window(kWindow);
  const auto fill = default_fill(MemoryType::f64);
  ConvertSink sink(memory.data(), ExternalType::f32, MemoryType::f64, fill.data());
  std::int64_t pieces = 0;
  for (auto _ : state) pieces += walk(cursor, sink, window);
  per_piece(state, pieces);
}
BENCHMARK(convert_sink)->ArgName("longest")->Arg(1)->Arg(3);

void scatter_sink(benchmark::State& state) {
  const std::int64_t count[] = {1000, 1000}, imap[] = {1, 1000};
  std::vector<float> memory(1000000);
  std::vector<std::byte> window(kWindow);
  const auto fill = default_fill(MemoryType::f32);
  ScatterSink sink(memory.data(), count, imap, ExternalType::f32, MemoryType::f32, fill.data());
  const StridedDim dims[] = {{state.range(0) * 8, 1000000 / state.range(0)}};
  StridedCursor cursor(0, 0, state.range(0) * 4, dims);
  std::int64_t pieces = 0;
  for (auto _ : state) pieces += walk(cursor, sink, window);
  per_piece(state, pieces);
}
BENCHMARK(scatter_sink)->Arg(1)->Arg(100);

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
}  // namespace forebay

BENCHMARK_MAIN();
