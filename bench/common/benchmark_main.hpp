// The main of a driver of benchmarks.
#pragma once

#include <functional>
#include <string>

#include "benchmark.hpp"
#include "subject.hpp"

namespace forebay::bench {

// Returns the exit status: 0 where all files (with Subject::reads: values) are as they have to be, 1 where
// some are not, 2 where a run failed.
int benchmark_main(Subject& subject, int argc, char** argv);

// The same with work of the caller's own on the options, in place of one Benchmark and the common table: it
// writes the documents `json` and `plot` where these are not empty, and returns 0 or 1.
using BenchmarkWork =
    std::function<int(const BenchmarkOptions& options, const std::string& json, const std::string& plot)>;
int benchmark_main(Subject& subject, int argc, char** argv, const BenchmarkWork& work);

}  // namespace forebay::bench
