// What a flush must survive: nobody has anything, one request past 2 GiB, sub-communicators, MPI_COMM_SELF,
// two files at once, files of several stripes and a bit, stripes larger than a window, failures on one rank,
// a full disk, no shared memory.
#include <mpi.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/presence.hpp"
#include "engine_case_tools.hpp"
#include "request/strided.hpp"

using namespace forebay;
using namespace forebay::test;

namespace {

void nothing_to_write() {
  fresh("cases.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases.dat", "");
  CHECK_OK(file->write_all({}));
  RunListCursor empty({});
  MemorySource source(nullptr);
  const Put put{&empty, &source};
  CHECK_OK(file->write_all({&put, 1}));
  std::int64_t size = -1;
  CHECK_OK(file->size(size));
  CHECK(size == 0);
  // Only the last rank has something.
  std::vector<std::byte> data(100, std::byte{9});
  RunListCursor some({{5000, 0, 100}});
  MemorySource bytes(data.data());
  const Put last{&some, &bytes};
  CHECK_OK(file->write_all({&last, file->rank() == file->ranks() - 1 ? 1U : 0U}));
  CHECK_OK(file->size(size));
  CHECK(size == 5100);
  CHECK_OK(file->close());
}

void shapes(const char* hints) {
  fresh("cases.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases.dat", hints);
  const std::int64_t total = (3 << 20) + 12345;
  CHECK_OK(put_interleaved(*file, 777, total, 5, 1));
  CHECK(holds_interleaved(*file, 777, total, 1));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(put_interleaved(*file, 777, total, 1000, 2));  // a later call wins everywhere
  CHECK(holds_interleaved(*file, 777, total, 2));
  std::int64_t size = 0;
  CHECK_OK(file->size(size));
  CHECK(size == 777 + total);
  CHECK_OK(file->close());
}

// Over several nodes a flush takes wide rounds where its owners would else not all be at work, and where it
// is told so.
void wide_rounds(const std::string& hints, bool wide) {
  shapes(hints.c_str());
  auto file = open_file(MPI_COMM_WORLD, "cases.dat", hints.c_str());
  CHECK_OK(put_interleaved(*file, 100, 1 << 20, 4, 3));
  const bool several = file->nodes() > 1;
  CHECK_OK(file->close());
  std::int64_t counts[] = {file->counters().wide_rounds, file->counters().owner_rounds};
  MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  CHECK((counts[0] > 0) == (several && wide));
  CHECK(counts[1] > 0);
}

// Every rank's part of the file is its own, and begins and ends inside stripes: what crosses between nodes
// is what shared stripes have. Later flushes of interleaved data, and of own parts again, are right as well.
void own_parts_of_nodes(const std::string& hints) {
  fresh("cases.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases.dat", hints.c_str());
  constexpr std::int64_t part = 600'000 + 36, width = 4, gap = 8;
  const std::int64_t begin = 1000 + file->rank() * part;
  const auto put_part = [&](unsigned salt) {
    std::vector<std::byte> memory(part);
    std::vector<Run> runs;
    for (std::int64_t at = 0; at < part; at += width + gap) {
      runs.push_back({begin + at, at, width});
      for (std::int64_t b = 0; b < width; ++b)
        memory[static_cast<std::size_t>(at + b)] = static_cast<std::byte>((begin + at + b) * 7 + salt);
    }
    RunListCursor cursor(runs);
    MemorySource source(memory.data());
    const Put put{&cursor, &source};
    return file->write_all({&put, 1});
  };
  const auto holds_part = [&](unsigned salt, unsigned between) {
    std::vector<std::byte> got(part);
    CHECK_OK(file->read_at(begin, got.data(), part));
    for (std::int64_t at = 0; at < part; ++at) {
      const unsigned expected = at % (width + gap) < width ? salt : between;
      if (expected != 0 &&
          got[static_cast<std::size_t>(at)] != static_cast<std::byte>((begin + at) * 7 + expected))
        return false;
    }
    return true;
  };
  CHECK_OK(put_part(3));
  CHECK(holds_part(3, 0));
  std::int64_t crossed = file->counters().message_bytes, put = file->counters().bytes;
  MPI_Allreduce(MPI_IN_PLACE, &crossed, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &put, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);

  if (file->nodes() > 1) CHECK(crossed < put / 4);
  MPI_Barrier(MPI_COMM_WORLD);
  // Interleaved, over all of it.
  const std::int64_t all = file->ranks() * part;
  std::vector<std::byte> memory;
  std::vector<Run> runs;
  for (std::int64_t at = file->rank() * 100; at < all; at += file->ranks() * 100) {
    const std::int64_t length = std::min<std::int64_t>(100, all - at);
    runs.push_back({1000 + at, static_cast<std::int64_t>(memory.size()), length});
    for (std::int64_t b = 0; b < length; ++b)
      memory.push_back(static_cast<std::byte>((1000 + at + b) * 7 + 5));
  }
  RunListCursor cursor(runs);
  MemorySource source(memory.data());
  const Put interleaved{&cursor, &source};
  for (int i = 0; i < 3; ++i) CHECK_OK(file->write_all({&interleaved, 1}));
  CHECK(holds_part(5, 5));
  MPI_Barrier(MPI_COMM_WORLD);
  for (unsigned salt = 6; salt < 12; ++salt) {
    CHECK_OK(put_part(salt));
    CHECK(holds_part(salt, 5));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK_OK(file->close());
}

// Several variables, of each of which a rank has a part of its own: nodes have as many parts as there are
// variables, or one a rank of each, and what they write and read hardly crosses.
void own_parts_of_variables(const std::string& hints, int variables) {
  fresh("cases.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases.dat", hints.c_str());
  constexpr std::int64_t width = 4, apart = 12;
  const std::int64_t part = std::max(4'000, 40'000 / file->ranks()) * apart + 8;
  const auto value = [](std::int64_t at) { return static_cast<std::byte>(at * 7 + at / 251 + 3); };
  const std::int64_t variable = file->ranks() * part + 777;
  const auto begin_of = [&](int v, int rank) { return 1000 + v * variable + rank * part; };
  const auto cursors_of = [&](int rank) {
    std::vector<RunListCursor> cursors;
    for (int v = 0; v < variables; ++v) {
      std::vector<Run> runs;
      for (std::int64_t at = 0; at < part; at += apart)
        runs.push_back({begin_of(v, rank) + at, v * part + at, std::min(width, part - at)});
      cursors.emplace_back(runs);
    }
    return cursors;
  };
  const auto crossed_since = [&](std::int64_t before) {
    std::int64_t crossed = file->counters().message_bytes - before;
    MPI_Allreduce(MPI_IN_PLACE, &crossed, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return crossed;
  };
  const std::int64_t bytes = file->ranks() * variables * part * width / apart;

  std::vector<std::byte> memory(static_cast<std::size_t>(variables * part));
  for (int v = 0; v < variables; ++v) {
    for (std::int64_t at = 0; at < part; ++at)
      memory[static_cast<std::size_t>(v * part + at)] = value(begin_of(v, file->rank()) + at);
  }
  MemorySource source(memory.data());
  std::vector<RunListCursor> mine = cursors_of(file->rank());
  std::vector<Put> puts;
  for (auto& cursor : mine) puts.push_back({&cursor, &source});
  CHECK_OK(file->write_all(puts));
  CHECK(crossed_since(0) < bytes / 4);

  for (const int of : {0, 1, file->ranks() / 2}) {
    const std::int64_t before = file->counters().message_bytes;
    const int rank = (file->rank() + of) % file->ranks();
    std::vector<RunListCursor> theirs = cursors_of(rank);
    std::vector<std::byte> got(memory.size());
    MemorySink sink(got.data());
    std::vector<Get> gets;
    for (auto& cursor : theirs) gets.push_back({&cursor, &sink});
    CHECK_OK(file->read_all(gets));
    std::int64_t wrong = 0;
    for (int v = 0; v < variables; ++v) {
      for (std::int64_t at = 0; at < part; ++at) {
        const std::byte expected = at % apart < width ? value(begin_of(v, rank) + at) : std::byte{};
        wrong += got[static_cast<std::size_t>(v * part + at)] != expected ? 1 : 0;
      }
    }
    CHECK(wrong == 0);
    if (of == 0) CHECK(crossed_since(before) < bytes / 4);
  }
  // Between the pieces lies nothing.
  std::vector<std::byte> whole(static_cast<std::size_t>(variables * part));
  std::int64_t wrong = 0;
  for (int v = 0; v < variables; ++v) {
    CHECK_OK(file->read_at(begin_of(v, file->rank()), whole.data(), part));
    for (std::int64_t at = 0; at < part; ++at)
      wrong += at % apart >= width && whole[static_cast<std::size_t>(at)] != std::byte{} ? 1 : 0;
  }
  CHECK(wrong == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(file->close());
}

// The first flush of a file, in which some nodes have a part of their own and others have not.
void own_parts_of_some_nodes() {
  fresh("cases.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases.dat",
                        "forebay_stripe_bytes=4k;forebay_window_bytes=16k;forebay_ranks_per_node=1");
  // The last rank's bytes lie in a stripe of the one before.
  const bool last = file->rank() + 1 == file->ranks();
  const std::int64_t part = 40'000, length = last ? 100 : part;
  const std::int64_t begin = file->rank() * part;
  const std::vector<std::byte> data(static_cast<std::size_t>(length),
                                    static_cast<std::byte>(file->rank() + 1));
  RunListCursor cursor({{begin, 0, length}});
  MemorySource source(data.data());
  const Put put{&cursor, &source};
  CHECK_OK(file->write_all({&put, 1}));
  std::vector<std::byte> got(data.size());
  CHECK_OK(file->read_at(begin, got.data(), length));
  CHECK(got == data);
  CHECK_OK(file->close());
}

// Small flushes in which ranks begin in different rounds, the same one, and different ones again: where a
// flush begins is guessed from the last ones.
void rounds_apart(const char* hints) {
  fresh("cases.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases.dat", hints);
  constexpr std::int64_t length = 1000, apart = 1 << 20;
  const int ranks = file->ranks(), rank = file->rank();
  const auto value = [](int flush, int of) { return static_cast<std::byte>(flush * 31 + of + 1); };
  const auto place = [&](int flush, int of) {
    // By turns all in one round, a round a rank, and every second rank without anything.
    return flush % 3 == 1 ? of * apart + flush * 2000 : (ranks * apart) + (flush * ranks + of) * length;
  };
  const auto has = [](int flush, int of) { return flush % 3 != 2 || of % 2 == 0; };
  constexpr int flushes = 200;
  for (int flush = 0; flush < flushes; ++flush) {
    const std::vector<std::byte> data(length, value(flush, rank));
    RunListCursor cursor({{place(flush, rank), 0, length}});
    MemorySource source(data.data());
    const Put put{&cursor, &source};
    CHECK_OK(file->write_all({&put, has(flush, rank) ? 1U : 0U}));
  }
  std::vector<std::byte> got(length);
  for (int flush = 0; flush < flushes; ++flush) {
    for (int of = 0; of < ranks; ++of) {
      if (!has(flush, of)) continue;
      CHECK_OK(file->read_at(place(flush, of), got.data(), length));
      CHECK(got == std::vector<std::byte>(length, value(flush, of)));
    }
  }
  CHECK_OK(file->close());
}

// One request of more than 2 GiB of file range and data, sparse in memory: the stream repeats one page.
void past_two_gib(const char* storage) {
  class PageSource final : public Source {
   public:
    explicit PageSource(int rank) : page_(1 << 20, static_cast<std::byte>(rank + 1)) {}
    void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) override {
      for (const Run& run : runs) {
        for (std::int64_t done = 0; done < run.length;) {
          const auto n = std::min<std::int64_t>(run.length - done, static_cast<std::int64_t>(page_.size()));
          std::memcpy(destination + (run.file + done - origin), page_.data(), static_cast<std::size_t>(n));
          done += n;
        }
      }
    }

   private:
    std::vector<std::byte> page_;
  };
  // Long runs pass by the windows; 2 KiB pieces do not: 2.25 GiB of file range with a hole after each, sparse
  // on disk.
  fresh("cases_big.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases_big.dat", std::string("forebay_storage=") + storage);
  const std::int64_t far = (std::int64_t{9} << 28);
  const int ranks = file->ranks();
  {
    const StridedDim dim{std::int64_t{8} << 20, far / (std::int64_t{8} << 20)};
    StridedCursor cursor(std::int64_t{2048} * file->rank(), 0, 2048, {&dim, 1});
    PageSource source(file->rank());
    const Put put{&cursor, &source};
    CHECK_OK(file->write_all({&put, 1}));
    std::vector<std::byte> got(2048);
    for (const std::int64_t at : {std::int64_t{0}, (far >> 23) / 2, (far >> 23) - 1}) {
      for (int r = 0; r < ranks; ++r) {
        CHECK_OK(file->read_at((at << 23) + 2048 * r, got.data(), 2048));
        CHECK(got[0] == static_cast<std::byte>(r + 1) && got[2047] == static_cast<std::byte>(r + 1));
      }
    }
  }
  std::int64_t size = 0;
  CHECK_OK(file->size(size));
  CHECK(size == far - (std::int64_t{8} << 20) + 2048 * ranks);
  CHECK_OK(file->close());
  // One contiguous run of 2.25 GiB from one rank, where the disk has room for it.
  fresh("cases_big.dat");
  file = open_file(MPI_COMM_WORLD, "cases_big.dat", std::string("forebay_storage=") + storage);
  {
    StridedCursor cursor(100, 0, far, {});
    PageSource source(41);
    const Put put{&cursor, &source};
    CHECK_OK(file->write_all({&put, file->rank() == ranks - 1 ? 1U : 0U}));
    std::vector<std::byte> got(4096);
    for (const std::int64_t at : {std::int64_t{100}, std::int64_t{1} << 31, 100 + far - 4096}) {
      CHECK_OK(file->read_at(at, got.data(), 4096));
      CHECK(got[0] == std::byte{42} && got[4095] == std::byte{42});
    }
    CHECK_OK(file->size(size));
    CHECK(size == 100 + far);
  }
  CHECK_OK(file->close());
  fresh("cases_big.dat");
}

void communicators() {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // Each half its own file, and meanwhile each rank a file of its own.
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  const std::string half_path = "cases_half" + std::to_string(rank % 2) + ".dat";
  const std::string own_path = "cases_own" + std::to_string(rank) + ".dat";
  fresh(half_path.c_str(), half);
  fresh(own_path.c_str(), MPI_COMM_SELF);
  auto of_half = open_file(half, half_path, "forebay_window_bytes=65536");
  auto own = open_file(MPI_COMM_SELF, own_path, "");
  for (unsigned i = 0; i < 3; ++i) {
    CHECK_OK(put_interleaved(*of_half, 0, 300000, 4, i));
    if (rank != 1) CHECK_OK(put_interleaved(*own, 10, 200000 + rank, 8, i));  // nobody else has to come
    CHECK(holds_interleaved(*of_half, 0, 300000, i));
    MPI_Barrier(half);
  }
  if (rank != 1) CHECK(holds_interleaved(*own, 10, 200000 + rank, 2));
  CHECK_OK(of_half->close());
  CHECK_OK(own->close());
  MPI_Comm_free(&half);
  fresh(half_path.c_str());
  std::remove(own_path.c_str());

  // Two files of one communicator share its windows.
  fresh("cases_a.dat");
  fresh("cases_b.dat");
  auto a = open_file(MPI_COMM_WORLD, "cases_a.dat", "");
  auto b = open_file(MPI_COMM_WORLD, "cases_b.dat", "");
  CHECK_OK(put_interleaved(*a, 3, 500000, 4, 10));
  CHECK_OK(put_interleaved(*b, 4, 400000, 12, 20));
  CHECK_OK(put_interleaved(*a, 3, 500000, 8, 11));
  CHECK(holds_interleaved(*a, 3, 500000, 11));
  CHECK(holds_interleaved(*b, 4, 400000, 20));
  CHECK_OK(a->close());
  CHECK_OK(b->close());
  fresh("cases_a.dat");
  fresh("cases_b.dat");
}

void independent() {
  fresh("cases.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases.dat", "");
  // A different number of calls on every rank, with nobody waiting.
  for (int i = 0; i < 1 + 3 * file->rank(); ++i) {
    std::vector<std::byte> data(3000, static_cast<std::byte>(i + 1));
    std::vector<Run> runs;
    for (std::int64_t k = 0; k < 100; ++k)
      runs.push_back({1000000 * file->rank() + 5000 * i + k * 40, k * 30, 30});
    RunListCursor cursor(runs);
    MemorySource source(data.data());
    const Put put{&cursor, &source};
    CHECK_OK(file->write({&put, 1}));
    std::vector<std::byte> back(3000);
    MemorySink sink(back.data());
    const Get get{&cursor, &sink};
    CHECK_OK(file->read({&get, 1}));
    CHECK(back == data);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(file->close());
}

// Takes nothing: as where memory lacks.
class FullSink final : public Sink {
 public:
  void consume(std::span<const Run>, const std::byte*, std::int64_t) override { throw std::bad_alloc(); }
};

// Whatever one rank cannot do in a collective read, nobody waits in vain, and every rank hears of it.
void rank_without_memory_reads() {
  fresh("cases.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases.dat", "");
  CHECK_OK(put_interleaved(*file, 0, 300000, 8, 3));
  for (const std::int64_t runs : {1, 5000}) {  // past the windows, and through them
    std::vector<Run> mine;
    for (std::int64_t i = 0; i < runs; ++i) mine.push_back({i * 16, i * 8, 8});
    std::vector<std::byte> back(static_cast<std::size_t>(runs * 8));
    RunListCursor cursor(mine);
    MemorySink good(back.data());
    FullSink full;
    const bool last = file->rank() == file->ranks() - 1;
    const Get get{&cursor, last ? static_cast<Sink*>(&full) : &good};
    const Status status = file->read_all({&get, 1});
    CHECK(status.code() == Code::no_memory);
    CHECK_OK(file->read_all({}));
  }
  CHECK_OK(file->close());
}

void failing_rank() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  fresh("cases.dat");
  // One owner cannot write any more: every rank hears of it, with range and cause, and the file can still be
  // closed.
  auto file = open_file(MPI_COMM_WORLD, "cases.dat",
                        "forebay_storage=failing;forebay_fail_after_bytes=100000;forebay_fail_rank=0;forebay_"
                        "stripe_bytes=65536");
  const Status status = put_interleaved(*file, 0, 4 << 20, 8, 1);
  CHECK(status.code() == Code::io);
  CHECK(status.message().find("injected") != std::string::npos);
  const Status again = put_interleaved(*file, 0, 4 << 20, 8, 2);
  CHECK(!again.ok());
  CHECK_OK(file->close());
  // On several nodes as well.
  fresh("cases.dat");
  file = open_file(
      MPI_COMM_WORLD, "cases.dat",
      "forebay_storage=failing;forebay_fail_after_bytes=100000;forebay_fail_rank=0;forebay_ranks_per_node=1;"
      "forebay_stripe_bytes=65536");
  CHECK(put_interleaved(*file, 0, 4 << 20, 8, 1).code() == Code::io);
  CHECK_OK(file->close());
  fresh("cases.dat");
  file = open_file(
      MPI_COMM_WORLD, "cases.dat",
      "forebay_storage=failing;forebay_fail_after_bytes=100000;forebay_fail_rank=0;forebay_ranks_per_node=1;"
      "forebay_stripe_bytes=65536;forebay_rounds=wide");
  CHECK(put_interleaved(*file, 0, 4 << 20, 8, 1).code() == Code::io);
  CHECK_OK(file->close());
}

// A request passes by the windows or does not as a whole, and its first runs tell: whatever the others are
// like, every byte has to arrive, and the holes keep what they held.
void long_and_short_runs(std::int64_t long_runs, bool long_first, bool passes) {
  constexpr std::int64_t longer = 5000, shorter = 40, short_runs = 700;
  fresh("cases.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases.dat", "forebay_bypass_bytes=4096;forebay_stripe_bytes=64k");
  const std::int64_t ranks = file->ranks(), rank = file->rank();
  // Ranks alternate, with a hole after each run.
  const std::int64_t long_begin = long_first ? 3 : 3 + short_runs * ranks * (shorter + 10);
  const std::int64_t short_begin = long_first ? 3 + long_runs * ranks * (longer + 500) : 3;
  const auto long_at = [&](std::int64_t i, std::int64_t of) {
    return long_begin + (i * ranks + of) * (longer + 500);
  };
  const auto short_at = [&](std::int64_t i, std::int64_t of) {
    return short_begin + (i * ranks + of) * (shorter + 10);
  };
  const std::int64_t end = std::max(long_at(long_runs, 0), short_at(short_runs, 0));
  const auto value = [](std::int64_t at) { return static_cast<std::byte>(at * 7 + at / 256 + 1); };
  std::vector<std::byte> expected(static_cast<std::size_t>(end), std::byte{0x5a});
  if (rank == 0) CHECK_OK(file->write_at(0, expected.data(), end));

  std::vector<Run> runs;
  std::vector<std::byte> memory;
  const auto add = [&](std::int64_t at, std::int64_t length, std::int64_t of) {
    if (of == rank) runs.push_back({at, static_cast<std::int64_t>(memory.size()), length});
    for (std::int64_t i = at; i < at + length; ++i) {
      expected[static_cast<std::size_t>(i)] = value(i);
      if (of == rank) memory.push_back(value(i));
    }
  };
  for (const bool now_long : {long_first, !long_first}) {
    for (std::int64_t i = 0; i < (now_long ? long_runs : short_runs); ++i) {
      for (std::int64_t of = 0; of < ranks; ++of)
        now_long ? add(long_at(i, of), longer, of) : add(short_at(i, of), shorter, of);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  RunListCursor cursor(runs);
  MemorySource source(memory.data());
  const Put put{&cursor, &source};
  CHECK_OK(file->write_all({&put, 1}));
  std::vector<std::byte> got(static_cast<std::size_t>(end));
  CHECK_OK(file->read_at(0, got.data(), end));
  CHECK(got == expected);
  CHECK(file->counters().bypass_bytes == (passes ? static_cast<std::int64_t>(memory.size()) : 0));
  CHECK((file->counters().bypass_writes > 0) == passes);
  CHECK_OK(file->close());
}

void bad_places() {
  Status status;
  auto file = open_file(MPI_COMM_WORLD, "no/such/folder/cases.dat", "", &status);
  CHECK(file == nullptr && !status.ok());
  CHECK(status.message().find("no/such/folder") != std::string::npos);
}

// With the right to mount (CI runs as root), a real full disk and a real small /dev/shm, in a mount namespace
// made by the caller.
void full_disk(const char* small) {
  const std::string path = std::string(small) + "/cases.dat";
  for (const char* storage : {"mpiio", "posix"}) {
    fresh(path.c_str());
    auto file = open_file(MPI_COMM_WORLD, path, std::string("forebay_storage=") + storage);
    const Status status = put_interleaved(*file, 0, 16 << 20, 8, 1);
    check(status.code() == Code::no_space, "full disk", __LINE__, status.message());
    CHECK(status.message().find(path) != std::string::npos);
    CHECK_OK(file->close());
  }
  fresh(path.c_str());
}

// Ranks are nodes of their own then, with memory of their own.
void no_shared_memory() {
  shapes("");
  fresh("cases.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases.dat", "");
  CHECK(file->nodes() == file->ranks());
  CHECK_OK(file->close());
  // Owner nodes are those that there were: their ranks own.
  fresh("cases.dat");
  file = open_file(
      MPI_COMM_WORLD, "cases.dat",
      "forebay_mode=strict;forebay_stripe_bytes=4k;forebay_ranks_per_node=2;forebay_owner_nodes=1-1");
  CHECK(file->nodes() == file->ranks());
  CHECK_OK(put_interleaved(*file, 0, 100000, 12, 3));
  CHECK((file->counters().writes > 0) == (file->rank() / 2 == 1));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(holds_interleaved(*file, 0, 100000, 3));
  CHECK_OK(file->close());
}

// Whether ranks believe what a launcher says of their machine: not one that started others.
void launched(bool by_another) {
  fresh("cases.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases.dat", "");
  if (processes_here() > 0) CHECK(file->settings().one_node == (!by_another || file->ranks() == 1));
  CHECK(file->nodes() == 1);
  CHECK_OK(put_interleaved(*file, 0, 100000, 12, 3));
  CHECK(holds_interleaved(*file, 0, 100000, 3));
  CHECK_OK(file->close());
}

// It was there at the open, and is gone at the first call that needs a window.
void shared_memory_goes() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const char* hints : {"", "forebay_mode=commit"}) {
    for (const Keeping keeping : {Keeping::by_rank, Keeping::by_node}) {
      fresh("cases.dat");
      auto file = open_file(MPI_COMM_WORLD, "cases.dat", hints, nullptr, keeping, true);
      CHECK(file->nodes() == 1);
      if (rank == 0) {
        std::ofstream filler("/dev/shm/filler", std::ios::binary);
        const std::string block(4096, 'x');
        while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
        }
      }
      MPI_Barrier(MPI_COMM_WORLD);
      // Large calls, which nobody keeps, and small ones.
      for (unsigned i = 0; i < 3; ++i) CHECK_OK(put_interleaved(*file, i * 2500000, 3000000, 12, i));
      CHECK(file->nodes() == file->ranks());
      CHECK_OK(put_interleaved(*file, 0, 60000, 12, 9));
      CHECK_OK(file->sync());
      CHECK(holds_interleaved(*file, 0, 60000, 9));
      CHECK(holds_interleaved(*file, 5000000, 3000000, 2));
      CHECK_OK(put_interleaved(*file, 0, 60000, 12, 8));
      CHECK_OK(file->close());
      if (rank == 0) std::remove("/dev/shm/filler");
      auto again = open_file(MPI_COMM_WORLD, "cases.dat", "");
      CHECK(holds_interleaved(*again, 0, 60000, 8));
      CHECK(holds_interleaved(*again, 5000000, 3000000, 2));
      CHECK_OK(again->close());
    }
  }
}

// Small rounds, and all ranks of the node together.
void little_shared_memory() {
  shapes("");
  fresh("cases.dat");
  auto file = open_file(MPI_COMM_WORLD, "cases.dat", "");
  CHECK(file->nodes() == 1);
  CHECK_OK(file->close());
}

}  // namespace

int main(int argc, char** argv) {
  const bool by_another = argc == 2 && std::strcmp(argv[1], "--other-launcher") == 0;
  if (by_another) ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);  // as a shell hands on what it was started with
  return run_parts(argc, argv, [&] {
    if (argc == 3 && std::strcmp(argv[1], "--full-disk") == 0) {
      part("full disk", [&] { full_disk(argv[2]); });
    } else if (argc == 2 && std::strcmp(argv[1], "--no-shared-memory") == 0) {
      part("no shared memory", no_shared_memory);
    } else if (by_another) {
      part("another launcher's words", [] { launched(true); });
    } else if (argc == 2 && std::strcmp(argv[1], "--shared-memory-goes") == 0) {
      part("shared memory goes", shared_memory_goes);
    } else if (argc == 2 && std::strcmp(argv[1], "--little-shared-memory") == 0) {
      part("little shared memory", little_shared_memory);
    } else if (argc == 2 && std::strcmp(argv[1], "--past-two-gib") == 0) {
      part("past 2 GiB, MPI-IO", [] { past_two_gib("mpiio"); });
      part("past 2 GiB, POSIX", [] { past_two_gib("posix"); });
    } else {
      part("nothing to write", nothing_to_write);
      part("its launcher's words", [] { launched(false); });
      part("several stripes and a bit", [] { shapes(""); });
      part("stripe larger than the window",
           [] { shapes("forebay_stripe_bytes=8m;forebay_window_bytes=128k"); });
      part("small windows, several nodes",
           [] { shapes("forebay_stripe_bytes=4k;forebay_window_bytes=16k;forebay_ranks_per_node=2"); });
      part("rounds apart", [] { rounds_apart("forebay_window_bytes=64k;forebay_stripe_bytes=16k"); });
      part("rounds apart, several nodes", [] {
        rounds_apart("forebay_window_bytes=64k;forebay_stripe_bytes=16k;forebay_ranks_per_node=2");
      });
      part("wide rounds", [] {
        const std::string two = "forebay_stripe_bytes=64k;forebay_ranks_per_node=2";
        const std::string one = "forebay_stripe_bytes=64k;forebay_ranks_per_node=1;forebay_window_bytes=";
        wide_rounds(two + ";forebay_rounds=wide", true);
        wide_rounds(two + ";forebay_rounds=wide;forebay_memory_bytes=4m", true);
        wide_rounds(two + ";forebay_rounds=wide;forebay_memory_bytes=256k", false);  // there is no room
        wide_rounds(two + ";forebay_rounds=window;forebay_window_bytes=4k", false);
        wide_rounds(one + "64k", true);
        wide_rounds(one + "16m", false);
        rounds_apart("forebay_stripe_bytes=16k;forebay_ranks_per_node=2;forebay_rounds=wide");
      });
      part("own parts of some nodes", own_parts_of_some_nodes);
      part("own parts of nodes", [] {
        for (const char* nodes : {"", ";forebay_ranks_per_node=1", ";forebay_ranks_per_node=3"}) {
          own_parts_of_nodes(std::string("forebay_stripe_bytes=16k;forebay_window_bytes=64k") + nodes);
          own_parts_of_nodes(std::string("forebay_stripe_bytes=5000;forebay_window_bytes=1m") + nodes);
        }
      });
      part("own parts of variables", [] {
        for (const char* nodes : {"", ";forebay_ranks_per_node=1", ";forebay_ranks_per_node=2"}) {
          own_parts_of_variables(std::string("forebay_stripe_bytes=4k;forebay_window_bytes=64k") + nodes, 5);
          own_parts_of_variables(std::string("forebay_stripe_bytes=5000;forebay_window_bytes=1m") + nodes, 3);
          own_parts_of_variables(std::string("forebay_stripe_bytes=4k;forebay_window_bytes=32k") + nodes, 20);
        }
      });
      part("communicators", communicators);
      part("independent", independent);
      part("rank without memory reads", rank_without_memory_reads);
      part("failing rank", failing_rank);
      part("long runs first", [] {
        long_and_short_runs(16, true, true);
        long_and_short_runs(15, true, false);
      });
      part("long runs last", [] { long_and_short_runs(100, false, false); });
      part("bad places", bad_places);
      fresh("cases.dat");
    }
  });
}
