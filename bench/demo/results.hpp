// What the demo measured, and how it is shown: a table, a JSON document, and the closing lines.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace forebay::bench {

enum class Stack { Romio, Ompio, Forebay, ForebayNull };

struct Form {
  std::string api;      // the writer's --api
  std::string library;  // pnetcdf or hdf5
  std::string title;
};

struct Timing {
  double create = 0, write = 0, close = 0;  // seconds
  double total() const { return write + close; }
};

struct WayResult {
  Form form;
  Stack stack = Stack::Romio;
  std::vector<Timing> runs;
  std::optional<double> extra_memory;  // bytes a rank
  nlohmann::json report;               // Forebay's, of the last run
};

struct Results {
  std::string title, place, machine;
  int ranks = 0;
  std::int64_t records = 0, bytes = 0, pieces = 0;
  std::vector<Timing> limit;
  std::vector<WayResult> ways;
  struct Verdict {
    std::string library;
    bool identical = true;
  };
  std::vector<Verdict> verdicts;

  const WayResult* find(const std::string& api, Stack stack) const;
  // The fastest stock's median over Forebay's; for a library with several forms the lowest of them.
  double speedup(const std::string& library) const;
  bool all_identical() const;
};

std::string stack_id(Stack stack);
std::string stack_title(Stack stack);

// Each part's median over the runs; the total's own median comes from median_total.
Timing median(const std::vector<Timing>& runs);
double median_total(const std::vector<Timing>& runs);

std::string table(const Results& results);
std::string closing_lines(const Results& results);
nlohmann::json to_json(const Results& results);

}  // namespace forebay::bench
