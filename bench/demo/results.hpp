// How the demo shows what was measured: a table, a JSON document, and the closing lines.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "benchmark_results.hpp"

namespace forebay::bench {

struct DemoResults {
  std::string title;
  std::int64_t records = 0;
  BenchmarkResults measured;

  // The fastest stock's median over Forebay's; for a library with several rows the lowest of them.
  double speedup(const std::string& library) const;
  bool identical(const std::string& library) const;
};

// pnetcdf or hdf5.
std::string library_of(const std::string& row);

std::string table(const DemoResults& results);
std::string closing_lines(const DemoResults& results);
nlohmann::json to_json(const DemoResults& results);

}  // namespace forebay::bench
