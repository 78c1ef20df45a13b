#include "two_runs.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "../compare.hpp"
#include "player.hpp"

namespace test {
namespace {

struct Played {
  Run run;
  std::unique_ptr<Trace> trace;
  std::unique_ptr<Player> player;
  std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const auto& file : player->files()) all.push_back(file->path);
    return all;
  }
};

/// What a seed chooses besides the program itself.
struct Setting {
  Kind kind = Kind::mixed;
  int steps = 0;
  std::string hints;
};

/// Hints that make small programs take all ways through Forebay. Delays, so that what is too late is seen:
/// they come before each access to the file, so programs in which time matters are short.
Setting draw_setting(const ProgramOptions& options, int ranks) {
  Dice dice(options.seed ^ 0x666F7265u);
  constexpr std::array sizes{"", "forebay_stripe_bytes=512;forebay_window_bytes=2k;",
                             "forebay_stripe_bytes=4k;forebay_window_bytes=16k;", "forebay_stripe_bytes=1k;"};
  constexpr std::array nodes{"", "", "forebay_ranks_per_node=2;",
                             "forebay_ranks_per_node=1;forebay_link=message;",
                             "forebay_aggregators_per_node=1;"};
  constexpr std::array bypass{"", "forebay_bypass_bytes=256;", "forebay_bypass_bytes=1;"};
  constexpr std::array short_delays{"", "", "", "forebay_delay_usec=50;"};
  constexpr std::array long_delays{"", "forebay_delay_usec=300;", "forebay_delay_usec=1000;"};
  // Room for hardly anything, for some datasets, for all; kept for no time, or until something asks for it.
  constexpr std::array pools{"",
                             "",
                             "forebay_pool_bytes=4k;",
                             "forebay_pool_bytes=16k;",
                             "forebay_pool_bytes=256k;",
                             "forebay_commit_seconds=0;"};
  Setting setting;
  setting.kind = dice.one_in(2) ? Kind::at_once : Kind::mixed;
  setting.steps = setting.kind == Kind::at_once ? (options.steps + 1) / 2 : options.steps;
  setting.hints = dice.pick(sizes);
  setting.hints += dice.pick(nodes);
  setting.hints += dice.pick(bypass);
  if (ranks > 1)
    setting.hints += setting.kind == Kind::at_once ? dice.pick(long_delays) : dice.pick(short_delays);
  if (options.commit) setting.hints += std::string("forebay_mode=commit;") + dice.pick(pools);
  setting.hints += options.hints;
  return setting;
}

Played play(const ProgramOptions& options, const char* name, bool forebay) {
  Played played;
  MPI_Comm_rank(played.run.comm, &played.run.rank);
  MPI_Comm_size(played.run.comm, &played.run.ranks);
  played.run.forebay = forebay;
  played.run.path = "random" + std::to_string(options.seed) + "." + name + ".h5";
  // Where the file system is what is tried, the stock driver may have another one, on which it is right.
  const char* elsewhere = std::getenv("FOREBAY_TEST_STOCK_FOLDER");
  if (!forebay && elsewhere != nullptr) played.run.path = elsewhere + ("/" + played.run.path);
  if (forebay) played.run.hints = draw_setting(options, played.run.ranks).hints;
  played.trace = std::make_unique<Trace>(options.aloud && played.run.rank == 0);
  return played;
}

/// Whether the ranks are on several: on file systems of hosts a flush makes writes seen, in any mode.
bool on_hosts(const Run& run) {
  MPI_Comm host = MPI_COMM_NULL;
  int ranks = 0;
  MPI_Comm_split_type(run.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &ranks);
  MPI_Comm_free(&host);
  return ranks < run.ranks;
}

void start(Played& played, const ProgramOptions& options) {
  now_running("seed " + std::to_string(options.seed) + (played.run.forebay ? " forebay" : " stock"));
  played.player = std::make_unique<Player>(played.run, *played.trace, options.seed);
  const Setting setting = draw_setting(options, played.run.ranks);
  // Under `forebay run` writes are kept, too.
  const bool keeps = options.commit || std::getenv("FOREBAY_KEEPER") != nullptr;
  played.player->always_flushes =
      on_hosts(played.run) || std::getenv("FOREBAY_TEST_STOCK_FOLDER") != nullptr ||
      (keeps && setting.hints.find("forebay_ranks_per_node") != std::string::npos);
  played.player->play(setting.steps, setting.kind);
}

/// Zeroes what nobody wrote and nothing filled.
void blank_unknown(const Player& player, std::size_t file, Contents& contents) {
  for (const auto& set : player.files()[file]->sets) {
    for (const std::string& path : set->paths) {
      const auto found = contents.find(path.substr(1) + "#");
      if (found == contents.end() || found->second.size() != set->elements.size() * set->type->size) continue;
      for (std::size_t i = 0; i < set->elements.size(); ++i) {
        if (set->elements[i].known) continue;
        std::fill_n(found->second.begin() + static_cast<std::ptrdiff_t>(i * set->type->size), set->type->size,
                    '\0');
      }
    }
  }
}

bool same_contents(const Played& stock, const Played& forebay) {
  bool same = true;
  for (std::size_t f = 0; f < stock.player->files().size(); ++f) {
    Contents left, right;
    if (!contents_of(stock.paths()[f], left) || !contents_of(forebay.paths()[f], right)) {
      std::fprintf(stderr, "  a file cannot be read serially\n");
      return false;
    }
    blank_unknown(*stock.player, f, left);
    blank_unknown(*forebay.player, f, right);
    if (left == right) continue;
    same = false;
    for (const auto& [name, bytes] : left) {
      const auto other = right.find(name);
      if (other != right.end() && other->second == bytes) continue;
      std::fprintf(stderr, "  %s differs, read serially from %s\n", name.c_str(), forebay.paths()[f].c_str());
      break;
    }
    if (left.size() != right.size())
      std::fprintf(stderr, "  %zu and %zu objects\n", left.size(), right.size());
  }
  return same;
}

bool same_logs(const Trace& stock, const Trace& forebay, int rank) {
  if (stock.log() == forebay.log()) return true;
  std::istringstream a(stock.log());
  std::istringstream b(forebay.log());
  std::string x, y, step;
  for (;;) {
    const bool more_a = static_cast<bool>(std::getline(a, x));
    const bool more_b = static_cast<bool>(std::getline(b, y));
    if (!more_a || !more_b || x != y) break;
    if (x.starts_with("step ")) step = x;
  }
  std::fprintf(stderr, "  rank %d, %s: stock \"%s\", forebay \"%s\"\n", rank, step.c_str(), x.c_str(),
               y.c_str());
  return false;
}

/// Sizes always; bytes where two runs of the stock driver agree in them.
bool same_bytes(const Played& stock, const Played* again, const Played& forebay) {
  bool same = true;
  for (std::size_t f = 0; f < stock.player->files().size(); ++f) {
    const std::vector<char> left = bytes_of(stock.paths()[f]);
    const std::vector<char> right = bytes_of(forebay.paths()[f]);
    if (left.size() != right.size()) {
      std::fprintf(stderr, "  file sizes %zu and %zu\n", left.size(), right.size());
      same = false;
      // In the latest format the root group's header holds times, whatever the program asks for.
    } else if (again != nullptr && !stock.player->files()[f]->latest && left != right &&
               left == bytes_of(again->paths()[f])) {
      const auto at = std::mismatch(left.begin(), left.end(), right.begin()).first - left.begin();
      std::fprintf(stderr, "  bytes differ, first at %td, where two stock runs agree\n", at);
      same = false;
    }
  }
  return same;
}

bool everywhere(bool holds) {
  int all = holds ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

}  // namespace

Outcome same_on_both(const ProgramOptions& options) {
  Played stock = play(options, "stock", false);
  Played again = play(options, "again", false);
  Played forebay = play(options, "forebay", true);
  const bool root = stock.run.rank == 0;
  start(stock, options);
  if (options.bytes) start(again, options);
  start(forebay, options);

  Outcome outcome = Outcome::same;
  const bool stock_right = stock.trace->first_wrong().empty();
  if (!stock_right) {
    std::fprintf(stderr, "seed %llu: stock, rank %d: %s\n", static_cast<unsigned long long>(options.seed),
                 stock.run.rank, stock.trace->first_wrong().c_str());
  }
  bool same = same_logs(*stock.trace, *forebay.trace, stock.run.rank);
  if (!forebay.trace->first_wrong().empty()) {
    std::fprintf(stderr, "  rank %d: %s\n", stock.run.rank, forebay.trace->first_wrong().c_str());
    same = false;
  }
  if (root) {
    same = same_contents(stock, forebay) && same;
    same = same_bytes(stock, options.bytes ? &again : nullptr, forebay) && same;
  }
  if (!everywhere(same)) outcome = Outcome::different;
  if (!everywhere(stock_right)) outcome = Outcome::stock_wrong;
  if (root && outcome == Outcome::different)
    std::fprintf(stderr, "  hints were %s\n", forebay.run.hints.c_str());
  for (const Played* played : {&stock, &again, &forebay}) {
    if (!root || options.keep || !played->player) continue;
    for (const std::string& path : played->paths()) std::remove(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return outcome;
}

}  // namespace test
