// Random collective reads through the whole engine, against the bytes that were written: every rank gets what
// it asked for, in any order, with overlaps, and zeros past the end of the file. Prints its seed; `--seed S
// --count 1` repeats a case.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine_case_tools.hpp"
#include "request/memory_stream.hpp"
#include "request/piece_cursor.hpp"

using namespace forebay;
using namespace forebay::test;

namespace {

std::byte byte_at(std::uint64_t seed, std::int64_t offset, std::int64_t size) {
  if (offset >= size) return std::byte{0};
  return static_cast<std::byte>((static_cast<std::uint64_t>(offset) * 2654435761U + seed) >> 7);
}

struct Wanted {
  std::unique_ptr<Cursor> cursor;
  std::vector<Run> runs;
  std::vector<std::byte> memory;
  std::unique_ptr<MemorySink> sink;
};

// One request of ascending runs, or of a list in any order.
Wanted wanted_of(std::mt19937_64& random, std::int64_t begin, std::int64_t elements, std::int64_t width,
                 int density) {
  Wanted out;
  std::int64_t stream = 0;
  const auto longest = static_cast<std::int64_t>(1 + random() % 30);
  const bool unsorted = random() % 3 == 0;
  PieceListBuilder builder;
  if (unsorted) {
    for (int i = static_cast<int>(random() % 3000); i > 0; --i) {
      const auto length = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(longest));
      builder.add(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(elements)), length);
    }
    const PieceListPtr list = builder.finish();
    auto cursor = std::make_unique<PieceListCursor>(list, PieceMapping{begin, width, 0, 0},
                                                    random() % 2 == 0 ? 4096 : std::int64_t{4} << 20);
    cursor->start(std::int64_t{1} << 40);
    std::vector<Run> batch(512);
    while (const std::size_t n = cursor->take(kNoOffset, batch)) {
      out.runs.insert(out.runs.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(n));
    }
    for (const Run& run : out.runs) stream = std::max(stream, run.stream + run.length);
    out.cursor = std::move(cursor);
  } else {
    for (std::int64_t e = 0; e < elements;) {
      const auto length = std::min<std::int64_t>(
          elements - e, 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(longest)));
      if (static_cast<int>(random() % 100) < density) {
        out.runs.push_back({begin + e * width, stream, length * width});
        stream += length * width;
      }
      e += length + static_cast<std::int64_t>(random() % 3);
    }
    out.cursor = std::make_unique<RunListCursor>(out.runs);
  }
  out.memory.assign(static_cast<std::size_t>(stream), std::byte{0xee});
  out.sink = std::make_unique<MemorySink>(out.memory.data());
  return out;
}

void run_case(std::uint64_t seed) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::mt19937_64 random(seed);
  const auto pick = [&](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random() % choices.size()]);
  };
  std::string hints = "forebay_storage=" + pick({"mpiio", "posix", "automatic"});
  hints += ";forebay_stripe_bytes=" + pick({"4096", "65536", "1048576", "12288", "5000", "8388608"});
  hints += ";forebay_window_bytes=" + pick({"0", "4096", "65536", "262144", "1048576"});
  hints += ";forebay_ranks_per_node=" + pick({"0", "0", "1", "2", "3"});
  hints += ";forebay_aggregators_per_node=" + pick({"0", "1", "2", "3", "7"});
  hints += ";forebay_link=" + pick({"put", "message", "automatic"});
  hints += ";forebay_rounds=" + pick({"automatic", "wide", "wide", "window"});
  hints += ";forebay_owner_nodes=" + pick({"all", "all", "1", "2", "0-0,2", "1-1"});
  hints += ";forebay_bypass_bytes=" + pick({"0", "4096", "1048576"});
  const bool commits = random() % 2 == 0;
  if (commits) hints += ";forebay_mode=commit;forebay_pool_bytes=" + pick({"0", "100k", "1m"});
  const bool by_node = commits && random() % 2 == 0;
  const std::int64_t widths[] = {1, 2, 4, 8, 12, 4096};
  const std::int64_t begins[] = {0, 1, 4, 1000, 1048576 - 3, 8, 4096, (std::int64_t{3} << 30) + 12};
  const int densities[] = {100, 100, 97, 60, 20, 1, 0};

  const std::int64_t base = begins[random() % 8];
  const std::int64_t size = base + static_cast<std::int64_t>(random() % 3000000);
  fresh("reads.dat");
  auto file = open_file(MPI_COMM_WORLD, "reads.dat", hints, nullptr,
                        !commits  ? Keeping::nothing
                        : by_node ? Keeping::by_node
                                  : Keeping::by_rank,
                        true);
  // Written by all together, so that in commit mode some of it is kept where it is read from.
  {
    const std::int64_t share = (size - base) / file->ranks() + 1;
    const std::int64_t from = std::min(size, base + share * rank);
    const std::int64_t to = std::min(size, from + share);
    std::vector<std::byte> data(static_cast<std::size_t>(to - from));
    for (std::int64_t at = from; at < to; ++at)
      data[static_cast<std::size_t>(at - from)] = byte_at(seed, at, size);
    RunListCursor cursor(to > from ? std::vector<Run>{{from, 0, to - from}} : std::vector<Run>{});
    MemorySource source(data.data());
    const Put put{&cursor, &source};
    CHECK_OK(file->write_all({&put, 1}));
  }
  std::mt19937_64 mine(seed * 7919 + static_cast<std::uint64_t>(rank));
  for (int call = static_cast<int>(random() % 3); call >= 0; --call) {
    const std::int64_t width = widths[random() % 6];
    const std::int64_t begin = base + static_cast<std::int64_t>(random() % 2000);
    const std::int64_t most = std::max<std::int64_t>(1, (size - base) / width);
    const std::int64_t elements =
        1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 100));
    const int density = densities[random() % 7];
    std::deque<Wanted> wanted;
    std::vector<Get> gets;
    for (auto i = mine() % 4; i > 0; --i) {
      Wanted& w = wanted.emplace_back(wanted_of(mine, begin, elements, width, density));
      gets.push_back({w.cursor.get(), w.sink.get()});
    }
    const bool together = random() % 8 != 0;
    if (!together && commits && !by_node) CHECK_OK(file->flush());  // what other ranks keep is not seen
    const Status status = together ? file->read_all(gets) : file->read(gets);
    if (!status.ok()) {
      std::fprintf(stderr, "seed %lu rank %d: %s\n", seed, rank, status.message().c_str());
      ++failures;
    }
    int wrong = 0;
    for (const Wanted& w : wanted) {
      for (const Run& run : w.runs) {
        for (std::int64_t i = 0; i < run.length && wrong < 3; ++i) {
          const std::byte got = w.memory[static_cast<std::size_t>(run.stream + i)];
          const std::byte expected = byte_at(seed, run.file + i, size);
          if (got == expected) continue;
          std::fprintf(stderr, "seed %lu rank %d: byte %ld is %02x, not %02x (size %ld; %s)\n", seed, rank,
                       run.file + i, static_cast<unsigned>(got), static_cast<unsigned>(expected), size,
                       hints.c_str());
          ++wrong;
        }
      }
    }
    failures += wrong;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(file->close());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::uint64_t seed = 1;
  int count = 20;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--count") == 0) count = std::atoi(argv[i + 1]);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("seeds %lu to %lu\n", seed, seed + static_cast<std::uint64_t>(count) - 1);
  for (int i = 0; i < count; ++i) run_case(seed + static_cast<std::uint64_t>(i));
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::remove("reads.dat");
  if (rank == 0) std::printf("%d failures\n", failures);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
