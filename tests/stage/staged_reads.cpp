// Random reads of a file that is only read, staged in all ways, through the whole engine, against what was
// written; then once more with other bytes underneath, which nobody sees as long as the file's time is the
// old one. Prints its seed; `--seed S --count 1` repeats a case.
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "../dice.hpp"
#include "../engine/run_list_cursor.hpp"
#include "base/hints.hpp"
#include "engine/core_file.hpp"
#include "mpi/file.hpp"
#include "request/memory_stream.hpp"

using namespace forebay;
using forebay::test::RunListCursor;
using ::test::Dice;

namespace {

int failures = 0;
int rank = 0, ranks = 1;
constexpr const char* kFile = "staged.dat";
constexpr std::int64_t kOld = 1'600'000'000;

void fail(std::uint64_t seed, const std::string& what) {
  std::fprintf(stderr, "seed %llu rank %d: %s\n", static_cast<unsigned long long>(seed), rank, what.c_str());
  ++failures;
}

std::byte byte_at(std::int64_t at, int version) {
  return static_cast<std::byte>((static_cast<std::uint64_t>(at) * 2654435761U >> 7) +
                                static_cast<unsigned>(version) * 77);
}

// Rank 0, in place; all ranks wait for it.
void write_version(std::int64_t size, int version, std::int64_t time) {
  if (rank == 0) {
    std::vector<std::byte> data(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; ++i) data[static_cast<std::size_t>(i)] = byte_at(i, version);
    const int file = ::open(kFile, O_WRONLY | O_CREAT, 0600);
    if (::pwrite(file, data.data(), data.size(), 0) != static_cast<ssize_t>(data.size())) std::abort();
    const struct timespec times[2] = {{time, 0}, {time, 0}};
    if (::ftruncate(file, size) != 0 || ::futimens(file, times) != 0) std::abort();
    ::close(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

std::unique_ptr<CoreFile> open_to_read(std::uint64_t seed, const std::string& hints) {
  FileOptions options;
  options.path = kFile;
  options.driver = "test";
  Status status = parse_hints(options.settings, hints, Origin::call);
  std::unique_ptr<CoreFile> file;
  if (status.ok()) status = forebay::mpi::open(MPI_COMM_WORLD, MPI_MODE_RDONLY, MPI_INFO_NULL, options, file);
  if (!status.ok()) {
    fail(seed, status.message());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return file;
}

struct Moved {
  std::int64_t read = 0, fetched = 0, ahead = 0;
};

// The same calls for the same seed.
void read_randomly(std::uint64_t seed, CoreFile& file, std::int64_t size, int version) {
  Dice all(seed * 3 + 1), mine(seed * 7919 + static_cast<std::uint64_t>(rank));
  for (std::int64_t call = all.between(2, 5); call > 0; --call) {
    const std::int64_t longest = all.one_in(3) ? 100'000 : 2'000;
    const std::int64_t gap = all.one_in(2) ? 10 : 30'000;
    const bool together = !all.one_in(3);
    std::vector<Run> runs;
    std::int64_t bytes = 0;
    for (std::int64_t at = mine.below(size), n = mine.below(200); n > 0 && at < size + 100; --n) {
      const std::int64_t length = mine.between(1, longest);
      runs.push_back({at, bytes, length});
      bytes += length;
      at += length + mine.below(gap);
    }
    std::vector<std::byte> memory(static_cast<std::size_t>(bytes), std::byte{0xEE});
    RunListCursor cursor(runs);
    MemorySink sink(memory.data());
    const Get get{&cursor, &sink};
    const Status status = together ? file.read_all({&get, 1}) : file.read({&get, 1});
    if (!status.ok()) fail(seed, status.message());
    // The others go on, so this rank does, too.
    bool right = true;
    for (const Run& run : runs) {
      for (std::int64_t i = 0; i < run.length && right; ++i) {
        const std::byte expected = run.file + i < size ? byte_at(run.file + i, version) : std::byte{0};
        right = memory[static_cast<std::size_t>(run.stream + i)] == expected;
        if (!right)
          fail(seed,
               "byte " + std::to_string(run.file + i) + " is not of version " + std::to_string(version));
      }
    }
  }
}

// What all ranks have moved in this open.
Moved close(std::uint64_t seed, std::unique_ptr<CoreFile> file, const std::string& stats) {
  if (Status status = file->close(); !status.ok()) fail(seed, status.message());
  file.reset();
  Moved moved;
  if (rank == 0 && !stats.empty()) {
    std::string text(1 << 20, '\0');
    const int in = ::open(stats.c_str(), O_RDONLY);
    const ssize_t n = ::read(in, text.data(), text.size());
    ::close(in);
    ::unlink(stats.c_str());
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    const auto number = [&](const char* key) -> std::int64_t {
      const auto staged = text.find("\"staged\"");
      const auto at = staged == text.npos ? staged : text.find(std::string("\"") + key + "\":", staged);
      return at == text.npos ? -1 : std::atoll(text.c_str() + at + std::strlen(key) + 3);
    };
    moved = {number("read_bytes"), number("fetched_bytes"), number("ahead_bytes")};
  }
  return moved;
}

void forget_stages() {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    std::filesystem::remove_all("stages");
    std::filesystem::create_directory("stages");
    std::filesystem::remove(kFile);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void run_case(std::uint64_t seed) {
  Dice dice(seed);
  const auto pick = [&](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[dice.below(static_cast<std::int64_t>(choices.size()))]);
  };
  forget_stages();
  const std::int64_t size = dice.between(1, 3'000'000);
  const std::string kind = pick({"automatic", "extent", "compact", "whole"});
  const bool bounded = dice.one_in(4);
  std::string hints = "forebay_stage=stages;forebay_stats=stats.json;forebay_stage_kind=" + kind;
  hints += ";forebay_stage_bytes=" + std::string(bounded ? "1m" : "64m");
  hints += ";forebay_storage=" + pick({"mpiio", "posix", "automatic"});
  hints += ";forebay_stripe_bytes=" + pick({"4096", "65536", "262144", "12288"});
  hints += ";forebay_ranks_per_node=" + pick({"0", "0", "1", "2"});
  hints += ";forebay_bypass_bytes=" + pick({"0", "4096", "1048576"});
  hints += ";forebay_stage_ahead=" + pick({"automatic", "none"});
  write_version(size, 0, kOld);
  auto file = open_to_read(seed, hints);
  read_randomly(seed, *file, size, 0);
  const Moved first = close(seed, std::move(file), "stats.json");
  if (rank == 0 && !bounded && first.fetched <= 0) fail(seed, "nothing was staged");

  // A program that runs later, with other bytes underneath.
  if (!bounded) {
    write_version(size, 1, kOld);
    file = open_to_read(seed, hints);
    read_randomly(seed, *file, size, 0);
    const Moved second = close(seed, std::move(file), "stats.json");
    if (rank == 0 && second.read <= 0) fail(seed, "nothing came from the stage");
  }
  write_version(size, 2, kOld + 1);
  file = open_to_read(seed, hints);
  read_randomly(seed, *file, size, 2);
  (void)close(seed, std::move(file), "stats.json");
}

// Records, one after the other, each read by all ranks together in parts of `width` bytes.
void read_records(std::uint64_t seed, const char* more, std::int64_t width, bool expect_ahead) {
  forget_stages();
  constexpr std::int64_t kRecord = 1 << 20, kRecords = 12;
  write_version(kRecord * kRecords, 0, kOld);
  auto file = open_to_read(
      seed, std::string("forebay_stage=stages;forebay_stats=stats.json;forebay_stripe_bytes=65536;") + more);
  for (std::int64_t record = 0; record < kRecords; ++record) {
    std::vector<Run> runs;
    std::int64_t bytes = 0;
    for (std::int64_t at = width * rank; at < kRecord; at += width * ranks) {
      const std::int64_t length = std::min(width, kRecord - at);
      runs.push_back({record * kRecord + at, bytes, length});
      bytes += length;
    }
    std::vector<std::byte> memory(static_cast<std::size_t>(bytes));
    RunListCursor cursor(runs);
    MemorySink sink(memory.data());
    const Get get{&cursor, &sink};
    if (Status status = file->read_all({&get, 1}); !status.ok()) fail(seed, status.message());
    for (const Run& run : runs) {
      if (memory[static_cast<std::size_t>(run.stream)] != byte_at(run.file, 0)) fail(seed, "wrong byte");
    }
    ::usleep(30'000);  // as if something were computed
  }
  const Moved moved = close(seed, std::move(file), "stats.json");
  if (rank != 0) return;
  if (moved.fetched > kRecord * kRecords)
    fail(seed, "fetched " + std::to_string(moved.fetched) + " bytes, more than there are");
  if (expect_ahead ? moved.ahead < 2 * kRecord : moved.ahead != 0)
    fail(seed, std::string(more) + ": ahead came " + std::to_string(moved.ahead) + " bytes");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::uint64_t seed = 1;
  std::uint64_t count = 12;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--count") == 0) count = std::strtoull(argv[i + 1], nullptr, 10);
  }
  for (std::uint64_t s = seed; s < seed + count; ++s) run_case(s);
  read_records(seed, "forebay_ranks_per_node=0", 64, true);
  read_records(seed, "forebay_ranks_per_node=0", 64 << 10, true);
  read_records(seed, "forebay_ranks_per_node=1", 64, true);
  read_records(seed, "forebay_ranks_per_node=0;forebay_storage=mpiio", 64, true);
  read_records(seed, "forebay_stage_ahead=none", 64, false);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
