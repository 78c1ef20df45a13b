// What a program loses to its checkpoints, and how it is shown.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmark_results.hpp"

namespace forebay::bench {

// Rows are named ROW.STORAGE; the data of a sample are the whole program's time.
struct CheckpointResults {
  BenchmarkResults measured;
  int checkpoints = 0;
  double megabytes_per_second = 0;             // of the slow storage
  std::string log;                             // where logs and copies went
  std::map<std::string, double> compute = {};  // seconds asked for before each checkpoint, by ROW.STORAGE
};

// Of one launch, in seconds: the time lost to writing, which is all but what the computations alone took just
// before, and what the least copy of the same bytes took.
double lost(const Sample& sample);
double copied(const Sample& sample);

// One peer in one row: medians, and the fastest plain stock's loss over its own. Nobody can lose less than
// the copy takes: where one seems to, the computations' scatter is larger than that, and the ratio is that of
// the copy (`at_limit`).
struct CheckpointRatio {
  std::string row, peer, stock;
  double lost = 0, total = 0, copy = 0;  // seconds
  double to_stock = 0;
  LowerBound bound = {};  // of the ratios repetition by repetition
  double to_copy = 0;     // its loss over the copy's time
  bool at_limit = false;
  bool identical = true;
};

// All peers of all rows; to_stock is 0 in rows without a plain stock peer.
std::vector<CheckpointRatio> checkpoint_ratios(const CheckpointResults& results);

std::string table(const CheckpointResults& results);
// `identical yes`, then `ratio ROW.STORAGE X` for Forebay's strict mode, `ratio ROW.STORAGE.PEER X` for
// others.
std::string closing_lines(const CheckpointResults& results);
nlohmann::json to_json(const CheckpointResults& results);
// Bars of what was lost.
std::string to_svg(const CheckpointResults& results);

}  // namespace forebay::bench
