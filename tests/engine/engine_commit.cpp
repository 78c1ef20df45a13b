// Commit mode: what is kept, when it is written, whose bytes win, and what becomes of it while writing fails.
#include <unistd.h>

#include <cstring>

#include "engine_case_tools.hpp"

using namespace forebay;
using namespace forebay::test;

namespace {

std::int64_t size_of(CoreFile& file) {
  std::int64_t size = -1;
  CHECK_OK(file.size(size));
  return size;
}

void kept_until_flushed(const char* more) {
  fresh("commit.dat");
  auto file = open_file(MPI_COMM_WORLD, "commit.dat", std::string("forebay_mode=commit") + more);
  CHECK(file->commits());
  CHECK(!file->holds());
  for (unsigned call = 0; call < 10; ++call) CHECK_OK(put_interleaved(*file, 7 + 5000 * call, 5000, 5, call));
  CHECK(file->holds());
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(size_of(*file) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(file->flush());
  CHECK(!file->holds());
  CHECK(size_of(*file) == 7 + 50000);
  for (unsigned call = 0; call < 10; ++call) CHECK(holds_interleaved(*file, 7 + 5000 * call, 5000, call));
  CHECK(file->counters().pooled_calls == 10);
  CHECK(file->counters().pool_conflicts == 0);
  CHECK_OK(file->close());
}

// Other ranks' bytes of an earlier call lose.
void later_calls_win(const char* more) {
  fresh("commit.dat");
  auto file = open_file(MPI_COMM_WORLD, "commit.dat", std::string("forebay_mode=commit") + more);
  for (unsigned call = 0; call < 6; ++call) CHECK_OK(put_interleaved(*file, 0, 20000, 3 + 2 * call, call));
  CHECK_OK(file->flush());
  CHECK(holds_interleaved(*file, 0, 20000, 5));
  CHECK(file->counters().pool_conflicts == 2);  // then calls that are not kept, more each time
  CHECK_OK(file->close());
}

void within_bounds() {
  fresh("commit.dat");
  auto file = open_file(MPI_COMM_WORLD, "commit.dat", "forebay_mode=commit;forebay_pool_bytes=100k");
  const std::int64_t each = 8000 * file->ranks();
  for (unsigned call = 0; call < 40; ++call) CHECK_OK(put_interleaved(*file, each * call, each, 40, call));
  CHECK(size_of(*file) > each * 20);
  CHECK(file->counters().pool_peak_bytes <= 100 << 10);
  CHECK(file->counters().pooled_calls > 30);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(put_interleaved(*file, each * 40, 100 * each, 4000, 40));  // more than fits takes all along
  CHECK(!file->holds());
  CHECK(size_of(*file) == each * 140);
  for (unsigned call = 0; call < 40; ++call) CHECK(holds_interleaved(*file, each * call, each, call));
  CHECK(holds_interleaved(*file, each * 40, 100 * each, 40));
  CHECK_OK(file->close());

  // What is older than it may be goes with the next write; here that is every one but the first.
  fresh("commit.dat");
  file = open_file(MPI_COMM_WORLD, "commit.dat", "forebay_mode=commit;forebay_commit_seconds=0");
  CHECK_OK(put_interleaved(*file, 0, 5000, 4, 1));
  CHECK(file->holds());
  CHECK_OK(put_interleaved(*file, 5000, 5000, 4, 2));
  CHECK(!file->holds());
  CHECK(size_of(*file) == 10000);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(file->close());
}

// What ranks put by themselves, far more than is kept, each between what the others put: their node keeps it
// and writes it whole. Before and after it, collective calls over the same bytes.
void independent_on_node(const std::string& more) {
  fresh("commit.dat");
  auto file = open_file(MPI_COMM_WORLD, "commit.dat", "forebay_mode=commit;forebay_pool_bytes=256k;" + more);
  const std::int64_t elements = 100000 * file->ranks();
  CHECK_OK(put_interleaved(*file, 0, 4000, 4, 5));
  CHECK_OK(file->flush());
  file->begin_independent();
  const std::int64_t before = file->counters().writes;
  const int rank = file->rank(), ranks = file->ranks();
  std::vector<std::int32_t> data(5000);
  for (std::int64_t first = 0; first < 100000; first += 5000) {
    std::vector<Run> runs;
    for (std::int64_t i = 0; i < 5000; ++i) {
      const std::int64_t element = (first + i) * ranks + rank;
      data[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(element);
      runs.push_back({4 * element, 4 * i, 4});
    }
    RunListCursor cursor(runs);
    MemorySource source(reinterpret_cast<const std::byte*>(data.data()));
    const Put put{&cursor, &source};
    CHECK_OK(file->write({&put, 1}));
    std::int32_t got = -1;
    CHECK_OK(file->read_at(runs.back().file, &got, 4));
    CHECK(got == data.back());
  }
  CHECK_OK(file->flush());
  std::int64_t writes = file->counters().writes - before;
  MPI_Allreduce(MPI_IN_PLACE, &writes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (more.empty()) CHECK(writes < 100 * ranks);  // of 400,000 pieces
  std::vector<std::int32_t> all(static_cast<std::size_t>(elements));
  CHECK_OK(file->read_at(0, all.data(), 4 * elements));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < elements; ++i) wrong += all[static_cast<std::size_t>(i)] != i;
  CHECK(wrong == 0);
  // Kept by the node, and then a collective call over the same bytes.
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1) CHECK_OK(put_independent(*file, 0, 3000, 1));
  CHECK_OK(put_interleaved(*file, 1000, 3000, 5, 7));
  CHECK_OK(file->flush());
  CHECK(holds(*file, 0, 1000, 1));
  CHECK(holds_interleaved(*file, 1000, 3000, 7));
  CHECK_OK(file->close());
}

void by_itself() {
  fresh("commit.dat");
  auto file = open_file(MPI_COMM_WORLD, "commit.dat", "forebay_mode=commit");
  const int rank = file->rank();
  std::vector<std::byte> data(100, static_cast<std::byte>(rank + 1));
  for (int i = 0; i < 10; ++i) {
    RunListCursor cursor({{(static_cast<std::int64_t>(i) * file->ranks() + rank) * 100, 0, 100}});
    MemorySource source(data.data());
    const Put put{&cursor, &source};
    CHECK_OK(file->write({&put, 1}));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(size_of(*file) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  // A rank sees what it wrote.
  if (rank == 0) {
    std::vector<std::byte> got(100);
    CHECK_OK(file->read_at(900 * file->ranks(), got.data(), 100));
    CHECK(got == data);
  }
  CHECK_OK(file->flush());
  std::vector<std::byte> got(static_cast<std::size_t>(1000 * file->ranks()));
  CHECK_OK(file->read_at(0, got.data(), 1000 * file->ranks()));
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == static_cast<std::byte>(i / 100 % static_cast<std::size_t>(file->ranks()) + 1)) continue;
    CHECK(!"a byte differs");
    break;
  }
  CHECK_OK(file->close());
}

void failing() {
  for (const char* nodes : {"", ";forebay_ranks_per_node=1"}) {
    fresh("commit.dat");
    auto file =
        open_file(MPI_COMM_WORLD, "commit.dat",
                  std::string("forebay_mode=commit;forebay_storage=failing;forebay_fail_after_bytes=1000;"
                              "forebay_fail_rank=0;forebay_stripe_bytes=4k;forebay_pool_bytes=100k") +
                      nodes);
    const std::int64_t each = 5000 * file->ranks();
    for (unsigned call = 0; call < 5; ++call) CHECK_OK(put_interleaved(*file, each * call, each, 50, call));
    for (int tries = 0; tries < 2; ++tries) {
      const Status status = file->flush();
      CHECK(status.code() == Code::io);
      CHECK(status.message().find("injected") != std::string::npos);
      CHECK(file->holds());
    }
    // There is room for a little more; what does not fit is refused.
    CHECK_OK(put_interleaved(*file, each * 5, each, 50, 5));
    CHECK(!put_interleaved(*file, each * 6, 100 * each, 50, 6).ok());
    CHECK(file->holds());
    CHECK(!file->sync().ok());
    CHECK(file->close().code() == Code::io);
  }
}

// Once there is room again, nothing is missing.
void full_disk(const char* small) {
  const std::string path = std::string(small) + "/commit.dat", filler = std::string(small) + "/filler";
  fresh(path.c_str());
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto file = open_file(MPI_COMM_WORLD, path, "forebay_mode=commit;forebay_pool_bytes=500k");
  const std::int64_t each = 30000 * file->ranks();
  for (unsigned call = 0; call < 10; ++call) CHECK_OK(put_interleaved(*file, each * call, each, 8, call));
  if (rank == 0) {
    std::FILE* full = std::fopen(filler.c_str(), "we");
    const std::vector<char> block(4096);
    while (std::fwrite(block.data(), 1, block.size(), full) == block.size() && std::fflush(full) == 0) {
    }
    std::fclose(full);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(file->flush().code() == Code::no_space);
  CHECK(put_interleaved(*file, each * 10, 50 * each, 8, 10).code() == Code::no_space);
  if (rank == 0) std::remove(filler.c_str());
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(put_interleaved(*file, each * 10, each, 8, 10));
  CHECK_OK(file->flush());
  for (unsigned call = 0; call < 11; ++call) CHECK(holds_interleaved(*file, each * call, each, call));
  CHECK_OK(file->close());
  fresh(path.c_str());
}

// Segments take their memory as they are needed; here it is gone by then. All are had, or as many as there
// are.
void shared_memory_gone(bool filled) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fresh("commit.dat");
  auto file = open_file(MPI_COMM_WORLD, "commit.dat",
                        "forebay_mode=commit;forebay_segments=20;forebay_stripe_bytes=64k", nullptr,
                        Keeping::by_node, true);
  if (rank == 0 && filled) {
    std::FILE* full = std::fopen("/dev/shm/filler", "we");
    const std::vector<char> block(4096);
    while (std::fwrite(block.data(), 1, block.size(), full) == block.size() && std::fflush(full) == 0) {
    }
    std::fclose(full);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const std::int64_t ranks = file->ranks();
  for (std::int64_t i = 0; i < 200; ++i) {
    CHECK_OK(put_independent(*file, (i * ranks + (rank + i) % ranks) * 20000, 2000,
                             static_cast<unsigned>(i + rank)));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (std::int64_t i = 0; i < 200; ++i)
    CHECK(holds(*file, (i * ranks + (rank + i) % ranks) * 20000, 2000, static_cast<unsigned>(i + rank)));
  CHECK_OK(file->close());
  if (rank == 0) std::remove("/dev/shm/filler");
  auto again = open_file(MPI_COMM_WORLD, "commit.dat", "");
  for (std::int64_t i = 0; i < 200; ++i)
    CHECK(holds(*again, (i * ranks + (rank + i) % ranks) * 20000, 2000, static_cast<unsigned>(i + rank)));
  CHECK_OK(again->close());
}

}  // namespace

int main(int argc, char** argv) {
  return run_parts(argc, argv, [&] {
    if (argc == 3 && std::strcmp(argv[1], "--full-disk") == 0) {
      part("full disk", [&] { full_disk(argv[2]); });
    } else if (argc == 2 && std::strcmp(argv[1], "--shared-memory-gone") == 0) {
      part("shared memory is gone", [] { shared_memory_gone(true); });
      part("the next file finds it again", [] { shared_memory_gone(false); });
    } else {
      for (const char* more :
           {"", ";forebay_ranks_per_node=2;forebay_stripe_bytes=4k;forebay_window_bytes=16k"}) {
        part("kept until flushed", [&] { kept_until_flushed(more); });
        part("later calls win", [&] { later_calls_win(more); });
      }
      part("within bounds", within_bounds);
      part("independent, by node", [] { independent_on_node(""); });
      part("independent, by several nodes", [] { independent_on_node("forebay_ranks_per_node=2"); });
      part("by itself", by_itself);
      part("failing", failing);
      fresh("commit.dat");
    }
  });
}
