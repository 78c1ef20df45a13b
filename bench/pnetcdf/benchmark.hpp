// The driver: the launches, and what is made of the files they leave behind.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "process.hpp"
#include "results.hpp"
#include "rows.hpp"
#include "scratch.hpp"

namespace forebay::bench {

struct BenchmarkOptions {
  int ranks = 4, repetitions = 5;
  Size size = Size::Normal;
  std::vector<std::string> rows, peers;  // by name; no peers: all, with Size::Quick the quick ones
  std::string f_map, g_map;              // files, or empty: generated
  std::string directory, launcher, hints;
  std::string forebay, writer;  // the programs
  bool keep = false;
  std::chrono::seconds limit{120};  // of one launch
};

// A launch that failed, hung or did not do what it was to do; what() says which and shows the end of its
// output.
class RunFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Benchmark {
 public:
  explicit Benchmark(BenchmarkOptions options);

  // Progress goes to stderr. Throws RunFailed and Interrupted; files that differ are a result.
  Results run();

 private:
  void choose_peers();
  // One launch runs all rows under one peer, beginning with another row in each repetition.
  void launch(const Peer& peer, int repetition);
  Command command_for(const Peer& peer, const std::vector<std::string>& rows, const std::string& tag) const;
  std::string file(const std::string& row, const std::string& tag) const;
  void keep_sample(const Peer& peer, const nlohmann::json& said);
  void check_active(const Peer& peer, const std::string& stats, const std::vector<std::string>& rows,
                    const std::string& tag) const;
  void check_reference();
  void check_files(const Peer& peer, const std::vector<std::string>& rows, const std::string& tag);

  BenchmarkOptions options_;
  std::vector<Peer> peers_;
  std::unique_ptr<Scratch> scratch_;
  Results results_;
};

}  // namespace forebay::bench
