// forebay-pnetcdf: Forebay's PnetCDF driver against the stock library on models' access patterns.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "benchmark.hpp"
#include "machine.hpp"

namespace {
using namespace forebay::bench;

// What --help says about rows and peers.
std::string footer() {
  std::string text = "\nRows (q: in --quick):\n";
  for (const RowInfo& row : all_rows())
    text += fmt::format("  {} {:<12} {}\n", row.quick ? 'q' : ' ', row.name, row.title);
  text += "Peers (q: in --quick); \"exact\" always runs once, for the files:\n";
  for (const Peer& peer : all_peers())
    text += fmt::format("  {} {:<12} {}\n", peer.quick ? 'q' : ' ', peer.name, peer.title);
  return text +
         "With PnetCDF 1.15 and later those over ROMIO and OMPIO get nc_driver=mpiio. A repetition launches "
         "each peer\n"
         "once, in turn; a launch writes all rows, a file each. The time of a row is from the first put to "
         "the end of\n"
         "close, from the first rank's start to the last one's end. Forebay's files have to be those of "
         "\"exact\", byte for\n"
         "byte; those of the other peers as far as bytes were put. At the end a line `ratio ROW X` a row, X "
         "the fastest\n"
         "stock's median time over Forebay's, strict; `ratio ROW.commit X` with forebay_mode=commit. Exit "
         "status: 0 all\n"
         "files are as they have to be, 1 some differ, 2 a run failed.\n";
}

// The map of that name in the folder; empty where there is none.
std::string find_map(const std::string& folder, const char* name) {
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? std::filesystem::absolute(path).string() : "";
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (file.flush()) return true;
  fmt::print(stderr, "forebay-pnetcdf: cannot write {}\n", path);
  return false;
}

int show(const Results& results, const std::string& json, const std::string& plot) {
  if (!json.empty() && !write_file(json, to_json(results).dump(2) + "\n")) return 2;
  if (!plot.empty() && !write_file(plot, to_svg(results))) return 2;
  fmt::print("\n{}\n{}", table(results), closing_lines(results));
  std::fflush(stdout);
  return results.all_identical() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  BenchmarkOptions options;
  std::string json, plot, maps = FOREBAY_BENCH_MAPS;
  int limit = 300;
  bool quick = false, full = false, tiny = false;
  options.forebay = find_program("forebay");
  options.writer = find_program("forebay-pnetcdf-writer");
  std::vector<std::string> row_names, peer_names;
  for (const RowInfo& row : all_rows()) row_names.emplace_back(row.name);
  for (const Peer& peer : all_peers())
    if (peer.kind != Kind::Reference) peer_names.push_back(peer.name);

  CLI::App app(
      "Writes files as models do through PnetCDF, with the stock library and under `forebay run`, in turn;\n"
      "compares the files and the times.",
      "forebay-pnetcdf");
  app.footer(footer());
  CLI::Option* quick_flag =
      app.add_flag("--quick", quick, "a subset of rows and peers, small sizes, 3 repetitions: below 50 s");
  app.add_flag("--full", full, "large sizes, 16 ranks, 9 repetitions")->excludes(quick_flag);
  app.add_flag("--tiny", tiny, "sizes too small to be timed, for tests of this program")->group("");
  CLI::Option* ranks =
      app.add_option("--ranks", options.ranks, "MPI ranks; 4, with --full 16")->check(CLI::Range(1, 4096));
  CLI::Option* repetitions =
      app.add_option("--reps", options.repetitions, "repetitions; 5, with --quick 3, with --full 9")
          ->check(CLI::Range(1, 1000));
  app.add_option("--rows", options.rows, "these rows alone")->delimiter(',')->check(CLI::IsMember(row_names));
  app.add_option("--peers", options.peers, "these peers alone")
      ->delimiter(',')
      ->check(CLI::IsMember(peer_names));
  app.add_option("--maps", maps,
                 "the folder with E3SM's map_f_case_16p.nc and map_g_case_16p.nc; maps that are not there "
                 "are generated")
      ->capture_default_str();
  app.add_option("--dir", options.directory,
                 "where to put the files; else /dev/shm where it has room, else TMPDIR");
  app.add_option(
      "--launcher", options.launcher,
      "what starts the ranks, instead of \"mpirun -n RANKS\"; --ranks has to tell how many it starts");
  app.add_option("--hints", options.hints, "more hints for the runs under Forebay, k=v;k=v");
  app.add_option("--json", json, "write the results to this file, too");
  app.add_option("--plot", plot, "write a bar chart (SVG) to this file, too");
  app.add_option("--timeout", limit, "seconds after which a launch counts as hanging")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  app.add_flag("--keep", options.keep, "keep the files");
  app.add_option("--forebay", options.forebay, "the forebay command")->group("");
  app.add_option("--writer", options.writer, "the program that writes")->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.size = tiny ? Size::Tiny : quick ? Size::Quick : full ? Size::Full : Size::Normal;
  if (full && ranks->count() == 0) options.ranks = 16;
  if (repetitions->count() == 0) options.repetitions = quick ? 3 : full ? 9 : 5;
  for (const RowInfo& row : all_rows())
    if (app.count("--rows") == 0 && (row.quick || !quick)) options.rows.emplace_back(row.name);
  options.limit = std::chrono::seconds(limit);
  options.f_map = find_map(maps, "map_f_case_16p.nc");
  options.g_map = find_map(maps, "map_g_case_16p.nc");

  for (const std::string& path : {json, plot}) {
    if (!path.empty() && !std::ofstream(path, std::ios::app)) {
      fmt::print(stderr, "forebay-pnetcdf: cannot write {}\n", path);
      return 2;
    }
  }
  catch_interrupts();
  try {
    Benchmark benchmark(options);
    return show(benchmark.run(), json, plot);
  } catch (const Interrupted& by) {
    fmt::print(stderr, "forebay-pnetcdf: interrupted\n");
    return 128 + by.signal;
  } catch (const std::exception& error) {
    fmt::print(stderr, "forebay-pnetcdf: {}\n", error.what());
    return 2;
  }
}
