// forebay-demo: writes a climate-like history file with the stock libraries and under `forebay run`, compares
// the files, and says how long each took.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "demonstration.hpp"
#include "driver_main.hpp"
#include "machine.hpp"
#include "text_file.hpp"

namespace {
int show(const forebay::bench::Results& results, const std::string& json) {
  using namespace forebay::bench;
  if (!json.empty()) write_file(json, to_json(results).dump(2) + "\n");
  fmt::print("\n{}\n{}", table(results), closing_lines(results));
  std::fflush(stdout);
  return results.all_identical() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace forebay::bench;
  DemoOptions options;
  std::string json;
  int limit = 120;
  bool no_memory = false;
  options.forebay = find_program("forebay");
  options.writer = find_program("forebay-demo-writer");

  CLI::App app(
      "Writes a climate-like history file through PnetCDF and parallel HDF5, with the stock libraries and "
      "under\n"
      "`forebay run`, compares the files and prints the times. Exit status: 0 all files are identical, 1 "
      "some differ,\n"
      "2 a run failed.",
      "forebay-demo");
  app.add_option("--ranks", options.ranks, "MPI ranks")->check(CLI::Range(1, 1 << 20))->capture_default_str();
  app.add_option("--map", options.of.map, "a recorded decomposition map (CDF), or \"generated\"")
      ->capture_default_str();
  app.add_option("--records", options.records, "time steps")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--ne", options.of.ne, "generated: elements along a cube's edge")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--levels", options.of.levels, "generated: levels")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--json", json, "write the results to this file, too");
  app.add_option("--dir", options.directory,
                 "where to put the files; else /dev/shm where it has room, else TMPDIR");
  app.add_option("--repeat", options.repeat, "timed runs of each way")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option(
      "--launcher", options.launcher,
      "what starts the ranks, instead of \"mpirun -n RANKS\"; --ranks has to tell how many it starts");
  app.add_option("--hints", options.hints, "hints for the runs under Forebay, k=v;k=v");
  app.add_option("--only", options.only, "one library alone")->check(CLI::IsMember({"pnetcdf", "hdf5"}));
  app.add_option("--timeout", limit, "seconds after which a run counts as hanging")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  app.add_flag("--no-memory", no_memory, "leave out the runs whose memory is watched");
  app.add_flag("--stock-memory", options.stock_memory, "watch the memory of the stock runs, too");
  app.add_flag("--keep", options.keep, "keep the files");
  app.add_option("--forebay", options.forebay, "the forebay command")->capture_default_str();
  app.add_option("--writer", options.writer, "the program that writes")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.memory = !no_memory;
  options.limit = std::chrono::seconds(limit);
  // This process compares with the stock library alone.
  for (const char* name : {"HDF5_DRIVER", "HDF5_DRIVER_CONFIG"}) ::unsetenv(name);

  return driver_main("forebay-demo", {json}, [&] {
    Demonstration demonstration(options);
    return show(demonstration.run(), json);
  });
}
