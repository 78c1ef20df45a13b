// What the two probes share: the pattern that they write and read back, and how they tell what they found.
//
// A probe is an ordinary program that knows nothing of Forebay:
//   write FILE    all ranks write one file together; rank 0 prints lines "forebay-probe: key value" about
//   libraries plugin FILE   (HDF5 only) the same with the default access list, for HDF5_DRIVER check FILE one
//   process reads the file alone and compares; exit status 0 where all is as it should be
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace forebay::probe {

inline constexpr int cells_per_rank = 4096;
inline constexpr int steps = 3;

/// The value of a cell at a step; rank r of n writes the cells r, r+n, r+2n, …
inline int value_of(long long cell, int step) {
  return static_cast<int>(cell * 7 + step * 1000003 + 1);
}

/// Marked, since others print to stdout, too.
inline void print(const char* key, const std::string& value) {
  std::printf("forebay-probe: %s %s\n", key, value.c_str());
}

inline void print_library(const char* version, const void* function) {
  Dl_info info{};
  print("library", version);
  print("library_path", dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "?");
}

inline void print_mpi(MPI_Comm comm) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  std::string text(version.data());
  text = text.substr(0, text.find_first_of("\n,"));
  std::replace(text.begin(), text.end(), '\t', ' ');  // MPICH's is a table
  text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
             text.end());
  int level = 0;
  MPI_Query_thread(&level);
  const char* name = level == MPI_THREAD_MULTIPLE     ? "multiple"
                     : level == MPI_THREAD_SERIALIZED ? "serialized"
                     : level == MPI_THREAD_FUNNELED   ? "funneled"
                                                      : "single";
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int local = 0;
  int nodes = 0;
  MPI_Comm_rank(node, &local);
  const int leads = local == 0 ? 1 : 0;
  MPI_Allreduce(&leads, &nodes, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_free(&node);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank != 0) return;
  Dl_info info{};
  print("mpi", text);
  print("mpi_path", dladdr(reinterpret_cast<const void*>(&PMPI_Init), &info) != 0 ? info.dli_fname : "?");
  print("thread_level", name);
  print("ranks", std::to_string(ranks));
  print("nodes", std::to_string(nodes));
}

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "probe: %s\n", what.c_str());
  int running = 0;
  MPI_Initialized(&running);
  if (running != 0) MPI_Abort(MPI_COMM_WORLD, 3);
  std::exit(3);
}

}  // namespace forebay::probe
