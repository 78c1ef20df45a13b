// Choosing how many owners there are, and how large a round is.
#include "layout/file_domains.hpp"

#include <algorithm>

namespace forebay {

// Owners and stripes both go by turns. So where one of the two numbers divides the other, a storage target's
// stripes have as few owners as can be: one, or each of a few its own targets. That is worth some owners, but
// not more than half of them: with 6 of them and 7 targets only one owner would be left.
int OwnerSet::count(std::int64_t factor) const {
  const int most = (owning.empty() ? nodes : static_cast<int>(owning.size())) * rails;
  if (factor <= 0) return most;
  if (factor <= most) return static_cast<int>(most / factor * factor);
  for (int owners = most; 2 * owners >= most; --owners) {
    if (factor % owners == 0) return owners;
  }
  return most;
}

namespace {

constexpr std::int64_t page = 4096;

// Rounds that divide the stripe meet its ends, each time; others drift across them, and then most writes
// begin or end within a stripe. Only a stripe that no file system has, of an odd number of pages, has no
// divisor that is worth the barrier of a round; then the parts are nearly equal, and the last of them are
// cut.
std::int64_t part_of(std::int64_t stripe, std::int64_t most) {
  constexpr std::int64_t worth_it = 64 << 10;
  most = most / page * page;
  for (std::int64_t part = most; part >= std::max(page, std::min(worth_it, most / 8)); part -= page) {
    if (stripe % part == 0) return part;
  }
  const std::int64_t parts = (stripe + most - 1) / most;
  return std::min(most, ((stripe + parts - 1) / parts + page - 1) / page * page);
}

}  // namespace

bool FileDomains::owns(const Owner& one) const {
  int nodes = set_.nodes, place = one.node;
  if (!set_.owning.empty()) {
    nodes = static_cast<int>(set_.owning.size());
    place = static_cast<int>(std::ranges::find(set_.owning, one.node) - set_.owning.begin());
  }
  return one.rail >= 0 && place < nodes && one.rail * nodes + place < owners_;
}

std::int64_t choose_round_bytes(std::int64_t stripe, int owners, std::int64_t wanted, std::int64_t most) {
  // Below that the barrier of a round shows; above, the pages that every rank touches for the first time.
  constexpr std::int64_t least = std::int64_t{1} << 20;
  most = std::max(page, most / page * page);
  std::int64_t size = wanted > 0 ? wanted : std::max(stripe * owners, least);
  size = std::min(size, most);
  if (size >= stripe) {
    // Whole stripes, and a page multiple also for odd stripes: take as many stripes as keep both.
    std::int64_t step = stripe;
    while (step % page != 0) step += step;
    return step <= size ? size / step * step : std::max(page, size / page * page);
  }
  return part_of(stripe, std::max(page, size));
}

}  // namespace forebay
