#include "selection.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace test {
namespace {

struct Box {
  std::vector<hsize_t> start, stride, count;
};

struct Share {
  hsize_t low, high;
};

Share share_of(hsize_t length, int rank, int ranks) {
  const auto n = static_cast<hsize_t>(ranks);
  const auto r = static_cast<hsize_t>(rank);
  return {length * r / n, length * (r + 1) / n};
}

hsize_t below(Dice& dice, hsize_t n) {
  return static_cast<hsize_t>(dice.below(static_cast<std::int64_t>(n)));
}

/// A box of at least one element in [low, high) of dimension `dim`, anywhere in the others; strided at times.
Box draw_box(Dice& dice, const DatasetModel& set, std::size_t dim, Share share) {
  Box box;
  for (std::size_t d = 0; d < set.rank(); ++d) {
    const Share range = d == dim ? share : Share{0, set.dims[d]};
    const hsize_t start = dice.one_in(2) ? range.low : range.low + below(dice, range.high - range.low);
    const hsize_t stride = dice.one_in(4) ? 1 + below(dice, 4) : 1;
    const hsize_t most = (range.high - start + stride - 1) / stride;
    box.start.push_back(start);
    box.stride.push_back(stride);
    box.count.push_back(dice.one_in(2) ? most : 1 + below(dice, most));
  }
  return box;
}

void add(hid_t space, H5S_seloper_t how, const Box& box) {
  CHECK(H5Sselect_hyperslab(space, how, box.start.data(), box.stride.data(), box.count.data(), nullptr) >= 0);
}

/// Every ranks-th block of dimension `dim`.
void select_blocks(hid_t space, Dice& dice, const DatasetModel& set, const Plan& plan, int rank, int ranks) {
  Box box = draw_box(dice, set, plan.dim, {0, set.dims[plan.dim]});
  const hsize_t first = static_cast<hsize_t>(rank) * plan.block;
  const hsize_t period = static_cast<hsize_t>(ranks) * plan.block;
  const hsize_t length = set.dims[plan.dim];
  if (length < first + plan.block) {
    H5Sselect_none(space);
    return;
  }
  box.start[plan.dim] = first;
  box.stride[plan.dim] = period;
  box.count[plan.dim] = (length - first - plan.block) / period + 1;
  std::vector<hsize_t> block(set.rank(), 1);
  block[plan.dim] = plan.block;
  CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, box.start.data(), box.stride.data(), box.count.data(),
                            block.data()) >= 0);
}

void select_points(hid_t space, Dice& dice, const DatasetModel& set, const Plan& plan, Share share) {
  std::set<std::vector<hsize_t>> seen;
  std::vector<hsize_t> list;
  hsize_t count = 0;
  for (std::int64_t n = dice.between(1, 40); n > 0; --n) {
    std::vector<hsize_t> point;
    for (std::size_t d = 0; d < set.rank(); ++d) {
      point.push_back(d == plan.dim ? share.low + below(dice, share.high - share.low)
                                    : below(dice, set.dims[d]));
    }
    if (!seen.insert(point).second && !plan.repeated) continue;
    list.insert(list.end(), point.begin(), point.end());
    ++count;
  }
  CHECK(H5Sselect_elements(space, H5S_SELECT_SET, count, list.data()) >= 0);
}

}  // namespace

Plan draw_plan(Dice& all, const DatasetModel& set, int ranks, bool writing) {
  Plan plan;
  plan.style = static_cast<Style>(all.below(static_cast<int>(Style::one) + 1));
  plan.dim = static_cast<std::size_t>(all.below(static_cast<std::int64_t>(set.rank())));
  plan.block = static_cast<hsize_t>(all.between(2, 4));
  if (all.one_in(3)) plan.idle = static_cast<std::uint32_t>(all.below(1 << ranks));
  plan.shift = static_cast<int>(all.below(ranks));
  plan.repeated = !writing;
  plan.seed = all.next();
  if (set.layout == Layout::compact && writing) {  // it is metadata: all ranks have to do the same
    plan.style = Style::same;
    plan.idle = 0;
  }
  return plan;
}

Id select(const Plan& plan, const DatasetModel& set, int rank, int ranks) {
  Id extent(H5Screate_simple(static_cast<int>(set.rank()), set.dims.data(), set.most.data()));
  const int part = (rank + plan.shift) % ranks;
  const bool empty = std::find(set.dims.begin(), set.dims.end(), hsize_t{0}) != set.dims.end();
  if (empty || ((plan.idle >> rank) & 1u) != 0) {
    H5Sselect_none(extent);
    return extent;
  }
  if (plan.whole) {
    H5Sselect_all(extent);
    return extent;
  }
  const Share share = share_of(set.dims[plan.dim], part, ranks);
  if (plan.style == Style::same) {
    Dice dice(plan.seed);
    add(extent, H5S_SELECT_SET, draw_box(dice, set, plan.dim, {0, set.dims[plan.dim]}));
    return extent;
  }
  if (plan.style == Style::one) {
    if (part == 0) {
      H5Sselect_all(extent);
    } else {
      H5Sselect_none(extent);
    }
    return extent;
  }
  Dice dice(plan.seed ^ (static_cast<std::uint64_t>(part + 1) * 0x51ED270B0A1u));
  if (plan.style == Style::cyclic || plan.style == Style::blocks) {
    Plan own = plan;
    if (plan.style == Style::cyclic) own.block = 1;
    select_blocks(extent, dice, set, own, part, ranks);
    return extent;
  }
  if (share.low >= share.high) {
    H5Sselect_none(extent);
    return extent;
  }
  if (plan.style == Style::points) {
    select_points(extent, dice, set, plan, share);
    return extent;
  }
  Box box = draw_box(dice, set, plan.dim, share);
  if (plan.style == Style::unions) box.stride.assign(set.rank(), 1);
  add(extent, H5S_SELECT_SET, box);
  if (plan.style == Style::unions) {
    constexpr std::array how{H5S_SELECT_OR, H5S_SELECT_XOR, H5S_SELECT_NOTB};
    for (std::int64_t n = dice.between(1, 2); n > 0; --n) {
      box = draw_box(dice, set, plan.dim, share);
      box.stride.assign(set.rank(), 1);
      add(extent, dice.pick(how), box);
    }
  }
  return extent;
}

Memory draw_memory(Dice& mine, const ElementType& type, std::size_t count) {
  constexpr auto pattern = std::byte{0xA5};
  Memory memory;
  if (count == 0) {
    memory.space = space({4});
    H5Sselect_none(memory.space);
    memory.bytes.assign(4 * type.size, pattern);
    return memory;
  }
  memory.places.resize(count);
  const std::int64_t kind = mine.below(4);
  const auto stride = static_cast<std::size_t>(kind == 1 ? mine.between(2, 3) : 1);
  const auto before = static_cast<std::size_t>(kind == 0 ? 0 : mine.below(5));
  const std::size_t all =
      before + (count - 1) * stride + 1 + static_cast<std::size_t>(kind == 0 ? 0 : mine.below(3));
  memory.space = space({all});
  std::iota(memory.places.begin(), memory.places.end(), std::size_t{0});
  for (std::size_t& place : memory.places) place = before + place * stride;
  if (kind == 1 || kind == 2) {
    const hsize_t start = before, by = stride, n = count;
    CHECK(H5Sselect_hyperslab(memory.space, H5S_SELECT_SET, &start, &by, &n, nullptr) >= 0);
  } else if (kind == 3) {
    for (std::size_t i = count; i > 1; --i)
      std::swap(memory.places[i - 1],
                memory.places[static_cast<std::size_t>(mine.below(static_cast<std::int64_t>(i)))]);
    const std::vector<hsize_t> points(memory.places.begin(), memory.places.end());
    CHECK(H5Sselect_elements(memory.space, H5S_SELECT_SET, points.size(), points.data()) >= 0);
  }
  // With as much room behind: HDF5's own driver zeroes what it misses past the end of the file also there.
  memory.bytes.reserve(2 * all * type.size);
  memory.bytes.assign(all * type.size, pattern);
  return memory;
}

}  // namespace test
