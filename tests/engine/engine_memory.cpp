// One bound for all that a process has open: many files at once, files of other settings one after the other,
// communicators that come and go. What the system says is mapped counts.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/memory_account.hpp"
#include "engine_case_tools.hpp"

namespace {

using namespace forebay;
using namespace forebay::test;

// Bytes of Forebay's shared memory in this process's address space.
std::int64_t mapped() {
  std::ifstream maps("/proc/self/maps");
  std::int64_t sum = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/dev/shm/forebay-") == std::string::npos) continue;
    std::size_t dash = 0;
    const auto begin = std::stoull(line, &dash, 16);
    sum += static_cast<std::int64_t>(std::stoull(line.substr(dash + 1), nullptr, 16) - begin);
  }
  return sum;
}

std::int64_t bound_of_node(int ranks) {
  return Settings{}.memory_bytes * ranks;
}

std::unique_ptr<CoreFile> open_kept(MPI_Comm comm, const std::string& path) {
  fresh(path.c_str());
  MPI_Barrier(MPI_COMM_WORLD);
  return open_file(comm, path, "forebay_mode=commit", nullptr, Keeping::by_node);
}

void many_files() {
  int of_all = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &of_all);
  const int count = 35 * of_all;
  std::vector<std::unique_ptr<CoreFile>> files;
  for (int i = 0; i < count; ++i) {
    files.push_back(open_kept(MPI_COMM_WORLD, "many" + std::to_string(i) + ".dat"));
    CHECK(files.back() != nullptr && files.back()->commits());
    if (files.back() == nullptr) return;
    CHECK_OK(put_interleaved(*files.back(), 100 * i, 2000, 4, static_cast<unsigned>(i)));
  }
  const int ranks = files.front()->ranks();
  CHECK(mapped() <= bound_of_node(ranks));
  for (int i = 0; i < count; ++i) {
    auto& file = files[static_cast<std::size_t>(i)];
    CHECK(holds_interleaved(*file, 100 * i, 2000, static_cast<unsigned>(i)));
    CHECK_OK(file->close());
    file.reset();
    fresh(("many" + std::to_string(i) + ".dat").c_str());
  }
  CHECK(mapped() <= bound_of_node(ranks) / 2);
}

// The window of the largest rounds, and what one file keeps, serve the others or go.
void other_settings() {
  for (int i = 1; i <= 24; ++i) {
    fresh("other.dat");
    MPI_Barrier(MPI_COMM_WORLD);
    auto file = open_file(MPI_COMM_WORLD, "other.dat", "forebay_stripe_bytes=" + std::to_string(i * 65536));
    CHECK_OK(put_interleaved(*file, 0, 5000, 4, 1));
    // Two owners: two buffers of two stripes, and the marks.
    const std::int64_t round = std::max<std::int64_t>(2 * i * 65536, 1 << 20);
    CHECK(file->ranks() == 1 || mapped() <= 2 * round + file->ranks() * round / 3 + (1 << 19));
    CHECK_OK(file->close());
  }
}

void communicators_come_and_go() {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::int64_t after_few = 0;
  for (int i = 0; i < 30; ++i) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0,
                   (rank * 7 + i * (rank + 1) * (rank + 3) + (rank == i % ranks ? 100 : 0)) % 101, &comm);
    auto file = open_kept(comm, "come.dat");
    CHECK_OK(put_interleaved(*file, 0, 5000, 4, 1));
    CHECK_OK(file->close());
    file.reset();
    MPI_Comm_free(&comm);
    if (i == 7) after_few = mapped();
  }
  CHECK(mapped() <= std::max<std::int64_t>(after_few, bound_of_node(ranks) / 2));
}

// What a closed file's nodes keep for the next one does not leave other nodes with small rounds.
void idle_nodes_make_room() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 4) return;
  for (const char* nodes : {"2", "1", "3", "1", "2"}) {
    fresh("idle.dat");
    auto file =
        open_file(MPI_COMM_WORLD, "idle.dat",
                  std::string("forebay_rounds=window;cb_buffer_size=100m;forebay_ranks_per_node=") + nodes,
                  nullptr, Keeping::nothing);
    CHECK_OK(put_interleaved(*file, 0, 3'000'000, 4, 1));
    const std::int64_t rounds = file->counters().rounds;
    CHECK(rounds <= 24);  // of 48 MB
    CHECK_OK(file->close());
  }
  fresh("idle.dat");
}

// Files that are open together on one communicator, of other rounds, by turns.
void rounds_of_other_kinds() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 4) return;
  std::vector<std::unique_ptr<CoreFile>> files;
  const std::string nodes = "forebay_ranks_per_node=2;";
  for (const char* rounds :
       {"forebay_rounds=wide;forebay_stripe_bytes=1m", "forebay_rounds=window;forebay_window_bytes=200m",
        "forebay_rounds=wide;forebay_stripe_bytes=256k", "forebay_rounds=window;cb_buffer_size=100m"}) {
    const std::string path = "kind" + std::to_string(files.size()) + ".dat";
    fresh(path.c_str());
    files.push_back(open_file(MPI_COMM_WORLD, path, nodes + rounds, nullptr, Keeping::nothing));
    CHECK(files.back() != nullptr);
    if (files.back() == nullptr) return;
    CHECK_OK(put_interleaved(*files.back(), 0, 3'000'000, 4000, 1));
  }
  for (unsigned turn = 2; turn < 5; ++turn) {
    for (auto& file : files) {
      CHECK_OK(put_interleaved(*file, 0, 3'000'000, 4000, turn));
      CHECK(mapped() <= bound_of_node(2) / 2 + (1 << 19));
    }
  }
  for (auto& file : files) {
    CHECK(holds_interleaved(*file, 0, 3'000'000, 4));
    CHECK_OK(file->close());
    file.reset();
  }
  for (int i = 0; i < 4; ++i) fresh(("kind" + std::to_string(i) + ".dat").c_str());
}

// Files of many communicators, all open before any of them needs a window or an outbox.
void wide_rounds_of_many_communicators() {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 4) return;  // two a node share memory
  std::vector<MPI_Comm> comms(5);
  std::vector<std::unique_ptr<CoreFile>> files;
  for (std::size_t i = 0; i < comms.size(); ++i) {
    // The same nodes, another order of their ranks: sets of their own.
    const int pair = rank / 2 * 2;
    const int key = (i & 1) != 0 ? pair + 1 - (rank - pair) : rank;
    const int turned = (key + 2 * static_cast<int>(i / 2)) % ranks;
    MPI_Comm_split(MPI_COMM_WORLD, 0, turned, &comms[i]);
    const std::string path = "wide" + std::to_string(i) + ".dat";
    fresh(path.c_str());
    files.push_back(open_file(comms[i], path,
                              "forebay_ranks_per_node=2;forebay_rounds=wide;forebay_stripe_bytes=1m", nullptr,
                              Keeping::nothing));
    CHECK(files.back() != nullptr);
    if (files.back() == nullptr) return;
  }
  for (auto& file : files) CHECK_OK(put_interleaved(*file, 0, 3'000'000, 4000, 1));
  CHECK(rank != 0 || files.front()->counters().wide_rounds > 0);
  CHECK(mapped() <= bound_of_node(2) / 2 + (1 << 19));  // the other half is for what files keep
  for (std::size_t i = 0; i < comms.size(); ++i) {
    CHECK(holds_interleaved(*files[i], 0, 3'000'000, 1));
    CHECK_OK(files[i]->close());
    files[i].reset();
    fresh(("wide" + std::to_string(i) + ".dat").c_str());
    MPI_Comm_free(&comms[i]);
  }
}

// A process number that was in use before: names of those that were killed are still there.
void stale_names() {
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) {
    names.push_back("/forebay-" + std::to_string(::getpid()) + "-" + std::to_string(i));
    const int fd = ::shm_open(names.back().c_str(), O_RDWR | O_CREAT, 0600);
    if (fd >= 0) ::close(fd);
  }
  // A window of its own size is a new one.
  fresh("stale.dat");
  MPI_Barrier(MPI_COMM_WORLD);
  auto file = open_file(MPI_COMM_WORLD, "stale.dat", "forebay_stripe_bytes=3m;forebay_mode=commit", nullptr,
                        Keeping::by_node);
  CHECK(file != nullptr && file->commits() && file->nodes() == 1);
  CHECK_OK(put_interleaved(*file, 0, 5000, 4, 1));
  CHECK_OK(file->close());
  for (const std::string& name : names) CHECK(::shm_unlink(name.c_str()) == 0);  // nobody else has
}

// In a /dev/shm that is small for so many files and ranks.
void sixty_files() {
  std::vector<std::unique_ptr<CoreFile>> files;
  for (int i = 0; i < 60; ++i) {
    files.push_back(open_kept(MPI_COMM_WORLD, "sixty" + std::to_string(i) + ".dat"));
    CHECK(files.back() != nullptr && files.back()->nodes() == 1);
    CHECK_OK(put_interleaved(*files.back(), 100 * i, 2000, 4, static_cast<unsigned>(i)));
  }
  for (int i = 0; i < 60; ++i) {
    CHECK_OK(files[static_cast<std::size_t>(i)]->close());
    fresh(("sixty" + std::to_string(i) + ".dat").c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_parts(argc, argv, [&] {
    if (argc == 2 && std::string(argv[1]) == "--sixty-files") {
      part("sixty files", sixty_files);
      return;
    }
    if (argc == 2 && std::string(argv[1]) == "--wide-rounds") {
      part("wide rounds of many communicators", wide_rounds_of_many_communicators);
      part("rounds of other kinds, one set", rounds_of_other_kinds);
      part("idle nodes make room", idle_nodes_make_room);
      return;
    }
    part("files at once", many_files);
    part("other settings", other_settings);
    part("communicators come and go", communicators_come_and_go);
    part("names that are there", stale_names);
  });
}
