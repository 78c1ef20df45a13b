// A program that ends before its file is closed, in one of many ways at a random moment; and the check of
// what it left.
//   endings_program run LIBRARY FOLDER HOW SEED [independent] [prefill] [thread] [putter]
//   endings_program check FOLDER
// thread: another thread than the one that puts ends the process. putter: a thread of its own puts, which
// blocks all signals, and in some runs is gone by then. HOW "close" and "finalize" come to an end.
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "library.hpp"

namespace endings {
namespace {

Progress* map_progress(const std::string& folder, int rank, bool create) {
  const std::string path = folder + "/progress." + std::to_string(rank);
  const int fd = ::open(path.c_str(), create ? O_RDWR | O_CREAT | O_TRUNC : O_RDWR, 0644);
  if (fd < 0 || (create && ::ftruncate(fd, 4096) != 0)) return nullptr;
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<Progress*>(memory);
}

void end_by(const std::string& how) {
  static const std::map<std::string, int> signals{{"kill", SIGKILL}, {"term", SIGTERM}, {"segv", SIGSEGV},
                                                  {"quit", SIGQUIT}, {"usr1", SIGUSR1}, {"hup", SIGHUP},
                                                  {"int", SIGINT},   {"xcpu", SIGXCPU}, {"abrt", SIGABRT}};
  if (const auto at = signals.find(how); at != signals.end()) ::kill(::getpid(), at->second);
  if (how == "abort") MPI_Abort(MPI_COMM_WORLD, 7);
  if (how == "c_abort") std::abort();
  if (how == "exit") std::exit(0);
  if (how == "quick_exit") std::quick_exit(0);
  if (how == "_exit") ::_exit(0);
  ::sleep(20);  // a signal that another thread takes
}

struct Options {
  std::string library, folder, how;
  unsigned seed = 0;
  bool independent = false, prefill = false, thread = false, putter = false;
};

class Program {
 public:
  explicit Program(Options options) : o_(std::move(options)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    std::mt19937 random(o_.seed);
    victim_ = rank_ == static_cast<int>(random() % static_cast<unsigned>(ranks_));
    at_ = 1 + static_cast<int>(random() % (kSteps - 1));
    sync_every_ = 1 + static_cast<int>(random() % 25);
    sync_alone_ = random() % 3 == 0;
    facts_.rows = random() % 2 == 0 ? kSteps : 40;
    delay_ = std::chrono::microseconds(200 + random() % 60000);
    putter_leaves_ = random() % 2 == 0;
    facts_.library = o_.library;
    facts_.ranks = ranks_;
    facts_.prefilled = o_.prefill ? 1 : 0;
    const char* hints = std::getenv("FOREBAY_HINTS");
    commit_ = hints != nullptr && std::strstr(hints, "forebay_mode=commit") != nullptr;
    facts_.counts_puts = !ends() || (!commit_ && !o_.independent) ? 1 : 0;
    // What TCIO's first level keeps is nobody's promise, in any mode.
    promises_puts_ = !commit_ && o_.library != "tcio";
    progress_ = map_progress(o_.folder, rank_, true);
    require(progress_ != nullptr, "progress");
  }

  int run() {
    library_ = make_library(o_.library, o_.independent);
    require(library_ != nullptr, "library");
    library_->create(o_.folder + "/file", facts_);
    if (rank_ == 0) facts_.write(o_.folder);
    MPI_Barrier(MPI_COMM_WORLD);
    if (o_.putter) {
      put_on_another_thread();
    } else {
      std::thread killer;
      if (o_.thread && victim_ && ends()) killer = std::thread([this] { wait_and_end(); });
      put_all();
      if (killer.joinable()) killer.join();
    }
    if (o_.how == "close") {
      library_->close();
      promise(kSteps);
    }
    MPI_Finalize();
    if (o_.how == "finalize") promise(progress_->begun);
    return 0;
  }

 private:
  bool ends() const { return o_.how != "close" && o_.how != "finalize"; }
  void promise(std::int64_t steps) { progress_->promised = steps; }

  void wait_and_end() {
    std::this_thread::sleep_for(delay_);
    end_by(o_.how);
  }

  void put_all() {
    for (int step = 0; step < kSteps; ++step) {
      if (step == at_ && o_.how == "finalize") return;
      if (step == at_ && victim_ && ends() && !o_.thread) {
        if (o_.putter) return;
        end_by(o_.how);
      }
      progress_->begun = step + 1;
      library_->put(step);
      if (promises_puts_) promise(step + 1);
      if ((step + 1) % sync_every_ != 0) continue;
      library_->sync(sync_alone_);
      promise(step + 1);
    }
  }

  void put_on_another_thread() {
    sigset_t all, before;
    sigfillset(&all);
    std::atomic<bool> left{false};
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread putter([&] {
      put_all();
      left = true;
      while (victim_ && ends() && !putter_leaves_) ::pause();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (victim_ && ends()) {
      if (o_.thread) {
        std::this_thread::sleep_for(delay_);
      } else {
        while (!left) std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      if (left && putter_leaves_) putter.join();
      end_by(o_.how);
    }
    putter.join();
  }

  Options o_;
  Facts facts_;
  Progress* progress_ = nullptr;
  std::unique_ptr<Library> library_;
  int rank_ = 0, ranks_ = 1, at_ = 0, sync_every_ = 1;
  bool victim_ = false, sync_alone_ = false, commit_ = false, promises_puts_ = false, putter_leaves_ = false;
  std::chrono::microseconds delay_{};
};

// ---- the check ----

class Check {
 public:
  explicit Check(std::string folder) : folder_(std::move(folder)) {}

  int run() {
    if (!facts_.read(folder_)) {
      std::printf("nothing was begun\n");
      return 0;
    }
    std::ifstream in(folder_ + "/file", std::ios::binary);
    file_.assign(std::istreambuf_iterator<char>(in), {});
    for (int rank = 0; rank < facts_.ranks; ++rank) {
      const Progress* const p = map_progress(folder_, rank, false);
      promised_.push_back(p == nullptr ? 0 : p->promised);
      begun_.push_back(p == nullptr ? 0 : p->begun);
    }
    for (std::size_t a = 0; a < kArrays; ++a) {
      if (facts_.arrays[a].offset < 0) continue;
      for (int row = 0; row < facts_.rows; ++row)
        for (int rank = 0; rank < facts_.ranks; ++rank)
          for (int i = 0; i < kWidth; ++i) look(a, row, rank, i);
    }
    if (facts_.library == "pnetcdf") count_records();
    std::printf("promised");
    for (const std::int64_t p : promised_) std::printf(" %lld", static_cast<long long>(p));
    std::printf(", begun");
    for (const std::int64_t b : begun_) std::printf(" %lld", static_cast<long long>(b));
    std::printf(", records %lld, new %lld, old %lld, cut by a page's edge %lld, wrong %lld\n",
                static_cast<long long>(records_), static_cast<long long>(fresh_),
                static_cast<long long>(old_), static_cast<long long>(cut_), static_cast<long long>(wrong_));
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  using Element = std::array<std::uint8_t, kMostBytes>;

  template <class... Values>
  void wrong(const char* format, Values... values) {
    if (++wrong_ <= 5) std::printf(format, values...);
  }

  void look(std::size_t a, int row, int rank, int i) {
    const Array& array = facts_.arrays[a];
    const auto size = static_cast<std::size_t>(array.element_bytes);
    const int column = column_of(a, rank, i, facts_.ranks);
    const std::int64_t at = array.offset + row * array.row_bytes + std::int64_t{column} * array.element_bytes;
    Element got{};
    for (std::size_t k = 0; k < size && static_cast<std::size_t>(at) + k < file_.size(); ++k)
      got[k] = static_cast<std::uint8_t>(file_[static_cast<std::size_t>(at) + k]);
    if (facts_.library == "pnetcdf")
      std::reverse(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(size));
    const auto is = [&](const Element& value) { return std::memcmp(got.data(), value.data(), size) == 0; };

    const std::int64_t promised = promised_[static_cast<std::size_t>(rank)];
    const std::int64_t begun = begun_[static_cast<std::size_t>(rank)];
    const std::int64_t last = promised > row ? row + (promised - 1 - row) / facts_.rows * facts_.rows : -1;
    Element before{};
    if (facts_.prefilled != 0) before.fill(0xff);
    if (last < 0 && is(before)) {
      ++old_;
      if (a == kMixed) missing_.insert(row);
      return;
    }
    for (std::int64_t step = last < 0 ? row : last; step < begun; step += facts_.rows) {
      if (!is(value_of(a, static_cast<int>(step), column))) continue;
      ++fresh_;
      return;
    }
    // A kill comes between two pages of a write, as it does with the stock library.
    if (at / 4096 != (at + static_cast<std::int64_t>(size) - 1) / 4096) {
      ++cut_;
      return;
    }
    wrong(
        "array %zu, row %d, rank %d, element %d: %02x%02x%02x%02x… is neither old nor new (promised %lld, "
        "begun %lld)\n",
        a, row, rank, i, got[0], got[1], got[2], got[3], static_cast<long long>(promised),
        static_cast<long long>(begun));
  }

  void count_records() {
    for (std::size_t k = 4; k < 12 && k < file_.size(); ++k)
      records_ = records_ << 8 | static_cast<std::uint8_t>(file_[k]);
    const auto some = missing_.lower_bound(0);
    if (facts_.prefilled == 0 && some != missing_.end() && *some < records_)
      wrong("the header counts %lld records, and the %d. lacks a rank's part\n",
            static_cast<long long>(records_), *some + 1);
    const std::int64_t least =
        std::min<std::int64_t>(facts_.rows, *std::min_element(promised_.begin(), promised_.end()));
    if (facts_.counts_puts != 0 && records_ < least)
      wrong("the header counts %lld records, and %lld were promised\n", static_cast<long long>(records_),
            static_cast<long long>(least));
  }

  std::string folder_;
  Facts facts_;
  std::string file_;
  std::vector<std::int64_t> promised_, begun_;
  std::set<int> missing_;  // records
  std::int64_t fresh_ = 0, old_ = 0, cut_ = 0, wrong_ = 0, records_ = 0;
};

}  // namespace
}  // namespace endings

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "check" && argc == 3) return endings::Check(argv[2]).run();
  if (what != "run" || argc < 6) return 2;
  endings::Options options{argv[2], argv[3], argv[4], static_cast<unsigned>(std::atoi(argv[5]))};
  for (int i = 6; i < argc; ++i) {
    const std::string option = argv[i];
    options.independent = options.independent || option == "independent";
    options.prefill = options.prefill || option == "prefill";
    options.thread = options.thread || option == "thread";
    options.putter = options.putter || option == "putter";
  }
  ::signal(SIGHUP, SIG_DFL);  // launchers have it ignored
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  return endings::Program(options).run();
}
