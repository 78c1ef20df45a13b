// Runs the registered cases, each with the stock driver and with Forebay, and compares their files.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "compare.hpp"
#include "harness.hpp"

namespace test {
namespace {

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

void run_case(const Case& test, const Run& run) {
  now_running(std::string(test.name) + (run.forebay ? " forebay {" + run.hints + "}" : " stock"));
  test.body(run);
  MPI_Barrier(run.comm);
}

}  // namespace

Register::Register(const char* name, std::function<void(const Run&)> body, Compared compared) {
  cases().push_back({name, std::move(body), compared});
}

int run_all(int argc, char** argv) {
  Run run;
  MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  std::vector<std::string> configs;
  std::string only;
  bool verbose = false;
  bool keep = false;
  std::string directory = ".";
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--hints" && i + 1 < argc) {
      // Commas for semicolons, and a word for nothing: build systems and shells mangle those.
      std::string hints = argv[++i];
      std::replace(hints.begin(), hints.end(), ',', ';');
      configs.push_back(hints == "default" ? "" : hints);
    }
    if (arg == "--only" && i + 1 < argc) only = argv[++i];
    if (arg == "--dir" && i + 1 < argc) directory = argv[++i];
    if (arg == "--verbose") verbose = true;
    if (arg == "--keep") keep = true;  // the files, for a look
  }
  if (configs.empty()) configs.emplace_back("");
  int ran = 0;
  for (const Case& test : cases()) {
    if (!only.empty() && only != test.name) continue;
    ++ran;
    const std::string stock = directory + "/" + test.name + ".stock.h5";
    Run stock_run = run;
    stock_run.path = stock;
    if (run.rank == 0) std::remove(stock.c_str());  // of a run that was ended
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    run_case(test, stock_run);
    const double middle = MPI_Wtime();
    for (const std::string& hints : configs) {
      Run ours = run;
      ours.forebay = true;
      ours.hints = hints;
      ours.path = directory + "/" + test.name + ".forebay.h5";
      run_case(test, ours);
      if (run.rank == 0 && !bytes_of(stock).empty()) {
        if (test.compared != Compared::datasets) compare_files(stock, ours.path);
        if (test.compared != Compared::bytes) compare_contents(stock, ours.path);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      if (run.rank == 0 && !keep) std::remove(ours.path.c_str());
    }
    if (run.rank == 0 && !keep) std::remove(stock.c_str());
    if (verbose && run.rank == 0) {
      std::printf("%-32s stock %.3f s, forebay %.3f s\n", test.name, middle - begin,
                  (MPI_Wtime() - middle) / static_cast<double>(configs.size()));
      std::fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int all = failures();
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (run.rank == 0) std::printf("%d cases, %d failures\n", ran, all);
  return all == 0 && ran > 0 ? 0 : 1;
}

}  // namespace test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int result = test::run_all(argc, argv);
  MPI_Finalize();
  return result;
}
