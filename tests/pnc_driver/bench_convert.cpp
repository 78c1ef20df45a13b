// Nanoseconds an element: what conversion adds to walking a request and moving its bytes.
#include <benchmark/benchmark.h>

#include <vector>

#include "../request/bench_tools.hpp"
#include "convert/convert_sink.hpp"
#include "convert/convert_source.hpp"
#include "request/strided.hpp"

namespace forebay::test {
namespace {

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

}  // namespace
}  // namespace forebay::test

BENCHMARK_MAIN();
