// Every benchmark takes the same options, and its own.
#include "benchmark_main.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "benchmark.hpp"
#include "driver_main.hpp"
#include "machine.hpp"
#include "text_file.hpp"

namespace forebay::bench {
namespace {

// What --help says about rows and peers.
std::string footer(const Subject& subject, const std::vector<Peer>& peers) {
  std::string text = "\nRows (q: in --quick):\n";
  for (const RowInfo& row : subject.rows)
    text += fmt::format("  {} {:<12} {}\n", row.quick ? 'q' : ' ', row.name, row.title);
  text += "Peers (q: in --quick); \"exact\" always runs once, for the files:\n";
  for (const Peer& peer : peers)
    text += fmt::format("  {} {:<12} {}\n", peer.quick ? 'q' : ' ', peer.name, peer.title);
  return text + subject.notes +
         fmt::format(
             "A repetition launches each peer once, in turn; a launch {0}s all rows, a file each; "
             "those timed\n"
             "from create on have a launch of their own, and of the others the time of a row is\n"
             "from the first {1} to the end of close, from the first rank's start to the last one's "
             "end. At the end a line\n"
             "`ratio ROW X` a row, X the fastest stock's median time over Forebay's, strict; `ratio "
             "ROW.commit X` and\n"
             "`ratio ROW.automatic X` with forebay_mode=commit and automatic. Exit status: 0 all {2} as they "
             "have to be, 1 some differ, 2 a run "
             "failed.\n",
             subject.reads ? "read" : "write", subject.reads ? "get" : "put",
             subject.reads ? "values are" : "files are");
}

// Launches that are not timed, for Forebay's reports of rows of which every timed launch goes without.
void report_whole(Benchmark& benchmark, const Subject& subject) {
  for (const RowResult& row : benchmark.results().rows)
    for (const Cell& cell : row.cells)
      if (cell.peer.kind == Kind::Forebay && find_row(subject.rows, row.name).whole)
        benchmark.weigh(cell.peer.name, row.name, true);
}

int show(const BenchmarkResults& results, const std::string& json, const std::string& plot) {
  if (!json.empty()) write_file(json, to_json(results).dump(2) + "\n");
  if (!plot.empty()) write_file(plot, to_svg(results));
  fmt::print("\n{}\n{}", table(results), closing_lines(results));
  std::fflush(stdout);
  return results.all_identical() ? 0 : 1;
}

}  // namespace

int benchmark_main(Subject& subject, int argc, char** argv) {
  return benchmark_main(
      subject, argc, argv,
      [&](const BenchmarkOptions& options, const std::string& json, const std::string& plot) {
        Benchmark benchmark(subject, options);
        benchmark.run();
        if (subject.reports_whole) report_whole(benchmark, subject);
        return show(benchmark.results(), json, plot);
      });
}

int benchmark_main(Subject& subject, int argc, char** argv, const BenchmarkWork& work) {
  BenchmarkOptions options;
  std::string json, plot;
  int limit = 300;
  bool quick = false, full = false, tiny = false;
  options.forebay = find_program("forebay");
  options.writer = find_program(subject.writer.empty() ? subject.program + "-writer" : subject.writer);
  const std::vector<Peer> peers = subject.peers("", "romio");
  std::vector<std::string> row_names, peer_names;
  for (const RowInfo& row : subject.rows) row_names.emplace_back(row.name);
  for (const Peer& peer : peers)
    if (peer.kind != Kind::Reference) peer_names.push_back(peer.name);

  CLI::App app(
      !subject.summary.empty()
          ? subject.summary
          : fmt::format("{} files as models do through {}, with the stock library and under `forebay "
                        "run`, in turn;\ncompares the {} and the times.",
                        subject.reads ? "Reads" : "Writes", subject.library,
                        subject.reads ? "values" : "files"),
      subject.program);
  app.footer(footer(subject, peers));
  CLI::Option* quick_flag = app.add_flag(
      "--quick", quick, "a subset of rows and peers, small sizes, 3 repetitions" + subject.quick);
  app.add_flag("--full", full, "large sizes, 16 ranks, 9 repetitions")->excludes(quick_flag);
  app.add_flag("--tiny", tiny, "sizes too small to be timed, for tests of this program")->group("");
  CLI::Option* ranks =
      app.add_option("--ranks", options.ranks, "MPI ranks; 4, with --full 16")->check(CLI::Range(1, 4096));
  CLI::Option* repetitions =
      app.add_option("--reps", options.repetitions, "repetitions; 5, with --quick 3, with --full 9")
          ->check(CLI::Range(1, 1000));
  app.add_option("--rows", options.rows, "these rows alone, comma-separated; all, with --quick those of it")
      ->delimiter(',')
      ->check(CLI::IsMember(row_names));
  app.add_option("--peers", options.peers,
                 "these peers alone, comma-separated; all, with --quick those of it")
      ->delimiter(',')
      ->check(CLI::IsMember(peer_names));
  subject.add_options(app);
  app.add_option("--dir", options.directory,
                 "where to put the files; else /dev/shm where it has room, else TMPDIR");
  app.add_option(
      "--launcher", options.launcher,
      "what starts the ranks, instead of \"mpirun -n RANKS\"; --ranks has to tell how many it starts");
  app.add_option("--hints", options.hints, "more hints for the runs under Forebay, k=v;k=v");
  app.add_option("--json", json, "write the results to this file, too");
  app.add_option("--plot", plot, "write a bar chart (SVG) to this file, too");
  app.add_option("--timeout", limit, "seconds after which a launch counts as hanging; 300")
      ->check(CLI::Range(1, 86400));
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
  for (const RowInfo& row : subject.rows)
    if (app.count("--rows") == 0 && (row.quick || !quick)) options.rows.emplace_back(row.name);
  options.limit = std::chrono::seconds(limit);

  return driver_main(subject.program, {json, plot}, [&] { return work(options, json, plot); });
}

}  // namespace forebay::bench
