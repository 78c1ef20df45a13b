// Random HDF5 programs, the same on the stock driver and on Forebay. A failing program is told by its seed.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../harness.hpp"
#include "two_runs.hpp"

namespace {

char last_words[200];

// A program that hangs ends the test with its seed.
extern "C" void give_up(int) {
  if (::write(2, last_words, std::char_traits<char>::length(last_words)) < 0) std::_Exit(3);
  std::_Exit(2);
}

int usage(const char* program) {
  std::fprintf(
      stderr,
      "usage: %s [--seed N] [--count K] [--steps S] [--hints H] [--commit] [--bytes-every B] [--aloud]\n"
      "  [--keep] [--patience SECONDS]\n"
      "  K programs from seed N on, of S steps; H besides the hints that a seed chooses; in commit mode; "
      "every\n"
      "  B-th also byte for byte; rank 0 says what it does, and HDF5 its errors; files stay;\n"
      "  a program that takes longer (60) is ended\n",
      program);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  test::ProgramOptions options;
  int count = 20;
  int bytes_every = 0;
  int patience = 60;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const bool more = i + 1 < argc;
    if (arg == "--aloud") {
      options.aloud = true;
    } else if (arg == "--commit") {
      options.commit = true;
    } else if (arg == "--keep") {
      options.keep = true;
    } else if (arg == "--seed" && more) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (arg == "--count" && more) {
      count = std::atoi(argv[++i]);
    } else if (arg == "--steps" && more) {
      options.steps = std::atoi(argv[++i]);
    } else if (arg == "--bytes-every" && more) {
      bytes_every = std::atoi(argv[++i]);
    } else if (arg == "--patience" && more) {
      patience = std::atoi(argv[++i]);
    } else if (arg == "--hints" && more) {
      options.hints = argv[++i];  // commas for semicolons, which build systems mangle
      std::replace(options.hints.begin(), options.hints.end(), ',', ';');
    } else {
      return usage(argv[0]);
    }
  }
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (!options.aloud) H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  std::signal(SIGALRM, give_up);
  int different = 0;
  int no_ground = 0;
  for (int i = 0; i < count && different < 5; ++i, ++options.seed) {
    std::snprintf(last_words, sizeof last_words,
                  "rank %d hangs: reproduce with %d ranks, --seed %llu --count 1 --steps %d%s\n", rank, ranks,
                  static_cast<unsigned long long>(options.seed), options.steps,
                  options.commit ? " --commit" : "");
    ::alarm(static_cast<unsigned>(patience));
    options.bytes = bytes_every > 0 && options.seed % static_cast<unsigned>(bytes_every) == 0;
    const test::Outcome outcome = test::same_on_both(options);
    if (outcome == test::Outcome::stock_wrong) ++no_ground;
    if (outcome != test::Outcome::different) continue;
    ++different;
    if (rank == 0)
      std::fprintf(stderr, "reproduce with %d ranks, --seed %llu --count 1 --steps %d%s%s%s\n", ranks,
                   static_cast<unsigned long long>(options.seed), options.steps,
                   options.commit ? " --commit" : "", options.hints.empty() ? "" : " --hints ",
                   options.hints.c_str());
  }
  ::alarm(0);
  int failed = different + test::failures();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("%d programs, %d differ, %d are wrong on the stock driver\n", count, different, no_ground);
  MPI_Finalize();
  return failed == 0 ? 0 : 1;
}
