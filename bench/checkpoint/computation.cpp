// A field that is smoothed, again and again.
#include "computation.hpp"

#include <algorithm>

#include "stopwatch.hpp"

namespace forebay::bench {
namespace {

constexpr std::size_t points = std::size_t{1} << 17;  // 1 MiB

}  // namespace

Computation::Computation(MPI_Comm comm) : comm_(comm), field_(points) {
  for (std::size_t i = 0; i < points; ++i) field_[i] = static_cast<double>(i * 7919 % points) / points;
}

void Computation::run(std::int64_t sweeps) {
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep)
    for (std::size_t i = 1; i + 1 < points; ++i)
      field_[i] = 0.25 * field_[i - 1] + 0.5 * field_[i] + 0.25 * field_[i + 1];
  agreed_ = field_[points / 2];
  MPI_Allreduce(MPI_IN_PLACE, &agreed_, 1, MPI_DOUBLE, MPI_MAX, comm_);
}

double Computation::seconds_of_a_sweep() {
  const Stopwatch timed(comm_);
  for (std::int64_t sweeps = 1;; sweeps *= 2) {
    double took = timed([&] { run(sweeps); });
    if (took < 0.05) continue;
    for (int again = 0; again < 2; ++again) took = std::min(took, timed([&] { run(sweeps); }));
    return took / static_cast<double>(sweeps);
  }
}

}  // namespace forebay::bench
