// What MPI_THREAD_MULTIPLE allows with different files: threads that put, get, open and close, each with
// files of its own, on duplicates of one communicator and on others, TCIO beside Forebay's own files.
#include <forebay/file.h>
#include <forebay/tcio.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

int rank = 0;
int ranks = 1;
std::atomic<int> failures{0};

void check(bool good, const char* what, int line, const std::string& why = "") {
  if (good) return;
  std::fprintf(stderr, "rank %d line %d: %s %s\n", rank, line, what, why.c_str());
  ++failures;
}
#define CHECK(x) check((x), #x, __LINE__)
#define CHECK_OK(x) check((x) == 0, #x, __LINE__, forebay_last_error())

constexpr int kNew = FOREBAY_CREATE | FOREBAY_RDWR | FOREBAY_TRUNC;

int value(int thread, int round, int i) {
  return thread * 100000000 + round * 1000000 + i;
}

std::string name_of(int thread, const std::string& part) {
  return "threads-" + part + "-" + std::to_string(thread) + ".dat";
}

struct Mine {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;

  explicit Mine(MPI_Comm of) : comm(of) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
  }
};

// Every rank's elements lie between the others'.
struct Pieces {
  std::int64_t shape, start, count, stride;
  std::vector<int> memory;

  Pieces(const Mine& mine, std::int64_t each)
      : shape(each * mine.ranks),
        start(mine.rank),
        count(each),
        stride(mine.ranks),
        memory(static_cast<std::size_t>(each)) {}

  forebay_request request() {
    forebay_request q{};
    q.size = sizeof q;
    q.element_bytes = 4;
    q.ndims = 1;
    q.shape = &shape;
    q.start = &start;
    q.count = &count;
    q.stride = &stride;
    q.memory = memory.data();
    return q;
  }
};

void put_and_get(forebay_file file, const Mine& mine, int thread, int rounds) {
  Pieces put(mine, 3000), got(mine, 3000);
  for (int k = 0; k < rounds; ++k) {
    for (std::size_t i = 0; i < put.memory.size(); ++i)
      put.memory[i] = value(thread, k, static_cast<int>(i) * mine.ranks + mine.rank);
    std::fill(got.memory.begin(), got.memory.end(), -1);
    forebay_request q = put.request();
    CHECK_OK(forebay_put_all(file, &q, 1));
    q = got.request();
    CHECK_OK(forebay_get_all(file, &q, 1));
    CHECK(got.memory == put.memory);
  }
}

template <class Body>
void in_threads(int count, Body&& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&body, t] { body(t); });
  for (std::thread& thread : threads) thread.join();
}

std::vector<MPI_Comm> duplicates(int count) {
  std::vector<MPI_Comm> list(static_cast<std::size_t>(count));
  for (MPI_Comm& comm : list) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return list;
}

void free_all(std::vector<MPI_Comm>& list) {
  for (MPI_Comm& comm : list) MPI_Comm_free(&comm);
}

forebay_file open_file(const Mine& mine, const std::string& name) {
  forebay_file file = FOREBAY_FILE_NULL;
  CHECK_OK(forebay_open(mine.comm, name.c_str(), kNew, MPI_INFO_NULL, &file));
  return file;
}

// Opened by one thread, used by others.
void opened_before() {
  std::vector<MPI_Comm> comms = duplicates(3);
  std::vector<forebay_file> files;
  for (int t = 0; t < 3; ++t)
    files.push_back(open_file(Mine(comms[static_cast<std::size_t>(t)]), name_of(t, "before")));
  in_threads(3, [&](int t) {
    const auto at = static_cast<std::size_t>(t);
    put_and_get(files[at], Mine(comms[at]), t, 25);
    CHECK_OK(forebay_close(&files[at]));
  });
  free_all(comms);
}

// Opened and closed by each thread, in turns that no two ranks have alike.
void opened_in_threads() {
  std::vector<MPI_Comm> comms = duplicates(2);
  in_threads(2, [&](int t) {
    const Mine mine(comms[static_cast<std::size_t>(t)]);
    for (int k = 0; k < 8; ++k) {
      std::this_thread::sleep_for(std::chrono::microseconds((rank * 7 + t * 5 + k * 3) % 11 * 100));
      forebay_file file = open_file(mine, name_of(t, "each"));
      put_and_get(file, mine, t, 3);
      CHECK_OK(forebay_close(&file));
    }
  });
  free_all(comms);
}

// One rank does first what another does last; each file's ranks are in it at the same time only by both
// threads.
void crosswise() {
  if (ranks < 2) return;
  std::vector<MPI_Comm> comms = duplicates(3);
  forebay_file files[2];
  for (int t = 0; t < 2; ++t)
    files[t] = open_file(Mine(comms[static_cast<std::size_t>(t)]), name_of(t, "cross"));
  std::atomic<bool> second_done{false};
  in_threads(2, [&](int t) {
    // On rank 0 the first file's call comes after the second's has ended, on all others it comes before.
    if (t == 0 && rank == 0) {
      while (!second_done) std::this_thread::yield();
    }
    if (t == 1 && rank != 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    put_and_get(files[t], Mine(comms[static_cast<std::size_t>(t)]), t, 1);
    if (t == 1) second_done = true;
  });
  for (forebay_file& file : files) CHECK_OK(forebay_close(&file));
  free_all(comms);
}

// TCIO on a communicator of half of the ranks, in another order, beside a file of all.
void other_communicators() {
  MPI_Comm half, all;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  in_threads(2, [&](int t) {
    if (t == 0) {
      const Mine mine(all);
      forebay_file file = open_file(mine, name_of(t, "all"));
      put_and_get(file, mine, t, 15);
      CHECK_OK(forebay_close(&file));
      return;
    }
    const Mine mine(half);
    const std::string name = name_of(t + rank % 2, "half");
    tcio_file file = TCIO_FILE_NULL;
    check(tcio_open(half, name.c_str(), FOREBAY_CREATE | FOREBAY_RDWR | FOREBAY_TRUNC, MPI_INFO_NULL,
                    &file) == 0,
          "tcio_open", __LINE__, forebay_last_error());
    for (int k = 0; k < 10; ++k) {
      for (int i = 0; i < 500; ++i) {
        const int v = value(t, k, i * mine.ranks + mine.rank);
        CHECK(tcio_write_at(file, 4LL * (i * mine.ranks + mine.rank), &v, 4) == 0);
      }
      CHECK(tcio_flush(file) == 0);
      std::vector<int> got(500);
      for (int i = 0; i < 500; ++i)
        CHECK(tcio_read_at(file, 4LL * (i * mine.ranks + (mine.rank + 1) % mine.ranks),
                           &got[static_cast<std::size_t>(i)], 4) == 0);
      CHECK(tcio_fetch_all(file) == 0);
      for (int i = 0; i < 500; ++i)
        CHECK(got[static_cast<std::size_t>(i)] == value(t, k, i * mine.ranks + (mine.rank + 1) % mine.ranks));
    }
    CHECK(tcio_close(&file) == 0);
  });
  MPI_Comm_free(&half);
  MPI_Comm_free(&all);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) {
    std::puts("this MPI has no MPI_THREAD_MULTIPLE");
    MPI_Finalize();
    return 77;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const char* hints :
       {"forebay_mode=strict", "forebay_mode=commit", "forebay_mode=strict;forebay_ranks_per_node=1",
        "forebay_mode=commit;forebay_ranks_per_node=2"}) {
    setenv("FOREBAY_HINTS", hints, 1);
    if (rank == 0) std::puts(hints);
    opened_before();
    opened_in_threads();
    crosswise();
    other_communicators();
  }
  int all = failures;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d failures\n", all);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
