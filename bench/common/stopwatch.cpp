// One machine has one steady clock; clocks of several cannot be compared, so there the longest rank counts.
#include "stopwatch.hpp"

#include <chrono>
#include <fstream>

namespace forebay::bench {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string machine_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

Stopwatch::Stopwatch(MPI_Comm comm) : comm_(comm) {
  const auto hash = static_cast<long long>(std::hash<std::string>()(machine_id()));
  long long ends[2] = {hash, -hash - 1};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_LONG_LONG, MPI_MIN, comm_);
  one_clock_ = ends[0] == -(ends[1] + 1);
}

double Stopwatch::operator()(const std::function<void()>& step) const {
  MPI_Barrier(comm_);
  const double begin = now();
  step();
  const double end = now();
  double latest[2] = {one_clock_ ? -begin : 0.0, one_clock_ ? end : end - begin};
  MPI_Allreduce(MPI_IN_PLACE, latest, 2, MPI_DOUBLE, MPI_MAX, comm_);
  return latest[0] + latest[1];
}

}  // namespace forebay::bench
