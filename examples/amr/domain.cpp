#include "domain.hpp"

#include <limits>

#include "agree.hpp"

namespace amr {
namespace {

// Every third bit of a Morton code, from its lowest.
int every_third_bit(std::uint64_t code) {
  int value = 0;
  for (int bit = 0; bit < 21; ++bit) value |= static_cast<int>(code >> (3 * bit) & 1) << bit;
  return value;
}

}  // namespace

Domain::Domain(const std::vector<std::int32_t>& segment_lengths) {
  std::int64_t count = 0;
  begin_.reserve(segment_lengths.size() + 1);
  for (const std::int32_t length : segment_lengths) {
    begin_.push_back(static_cast<int>(count));
    count += length;
    if (length < 1 || count > std::numeric_limits<int>::max())
      throw Failure("segments with too few or too many root cells");
  }
  begin_.push_back(static_cast<int>(count));
  while (std::int64_t{edge_} * edge_ * edge_ < count) ++edge_;
  places_.reserve(static_cast<std::size_t>(count));
  roots_.assign(
      static_cast<std::size_t>(edge_) * static_cast<std::size_t>(edge_) * static_cast<std::size_t>(edge_),
      -1);
  for (std::uint64_t code = 0; std::int64_t(places_.size()) < count; ++code) {
    const int x = every_third_bit(code), y = every_third_bit(code >> 1), z = every_third_bit(code >> 2);
    if (x >= edge_ || y >= edge_ || z >= edge_) continue;
    roots_[(static_cast<std::size_t>(z) * edge_ + y) * edge_ + x] = static_cast<int>(places_.size());
    places_.push_back({x, y, z});
  }
}

int Domain::root_at(int x, int y, int z) const {
  const auto inside = [this](int i) { return i >= 0 && i < edge_; };
  if (!inside(x) || !inside(y) || !inside(z)) return -1;
  return roots_[(static_cast<std::size_t>(z) * edge_ + y) * edge_ + x];
}

Share::Share(const Domain& domain, int rank, int ranks) {
  for (int segment = rank; segment < domain.segments(); segment += ranks) {
    segments_.push_back(segment);
    trees_ += domain.length(segment);
  }
}

}  // namespace amr
