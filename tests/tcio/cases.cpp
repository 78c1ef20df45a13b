// Single cases of TCIO: what is refused and how that is told, failures that come late, calls that need nobody
// else, and offsets past 2 GiB.
#include <forebay/tcio.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using std::int64_t;

int rank = 0;
int ranks = 1;
int failures = 0;

void check(bool good, const char* what, int line) {
  if (good) return;
  std::fprintf(stderr, "rank %d line %d: %s (%s)\n", rank, line, what, forebay_last_error());
  ++failures;
}
#define CHECK(x) check(x, #x, __LINE__)
#define OK(x) check((x) == FOREBAY_SUCCESS, #x, __LINE__)
#define FAILS(code, x) check((x) == (code), #x " is " #code, __LINE__)

bool last_error_has(const char* text) {
  return std::strstr(forebay_last_error(), text) != nullptr;
}

tcio_file open_file(const char* path, int flags,
                    const std::vector<std::pair<const char*, const char*>>& hints, int* result = nullptr) {
  MPI_Info info;
  MPI_Info_create(&info);
  for (const auto& [key, value] : hints) MPI_Info_set(info, key, value);
  tcio_file file = TCIO_FILE_NULL;
  const int code = tcio_open(MPI_COMM_WORLD, path, flags, info, &file);
  if (result != nullptr)
    *result = code;
  else
    OK(code);
  MPI_Info_free(&info);
  return file;
}

void fresh(const char* path) {
  if (rank == 0) std::remove(path);
  MPI_Barrier(MPI_COMM_WORLD);
}

void part(const char* name, const std::function<void()>& body) {
  if (rank == 0) std::printf("%s\n", name);
  std::fflush(stdout);
  body();
  MPI_Barrier(MPI_COMM_WORLD);
}

std::vector<unsigned char> contents(const char* path) {
  std::vector<unsigned char> bytes;
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) return bytes;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file))
    bytes.push_back(static_cast<unsigned char>(c));
  std::fclose(file);
  return bytes;
}

void wrong_opens() {
  fresh("open.dat");
  tcio_file file = TCIO_FILE_NULL;
  const auto open = [&](const char* path, int flags) {
    return tcio_open(MPI_COMM_WORLD, path, flags, MPI_INFO_NULL, &file);
  };
  FAILS(FOREBAY_ERR_NO_FILE, open("open.dat", FOREBAY_RDWR));
  CHECK(last_error_has("open.dat"));
  CHECK(file == TCIO_FILE_NULL);
  FAILS(FOREBAY_ERR_NO_FILE, open("no/such/folder", FOREBAY_RDWR | FOREBAY_CREATE));
  FAILS(FOREBAY_ERR_ARGUMENT, open("", FOREBAY_RDWR));
  FAILS(FOREBAY_ERR_ARGUMENT, open(nullptr, FOREBAY_RDWR));
  FAILS(FOREBAY_ERR_ARGUMENT, open("open.dat", 0));
  FAILS(FOREBAY_ERR_ARGUMENT, open("open.dat", FOREBAY_CREATE));
  FAILS(FOREBAY_ERR_ARGUMENT, open("open.dat", FOREBAY_RDONLY | FOREBAY_TRUNC));
  FAILS(FOREBAY_ERR_ARGUMENT, open("open.dat", FOREBAY_RDWR | FOREBAY_EXCL));
  FAILS(FOREBAY_ERR_ARGUMENT, open("open.dat", FOREBAY_RDWR | 4096));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_open(MPI_COMM_NULL, "open.dat", FOREBAY_RDWR, MPI_INFO_NULL, &file));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_open(MPI_COMM_WORLD, "open.dat", FOREBAY_RDWR, MPI_INFO_NULL, nullptr));
  // Of one rank alone: all hear of it.
  FAILS(FOREBAY_ERR_ARGUMENT, open(rank == ranks - 1 ? nullptr : "open.dat", FOREBAY_RDWR | FOREBAY_CREATE));
  if (ranks > 1) {
    FAILS(FOREBAY_ERR_ARGUMENT, open("open.dat", rank == 0 ? FOREBAY_RDWR | FOREBAY_CREATE : FOREBAY_RDWR));
    CHECK(last_error_has("differ"));
    FAILS(FOREBAY_ERR_ARGUMENT, open(rank == 0 ? "open.dat" : "opened.dat", FOREBAY_RDWR | FOREBAY_CREATE));
    CHECK(last_error_has("different ones"));
  }
  OK(open("open.dat", FOREBAY_WRONLY | FOREBAY_CREATE | FOREBAY_EXCL));
  OK(tcio_close(&file));
  int result = open("open.dat", FOREBAY_WRONLY | FOREBAY_CREATE | FOREBAY_EXCL);
  CHECK(result != FOREBAY_SUCCESS && file == TCIO_FILE_NULL);
  setenv("FOREBAY_HINTS", "forebay_segmnt_bytes=4k", 1);
  FAILS(FOREBAY_ERR_HINT, open("open.dat", FOREBAY_RDWR));
  CHECK(last_error_has("forebay_segment_bytes"));
  unsetenv("FOREBAY_HINTS");
}

void wrong_calls() {
  fresh("calls.dat");
  char c = 'x';
  int64_t n = 0;
  tcio_file none = TCIO_FILE_NULL;
  FAILS(FOREBAY_ERR_FILE, tcio_write_at(none, 0, &c, 1));
  FAILS(FOREBAY_ERR_FILE, tcio_write(none, &c, 1));
  FAILS(FOREBAY_ERR_FILE, tcio_read_at(none, 0, &c, 1));
  FAILS(FOREBAY_ERR_FILE, tcio_read(none, &c, 1));
  FAILS(FOREBAY_ERR_FILE, tcio_seek(none, 0, SEEK_SET));
  FAILS(FOREBAY_ERR_FILE, tcio_tell(none, &n));
  FAILS(FOREBAY_ERR_FILE, tcio_size(none, &n));
  FAILS(FOREBAY_ERR_FILE, tcio_set_size(none, 0));
  FAILS(FOREBAY_ERR_FILE, tcio_flush(none));
  FAILS(FOREBAY_ERR_FILE, tcio_sync(none));
  FAILS(FOREBAY_ERR_FILE, tcio_fetch(none));
  FAILS(FOREBAY_ERR_FILE, tcio_fetch_all(none));
  FAILS(FOREBAY_ERR_FILE, tcio_close(&none));
  FAILS(FOREBAY_ERR_FILE, tcio_close(nullptr));

  tcio_file file = open_file("calls.dat", FOREBAY_CREATE | FOREBAY_RDWR, {});
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_write_at(file, -1, &c, 1));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_write_at(file, 0, &c, -1));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_write_at(file, 0, nullptr, 1));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_write_at(file, INT64_MAX, &c, 1));
  CHECK(last_error_has("2^62"));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_write_at(file, 1, &c, INT64_MAX));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_read_at(file, 0, nullptr, 1));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_read_at(file, INT64_MAX - 1, &c, 1));
  OK(tcio_write_at(file, 0, nullptr, 0));
  OK(tcio_read_at(file, 0, nullptr, 0));
  OK(tcio_seek(file, 10, SEEK_SET));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_seek(file, -11, SEEK_CUR));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_seek(file, INT64_MAX, SEEK_CUR));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_seek(file, 0, 77));
  OK(tcio_tell(file, &n));
  CHECK(n == 10);  // none of these has moved it
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_write(file, &c, -1));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_tell(file, nullptr));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_size(file, nullptr));
  FAILS(FOREBAY_ERR_ARGUMENT, tcio_set_size(file, rank == 0 ? -1 : 5));
  if (ranks > 1) FAILS(FOREBAY_ERR_ARGUMENT, tcio_set_size(file, rank));
  tcio_file copy = file;
  OK(tcio_close(&file));
  CHECK(file == TCIO_FILE_NULL);
  FAILS(FOREBAY_ERR_FILE, tcio_write_at(copy, 0, &c, 1));
  CHECK(last_error_has("closed"));
  FAILS(FOREBAY_ERR_FILE, tcio_close(&copy));

  file = open_file("calls.dat", FOREBAY_RDONLY, {});
  FAILS(FOREBAY_ERR_MODE, tcio_write_at(file, 0, &c, 1));
  FAILS(FOREBAY_ERR_MODE, tcio_set_size(file, 1));
  OK(tcio_flush(file));
  OK(tcio_sync(file));
  OK(tcio_close(&file));
  file = open_file("calls.dat", FOREBAY_WRONLY, {});
  FAILS(FOREBAY_ERR_MODE, tcio_read(file, &c, 1));
  OK(tcio_write(file, &c, 1));
  OK(tcio_close(&file));

  CHECK(std::strcmp(forebay_strerror(FOREBAY_SUCCESS), "success") == 0);
  for (int code = FOREBAY_ERR_ARGUMENT; code <= FOREBAY_ERR_INTERNAL; ++code)
    CHECK(std::strcmp(forebay_strerror(code), forebay_strerror(code - 1)) != 0);
  CHECK(std::strcmp(forebay_strerror(-1), "unknown error") == 0);
  CHECK(std::strcmp(forebay_strerror(INT_MAX), "unknown error") == 0);
}

void truncates() {
  fresh("trunc.dat");
  tcio_file file = open_file("trunc.dat", FOREBAY_CREATE | FOREBAY_WRONLY, {});
  OK(tcio_write_at(file, 100 * rank, "something", 9));
  OK(tcio_close(&file));
  file = open_file("trunc.dat", FOREBAY_RDWR | FOREBAY_TRUNC, {});
  int64_t bytes = -1;
  OK(tcio_size(file, &bytes));
  CHECK(bytes == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(tcio_seek(file, 3 * rank, SEEK_END));
  OK(tcio_close(&file));
  CHECK(contents("trunc.dat").empty());
}

// Writes that cannot reach the file are told, at the latest by flush and close, on every rank.
void late_failures(const char* mode, const char* segment, const char* which) {
  fresh("late.dat");
  tcio_file file = open_file("late.dat", FOREBAY_CREATE | FOREBAY_RDWR,
                             {{"forebay_mode", mode},
                              {"forebay_segment_bytes", segment},
                              {"forebay_segments", "2"},
                              {"forebay_storage", "failing"},
                              {"forebay_fail_rank", which}});
  std::vector<char> data(1000, 'l');
  std::vector<int64_t> taken;
  for (int i = 0; i < 64; ++i) {
    const int64_t offset = (int64_t{64} * rank + i) * 1000;
    if (tcio_write_at(file, offset, data.data(), 1000) == FOREBAY_SUCCESS) taken.push_back(offset);
  }
  // Where one rank's writes fail, the others may have written all that was taken: nobody has lost anything
  // then.
  const bool may_be_well = std::string(which) != "-1";
  const auto failed = [](int code) { return code == FOREBAY_ERR_IO || code == FOREBAY_ERR_SPACE; };
  const int flushed = tcio_flush(file);
  CHECK(failed(flushed) || (may_be_well && flushed == FOREBAY_SUCCESS));
  if (failed(flushed)) CHECK(last_error_has("late.dat"));
  const int closed = tcio_close(&file);
  CHECK(failed(closed) || (may_be_well && closed == FOREBAY_SUCCESS));
  CHECK(file == TCIO_FILE_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (closed != FOREBAY_SUCCESS) return;
  const std::vector<unsigned char> there = contents("late.dat");
  for (const int64_t offset : taken) {
    CHECK(std::ssize(there) >= offset + 1000 &&
          std::all_of(there.begin() + offset, there.begin() + offset + 1000, [](int c) { return c == 'l'; }));
  }
}

// One rank writes far more than is kept and reads it, while the others do nothing.
void alone() {
  fresh("alone.dat");
  tcio_file file = open_file("alone.dat", FOREBAY_CREATE | FOREBAY_RDWR,
                             {{"forebay_segment_bytes", "4k"}, {"forebay_segments", "1"}});
  if (rank == ranks - 1) {
    for (int64_t i = 0; i < 20000; ++i) OK(tcio_write_at(file, 24 * i, &i, sizeof i));
    std::vector<int64_t> got(20000);
    for (int64_t i = 0; i < 20000; ++i)
      OK(tcio_read_at(file, 24 * i, &got[static_cast<std::size_t>(i)], sizeof i));
    OK(tcio_fetch(file));
    for (int64_t i = 0; i < 20000; ++i) CHECK(got[static_cast<std::size_t>(i)] == i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(tcio_close(&file));
}

// Elements in turn, far more than the node keeps; then a long write over the middle of them, which passes by.
void long_and_short(const char* ranks_per_node) {
  fresh("mixed.dat");
  tcio_file file = open_file("mixed.dat", FOREBAY_CREATE | FOREBAY_RDWR,
                             {{"forebay_ranks_per_node", ranks_per_node},
                              {"forebay_segment_bytes", "16k"},
                              {"forebay_segments", "2"},
                              {"forebay_storage", "posix"},
                              {"forebay_bypass_bytes", "32k"}});
  constexpr int64_t count = 40000;
  for (int64_t i = rank; i < count; i += ranks) {
    const auto value = static_cast<std::int32_t>(i);
    OK(tcio_write_at(file, 4 * i, &value, 4));
    if (i % 1000 == rank) {  // its own range, behind
      const std::vector<char> row(100000, static_cast<char>('a' + rank));
      OK(tcio_write_at(file, 4 * count + 100000 * rank, row.data(), 100000));
    }
  }
  OK(tcio_flush(file));
  std::vector<std::int32_t> got(count);
  std::vector<char> row(100000);
  const int other = (rank + 1) % ranks;
  OK(tcio_read_at(file, 0, got.data(), 4 * count));
  OK(tcio_read_at(file, 4 * count + 100000 * other, row.data(), 100000));
  OK(tcio_fetch(file));
  for (int64_t i = 0; i < count; ++i) CHECK(got[static_cast<std::size_t>(i)] == i);
  CHECK(row == std::vector<char>(100000, static_cast<char>('a' + other)));
  OK(tcio_close(&file));
}

// Bytes that nobody writes stay as they are, where others around them are written.
void holes_stay(const char* ranks_per_node) {
  fresh("holes.dat");
  constexpr int64_t length = 300000;
  if (rank == 0) {
    std::FILE* file = std::fopen("holes.dat", "wb");
    for (int64_t i = 0; i < length; ++i) std::fputc('h', file);
    std::fclose(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  tcio_file file = open_file("holes.dat", FOREBAY_RDWR,
                             {{"forebay_ranks_per_node", ranks_per_node},
                              {"forebay_storage", "posix"},
                              {"forebay_segment_bytes", "8k"},
                              {"forebay_segments", "1"}});
  const int64_t step = 5 * (ranks + 1);  // one more than there are ranks
  for (int64_t i = 5 * rank; i + 3 <= length; i += step) OK(tcio_write_at(file, i, "abc", 3));
  OK(tcio_close(&file));
  const std::vector<unsigned char> got = contents("holes.dat");
  CHECK(static_cast<int64_t>(got.size()) == length);
  for (int64_t i = 0; i < length && failures == 0; ++i) {
    const int64_t in = i % step % 5, who = i % step / 5, begin = i - in;
    const bool written = who < ranks && in < 3 && begin + 3 <= length;
    CHECK(got[static_cast<std::size_t>(i)] == (written ? "abc"[in] : 'h'));
  }
}

// What other ranks write between a read and tcio_fetch_all is seen, wherever pieces lie, and what this rank
// writes in between is not.
void fetch_all_sees(const char* mode, const char* ranks_per_node) {
  constexpr int64_t unit = 4096, pieces = 40;
  fresh("fetch_all.dat");
  tcio_file file = open_file("fetch_all.dat", FOREBAY_CREATE | FOREBAY_RDWR,
                             {{"forebay_mode", mode},
                              {"forebay_ranks_per_node", ranks_per_node},
                              {"forebay_segment_bytes", "4k"},
                              {"forebay_stripe_bytes", "4k"}});
  // Across the edges of segments and stripes, and far from them; each rank has a share of the file.
  const int64_t share = 4 * pieces * unit;
  const auto place = [&](int who, int64_t i) { return who * share + i * 3 * unit - (i > 0 ? 4 : 0); };
  const auto value = [](int who, int64_t i, int turn) { return 1000000 * turn + 1000 * who + i + 1; };
  const int other = (rank + 1) % ranks;
  for (int64_t i = 0; i < pieces; ++i) {
    const int64_t v = value(rank, i, 1);
    OK(tcio_write_at(file, place(rank, i), &v, 8));
  }
  OK(tcio_flush(file));
  for (int turn = 2; turn < 4; ++turn) {
    std::vector<int64_t> theirs(pieces), own(pieces);
    std::vector<char> large(5 * unit);  // at once, and over several of them
    for (int64_t i = 0; i < pieces; ++i) {
      const auto at = static_cast<std::size_t>(turn == 2 ? i : pieces - 1 - i);
      OK(tcio_read_at(file, place(other, static_cast<int64_t>(at)), &theirs[at], 8));
      OK(tcio_read_at(file, place(rank, i), &own[static_cast<std::size_t>(i)], 8));
    }
    OK(tcio_read_at(file, place(other, 2), large.data(), 5 * unit));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t i = 0; i < pieces; ++i) {
      const int64_t v = value(rank, i, turn);
      OK(tcio_write_at(file, place(rank, i), &v, 8));
    }
    OK(tcio_fetch_all(file));
    for (int64_t i = 0; i < pieces; ++i) {
      const auto at = static_cast<std::size_t>(i);
      CHECK(theirs[at] == value(other, i, ranks > 1 ? turn : turn - 1));
      CHECK(own[at] == value(rank, i, turn - 1));
    }
    for (int64_t i = 2; i < 4; ++i) {
      int64_t got = 0;
      std::memcpy(&got, large.data() + (place(other, i) - place(other, 2)), 8);
      CHECK(got == value(other, i, ranks > 1 ? turn : turn - 1));
    }
  }
  OK(tcio_close(&file));
}

// What the header says of each call, for pieces that lie across the edge of a segment, of a stripe and of the
// file.
void promises_at_edges(const char* mode, const char* ranks_per_node) {
  const std::vector<std::pair<const char*, const char*>> hints{{"forebay_mode", mode},
                                                               {"forebay_ranks_per_node", ranks_per_node},
                                                               {"forebay_segment_bytes", "4k"},
                                                               {"forebay_stripe_bytes", "16k"}};
  constexpr int64_t segment = 4096, stripe = 16384, length = 100;
  const int other = (rank + 1) % ranks;
  // Two pieces a rank: in the middle of one of its own is an edge.
  const auto at_segment = [&](int who) { return (4 * who + 1) * segment - 30; };
  const auto at_stripe = [&](int who) { return (who + 1 + ranks) * stripe - 70; };
  const auto is = [](const std::vector<char>& bytes, int value) {
    return bytes == std::vector<char>(bytes.size(), static_cast<char>(value));
  };
  enum Call { kFetch, kFetchAll, kFlush, kSync, kSetSize, kClose, kCalls };
  for (int call = kFetch; call < kCalls; ++call) {
    fresh("edges.dat");
    tcio_file file = open_file("edges.dat", FOREBAY_CREATE | FOREBAY_RDWR, hints);
    for (const int64_t at : {at_segment(rank), at_stripe(rank)}) {
      std::vector<char> data(length, static_cast<char>(10 + rank));
      OK(tcio_write_at(file, at, data.data(), length));
      std::fill(data.begin(), data.end(), 'x');  // it may be used again at once
      int64_t bytes = 0;
      OK(tcio_size(file, &bytes));  // with what this rank wrote
      CHECK(bytes >= at + length);
    }
    OK(tcio_flush(file));
    // In the file, where any program sees it; and so long it is.
    const int64_t end = at_stripe(ranks - 1) + length;
    const std::vector<unsigned char> seen = contents("edges.dat");
    CHECK(static_cast<int64_t>(seen.size()) == end);
    for (const int64_t at : {at_segment(other), at_stripe(other)}) {
      for (int64_t i = at - 1; i <= at + length && i < static_cast<int64_t>(seen.size()); ++i)
        CHECK(seen[static_cast<std::size_t>(i)] == (i < at || i == at + length ? 0 : 10 + other));
    }
    int64_t bytes = 0;
    OK(tcio_size(file, &bytes));
    CHECK(bytes == end);
    MPI_Barrier(MPI_COMM_WORLD);  // nobody writes before all have looked

    // Lazy: what this rank wrote before, nothing that it writes after it; zeros past the end.
    std::vector<char> before(length), after(length), theirs(length), own(length), past(length, 'p');
    OK(tcio_read_at(file, at_segment(rank), before.data(), length));
    OK(tcio_read_at(file, at_stripe(other), theirs.data(), length));
    OK(tcio_read_at(file, end - 50, past.data(), length));
    const std::vector<char> data(length, static_cast<char>(40 + rank));
    OK(tcio_write_at(file, at_segment(rank), data.data(), length));
    OK(tcio_read_at(file, at_segment(rank), after.data(), length));
    OK(tcio_seek(file, at_stripe(rank), SEEK_SET));
    OK(tcio_read(file, own.data(), length));
    OK(tcio_tell(file, &bytes));
    CHECK(bytes == at_stripe(rank) + length);
    // All of these fill, and there is no later call that would.
    if (call == kFetch) OK(tcio_fetch(file));
    if (call == kFetchAll) OK(tcio_fetch_all(file));
    if (call == kFlush) OK(tcio_flush(file));
    if (call == kSync) OK(tcio_sync(file));
    if (call == kSetSize) OK(tcio_set_size(file, stripe * ranks + 5));
    if (call == kClose) OK(tcio_close(&file));
    CHECK(is(before, 10 + rank));
    CHECK(is(after, 40 + rank));
    CHECK(is(theirs, 10 + other));
    CHECK(is(own, 10 + rank));
    CHECK(is({past.begin(), past.begin() + 50}, 10 + ranks - 1) && is({past.begin() + 50, past.end()}, 0));
    if (call == kSetSize) {  // cut there; then extended, with zeros
      CHECK(static_cast<int64_t>(contents("edges.dat").size()) == stripe * ranks + 5);
      OK(tcio_set_size(file, end));
      OK(tcio_read_at(file, at_stripe(0), own.data(), length));
      OK(tcio_fetch_all(file));
      CHECK(is(own, 0));
    }
    if (call != kClose) OK(tcio_close(&file));
    if (rank == 0) {
      const std::vector<unsigned char> left = contents("edges.dat");
      for (int who = 0; who < ranks; ++who)
        CHECK(left[static_cast<std::size_t>(at_segment(who) + 40)] == 40 + who);
    }
  }
}

void past_two_gib() {
  fresh("far.dat");
  constexpr int64_t far = (int64_t{3} << 31) - 2;
  tcio_file file = open_file("far.dat", FOREBAY_CREATE | FOREBAY_RDWR, {});
  OK(tcio_seek(file, far + 4 * rank, SEEK_SET));
  OK(tcio_write(file, &rank, 4));
  OK(tcio_flush(file));
  int got = -1;
  const int other = (rank + 1) % ranks;
  OK(tcio_read_at(file, far + 4 * other, &got, 4));
  OK(tcio_fetch_all(file));
  CHECK(got == other);
  int64_t bytes = 0;
  OK(tcio_size(file, &bytes));
  CHECK(bytes == far + 4 * ranks);
  OK(tcio_close(&file));
}

// A rank that forgets to close: what it wrote is in the file when MPI ends.
void left_open() {
  fresh("left.dat");
  tcio_file file = open_file("left.dat", FOREBAY_CREATE | FOREBAY_RDWR, {});
  OK(tcio_write_at(file, 4 * rank, "left", 4));
}

}  // namespace

int main(int argc, char** argv) {
  tcio_file early = TCIO_FILE_NULL;
  FAILS(FOREBAY_ERR_MPI, tcio_open(MPI_COMM_WORLD, "early.dat", FOREBAY_RDONLY, MPI_INFO_NULL, &early));
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  part("wrong opens", wrong_opens);
  part("wrong calls", wrong_calls);
  part("truncates", truncates);
  part("late failures, commit", [] { late_failures("commit", "4k", "0"); });
  part("late failures, commit, all kept", [] { late_failures("commit", "64k", "-1"); });
  part("late failures, strict", [] { late_failures("strict", "4k", "0"); });
  part("alone", alone);
  part("long and short", [] { long_and_short("0"); });
  part("long and short between nodes", [] { long_and_short("2"); });
  part("holes stay", [] { holes_stay("0"); });
  part("holes stay between nodes", [] { holes_stay("1"); });
  for (const char* mode : {"commit", "strict"}) {
    part("fetch all", [&] { fetch_all_sees(mode, "0"); });
    part("promises at edges", [&] { promises_at_edges(mode, "0"); });
    part("promises at edges between nodes", [&] { promises_at_edges(mode, "1"); });
    part("fetch all between nodes", [&] { fetch_all_sees(mode, "1"); });
  }
  part("past two GiB", past_two_gib);
  part("left open", left_open);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (contents("left.dat").size() < 4 * static_cast<std::size_t>(rank + 1) ||
      std::memcmp(contents("left.dat").data() + 4 * rank, "left", 4) != 0) {
    std::fprintf(stderr, "rank %d: what was written is not in the file that was left open\n", rank);
    ++failures;
  }
  if (rank == 0) std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
