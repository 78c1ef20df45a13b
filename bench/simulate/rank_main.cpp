// forebay-simulate: what every rank of the simulated machine runs. smpirun starts it (simulate.py); rank 0
// prints a JSON line for each pattern under each subject.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/per_process.hpp"
#include "file.hpp"
#include "load.hpp"
#include "pattern.hpp"
#include "rank.hpp"
#include "ranks.hpp"
#include "subject.hpp"

// The last one: it gives main and others names of SMPI's.
#define SMPI_NO_OVERRIDE_MALLOC
#include <smpi/smpi_helpers.h>
#undef exit
#undef getpid

namespace forebay::simulate {
namespace {

struct Options {
  std::vector<std::string> patterns = pattern_names();
  std::vector<std::string> subjects = {"strict", "commit", "two-phase", "aggregation"};
  PatternWish wish;
  ServerCosts servers;
  int ranks_per_node = 1;
  NodeHardware hardware;
  int aggregators = 8;
  std::int64_t cb_buffer = 16 << 20;
  std::string hints;
  std::string path = "/tmp/forebay-simulate";
  std::int64_t damage = -1;
};

// The ranks are coroutines of one process: the first that comes reads what all use.
const Options& read_options(int argc, char** argv) {
  static Options options;
  static bool read = false;
  if (std::exchange(read, true)) return options;
  say_deadlocks();
  CLI::App app("a rank of the simulated machine");
  app.add_option("--patterns", options.patterns)->delimiter(',');
  app.add_option("--subjects", options.subjects)->delimiter(',');
  app.add_option("--bytes", options.wish.bytes_a_rank);
  app.add_option("--maps", options.wish.maps);
  app.add_flag("--together", options.wish.together);
  app.add_option("--ranks-per-node", options.ranks_per_node)->check(CLI::PositiveNumber);
  app.add_option("--cards", options.hardware.cards)->check(CLI::PositiveNumber);
  app.add_option("--domains", options.hardware.domains)->check(CLI::PositiveNumber);
  app.add_option("--servers", options.servers.servers)->check(CLI::PositiveNumber);
  app.add_option("--stripe", options.servers.stripe)->check(CLI::PositiveNumber);
  app.add_option("--server-rate", options.servers.rate)->check(CLI::PositiveNumber);
  app.add_option("--rank-rate", options.servers.rank_rate)->check(CLI::PositiveNumber);
  app.add_option("--request", options.servers.request);
  app.add_option("--shared", options.servers.shared);
  app.add_option("--piece", costs.piece);
  app.add_option("--copy-rate", costs.copy_rate)->check(CLI::PositiveNumber);
  app.add_option("--merge-rate", costs.merge_rate)->check(CLI::PositiveNumber);
  app.add_option("--wake", costs.wake)->check(CLI::PositiveNumber);
  app.add_option("--aggregators", options.aggregators)->check(CLI::PositiveNumber);
  app.add_option("--cb-buffer", options.cb_buffer)->check(CLI::PositiveNumber);
  app.add_option("--hints", options.hints);
  app.add_option("--path", options.path);
  app.add_option("--damage", options.damage);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "simulate: %s\n", error.what());
    std::exit(2);
  }
  return options;
}

nlohmann::json report(const Outcome& outcome, const File& file, std::int64_t payload, std::int64_t pieces) {
  const File::Seen seen = file.seen();
  nlohmann::json made = {{"bytes", payload},
                         {"pieces", pieces},
                         {"open_s", outcome.open},
                         {"write_s", outcome.write},
                         {"close_s", outcome.close},
                         {"rounds", outcome.rounds},
                         {"messages", outcome.messages},
                         {"message_bytes", outcome.message_bytes},
                         {"writes", seen.writes},
                         {"written_bytes", seen.written_bytes},
                         {"straddling", seen.straddling},
                         {"shared_stripes", seen.shared},
                         {"writers", seen.writers},
                         {"busiest_server_s", seen.busiest}};
  if (outcome.read >= 0) made["read_s"] = outcome.read;
  for (const auto& [stage, seconds] : outcome.stages) made["stages_s"][stage] = seconds;
  return made;
}

// Whether all was right.
bool run_one(const Options& options, const std::string& name, const std::string& subject,
             const Pattern& pattern, const Communicator& ranks, int node) {
  static std::unique_ptr<File> file;  // one for all ranks
  const auto begin = std::chrono::steady_clock::now();
  if (ranks.rank() == 0) {
    file = std::make_unique<File>(options.servers, pattern.file_bytes());
    file->damage(options.damage);
    std::fprintf(stderr, "simulate: %s, %s, %d ranks\n", name.c_str(), subject.c_str(), ranks.size());
  }
  ranks.barrier();
  Load load(pattern, ranks.rank(), false);
  std::int64_t sums[2] = {load.bytes(), load.pieces()};
  ranks.reduce(sums, Communicator::Op::sum);
  const Job job{
      ranks, node, *file, pattern, options.path, options.hints, options.aggregators, options.cb_buffer};
  const Outcome outcome = run_subject(subject, job);
  bool right = ranks.all(outcome.failure.empty());
  if (!outcome.failure.empty()) std::fprintf(stderr, "simulate: %s\n", outcome.failure.c_str());
  if (ranks.rank() == 0) {
    nlohmann::json line = {{"pattern", name}, {"subject", subject}, {"ranks", ranks.size()}};
    line["host_s"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    line.update(report(outcome, *file, sums[0], sums[1]));
    const Wrong wrong = compare(*file, pattern, ranks.size());
    if (wrong.bytes > 0) {
      std::fprintf(stderr, "simulate: %s, %s: %lld wrong bytes, the first at %lld, of %s\n", name.c_str(),
                   subject.c_str(), static_cast<long long>(wrong.bytes), static_cast<long long>(wrong.first),
                   wrong.rank < 0 ? "nobody" : ("rank " + std::to_string(wrong.rank)).c_str());
      right = false;
    }
    line["wrong_bytes"] = wrong.bytes;
    line["right"] = right;
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
    file.reset();
  }
  return ranks.all(right);
}

int simulate(int argc, char** argv) {
  const Options& options = read_options(argc, argv);
  Rank rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank.number);
  rank.node = rank.number / options.ranks_per_node;
  running = &rank;
  bool right = true;
  {
    const PretendProcess process;
    static const Machine machine = machine_with(options.hardware, options.ranks_per_node);
    const auto ranks = make_ranks(MPI_COMM_WORLD, rank.node, machine, rank.number % options.ranks_per_node);
    static std::unique_ptr<const Pattern> pattern;  // one for all ranks
    for (const std::string& name : options.patterns) {
      if (rank.number == 0) {
        PatternWish wish = options.wish;
        wish.ranks = ranks->size();
        pattern = make_pattern(name, wish);
      }
      ranks->barrier();
      for (const std::string& subject : options.subjects)
        right = run_one(options, name, subject, *pattern, *ranks, rank.node) && right;
      ranks->barrier();
    }
  }
  running = nullptr;
  return right || rank.number > 0 ? 0 : 1;  // one says it
}

}  // namespace

Outcome run_subject(const std::string& name, const Job& job) {
  if (name == "strict") return run_forebay(job, Way::strict);
  if (name == "commit") return run_forebay(job, Way::commit);
  if (name == "independent") return run_forebay(job, Way::independent);
  if (name == "two-phase") return run_two_phase(job);
  if (name == "aggregation") return run_node_aggregation(job);
  throw std::invalid_argument("no subject '" + name +
                              "'; there are strict, commit, independent, two-phase, aggregation");
}

}  // namespace forebay::simulate

// smpirun looks it up.
extern "C" __attribute__((visibility("default"))) int main(int argc, char* argv[]) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    status = forebay::simulate::simulate(argc, argv);
  } catch (const std::exception& error) {
    // One thread runs all ranks, and none of them can go on without this one.
    std::fprintf(stderr, "simulate: %s\n", error.what());
    std::_Exit(1);
  }
  MPI_Finalize();
  return status;
}
