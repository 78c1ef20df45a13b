// forebay-demo: writes a climate-like history file with the stock libraries and under `forebay run`, compares
// the files, and says how long each took.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "benchmark.hpp"
#include "demo_subject.hpp"
#include "driver_main.hpp"
#include "machine.hpp"
#include "results.hpp"
#include "text_file.hpp"

namespace forebay::bench {
namespace {

// Beyond a stock run of the same library that creates, defines and closes the file and writes nothing.
void weigh(Benchmark& benchmark, bool stock_too) {
  std::string library;
  std::optional<double> empty;
  for (RowResult& row : benchmark.results().rows) {
    if (library != library_of(row.name)) empty = benchmark.weigh("romio", row.name, false);
    library = library_of(row.name);
    for (Cell& cell : row.cells) {
      if (!cell.peer.compared || (cell.peer.kind == Kind::Stock && !stock_too)) continue;
      const std::optional<double> full = benchmark.weigh(cell.peer.name, row.name, true);
      if (full && empty) cell.more = *full - *empty;
    }
  }
}

// Where less than all went through Forebay, or to the storage of another peer, nothing can be told.
void check_reports(const BenchmarkResults& results) {
  for (const RowResult& row : results.rows) {
    for (const Cell& cell : row.cells) {
      if (cell.peer.kind != Kind::Forebay) continue;
      if (cell.peer.compared == (cell.report.value("storage", "") == "null"))
        throw RunFailed("Forebay wrote to another storage than it was told to: " + cell.report.dump());
      const auto bytes = cell.report.value("bytes", std::int64_t{0});
      if (bytes < row.bytes)
        throw RunFailed(fmt::format("{}, row {}: only {} of {} bytes went through Forebay", cell.peer.title,
                                    row.name, bytes, row.bytes));
    }
  }
}

int show(const DemoResults& results, const std::string& json) {
  if (!json.empty()) write_file(json, to_json(results).dump(2) + "\n");
  fmt::print("\n{}\n{}", table(results), closing_lines(results));
  std::fflush(stdout);
  return results.measured.all_identical() ? 0 : 1;
}

}  // namespace
}  // namespace forebay::bench

int main(int argc, char** argv) {
  using namespace forebay::bench;
  BenchmarkOptions options;
  Case of;
  std::int64_t records = 1;
  std::string json, only;
  int limit = 120;
  bool no_memory = false, stock_memory = false;
  options.repetitions = 3;
  options.forebay = find_program("forebay");
  options.writer = find_program("forebay-demo-writer");

  CLI::App app(
      "Writes a climate-like history file through PnetCDF and parallel HDF5, with the stock libraries and "
      "under\n"
      "`forebay run`, compares the files and prints the times. Exit status: 0 all files are identical, 1 "
      "some differ,\n"
      "2 a run failed.",
      "forebay-demo");
  app.add_option("--ranks", options.ranks, "MPI ranks; 4")->check(CLI::Range(1, 1 << 20));
  app.add_option("--map", of.map, "a recorded decomposition map (CDF), or \"generated\", the default");
  app.add_option("--records", records, "time steps; 1")->check(CLI::Range(1, 1000000));
  app.add_option("--ne", of.ne, "generated: elements along a cube's edge; 3")->check(CLI::Range(1, 1024));
  app.add_option("--levels", of.levels, "generated: levels; 60")->check(CLI::Range(1, 10000));
  app.add_option("--json", json, "write the results to this file, too");
  app.add_option("--dir", options.directory,
                 "where to put the files; else /dev/shm where it has room, else TMPDIR");
  app.add_option("--repeat", options.repetitions, "timed runs of each way; 3")->check(CLI::Range(1, 1000));
  app.add_option(
      "--launcher", options.launcher,
      "what starts the ranks, instead of \"mpirun -n RANKS\"; --ranks has to tell how many it starts");
  app.add_option("--hints", options.hints, "hints for the runs under Forebay, k=v;k=v");
  app.add_option("--only", only, "one library alone, pnetcdf or hdf5")
      ->check(CLI::IsMember({"pnetcdf", "hdf5"}));
  app.add_option("--timeout", limit, "seconds after which a run counts as hanging; 120")
      ->check(CLI::Range(1, 86400));
  app.add_flag("--no-memory", no_memory, "leave out the runs whose memory is watched");
  app.add_flag("--stock-memory", stock_memory, "watch the memory of the stock runs, too");
  app.add_flag("--keep", options.keep, "keep the stock library's files");
  app.add_option("--forebay", options.forebay, "the forebay command; the one that was built with this");
  app.add_option("--writer", options.writer, "the program that writes; the one that was built with this");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.limit = std::chrono::seconds(limit);
  // This process compares with the stock library alone.
  for (const char* name : {"HDF5_DRIVER", "HDF5_DRIVER_CONFIG"}) ::unsetenv(name);

  return driver_main("forebay-demo", {json}, [&] {
    const DemoSubject subject(of, records, options.ranks);
    for (const RowInfo& row : subject.rows)
      if (only.empty() || library_of(std::string(row.name)) == only) options.rows.emplace_back(row.name);
    Benchmark benchmark(subject, options);
    check_reports(benchmark.run());
    if (!no_memory) weigh(benchmark, stock_memory);
    return show({subject.title(), records, benchmark.results()}, json);
  });
}
