// What the tests of single cases have in common: files, checks, a pattern in which each byte tells where it
// belongs, and how a program of them runs.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/hints.hpp"
#include "engine/core_file.hpp"
#include "mpi/file.hpp"
#include "request/memory_stream.hpp"
#include "run_list_cursor.hpp"

namespace forebay::test {

inline int failures = 0;

inline void check(bool good, const char* what, int line, const std::string& detail = {}) {
  if (good) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "rank %d line %d: %s %s\n", rank, line, what, detail.c_str());
  ++failures;
}
#define CHECK(x) check(x, #x, __LINE__)
#define CHECK_OK(x)                                         \
  do {                                                      \
    const Status outcome_ = (x);                            \
    check(outcome_.ok(), #x, __LINE__, outcome_.message()); \
  } while (false)

inline std::unique_ptr<CoreFile> open_file(MPI_Comm comm, const std::string& path, const std::string& hints,
                                           Status* outcome = nullptr, Keeping keeping = Keeping::by_rank,
                                           bool tells_freed_space = false) {
  FileOptions options;
  options.tells_freed_space = tells_freed_space;
  options.path = path;
  options.driver = "test";
  options.keeping = keeping;
  Status status = parse_hints(options.settings, hints, Origin::call);
  std::unique_ptr<CoreFile> file;
  if (status.ok()) status = mpi::open(comm, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, options, file);
  if (outcome != nullptr)
    *outcome = status;
  else
    check(status.ok(), "open", __LINE__, status.message());
  return file;
}

// Rank r of the communicator puts elements r, r + ranks, … of `total` bytes from `begin`; the value tells
// element and salt.
inline Status put_interleaved(CoreFile& file, std::int64_t begin, std::int64_t total, std::int64_t width,
                              unsigned salt) {
  const std::int64_t step = width * file.ranks();
  const std::int64_t first = width * file.rank();
  const std::int64_t count = total > first ? (total - first + step - 1) / step : 0;
  std::vector<std::byte> memory(static_cast<std::size_t>(count * width));
  std::vector<Run> runs;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = first + i * step;
    const std::int64_t length = std::min(width, total - at);
    for (std::int64_t b = 0; b < length; ++b) {
      memory[static_cast<std::size_t>(i * width + b)] = static_cast<std::byte>((at + b) * 7 + salt);
    }
    runs.push_back({begin + at, i * width, length});
  }
  RunListCursor cursor(runs);
  MemorySource source(memory.data());
  const Put put{&cursor, &source};
  return file.write_all({&put, 1});
}

inline bool holds_interleaved(CoreFile& file, std::int64_t begin, std::int64_t total, unsigned salt) {
  std::vector<std::byte> got(static_cast<std::size_t>(total));
  if (!file.read_at(begin, got.data(), total).ok()) return false;
  for (std::int64_t i = 0; i < total; ++i) {
    if (got[static_cast<std::size_t>(i)] != static_cast<std::byte>(i * 7 + salt)) {
      std::fprintf(stderr, "byte %ld of %ld differs\n", i, total);
      return false;
    }
  }
  return true;
}

inline std::int64_t size_of(CoreFile& file) {
  std::int64_t size = -1;
  CHECK_OK(file.size(size));
  return size;
}

inline Status put_independent(CoreFile& file, std::int64_t at, std::int64_t length, unsigned value) {
  const std::vector<std::byte> data(static_cast<std::size_t>(length), static_cast<std::byte>(value));
  RunListCursor cursor({{at, 0, length}});
  MemorySource source(data.data());
  const Put put{&cursor, &source};
  return file.write({&put, 1});
}

inline bool holds(CoreFile& file, std::int64_t at, std::int64_t length, unsigned value) {
  std::vector<std::byte> got(static_cast<std::size_t>(length));
  return file.read_at(at, got.data(), length).ok() &&
         std::all_of(got.begin(), got.end(), [&](std::byte b) { return b == static_cast<std::byte>(value); });
}

inline void fresh(const char* path, MPI_Comm comm = MPI_COMM_WORLD) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) std::remove(path);
  MPI_Barrier(comm);
}

// A case of a program's main, by all ranks together; its name is printed before it.
inline void part(const char* name, const std::function<void()>& body) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%s\n", name);
  std::fflush(stdout);
  body();
  MPI_Barrier(MPI_COMM_WORLD);
}

// The main of such a program: `all` calls part. The exit status says whether anything failed on any rank.
inline int run_parts(int argc, char** argv, const std::function<void()>& all) {
  MPI_Init(&argc, &argv);
  all();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d failures\n", failures);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}

}  // namespace forebay::test
