// The demo itself: every way of writing the history file, run in turn, timed, weighed and compared.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cases.hpp"
#include "compare.hpp"
#include "launch.hpp"
#include "results.hpp"
#include "scratch.hpp"

namespace forebay::bench {

struct DemoOptions {
  Case of;
  int ranks = 4;
  std::int64_t records = 1;
  int repeat = 3;
  std::string directory, launcher, hints, only;
  std::string forebay, writer;  // the programs
  bool keep = false, memory = true, stock_memory = false;
  std::chrono::seconds limit{120};
};

class Demonstration {
 public:
  explicit Demonstration(DemoOptions options);

  // Progress goes to stderr. Throws RunFailed and Interrupted; files that differ are a result, not an
  // exception.
  Results run();

 private:
  // The memory of a run that writes nothing, of one that writes; its time.
  enum class Purpose { Baseline, Memory, Time };
  // One launch of the writer. What is compared has one of its own, as a program that writes one file: after a
  // first file stock is faster, since malloc then keeps what is freed. The yardsticks share one, for the
  // time.
  struct Step {
    std::vector<WayResult*> ways;  // of one stack
    Purpose purpose = Purpose::Time;
    int repeat = 0;
    bool with_limit = false;

    bool under_forebay() const;
    std::string name() const;
    std::string tag() const;
  };

  std::vector<Step> plan();
  void carry_out(const Step& step);
  Command command_for(const Step& step, const std::vector<std::string>& outs, const std::string& stats,
                      const std::string& json, const std::string& ready) const;
  nlohmann::json check_active(const WayResult& way, const std::string& stats, const std::string& out) const;
  void check_file(const WayResult& way, const std::string& out);
  void weigh(WayResult& way, Purpose purpose, std::int64_t peak, int ranks);

  DemoOptions options_;
  Cutter cut_;
  std::vector<Coverage> coverage_;
  History history_;
  std::string romio_;  // the name of Open MPI's component
  std::unique_ptr<Scratch> scratch_;
  Results results_;
  std::map<std::string, std::string> references_;        // by library: the stock file
  std::map<std::string, std::int64_t> baseline_memory_;  // by library
};

}  // namespace forebay::bench
