// Commit mode where the node keeps: whoever put last has won, whatever ranks, calls and ways the bytes came
// by, and nothing is in the way of somebody else's.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

#include "engine_case_tools.hpp"

using namespace forebay;
using namespace forebay::test;

namespace {

std::unique_ptr<CoreFile> open_on_node(const std::string& hints) {
  fresh("node.dat");
  return open_file(MPI_COMM_WORLD, "node.dat", "forebay_mode=commit;" + hints, nullptr, Keeping::by_node);
}

void kept_until_flushed() {
  auto file = open_on_node("forebay_stripe_bytes=4k");
  CHECK(file->commits());
  // Every third kilobyte, so that no segment is full.
  for (int i = file->rank(); i < 50; i += file->ranks()) CHECK_OK(put_independent(*file, 3000 * i, 1000, 1));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(size_of(*file) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(file->flush());
  CHECK(size_of(*file) == 3000 * 49 + 1000);
  for (int i = 0; i < 50; ++i) CHECK(holds(*file, 3000 * i, 1000, 1));
  CHECK(holds(*file, 1000, 2000, 0));
  CHECK_OK(file->close());
}

// What is full goes by itself.
void full_segments_go() {
  auto file = open_on_node("forebay_stripe_bytes=4k");
  for (int i = file->rank(); i < 512; i += file->ranks())
    CHECK_OK(put_independent(*file, 64 * i, 64, static_cast<unsigned>(i)));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(size_of(*file) == 512 * 64);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(file->close());
  const std::int64_t writes = file->counters().writes;
  std::int64_t all = 0;
  MPI_Allreduce(&writes, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == 512 * 64 / 4096);
}

// Only the program's own meetings are between the puts.
void the_last_wins(const std::string& hints) {
  auto file = open_on_node(hints);
  for (int turn = 0; turn < 2 * file->ranks() + 1; ++turn) {
    const int who = turn % file->ranks();
    const auto value = static_cast<unsigned>(turn + 1);
    if (file->rank() == who) {
      const std::int64_t at = 100 * turn;
      if (turn % 3 == 0) {
        CHECK_OK(put_independent(*file, at, 5000, value));
      } else if (turn % 3 == 1) {
        const std::vector<char> data(5000, static_cast<char>(value));
        CHECK_OK(file->write_at(at, data.data(), 5000));
      } else {
        CHECK_OK(put_independent(*file, at, 200000, value));  // passes by
        CHECK_OK(put_independent(*file, at, 5000, value));
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn % 2 == 1) CHECK(holds(*file, 100 * turn, 5000, value));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK_OK(file->flush());
  for (int turn = 0; turn < 2 * file->ranks() + 1; ++turn)
    CHECK(holds(*file, 100 * turn, 100, static_cast<unsigned>(turn + 1)));
  CHECK_OK(file->close());
}

void within_bounds() {
  auto file = open_on_node("forebay_stripe_bytes=64k;forebay_pool_bytes=512k");
  // Far more than fits, all ranks far apart, then between each other.
  const std::int64_t share = 3 << 20;
  for (std::int64_t i = 0; i < share / 3000; ++i)
    CHECK_OK(put_independent(*file, share * file->rank() + 3000 * i, 2000, static_cast<unsigned>(i)));
  CHECK(file->counters().pool_peak_bytes <= (std::int64_t{512} << 10) * file->ranks());
  // What gives way is completed from the file and goes whole.
  std::int64_t writes = file->counters().writes;
  MPI_Allreduce(MPI_IN_PLACE, &writes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(writes > 0 && writes < 100 * file->ranks());
  CHECK_OK(file->flush());
  for (int r = 0; r < file->ranks(); ++r) {
    for (std::int64_t i = file->rank(); i < share / 3000; i += 7)
      CHECK(holds(*file, share * r + 3000 * i, 2000, static_cast<unsigned>(i)));
  }
  CHECK_OK(file->close());

  file = open_on_node("forebay_stripe_bytes=64k;forebay_commit_seconds=0");
  CHECK_OK(put_independent(*file, 0, 500, 1));
  CHECK_OK(put_independent(*file, 1 << 20, 500, 2));  // the first is too old now
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(size_of(*file) >= 500);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(file->close());
}

std::int64_t all_writes(CoreFile& file) {
  std::int64_t writes = file.counters().writes;
  MPI_Allreduce(MPI_IN_PLACE, &writes, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return writes;
}

// Reads take what is kept from memory, and what lies between from the file.
void reads_write_nothing() {
  auto file = open_on_node("forebay_stripe_bytes=4k");
  const std::int64_t step = 700, length = 350, count = 60;
  if (file->rank() == 0) {
    const std::vector<char> old(30000, 9);
    CHECK_OK(file->write_at(0, old.data(), 30000));  // the file is shorter than what is put
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (std::int64_t i = file->rank(); i < count; i += file->ranks())
    CHECK_OK(put_independent(*file, step * i, length, static_cast<unsigned>(100 + i)));
  MPI_Barrier(MPI_COMM_WORLD);
  const std::int64_t writes = all_writes(*file);
  const auto expected = [&](std::int64_t at) {
    if (at % step < length && at / step < count) return static_cast<int>(100 + at / step);
    return at < 30000 ? 9 : 0;
  };
  std::vector<unsigned char> got(50000);
  const auto check_range = [&](std::int64_t at, std::int64_t bytes) {
    CHECK_OK(file->read_at(at, got.data(), bytes));
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < bytes; ++i) wrong += got[static_cast<std::size_t>(i)] != expected(at + i);
    check(wrong == 0, "a read of what is kept", __LINE__, std::to_string(at) + "+" + std::to_string(bytes));
  };
  check_range(0, 50000);
  for (std::int64_t at = 0; at < 45000; at += 333) check_range(at, 1 + at % 5000);
  // Scattered pieces, kept and not, into memory that is not contiguous.
  std::vector<Run> runs;
  for (std::int64_t at = 3; at < 44000; at += 97) runs.push_back({at, 2 * (at - 3), 50});
  std::fill(got.begin(), got.end(), static_cast<unsigned char>(0xee));
  got.resize(100000);
  RunListCursor cursor(runs);
  MemorySink sink(got.data());
  const Get get{&cursor, &sink};
  CHECK_OK(file->read({&get, 1}));
  std::int64_t wrong = 0;
  for (const Run& run : runs) {
    for (std::int64_t i = 0; i < run.length; ++i)
      wrong += got[static_cast<std::size_t>(run.stream + i)] != expected(run.file + i);
  }
  CHECK(wrong == 0);
  CHECK(all_writes(*file) == writes);
  CHECK(file->counters().pool_peak_bytes > 0);
  CHECK_OK(file->close());
}

// Holes are filled from the file while somebody else writes past the segments, into the holes.
void past_and_filled(unsigned seed, const std::string& hints) {
  auto file = open_on_node("forebay_segment_bytes=512;forebay_segments=1;" + hints);
  // Twice as much as is kept; each rank has its elements, and rank 0 those that it writes past the segments.
  const int parts = file->ranks() + 1, elements = 128 * std::max(4, file->ranks()) / parts;
  std::mt19937 random(seed + static_cast<unsigned>(file->rank()));
  std::vector<int> mine(static_cast<std::size_t>(elements * parts), -1);
  std::int64_t wrong = 0;
  for (int turn = 0; turn < 40; ++turn) {
    for (int i = 0; i < 30; ++i) {
      const bool past = file->rank() == 0 && i % 2 == 0;
      const int first = static_cast<int>(random() % static_cast<unsigned>(elements - 8));
      for (int near = 0; near < (past ? 1 : 4); ++near) {
        const int at = (first + 2 * near) * parts + (past ? file->ranks() : file->rank());
        const int value = 1 + (turn + i) % 200;
        const std::vector<char> data(8, static_cast<char>(value));
        CHECK_OK(past ? file->write_at(8 * at, data.data(), 8)
                      : put_independent(*file, 8 * at, 8, static_cast<unsigned>(value)));
        mine[static_cast<std::size_t>(at)] = value;
      }
    }
    CHECK_OK(file->flush());
    std::vector<unsigned char> got(8 * mine.size());
    CHECK_OK(file->read_at(0, got.data(), static_cast<std::int64_t>(got.size())));
    for (std::size_t i = 0; i < got.size(); ++i) wrong += mine[i / 8] >= 0 && got[i] != mine[i / 8];
    MPI_Barrier(MPI_COMM_WORLD);
  }
  check(wrong == 0, "elements", __LINE__, std::to_string(wrong) + " bytes wrong");
  CHECK_OK(file->close());
}

// Data with gaps, kept, is written as a strict flush would: blocks with holes completed and whole.
void gaps() {
  std::int64_t writes[2];
  for (const int kept : {0, 1}) {
    auto file = kept ? open_on_node("forebay_stripe_bytes=64k")
                     : (fresh("node.dat"), open_file(MPI_COMM_WORLD, "node.dat", "forebay_stripe_bytes=64k"));
    const std::int64_t step = 4 * (file->ranks() + 1);
    for (std::int64_t call = 0; call < 10; ++call) {
      std::vector<Run> runs;
      for (std::int64_t i = 0; i < 1000; ++i)
        runs.push_back({(1000 * call + i) * step + 4 * file->rank(), 4 * i, 4});
      const std::vector<char> data(4000, 7);
      RunListCursor cursor(runs);
      MemorySource source(reinterpret_cast<const std::byte*>(data.data()));
      const Put put{&cursor, &source};
      CHECK_OK(file->write_all({&put, 1}));
    }
    CHECK_OK(file->flush());
    writes[kept] = all_writes(*file);
    CHECK(holds(*file, step * 9999, 4, 7) && holds(*file, step * 9999 - 4, 4, 0));
    CHECK_OK(file->close());
  }
  CHECK(writes[1] <= writes[0]);
}

void collective_calls() {
  auto file = open_on_node("forebay_stripe_bytes=16k");
  for (unsigned call = 0; call < 20; ++call) CHECK_OK(put_interleaved(*file, 100 * call, 3000, 5, call));
  CHECK(file->counters().pooled_calls == 20);
  CHECK_OK(put_interleaved(*file, 200, std::int64_t{6} << 20, 512, 77));  // too large to be kept
  CHECK(file->counters().pooled_calls == 20 || file->ranks() > 16);
  CHECK_OK(put_interleaved(*file, 1000, 3000, 5, 78));
  CHECK_OK(file->barrier_around_read());
  CHECK(holds_interleaved(*file, 1000, 3000, 78));
  CHECK_OK(file->barrier_around_read());
  CHECK_OK(file->close());
  file = open_file(MPI_COMM_WORLD, "node.dat", "", nullptr, Keeping::nothing);
  for (unsigned call = 0; call < 2; ++call) CHECK(holds_interleaved(*file, 100 * call, 100, call));
  CHECK(holds_interleaved(*file, 200, 800, 77));
  CHECK(holds_interleaved(*file, 1000, 3000, 78));
  CHECK_OK(file->close());
}

void while_writing_fails() {
  auto file = open_on_node(
      "forebay_storage=failing;forebay_fail_after_bytes=10000;forebay_stripe_bytes=4k;forebay_pool_bytes="
      "64k");
  Status refused;
  for (int i = 0; i < 2000 && refused.ok(); ++i)
    refused = put_independent(*file, 8192 * (i * file->ranks() + file->rank()), 4000, 3);
  CHECK(refused.code() == Code::io);
  CHECK(!file->flush().ok());  // on every rank
  CHECK(!file->sync().ok());
  CHECK(!file->close().ok());
}

// Everybody between everybody, in no order, with hardly any memory.
void all_at_once(unsigned seed, const std::string& hints) {
  auto file = open_on_node(hints);
  const std::int64_t elements = 60000;
  std::vector<std::int64_t> mine;
  for (std::int64_t e = file->rank(); e < elements; e += file->ranks()) mine.push_back(e);
  // Near each other in time where they are in the file, as in a program, but not in order.
  std::mt19937 random(seed + static_cast<unsigned>(file->rank()));
  for (std::size_t i = 0; i < mine.size(); i += 500)
    std::shuffle(mine.begin() + static_cast<std::ptrdiff_t>(i),
                 mine.begin() + static_cast<std::ptrdiff_t>(std::min(mine.size(), i + 500)), random);
  std::vector<std::int64_t> data(mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i) data[i] = mine[i] * 1000003;
  std::vector<Run> runs;
  for (std::size_t i = 0; i < mine.size();) {
    runs.clear();
    const std::size_t until = std::min(mine.size(), i + 1 + random() % 300);
    for (; i < until; ++i) runs.push_back({mine[i] * 8, static_cast<std::int64_t>(i) * 8, 8});
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.file < b.file; });
    RunListCursor cursor(runs);
    MemorySource source(reinterpret_cast<const std::byte*>(data.data()));
    const Put put{&cursor, &source};
    CHECK_OK(file->write({&put, 1}));
  }
  CHECK_OK(file->flush());
  std::vector<std::int64_t> got(static_cast<std::size_t>(elements));
  CHECK_OK(file->read_at(0, got.data(), 8 * elements));
  std::int64_t wrong = 0;
  for (std::int64_t e = 0; e < elements; ++e)
    wrong += got[static_cast<std::size_t>(e)] != e * 1000003 ? 1 : 0;
  check(wrong == 0, "all elements", __LINE__, std::to_string(wrong) + " wrong, seed " + std::to_string(seed));
  CHECK_OK(file->close());
}

// One step after the other, with the program's own meetings in between; a copy in memory knows what must be
// there.
void random_steps(unsigned seed, int steps) {
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  std::string hints = "forebay_stripe_bytes=" + std::to_string(512 << below(6));
  hints += ";forebay_pool_bytes=" + std::to_string(4096 << below(8));
  hints += ";forebay_bypass_bytes=" + std::to_string(4096 << below(5));
  if (below(3) == 0) hints += ";forebay_delay_usec=300";
  if (below(4) == 0) hints += ";forebay_storage=posix";
  if (below(6) == 0) hints += ";forebay_ranks_per_node=2";
  auto file = open_on_node(hints);
  const std::int64_t length = 200000;
  std::vector<std::byte> image(static_cast<std::size_t>(length));
  const auto fail = [&](int step, const char* what) {
    check(false, what, __LINE__,
          "seed " + std::to_string(seed) + " step " + std::to_string(step) + " " + hints);
  };
  for (int step = 0; step < steps; ++step) {
    const auto kind = below(10);
    const int who = static_cast<int>(below(file->ranks()));
    const std::int64_t at = below(length - 1);
    const std::int64_t most = below(3) == 0 ? length - at : std::min<std::int64_t>(length - at, 3000);
    const std::int64_t bytes = 1 + below(most);
    const std::int64_t width = 1 + below(40);
    const auto value = static_cast<std::byte>(random());
    const auto set = [&](std::int64_t begin, std::int64_t n) {
      std::fill_n(image.begin() + begin, n, value);
    };
    Status status;
    if (kind < 3) {  // one rank puts stripes of its own
      std::vector<Run> runs;
      for (std::int64_t i = 0; i < bytes; i += 2 * width)
        runs.push_back({at + i, i, std::min(width, bytes - i)});
      for (const Run& run : runs) set(run.file, run.length);
      if (file->rank() == who) {
        const std::vector<std::byte> data(static_cast<std::size_t>(bytes), value);
        RunListCursor cursor(runs);
        MemorySource source(data.data());
        const Put put{&cursor, &source};
        status = file->write({&put, 1});
      }
    } else if (kind == 3) {
      set(at, bytes);
      if (file->rank() == who) status = put_independent(*file, at, bytes, static_cast<unsigned>(value));
    } else if (kind == 4) {
      set(at, bytes);
      const std::vector<std::byte> data(static_cast<std::size_t>(bytes), value);
      if (file->rank() == who) status = file->write_at(at, data.data(), bytes);
    } else if (kind < 7) {  // all ranks, interleaved
      set(at, bytes);
      const std::vector<std::byte> data(static_cast<std::size_t>(bytes), value);
      std::vector<Run> runs;
      for (std::int64_t i = width * file->rank(); i < bytes; i += width * file->ranks())
        runs.push_back({at + i, i, std::min(width, bytes - i)});
      RunListCursor cursor(runs);
      MemorySource source(data.data());
      const Put put{&cursor, &source};
      status = file->write_all({&put, 1});
    } else if (kind == 7) {
      status = below(2) == 0 ? file->flush() : file->sync();
    } else {  // somebody reads, or all do together
      const bool together = kind == 8;
      if (together) status = file->barrier_around_read();
      if (together || file->rank() == who) {
        std::vector<std::byte> got(static_cast<std::size_t>(bytes));
        status.update(file->read_at(at, got.data(), bytes));
        if (std::memcmp(got.data(), image.data() + at, got.size()) != 0) fail(step, "a read");
      }
      if (together) status.update(file->barrier_around_read());
    }
    if (!status.ok()) fail(step, status.message().c_str());
    MPI_Barrier(MPI_COMM_WORLD);
    if (failures > 0) break;
  }
  CHECK_OK(file->close());
  file = open_file(MPI_COMM_WORLD, "node.dat", "", nullptr, Keeping::nothing);
  std::vector<std::byte> got(static_cast<std::size_t>(length));
  CHECK_OK(file->read_at(0, got.data(), length));
  if (got != image) fail(steps, "the file");
  CHECK_OK(file->close());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  unsigned seed = 1;
  int count = 40;
  int steps = 60;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--seed") == 0) seed = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--count") == 0) count = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--steps") == 0) steps = std::atoi(argv[i + 1]);
  }
  if (count > 1) {
    kept_until_flushed();
    full_segments_go();
    the_last_wins("forebay_stripe_bytes=4k;forebay_bypass_bytes=64k");
    the_last_wins("forebay_stripe_bytes=64k;forebay_bypass_bytes=64k;forebay_delay_usec=20000");
    within_bounds();
    reads_write_nothing();
    past_and_filled(seed, "");
    past_and_filled(seed, "forebay_delay_usec=50");
    gaps();
    collective_calls();
    while_writing_fails();
    all_at_once(seed, "forebay_stripe_bytes=4k;forebay_pool_bytes=64k");
    all_at_once(seed, "forebay_stripe_bytes=64k;forebay_pool_bytes=64k;forebay_delay_usec=100");
    all_at_once(seed, "forebay_stripe_bytes=512k");
  }
  for (int i = 0; i < count; ++i) random_steps(seed + static_cast<unsigned>(i), steps);
  int all = failures;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%s\n", all == 0 ? "ok" : "FAILED");
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
