// Random collective writes through the whole engine, against a byte image made the slow way: every byte put
// is there, later puts of a rank and later calls win, and no other byte of the file has changed. Prints its
// seed; `--seed S --count 1` repeats a case.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/hints.hpp"
#include "engine/core_file.hpp"
#include "mpi/file.hpp"
#include "request/memory_stream.hpp"
#include "run_list_cursor.hpp"

using namespace forebay;
using forebay::test::RunListCursor;

namespace {

struct Request {
  std::vector<Run> runs;
  std::vector<std::byte> memory;
};

// What one rank puts in one call: several requests over elements that no other rank touches in this call.
std::vector<Request> requests_of(std::uint64_t seed, int call, int rank, int ranks, std::int64_t begin,
                                 std::int64_t elements, std::int64_t width, int density) {
  std::mt19937_64 owner(seed * 1000003 + static_cast<std::uint64_t>(call));
  std::mt19937_64 mine(seed * 7919 + static_cast<std::uint64_t>(call * 131 + rank));
  std::vector<Request> out(1 + mine() % 3);
  const int run_length = 1 + static_cast<int>(owner() % 20);
  for (std::int64_t e = 0; e < elements;) {
    const auto length = std::min<std::int64_t>(
        elements - e, 1 + static_cast<std::int64_t>(owner() % static_cast<unsigned>(run_length)));
    const int who = static_cast<int>(owner() % static_cast<unsigned>(ranks));
    const bool put = static_cast<int>(owner() % 100) < density;
    if (put && who == rank) {
      // Sometimes twice, in two requests: the later one counts.
      for (int copies = mine() % 8 == 0 ? 2 : 1; copies > 0; --copies) {
        Request& r = out[mine() % out.size()];
        const auto at = static_cast<std::int64_t>(r.memory.size());
        for (std::int64_t i = 0; i < length * width; ++i) r.memory.push_back(static_cast<std::byte>(mine()));
        if (!r.runs.empty() && r.runs.back().file == begin + e * width) {
          r.memory.resize(static_cast<std::size_t>(at));
        } else {
          r.runs.push_back({begin + e * width, at, length * width});
        }
      }
    }
    e += length;
  }
  return out;
}

// A sparse image of the file: pages that some put touched; what nobody put in them is zero.
struct Image {
  static constexpr std::int64_t kPage = 65536;
  std::map<std::int64_t, std::vector<std::byte>> pages;
  std::int64_t size = 0;

  void put(std::int64_t offset, const std::byte* data, std::int64_t length) {
    for (std::int64_t i = 0; i < length;) {
      auto& page = pages[(offset + i) / kPage];
      page.resize(kPage);
      const std::int64_t at = (offset + i) % kPage;
      const std::int64_t n = std::min(length - i, kPage - at);
      std::memcpy(page.data() + at, data + i, static_cast<std::size_t>(n));
      i += n;
    }
    if (length > 0) size = std::max(size, offset + length);
  }
};

int failures = 0;

void run_case(std::uint64_t seed, const std::string& path) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::mt19937_64 random(seed);
  const auto pick = [&](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random() % choices.size()]);
  };
  std::string hints = "forebay_storage=" + pick({"mpiio", "posix"});
  hints += ";forebay_stripe_bytes=" + pick({"4096", "65536", "1048576", "12288", "5000", "8388608"});
  hints += ";forebay_window_bytes=" + pick({"0", "4096", "65536", "262144", "1048576"});
  hints += ";forebay_ranks_per_node=" + pick({"0", "0", "1", "2", "3"});
  hints += ";forebay_aggregators_per_node=" + pick({"0", "1", "2", "3", "7"});
  hints += ";forebay_link=" + pick({"put", "message", "automatic"});
  hints += ";forebay_rounds=" + pick({"automatic", "wide", "wide", "window"});
  hints += ";forebay_owner_nodes=" + pick({"all", "all", "1", "2", "0-0,2", "1-1"});
  hints += ";forebay_bypass_bytes=" + pick({"0", "4096", "1048576"});
  const bool commits = random() % 2 == 0;
  if (commits) hints += ";forebay_mode=commit;forebay_pool_bytes=" + pick({"0", "4096", "100k", "1m"});
  const std::int64_t widths[] = {1, 2, 4, 8, 12, 4096};
  const std::int64_t width = widths[random() % 6];
  const std::int64_t elements = 1 + static_cast<std::int64_t>(random() % (width > 100 ? 500 : 60000));
  const std::int64_t begins[] = {0, 1, 4, 1000, 1048576 - 3, 8, (std::int64_t{3} << 30) + 12, 4096};
  const int densities[] = {100, 100, 97, 60, 20, 0};

  Image image;  // every byte that some call put
  if (rank == 0) std::remove(path.c_str());
  MPI_Barrier(MPI_COMM_WORLD);
  FileOptions options;
  options.path = path;
  options.driver = "test";
  options.keeping = Keeping::by_rank;
  if (const Status status = parse_hints(options.settings, hints, Origin::call); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::unique_ptr<CoreFile> file;
  if (const Status status =
          mpi::open(MPI_COMM_WORLD, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, options, file);
      !status.ok()) {
    std::fprintf(stderr, "seed %lu: open: %s\n", seed, status.message().c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  // An older content that must survive in the holes.
  const std::int64_t old_bytes = static_cast<std::int64_t>(random() % 300000);
  if (rank == 0) {
    std::vector<std::byte> old(static_cast<std::size_t>(old_bytes), std::byte{0x5a});
    if (!file->write_at(0, old.data(), old_bytes).ok()) ++failures;
    image.put(0, old.data(), old_bytes);
  }
  MPI_Barrier(MPI_COMM_WORLD);

  const int calls = 1 + static_cast<int>(random() % (commits ? 12 : 3));
  for (int call = 0; call < calls; ++call) {
    if (random() % 8 == 0 && !file->flush().ok()) ++failures;
    const std::int64_t begin = begins[random() % 8];
    const int density = densities[random() % 6];
    std::vector<Request> mine = requests_of(seed, call, rank, ranks, begin, elements, width, density);
    std::vector<RunListCursor> cursors;
    std::vector<MemorySource> sources;
    std::vector<Put> puts;
    cursors.reserve(mine.size());
    sources.reserve(mine.size());
    for (Request& r : mine) {
      cursors.emplace_back(r.runs);
      sources.emplace_back(r.memory.data());
      puts.push_back({&cursors.back(), &sources.back()});
    }
    std::int64_t agreed[2] = {rank, -rank};
    const Status status = file->write_all(puts, agreed);
    if (!status.ok() || agreed[0] != ranks - 1 || agreed[1] != 0) {
      std::fprintf(stderr, "seed %lu call %d rank %d: %s (agreed %ld %ld)\n", seed, call, rank,
                   status.message().c_str(), agreed[0], agreed[1]);
      ++failures;
    }
    if (rank == 0) {
      for (int r = 0; r < ranks; ++r) {
        for (const Request& q : requests_of(seed, call, r, ranks, begin, elements, width, density)) {
          for (const Run& run : q.runs) {
            image.put(run.file, q.memory.data() + run.stream, run.length);
          }
        }
      }
    }
  }
  if (commits && !file->flush().ok()) ++failures;
  if (rank == 0) {
    // In the file on return, before any close.
    std::int64_t size = 0;
    if (!file->size(size).ok()) ++failures;
    if (size != image.size) {
      std::fprintf(stderr, "seed %lu: the file has %ld bytes, not %ld (%s)\n", seed, size, image.size,
                   hints.c_str());
      ++failures;
    }
    int wrong = 0;
    std::vector<std::byte> got(Image::kPage);
    for (const auto& [page, expected] : image.pages) {
      if (!file->read_at(page * Image::kPage, got.data(), Image::kPage).ok()) ++failures;
      for (std::size_t i = 0; i < got.size() && wrong < 3; ++i) {
        if (got[i] == expected[i]) continue;
        std::fprintf(stderr, "seed %lu: byte %ld is %02x, not %02x (%s; width %ld)\n", seed,
                     page * Image::kPage + static_cast<std::int64_t>(i), static_cast<unsigned>(got[i]),
                     static_cast<unsigned>(expected[i]), hints.c_str(), width);
        ++wrong;
      }
    }
    failures += wrong;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (!file->close().ok()) ++failures;
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
  for (int i = 0; i < count; ++i) run_case(seed + static_cast<std::uint64_t>(i), "engine_random.dat");
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::remove("engine_random.dat");
  if (rank == 0) std::printf("%d failures\n", failures);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
