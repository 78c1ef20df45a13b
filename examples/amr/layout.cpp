#include "layout.hpp"

#include <fmt/format.h>

#include "agree.hpp"

namespace amr {

std::string array_name(int level, int index) {
  static constexpr const char* integers[] = {"parent", "flags", "x", "y", "z"};
  static constexpr const char* reals[variables] = {"gas", "ash"};
  if (index < integer_arrays(level)) return level == 0 ? "flags" : integers[index];
  const int value = index - integer_arrays(level);
  const char* name = reals[value / cells_of(level)];
  return level == 0 ? name : fmt::format("{}_{}", name, value % 8);
}

Layout::Layout(MPI_Comm comm, const Domain& domain, const Share& share, const Counts& counts)
    : before_(static_cast<std::size_t>(domain.segments()) + 1) {
  // What a segment holds, from the one rank that has it; then the sums.
  together(comm, [&] {
    std::size_t at = 0;
    for (const int segment : share.segments()) {
      std::array<std::int64_t, deepest + 1>& octs = before_[static_cast<std::size_t>(segment) + 1];
      octs[0] = domain.length(segment);
      for (int tree = 0; tree < domain.length(segment); ++tree)
        for (std::size_t level = 1; level <= deepest; ++level) {
          const std::int32_t count = counts[at++];
          if (count < 0) throw Failure(fmt::format("a tree of segment {} with {} octs", segment, count));
          octs[level] += count;
        }
    }
  });
  MPI_Allreduce(MPI_IN_PLACE, before_.data(), static_cast<int>(before_.size()) * (deepest + 1), MPI_INT64_T,
                MPI_SUM, comm);
  for (std::size_t segment = 1; segment < before_.size(); ++segment)
    for (std::size_t level = 0; level <= deepest; ++level)
      before_[segment][level] += before_[segment - 1][level];
}

std::int64_t Layout::bytes_before(int segment) const {
  std::int64_t bytes = 0;
  for (int level = 0; level <= deepest; ++level)
    bytes += before(level, segment) * (4 * integer_arrays(level) + 8 * variables * cells_of(level));
  return bytes;
}

}  // namespace amr
