// Random programs with up to seven files open at once, by HDF5, PnetCDF, TCIO, forebay::File and MPI-IO, on
// communicators of many kinds; what is read, and the closed files, are compared with a model. A failing
// program is told by its seed.
#include <hdf5.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "player.hpp"
#include "standing.hpp"

namespace {

using namespace mixed;

struct Arguments {
  Options options;
  int count = 1;
  int patience = 60;
  int verify_ranks = 0;
  bool keep = false;
};

int usage(const char* program) {
  std::fprintf(
      stderr,
      "usage: %s [--seed N] [--count K] [--steps S] [--threads] [--aloud] [--keep] [--verify RANKS]\n"
      "  [--plain-names] [--no-hints] [--forebay] [--patience SECONDS]\n"
      "  [--no-mpiio]\n"
      "  K programs from seed N on, of S steps; in several threads, a library's files in one; rank 0 says\n"
      "  what it does; files stay; what a run of RANKS ranks with --keep left is read by one process;\n"
      "  no names with colons and the like; no hints of the program's own; PnetCDF must run on Forebay;\n"
      "  a program in which nothing moves for so long is ended, and says where each rank stands;\n"
      "  no files that the program itself opens by MPI-IO\n",
      program);
  return 2;
}

/// Files of each thread: a library that is not thread-safe stays on one.
std::vector<std::vector<int>> share_out(const Options& options, const std::vector<Kind>& kinds) {
  std::vector<std::vector<int>> numbers(options.threads ? 4 : 1);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::size_t thread = 0;
    if (options.threads) {
      thread = kinds[i] == Kind::hdf5 ? 0 : kinds[i] == Kind::pnetcdf ? 1 : 2 + i % 2;
    }
    numbers[thread].push_back(static_cast<int>(i));
  }
  return numbers;
}

constexpr int kMain = 15;  // the number of the main thread

void play_in_threads(std::vector<std::unique_ptr<Player>>& players, int steps, bool dry) {
  constexpr int parts = 3;
  for (int part = 0; part < parts; ++part) {
    for (const auto& player : players) player->open_some();
    thread_ends();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < players.size(); ++i) {
      threads.emplace_back([&, i] {
        thread_begins(static_cast<int>(i));
        players[i]->play_steps(steps / parts);
        thread_ends();
      });
      if (dry) threads.back().join();
    }
    for (std::thread& thread : threads) {
      if (thread.joinable()) thread.join();
    }
    thread_begins(kMain);
    for (const auto& player : players) player->close_some(part + 1 == parts);
  }
}

void play(const Arguments& arguments, const World& world, const std::string& start, bool colons) {
  const Options& options = arguments.options;
  const Folders folders(start + "/mixed." + std::to_string(options.seed), colons && !options.plain_names);
  if (world.rank == 0) folders.make();
  world.meet();
  if (!world.dry() && ::chdir(folders.here().c_str()) != 0) fail("chdir " + folders.here());
  const std::vector<Kind> kinds = draw_kinds(options);
  const std::vector<std::vector<int>> numbers = share_out(options, kinds);
  std::vector<World> worlds;
  std::vector<std::unique_ptr<Player>> players;
  for (std::size_t t = 0; t < numbers.size(); ++t) {
    if (numbers[t].empty()) continue;
    worlds.push_back(world);
    if (options.threads && !world.dry()) MPI_Comm_dup(world.comm, &worlds.back().comm);
    players.push_back(
        std::make_unique<Player>(options, worlds.back(), folders, static_cast<int>(t), kinds, numbers[t]));
  }
  thread_begins(kMain);
  if (options.threads) {
    play_in_threads(players, options.steps, world.dry());
  } else {
    players[0]->play();
  }
  for (const auto& player : players) world.dry() ? player->check_by_libraries() : player->check_closed();
  thread_ends();
  players.clear();
  for (World& own : worlds) {
    if (own.comm != world.comm) MPI_Comm_free(&own.comm);
  }
  if (::chdir(start.c_str()) != 0) fail("chdir " + start);
  world.meet();
  if (world.rank == 0 && !arguments.keep) folders.remove();
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  Options& options = arguments.options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto number = [&] { return std::atoi(++i < argc ? argv[i] : "0"); };
    if (argument == "--seed") {
      options.seed = static_cast<std::uint64_t>(number());
    } else if (argument == "--count") {
      arguments.count = number();
    } else if (argument == "--steps") {
      options.steps = number();
    } else if (argument == "--verify") {
      arguments.verify_ranks = number();
    } else if (argument == "--patience") {
      arguments.patience = number();
    } else if (argument == "--threads") {
      options.threads = true;
    } else if (argument == "--aloud") {
      options.aloud = true;
    } else if (argument == "--keep") {
      arguments.keep = true;
    } else if (argument == "--plain-names") {
      options.plain_names = true;
    } else if (argument == "--no-hints") {
      options.hints = false;
    } else if (argument == "--no-mpiio") {
      options.mpiio = false;
    } else if (argument == "--forebay") {
      options.expect_forebay = true;
    } else {
      return usage(argv[0]);
    }
  }
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, options.threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  World world{.comm = MPI_COMM_WORLD};
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  if (options.threads && provided < MPI_THREAD_MULTIPLE) {
    if (world.rank == 0) std::printf("this MPI has no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 77;
  }
#ifdef ROMIO_VERSION  // of MPICH and its kin
  if (options.threads) {
    if (world.rank == 0)
      std::printf("ROMIO lets one thread at a time into MPI-IO: two in collective calls wait for ever\n");
    MPI_Finalize();
    return 77;
  }
#endif
  const bool verify = arguments.verify_ranks > 0;
  const int rank = world.rank;
  const std::string start = std::filesystem::current_path().string();
  const bool colons = colons_belong_to_names(start);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  start_watch(rank, arguments.patience);
  if (verify) {
    world = {.ranks = arguments.verify_ranks};
    arguments.keep = true;
  }
  for (int i = 0; i < arguments.count; ++i, ++options.seed) {
    set_program("--seed " + std::to_string(options.seed) + " --count 1 --steps " +
                std::to_string(options.steps) + (options.threads ? " --threads" : "") +
                (options.plain_names ? " --plain-names" : "") + (options.hints ? "" : " --no-hints") +
                " on " + std::to_string(world.ranks) + " ranks");
    play(arguments, world, start, colons);
  }
  stop_watch();
  if (rank == 0) std::printf("%d programs: ok\n", arguments.count);
  MPI_Finalize();
  return 0;
}
