// The whole CoreFile with threads for ranks, so that the thread sanitizer sees all of it: random collective
// and independent writes, reads and flushes, in both modes, on one node and several, against a plain image. A
// failing program is told by its seed; `--seed N` plays that one alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/hints.hpp"
#include "engine/core_file.hpp"
#include "ranks/threads.hpp"
#include "request/memory_stream.hpp"
#include "run_list_cursor.hpp"

namespace forebay::test {
namespace {

using Random = std::mt19937_64;

constexpr std::int64_t kGrain = 24;    // bytes that one rank owns together, for what it writes by itself
constexpr std::int64_t kFile = 40000;  // bytes
constexpr int kSteps = 24;

struct Case {
  int ranks;
  int ranks_per_node;
  bool commits;
  Keeping keeping;
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return std::string(c.commits ? "commit" : "strict") +
         (c.keeping == Keeping::by_node ? "_by_node_" : "_by_rank_") + std::to_string(c.ranks) + "_ranks_" +
         std::to_string(c.ranks_per_node) + "_a_node";
}

/// What a rank puts in one call: runs, and their bytes one after the other.
struct Piecewise {
  std::vector<Run> runs;
  std::vector<std::byte> bytes;
};

/// One rank's part in the program; all ranks draw the same numbers, and know what the others do.
class Program {
 public:
  Program(const Communicator& ranks, const Case& c, std::uint64_t seed, std::string path)
      : comm_(ranks), case_(c), random_(seed), path_(std::move(path)), image_(kFile) {}

  void run() {
    open();
    for (int step = 0; step < kSteps && file_ != nullptr; ++step) {
      switch (draw(8)) {
        case 0:
        case 1:
        case 2:
          write_all();
          break;
        case 3:
        case 4:
          write();
          break;
        case 5:
          read_all();
          break;
        case 6:
          well(draw(2) == 0 ? file_->flush() : file_->sync(), "flush");
          break;
        default:
          well(file_->flush(), "flush");
          comm_.barrier();  // strict mode waits for nobody
          read_own();
          if (draw(4) == 0) reopen();
      }
    }
    read_all();
    close();
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

  void well(const Status& status, const char* what) {
    EXPECT_TRUE(status.ok()) << what << " on rank " << comm_.rank() << ": " << status.message();
  }

  void open() {
    FileOptions options;
    options.path = path_;
    options.mode.creates = true;
    options.driver = "test";
    options.keeping = case_.keeping;
    options.tells_freed_space = true;
    options.only_writer = draw(2) == 0;
    const char* const stripes[] = {"4096", "1024", "65536"};
    const char* const pools[] = {"64k", "256k", "1m"};
    std::string hints = std::string("forebay_storage=posix;forebay_mode=") +
                        (case_.commits ? "commit" : "strict") + ";forebay_stripe_bytes=" + stripes[draw(3)] +
                        ";forebay_window_bytes=" + (draw(2) == 0 ? "4096" : "16384") +
                        ";forebay_pool_bytes=" + pools[draw(3)] +
                        ";forebay_bypass_bytes=" + (draw(2) == 0 ? "0" : "2000") +
                        ";forebay_delay_usec=" + (draw(3) == 0 ? "300" : "0");
    const char* const owners[] = {"all", "all", "1", "2", "1-1", "0-0,2", "5-9"};
    const auto choice = draw(std::size(owners)), other = draw(std::size(owners));  // rank 0's holds
    hints += std::string(";forebay_owner_nodes=") + owners[comm_.rank() == 0 ? choice : other];
    if (case_.keeping == Keeping::by_node && draw(2) == 0)
      hints += ";forebay_segment_bytes=1024;forebay_segments=4";
    well(parse_hints(options.settings, hints, Origin::call), "hints");
    well(CoreFile::open(comm_, options, file_), "open");
  }

  void close() {
    if (file_ == nullptr) return;
    well(file_->close(), "close");
    file_.reset();
  }

  void reopen() {
    close();
    open();
  }

  /// Random bytes for this rank and step: others know that they are there, so all draw them.
  Piecewise draw_pieces(bool own) {
    Piecewise all;
    const std::uint64_t density = 1 + draw(4);
    const std::int64_t begin = static_cast<std::int64_t>(draw(kFile / 2)) / kGrain * kGrain;
    // A file's first few pieces need no window.
    const std::int64_t most = draw(3) == 0 ? 4 * kGrain : kFile;
    const std::int64_t end = std::min<std::int64_t>(
        kFile, begin + 64 + static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(most))));
    const std::uint64_t shift = own ? 0 : draw(static_cast<std::uint64_t>(comm_.size()));
    for (std::int64_t at = begin; at < end; at += kGrain) {
      const bool there = draw(density) == 0;
      const std::int64_t cut = static_cast<std::int64_t>(draw(kGrain));
      const auto value = static_cast<unsigned char>(draw(255) + 1);
      if (!there) continue;
      const std::int64_t from = at + cut / 2;
      const std::int64_t to = std::min<std::int64_t>(end, at + kGrain - cut / 4);
      if (from >= to) continue;
      const std::uint64_t owner =
          (static_cast<std::uint64_t>(at / kGrain) + shift) % static_cast<std::uint64_t>(comm_.size());
      std::memset(image_.data() + from, value, static_cast<std::size_t>(to - from));
      if (owner != static_cast<std::uint64_t>(comm_.rank())) continue;
      all.runs.push_back({from, static_cast<std::int64_t>(all.bytes.size()), to - from});
      all.bytes.insert(all.bytes.end(), static_cast<std::size_t>(to - from), static_cast<std::byte>(value));
    }
    return all;
  }

  void write_all() {
    const Piecewise mine = draw_pieces(false);
    RunListCursor cursor(mine.runs);
    MemorySource source(mine.bytes.data());
    const Put put{&cursor, &source};
    std::int64_t most = comm_.rank();
    const bool skips = draw(2) == 0 && mine.runs.empty();
    const bool reads_at_once = draw(2) == 0;
    well(file_->write_all({&put, skips ? std::size_t{0} : std::size_t{1}}, {&most, 1}), "collective write");
    EXPECT_EQ(most, comm_.size() - 1);
    if (reads_at_once && all_see_at_once()) read_own();
  }

  void write() {
    // What ranks write by themselves after a collective call of another rank's to the same place needs no
    // sync where their one node keeps both; ranks that keep their own flush before begin_independent().
    if (comm_.size() > case_.ranks_per_node || case_.keeping == Keeping::by_rank)
      well(file_->flush(), "flush");
    file_->begin_independent();
    const Piecewise mine = draw_pieces(true);
    RunListCursor cursor(mine.runs);
    MemorySource source(mine.bytes.data());
    const Put put{&cursor, &source};
    if (!mine.runs.empty()) well(file_->write({&put, 1}), "write");
    well(file_->flush(), "flush");
    file_->end_independent();
  }

  void expect_image(const std::vector<std::byte>& got, std::int64_t begin, const char* what) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto wanted = image_[static_cast<std::size_t>(begin) + i];
      if (got[i] == static_cast<std::byte>(wanted)) continue;
      ADD_FAILURE() << what << " on rank " << comm_.rank() << ": byte "
                    << begin + static_cast<std::int64_t>(i) << " is " << static_cast<int>(got[i]) << ", not "
                    << static_cast<int>(wanted);
      return;
    }
  }

  void read_all() {
    const std::int64_t begin = static_cast<std::int64_t>(draw(kFile / 2));
    const auto length = static_cast<std::int64_t>(draw(kFile / 2)) + 1;
    const std::int64_t mine = begin + comm_.rank() % 3;
    std::vector<std::byte> got(static_cast<std::size_t>(std::min(length, kFile - mine)));
    std::vector<Run> runs;
    const std::int64_t step = 1 + static_cast<std::int64_t>(draw(3000));
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(got.size()); at += step)
      runs.push_back({mine + at, at, std::min(step, static_cast<std::int64_t>(got.size()) - at)});
    RunListCursor cursor(runs);
    MemorySink sink(got.data());
    const Get get{&cursor, &sink};
    well(file_->read_all({&get, 1}), "collective read");
    expect_image(got, mine, "collective read");
  }

  /// Whether whoever returns from a collective write may read what any rank wrote in it.
  bool all_see_at_once() const {
    return !case_.commits || (case_.keeping == Keeping::by_node && comm_.size() <= case_.ranks_per_node);
  }

  void read_own() {
    const std::int64_t begin = static_cast<std::int64_t>(draw(kFile / 2));
    std::vector<std::byte> got(1 + draw(kFile / 2));
    well(file_->read_at(begin, got.data(), static_cast<std::int64_t>(got.size())), "read");
    expect_image(got, begin, "read");
    comm_.barrier();
  }

  const Communicator& comm_;
  Case case_;
  Random random_;
  std::string path_;
  std::vector<unsigned char> image_;
  std::unique_ptr<CoreFile> file_;
};

class CoreFileThreads : public testing::TestWithParam<Case> {};

TEST_P(CoreFileThreads, RandomPrograms) {
  const char* const one = std::getenv("FOREBAY_TEST_SEED");
  const std::uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 1;
  for (std::uint64_t seed = first; seed < first + (one != nullptr ? 1 : 6); ++seed) {
    const std::string path = "core_file_threads." + std::to_string(::getpid()) + ".dat";
    run_as_ranks(GetParam().ranks, GetParam().ranks_per_node,
                 [&](const Communicator& ranks) { Program(ranks, GetParam(), seed, path).run(); });
    std::filesystem::remove(path);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& [ranks, per_node] :
       std::vector<std::pair<int, int>>{{2, 2}, {3, 3}, {8, 8}, {2, 1}, {3, 2}, {8, 3}}) {
    all.push_back({ranks, per_node, false, Keeping::by_rank});
    all.push_back({ranks, per_node, true, Keeping::by_rank});
    all.push_back({ranks, per_node, true, Keeping::by_node});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, CoreFileThreads, testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace forebay::test
