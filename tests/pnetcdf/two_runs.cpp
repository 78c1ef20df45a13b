// Both runs in one process: PnetCDF is given the one driver, then the other (switch_shared.cpp,
// switch_linked.cpp).
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "harness.hpp"

namespace forebay::test {
namespace {

std::vector<char> contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool same_files(const std::string& name, const std::string& one, const std::string& two) {
  const std::vector<char> a = contents_of(one);
  const std::vector<char> b = contents_of(two);
  if (a == b) return true;
  std::size_t at = 0;
  std::size_t differing = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) continue;
    if (differing++ == 0) at = i;
  }
  std::fprintf(
      stderr,
      "%s: files differ: stock %zu bytes, forebay %zu bytes, %zu bytes differ, the first at %zu (%s, %s)\n",
      name.c_str(), a.size(), b.size(), differing, at, one.c_str(), two.c_str());
  return false;
}

bool same_logs(const std::string& name, const Run& stock, const Run& forebay) {
  if (stock.log() == forebay.log()) return true;
  std::istringstream a(stock.log());
  std::istringstream b(forebay.log());
  std::string x, y, before;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(a, x));
    const bool more_b = static_cast<bool>(std::getline(b, y));
    if (more_a && more_b && x == y) {
      before = x;
      continue;
    }
    std::fprintf(stderr, "%s: rank %d: line %d: stock \"%s\", forebay \"%s\" (after \"%s\")\n", name.c_str(),
                 stock.rank(), line, more_a ? x.c_str() : "(end)", more_b ? y.c_str() : "(end)",
                 before.c_str());
    return false;
  }
}

}  // namespace

bool same_on_both(const std::string& name, MPI_Comm comm, const Program& program) {
  const std::string file = file_name_of(name);
  // Where the file system is what is tried, the stock driver may have another one, on which it is right.
  const char* elsewhere = std::getenv("FOREBAY_TEST_STOCK_FOLDER");
  Run stock(comm, (elsewhere != nullptr ? elsewhere + std::string("/") : "") + file + ".stock.nc", false);
  Run forebay(comm, file + ".forebay.nc", true);
  for (Run* run : {&stock, &forebay}) {
    if (run->rank() == 0) std::remove(run->path().c_str());
    MPI_Barrier(comm);
    use_forebay(run->is_forebay());
    program(*run);
    MPI_Barrier(comm);
  }
  int comparable = stock.defect().empty() && forebay.defect().empty() ? 1 : 0;
  if (!stock.defect().empty())
    std::fprintf(stderr, "%s: not compared: on rank %d of PnetCDF's own driver, %s\n", name.c_str(),
                 stock.rank(), stock.defect().c_str());
  int stock_only = forebay.defect().empty() ? 1 : 0;
  for (int* all : {&comparable, &stock_only}) MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_INT, MPI_MIN, comm);
  if (comparable == 0 && stock_only == 1) return true;
  int same = same_logs(name, stock, forebay) ? 1 : 0;
  if (stock.rank() == 0 && !same_files(name, stock.path(), forebay.path())) same = 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, comm);
  if (same == 0) {
    for (const Run* run : {&stock, &forebay})
      std::ofstream(run->path() + ".rank" + std::to_string(run->rank()) + ".log") << run->log();
  } else if (stock.rank() == 0) {
    std::remove(stock.path().c_str());
    std::remove(forebay.path().c_str());
  }
  return same == 1;
}

}  // namespace forebay::test
