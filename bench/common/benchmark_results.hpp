// What a benchmark measured, and how it is shown: a table with bars, a JSON document, a plot, and the
// closing lines.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "peers.hpp"
#include "statistics.hpp"

namespace forebay::bench {

struct Sample {
  double create = 0, data = 0, close = 0;       // seconds; data: from the first put to the end of close
  std::int64_t extra_memory = 0;                // bytes, over all ranks
  std::map<std::string, double> measured = {};  // seconds that the row itself measured
};

// One row under one peer.
struct Cell {
  Peer peer;
  std::vector<Sample> samples;  // one a repetition
  std::int64_t untouched = 0;   // bytes that nobody put, and that this peer's file has otherwise
  std::int64_t file_calls = 0;  // Forebay's writes (or reads), the most in a repetition; 0: not known
  bool differs = false;
  std::optional<double> more = {};  // memory where it was watched: bytes a rank beyond a run without puts
  nlohmann::json report = {};       // Forebay's, of the last launch

  double median() const;  // of data
  double whole() const;   // the median of create and data together
};

struct RowResult {
  std::string name, title;
  std::int64_t bytes = 0, pieces = 0;
  std::vector<Cell> cells;
  std::vector<double> plain;  // seconds that the same bytes took, contiguous
  bool read_back = false;     // reads what the row before it wrote
  std::map<std::string, double> reference =
      {};  // seconds that the row itself measured in the reference's launch

  const Cell* fastest_stock() const;
  // Whether no other peer comes before this one.
  bool is_first(const Peer& peer) const { return !cells.empty() && cells[0].peer.name == peer.name; }
};

// The fastest stock peer's median time over that of Forebay's fastest peer of one mode, and how sure it is:
// by the ratios of each repetition.
struct Ratio {
  std::string row, stock, forebay;
  double value = 0;
  double whole = 0;  // the same of create and data together, the fastest ones by that
  LowerBound bound;
  bool identical = true;
};

struct BenchmarkResults {
  std::string place, machine, library, input, size;
  int ranks = 0;
  bool reads = false;  // the files were read, not written
  std::vector<RowResult> rows;

  bool all_identical() const;
};

// One for each of Forebay's modes in each row: ROW is strict, ROW.commit is commit.
std::vector<Ratio> ratios(const BenchmarkResults& results);

std::string table(const BenchmarkResults& results);
std::string closing_lines(const BenchmarkResults& results);
nlohmann::json to_json(const BenchmarkResults& results);
std::string to_svg(const BenchmarkResults& results);

}  // namespace forebay::bench
