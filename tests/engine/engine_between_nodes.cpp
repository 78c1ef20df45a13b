// Commit mode where several nodes keep: each node bytes of its own until all meet, whoever wrote past them.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "engine_case_tools.hpp"
#include "storage/file_lock.hpp"

using namespace forebay;
using namespace forebay::test;

namespace {

std::unique_ptr<CoreFile> open_between_nodes(const std::string& hints) {
  fresh("nodes.dat");
  return open_file(MPI_COMM_WORLD, "nodes.dat", "forebay_mode=commit;" + hints, nullptr, Keeping::by_node,
                   true);
}

// Ranks put 100 bytes in turns, so that only all nodes together have whole stripes.
void merged_when_flushed(const std::string& hints) {
  auto file = open_between_nodes("forebay_stripe_bytes=4k;forebay_pool_bytes=1m;" + hints);
  CHECK(file->nodes() > 1 && file->commits());
  const int elements = 2000;
  for (int i = file->rank(); i < elements; i += file->ranks())
    CHECK_OK(put_independent(*file, 100 * i, 100, static_cast<unsigned>(i)));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(size_of(*file) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(file->flush());
  for (int i = 0; i < elements; ++i) CHECK(holds(*file, 100 * i, 100, static_cast<unsigned>(i)));
  CHECK_OK(file->close());
  const std::int64_t writes = file->counters().writes;
  std::int64_t all = 0;
  MPI_Allreduce(&writes, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == (elements * 100 + 4095) / 4096);
}

// Nodes of different sizes need different memory: what one has left from the last file another may not have.
void one_file_after_another(const std::string& nodes) {
  for (int stripe = 512; stripe <= 64 << 10; stripe *= 2) {
    for (int pool = 4 << 10; pool <= 512 << 10; pool *= 2) {
      auto file = open_between_nodes(nodes + ";forebay_stripe_bytes=" + std::to_string(stripe) +
                                     ";forebay_pool_bytes=" + std::to_string(pool));
      CHECK(file->commits());
      CHECK_OK(put_independent(*file, 10 * file->rank(), 10, 1));
      CHECK_OK(file->close());
    }
  }
}

// What all write together comes after what anybody kept, and is there when they return.
void collective_calls(const std::string& hints) {
  auto file = open_between_nodes("forebay_stripe_bytes=64k;" + hints);
  for (unsigned call = 0; call < 10; ++call) CHECK_OK(put_interleaved(*file, 3000 * call, 3000, 5, call));
  for (unsigned call = 0; call < 10; ++call) CHECK(holds_interleaved(*file, 3000 * call, 3000, call));
  CHECK_OK(put_interleaved(*file, 4000, 3000, 7, 99));  // the other ranks' elements
  CHECK(holds_interleaved(*file, 4000, 3000, 99));
  CHECK_OK(put_independent(*file, 100000 + 10 * file->rank(), 10, 5));
  CHECK_OK(put_interleaved(*file, 100000, 10 * file->ranks(), 3, 100));  // over those
  CHECK_OK(file->close());
  file = open_file(MPI_COMM_WORLD, "nodes.dat", "", nullptr, Keeping::nothing);
  for (unsigned call = 3; call < 10; ++call) CHECK(holds_interleaved(*file, 3000 * call, 3000, call));
  CHECK(holds_interleaved(*file, 4000, 3000, 99));
  CHECK(holds_interleaved(*file, 100000, 10 * file->ranks(), 100));
  CHECK_OK(file->close());
}

// What ranks of two nodes write in turns without a flush between is found, byte for byte, and nothing else.
void conflicts_are_found(const std::string& nodes) {
  for (const char* looks : {"", ";forebay_check=order"}) {
    auto file = open_between_nodes("forebay_stripe_bytes=64k;forebay_segment_bytes=4k;" + nodes + looks);
    const auto found = [&] {
      std::int64_t bytes = file->counters().order_conflicts;
      MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
      return bytes;
    };
    const bool first = file->rank() == 0, last = file->rank() == file->ranks() - 1;
    CHECK_OK(put_independent(*file, 100000 + 50 * file->rank(), 50, 1));  // beside each other
    CHECK_OK(file->flush());
    CHECK(found() == 0);
    // Over the edge of a segment; then, after a flush, over the same bytes.
    if (first) CHECK_OK(put_independent(*file, 4000, 200, 2));
    MPI_Barrier(MPI_COMM_WORLD);
    if (last) CHECK_OK(put_independent(*file, 4090, 300, 3));
    if (last) CHECK_OK(put_independent(*file, 4080, 5, 3));
    CHECK_OK(file->flush());
    CHECK(found() == (*looks == '\0' ? 0 : 115));
    if (first) CHECK_OK(put_independent(*file, 4000, 1000, 4));
    CHECK_OK(file->flush());
    CHECK(found() == (*looks == '\0' ? 0 : 115));
    CHECK_OK(file->close());
  }
}

// What one node keeps of a place is not written over what another one makes of it after it was freed, whoever
// is late.
void freed_space(int late, const std::string& hints) {
  auto file = open_between_nodes("forebay_stripe_bytes=4k;" + hints);
  const int last = file->ranks() - 1;
  for (unsigned turn = 0; turn < 4; ++turn) {
    const std::int64_t at = 10000 * static_cast<std::int64_t>(turn);
    const int writer = turn % 2 == 0 ? 0 : last;
    const int reuser = last - writer;
    if (file->rank() == writer) CHECK_OK(put_independent(*file, at, 5000, 1));
    MPI_Barrier(MPI_COMM_WORLD);  // the program's
    if (file->rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    file->space_freed();
    file->space_freed();  // much is freed at once
    if (turn >= 2) file->space_taken();
    if (file->rank() == reuser) {
      const std::vector<char> data(4000, 2);
      if (turn % 2 == 0) CHECK_OK(file->write_at(at, data.data(), 4000));
      if (turn % 2 == 1) CHECK_OK(put_independent(*file, at, 4000, 2));
      CHECK(holds(*file, at, 4000, 2));
      CHECK(holds(*file, at + 4000, 1000, 1));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK_OK(file->flush());
  for (int turn = 0; turn < 4; ++turn) {
    CHECK(holds(*file, 10000 * turn, 4000, 2));
    CHECK(holds(*file, 10000 * turn + 4000, 1000, 1));
  }
  CHECK_OK(file->close());
}

// Files may not be longer than that, for this process; 0: as long as they like.
void limit_files(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes > 0 ? bytes : limit.rlim_max;
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

// The same where it cannot be written as the place becomes free. All of it goes to the file once it can, but
// for what is older than what other nodes put meanwhile.
void freed_space_that_cannot_be_written(const std::string& hints) {
  auto file = open_between_nodes("forebay_stripe_bytes=4k;" + hints);
  const int last = file->ranks() - 1;
  constexpr std::int64_t beyond = 1 << 20, every = 1000, pieces = 9;
  // Long runs would not be kept, nor whole stripes.
  const auto put = [&](int rank, std::int64_t from, std::int64_t bytes, unsigned salt) {
    for (std::int64_t i = 0; i < pieces && file->rank() == rank; ++i)
      CHECK_OK(put_independent(*file, beyond + every * i + from, bytes, salt));
  };
  std::signal(SIGXFSZ, SIG_IGN);
  put(0, 0, 500, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  limit_files(4096);
  file->space_freed();
  limit_files(0);
  file->space_taken();
  put(last, 0, 200, 2);
  const std::vector<char> data(100, 2);
  if (file->rank() == last) CHECK_OK(file->write_at(beyond + 200, data.data(), 100));
  MPI_Barrier(MPI_COMM_WORLD);
  const Status told = file->sync();
  if (file->nodes() > 1) CHECK(told.message().find("nodes.dat") != std::string::npos);
  CHECK_OK(file->flush());
  CHECK(holds(*file, beyond, 300, 2));
  CHECK(holds(*file, beyond + 300, 200, 1));
  for (std::int64_t at = beyond + every; at < beyond + every * pieces; at += every) {
    CHECK(holds(*file, at, 200, 2));
    CHECK(holds(*file, at + 200, 300, 1));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // And all is as before.
  put(last, 100, 300, 3);
  CHECK_OK(file->flush());
  CHECK(holds(*file, beyond + 100, 300, 3));
  CHECK_OK(file->close());
}

// A node fills the holes of a block that it has locked: it reads the block, and writes it later. Rank 0 does
// so with a descriptor of its own, as any other node would. What the last rank writes meanwhile, at once and
// not kept, is not lost.
void waits_for_who_fills_holes(const std::string& nodes) {
  constexpr std::int64_t block = 4096;
  fresh("nodes.dat");
  FileOptions options;
  options.path = "nodes.dat";
  options.driver = "test";
  options.keeping = Keeping::by_node;
  options.tells_freed_space = options.only_writer = true;
  CHECK_OK(
      parse_hints(options.settings, "forebay_mode=commit;forebay_stripe_bytes=4k;" + nodes, Origin::call));
  std::unique_ptr<CoreFile> file;
  CHECK_OK(mpi::open(MPI_COMM_WORLD, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, options, file));
  if (!file) return;
  CHECK(file->nodes() > 1 && file->commits());
  const int last = file->ranks() - 1;
  if (file->rank() == 0) {
    const int fd = ::open("nodes.dat", O_RDWR | O_CLOEXEC);
    std::array<char, block> got{};
    {
      const FileLock lock(fd, 0, block);
      CHECK(lock.held());
      CHECK(::pread(fd, got.data(), got.size(), 0) == 0);
      MPI_Send(nullptr, 0, MPI_CHAR, last, 0, MPI_COMM_WORLD);
      // Who does not wait for the lock has written long before.
      int written = 0;
      for (int i = 0; i < 200 && written == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        MPI_Iprobe(last, 0, MPI_COMM_WORLD, &written, MPI_STATUS_IGNORE);
      }
      CHECK(::pwrite(fd, got.data(), got.size(), 0) == block);
    }
    MPI_Recv(nullptr, 0, MPI_CHAR, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ::close(fd);
  } else if (file->rank() == last) {
    const std::vector<std::byte> data(100, std::byte{1});
    RunListCursor cursor({{1000, 0, 100}});
    MemorySource source(data.data());
    const Put put{&cursor, &source};
    MPI_Recv(nullptr, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_OK(file->write({&put, 1}, When::before_return));
    MPI_Send(nullptr, 0, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(holds(*file, 1000, 100, 1));
  CHECK_OK(file->close());
}

void while_writing_fails(const std::string& hints) {
  auto file = open_between_nodes(
      "forebay_storage=failing;forebay_fail_after_bytes=1000;forebay_stripe_bytes=4k;" + hints);
  CHECK_OK(put_independent(*file, 3000 * file->rank(), 3000, 3));
  CHECK(!file->flush().ok());  // on every rank
  CHECK(holds(*file, 3000 * file->rank(), 10, 3) || file->ranks() > 1);
  CHECK(!file->sync().ok());
  CHECK(!file->close().ok());
}

// One step after the other, with the program's own meetings in between; a copy in memory knows what must be
// there, and which node may keep it.
void random_steps(unsigned seed, int steps, const std::string& nodes) {
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::string hints = nodes + ";forebay_stripe_bytes=" + std::to_string(512 << below(6));
  hints += ";forebay_pool_bytes=" + std::to_string(4096 << below(8));
  hints += ";forebay_bypass_bytes=" + std::to_string(4096 << below(5));
  if (below(3) == 0) hints += ";forebay_delay_usec=300";
  if (below(4) == 0) hints += ";forebay_storage=posix";
  if (below(3) == 0) hints += ";forebay_link=message";
  if (below(2) == 0) hints += ";forebay_rounds=wide";
  if (below(3) == 0) hints += below(2) == 0 ? ";forebay_owner_nodes=1" : ";forebay_owner_nodes=1-1";
  auto file = open_between_nodes(hints);
  const int ranks_per_node = (file->ranks() + file->nodes() - 1) / file->nodes();
  const auto node_of = [&](int rank) { return static_cast<signed char>(rank / ranks_per_node); };
  constexpr signed char nobody = -1;
  const std::int64_t length = 200000;
  std::vector<std::byte> image(static_cast<std::size_t>(length));
  std::vector<signed char> keeper(static_cast<std::size_t>(length), nobody);
  const auto forget = [&] { std::fill(keeper.begin(), keeper.end(), nobody); };
  const auto fail = [&](int step, const char* what) {
    check(false, what, __LINE__,
          "seed " + std::to_string(seed) + " step " + std::to_string(step) + " " + hints);
  };
  for (int step = 0; step < steps; ++step) {
    const auto kind = below(12);
    const int who = static_cast<int>(below(file->ranks()));
    const std::int64_t at = below(length - 1);
    const std::int64_t most = below(3) == 0 ? length - at : std::min<std::int64_t>(length - at, 3000);
    const std::int64_t bytes = 1 + below(most);
    const std::int64_t width = 1 + below(40);
    const auto value = static_cast<std::byte>(random());
    const auto to_meet = below(3);
    Status status;
    // Another node's bytes: only after all have met. Where space was freed, its next user comes at once.
    bool others = false;
    for (std::int64_t i = at; i < at + bytes; ++i) {
      const signed char k = keeper[static_cast<std::size_t>(i)];
      others = others || (k != nobody && k != node_of(who));
    }
    const bool alone = kind < 5 || kind == 10;
    if (alone && others) {
      if (to_meet == 0) status = file->flush();
      if (to_meet == 1) status = file->barrier_around_read();
      if (to_meet == 2) {
        if (file->rank() == static_cast<int>(random() % static_cast<unsigned>(file->ranks())))
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        file->space_freed();
        if (step % 2 == 0) file->space_taken();
      }
      forget();
    }
    const auto set = [&](std::int64_t begin, std::int64_t n, signed char k) {
      std::fill_n(image.begin() + begin, n, value);
      std::fill_n(keeper.begin() + begin, n, k);
    };
    if (kind < 3) {  // one rank puts stripes of its own
      std::vector<Run> runs;
      for (std::int64_t i = 0; i < bytes; i += 2 * width)
        runs.push_back({at + i, i, std::min(width, bytes - i)});
      for (const Run& run : runs) set(run.file, run.length, node_of(who));
      if (file->rank() == who) {
        const std::vector<std::byte> data(static_cast<std::size_t>(bytes), value);
        RunListCursor cursor(runs);
        MemorySource source(data.data());
        const Put put{&cursor, &source};
        status.update(file->write({&put, 1}));
      }
    } else if (kind == 3) {
      set(at, bytes, node_of(who));
      if (file->rank() == who) status.update(put_independent(*file, at, bytes, static_cast<unsigned>(value)));
    } else if (kind == 4) {
      set(at, bytes, nobody);
      const std::vector<std::byte> data(static_cast<std::size_t>(bytes), value);
      if (file->rank() == who) status.update(file->write_at(at, data.data(), bytes));
    } else if (kind < 8) {  // all ranks, interleaved
      set(at, bytes, nobody);
      const std::vector<std::byte> data(static_cast<std::size_t>(bytes), value);
      std::vector<Run> runs;
      for (std::int64_t i = width * file->rank(); i < bytes; i += width * file->ranks())
        runs.push_back({at + i, i, std::min(width, bytes - i)});
      RunListCursor cursor(runs);
      MemorySource source(data.data());
      const Put put{&cursor, &source};
      status = file->write_all({&put, 1}, {}, kind == 7 ? When::before_return : When::as_the_mode_says);
      forget();
    } else if (kind == 8) {
      status = below(2) == 0 ? file->flush() : file->sync();
      forget();
    } else if (kind == 11) {
      file->space_taken();
    } else {  // somebody reads, or all do together
      const bool together = kind == 9;
      if (together) status = file->barrier_around_read(), forget();
      if (together || file->rank() == who) {
        std::vector<std::byte> got(static_cast<std::size_t>(bytes));
        status.update(file->read_at(at, got.data(), bytes));
        if (std::memcmp(got.data(), image.data() + at, got.size()) != 0) fail(step, "a read");
      }
      if (together) status.update(file->barrier_around_read());
    }
    if (!status.ok()) fail(step, status.message().c_str());
    if (below(2) == 0) MPI_Barrier(MPI_COMM_WORLD);
    int failed = failures;
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (failed > 0) break;
  }
  CHECK_OK(file->close());
  file = open_file(MPI_COMM_WORLD, "nodes.dat", "", nullptr, Keeping::nothing);
  std::vector<std::byte> got(static_cast<std::size_t>(length));
  CHECK_OK(file->read_at(0, got.data(), length));
  if (got != image) fail(steps, "the file");
  CHECK_OK(file->close());
}

// Hosts that are one machine: whoever puts a long run writes it, whatever its node; a file that is opened
// while another one uses the same links learns of them as well.
void long_runs_on_one_machine() {
  fresh("long.dat");
  fresh("longer.dat");
  const auto open = [](const char* name) {
    return open_file(MPI_COMM_WORLD, name, "forebay_ranks_per_node=0", nullptr, Keeping::nothing);
  };
  auto first = open("long.dat");
  if (first->nodes() == 1) {
    CHECK_OK(first->close());
    return;
  }
  auto second = open("longer.dat");
  for (CoreFile* file : {first.get(), second.get()}) {
    CHECK_OK(put_interleaved(*file, 1000, 2'000'000, 20'000, 3));
    CHECK(holds_interleaved(*file, 1000, 2'000'000, 3));
    std::int64_t alone = file->counters().bypass_bytes;
    MPI_Allreduce(MPI_IN_PLACE, &alone, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(alone == 2'000'000);
  }
  CHECK_OK(second->close());
  CHECK_OK(first->close());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  unsigned seed = 1;
  int count = 40;
  int steps = 60;
  std::string nodes = "forebay_ranks_per_node=2";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seed") == 0) seed = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--count") == 0) count = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--steps") == 0) steps = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--nodes") == 0) nodes = argv[i + 1];
  }
  if (count > 1) {
    one_file_after_another(nodes);
    merged_when_flushed(nodes);
    conflicts_are_found(nodes);
    collective_calls(nodes);
    for (int late = 0; late < 2; ++late) freed_space(late, nodes);
    freed_space_that_cannot_be_written(nodes);
    waits_for_who_fills_holes(nodes);
    while_writing_fails(nodes);
    long_runs_on_one_machine();
  }
  for (int i = 0; i < count && failures == 0; ++i)
    random_steps(seed + static_cast<unsigned>(i), steps, nodes);
  int all = failures;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%s\n", all == 0 ? "ok" : "FAILED");
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
