// The driver of benchmarks: every peer in turn, and what is made of the files they leave behind.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "benchmark_results.hpp"
#include "launch.hpp"
#include "scratch.hpp"
#include "subject.hpp"

namespace forebay::bench {

struct BenchmarkOptions {
  int ranks = 4, repetitions = 5;
  Size size = Size::Normal;
  std::vector<std::string> rows, peers;  // by name; no peers: all, with Size::Quick the quick ones
  std::string directory, launcher, hints;
  std::vector<std::string> before;  // words before the launcher's: a program that starts what follows
  std::string forebay, writer;      // the programs
  bool keep = false;
  std::chrono::seconds limit{120};  // of one launch
};

class Benchmark {
 public:
  // `subject` outlives it. Throws std::runtime_error where nothing can be run.
  Benchmark(const Subject& subject, BenchmarkOptions options);

  // The first launch, of the reference, for whoever plans the others by what its rows measured
  // (RowResult::reference); else run() makes it. Throws as run() does.
  void write_reference();

  // Progress goes to stderr. Throws RunFailed and Interrupted; files that differ are a result.
  BenchmarkResults run();
  BenchmarkResults& results() { return results_; }

  // The most memory (Pss) that a launch of one row takes, in bytes a rank of this machine; nothing where it
  // has none. A launch of its own, since watching slows down; without `puts` the file stays empty.
  std::optional<double> weigh(const std::string& peer, const std::string& row, bool puts);

 private:
  void choose_peers(const std::string& version);
  // One launch runs all rows under one peer, beginning with another row in each repetition; some have a
  // launch each.
  void launch(const Peer& peer, int repetition);
  void launch(const Peer& peer, int repetition, const std::vector<std::string>& rows);
  void check_reports(const Peer& peer, const std::vector<std::string>& rows, const std::string& tag,
                     const Launch& launch);
  Command command_for(const Peer& peer, const std::vector<std::string>& rows, const std::string& tag,
                      bool timed) const;
  bool times_all(const std::vector<std::string>& rows) const;
  std::string file(const std::string& row, const std::string& tag) const;
  void keep_sample(const Peer& peer, const nlohmann::json& said);
  void check_reference() const;
  void check_files(const Peer& peer, const std::vector<std::string>& rows, const std::string& tag);

  const Subject& subject_;
  BenchmarkOptions options_;
  std::vector<Peer> peers_;
  std::unique_ptr<Scratch> scratch_;
  BenchmarkResults results_;
  bool has_reference_ = false;
};

}  // namespace forebay::bench
