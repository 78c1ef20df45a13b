#include "plan.hpp"

#include <algorithm>
#include <array>

namespace mixed {
namespace {

// Cuts the region into a few boxes, some of which are left out.
void draw_boxes(Dice& dice, const Array& array, Box region, std::vector<Box>& boxes, int depth) {
  if (region.empty()) return;
  const auto dims = static_cast<int64_t>(region.count.size());
  if (depth < 2 && dice.one_in(2)) {
    const auto d = static_cast<std::size_t>(dice.below(dims));
    if (region.count[d] >= 2) {
      const int64_t cut = dice.between(1, region.count[d] - 1);
      Box low = region, high = region;
      low.count[d] = cut;
      high.start[d] += cut * region.stride[d];
      high.count[d] -= cut;
      draw_boxes(dice, array, low, boxes, depth + 1);
      draw_boxes(dice, array, high, boxes, depth + 1);
      return;
    }
  }
  if (depth > 0 && dice.one_in(4)) return;
  // A part of it, at times with gaps.
  for (std::size_t d = 0; d < region.count.size(); ++d) {
    if (dice.one_in(2)) continue;
    const int64_t skip = dice.below(region.count[d]);
    region.start[d] += skip * region.stride[d];
    region.count[d] = dice.between(1, region.count[d] - skip);
    if (region.stride[d] == 1 && dice.one_in(3) && !(array.grows && d == 0)) {
      region.stride[d] = dice.between(1, 4);
      region.count[d] = (region.count[d] + region.stride[d] - 1) / region.stride[d];
    }
  }
  boxes.push_back(std::move(region));
}

}  // namespace

std::unique_ptr<Array> draw_array(Dice& dice, Kind kind, int number, int64_t& next) {
  auto array = std::make_unique<Array>();
  array->name = "a" + std::to_string(number);
  array->bytes = 1 << dice.below(4);
  const int64_t dims = dice.between(1, 3);
  const int64_t most = dice.one_in(8) ? 60000 : dice.one_in(3) ? 6000 : 600;
  int64_t left = most;
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t extent =
        d + 1 == dims ? dice.between(1, left) : dice.between(1, std::min<int64_t>(left, 40));
    array->shape.push_back(extent);
    left = std::max<int64_t>(left / extent, 1);
  }
  array->big = kind != Kind::pnetcdf && dice.one_in(3);
  if (kind == Kind::pnetcdf && dice.one_in(2)) {
    array->grows = true;
    array->shape[0] = 0;
    if (array->elements() == 0 && dims == 1) array->shape = {0, dice.between(1, 60)};
  }
  if (kind == Kind::hdf5) {
    array->fills = true;
    array->unwritten = dice.between(-100, 100);
    if (dice.one_in(2)) {
      array->grows = dice.one_in(2);
      for (const int64_t extent : array->shape)
        array->chunk.push_back(std::max(dice.between(1, extent), (extent + 3) / 4));
    }
  }
  if (is_raw(kind)) {
    next += dice.one_in(3) ? 0 : dice.below(dice.one_in(4) ? 300000 : 3000);
    array->offset = next;
    next += array->elements() * array->bytes;
  }
  const int64_t first = array->shape[0];
  array->shape[0] = 0;
  array->set_extent(first);
  return array;
}

Access draw_access(Dice& dice, const Array& array, int64_t rows, int ranks, bool writing, bool together) {
  Access access;
  access.writing = writing;
  access.together = together;
  access.boxes.resize(static_cast<std::size_t>(ranks));
  Box all;
  for (std::size_t d = 0; d < array.shape.size(); ++d) {
    all.start.push_back(0);
    all.count.push_back(d == 0 ? rows : array.shape[d]);
    all.stride.push_back(1);
  }
  if (all.empty()) return access;
  auto d = static_cast<std::size_t>(dice.below(static_cast<int64_t>(all.count.size())));
  if (all.count[d] < ranks)
    d = static_cast<std::size_t>(std::max_element(all.count.begin(), all.count.end()) - all.count.begin());
  enum { blocks, cyclic, block_cyclic, one, same };
  auto style = dice.below(writing ? 4 : 5);
  if (array.grows && d == 0 && style == cyclic) style = blocks;
  const int64_t shift = dice.below(ranks), width = dice.between(1, std::max<int64_t>(all.count[d] / 8, 1));
  const bool some_idle = dice.one_in(3);
  const int64_t extent = all.count[d];
  for (int64_t rank = 0; rank < ranks; ++rank) {
    Dice own(dice.next());
    std::vector<Box>& boxes = access.boxes[static_cast<std::size_t>(rank)];
    const int64_t part = (rank + shift) % ranks;
    if (some_idle && own.one_in(2)) continue;
    Box box = all;
    switch (style) {
      case blocks:
        box.start[d] = extent * part / ranks;
        box.count[d] = extent * (part + 1) / ranks - box.start[d];
        draw_boxes(own, array, box, boxes, 0);
        break;
      case cyclic:
        box.start[d] = part;
        box.stride[d] = ranks;
        box.count[d] = part < extent ? (extent - part + ranks - 1) / ranks : 0;
        if (box.empty()) break;
        if (own.one_in(2))
          draw_boxes(own, array, box, boxes, 1);
        else
          boxes.push_back(box);
        break;
      case block_cyclic:
        for (int64_t at = part * width; at < extent && boxes.size() < 8; at += width * ranks) {
          box.start[d] = at;
          box.count[d] = std::min(width, extent - at);
          boxes.push_back(box);
        }
        break;
      case one:
        if (part == 0) draw_boxes(own, array, box, boxes, 0);
        break;
      default:
        boxes.push_back(box);
    }
  }
  return access;
}

std::string draw_hints(Dice& dice) {
  static constexpr std::array sizes{"",
                                    "",
                                    "forebay_stripe_bytes=512;forebay_window_bytes=2k;",
                                    "forebay_stripe_bytes=4k;forebay_window_bytes=16k;",
                                    "forebay_stripe_bytes=64k;",
                                    "forebay_segment_bytes=512;forebay_segments=2;",
                                    "forebay_segment_bytes=1000;forebay_segments=3;",
                                    "forebay_memory_bytes=64k;",
                                    "striping_unit=8192;cb_nodes=2;"};
  static constexpr std::array pools{"",
                                    "",
                                    "forebay_pool_bytes=2k;",
                                    "forebay_pool_bytes=16k;",
                                    "forebay_pool_bytes=1m;",
                                    "forebay_commit_seconds=0;"};
  static constexpr std::array modes{"", "forebay_mode=strict;", "forebay_mode=commit;"};
  static constexpr std::array others{"",
                                     "",
                                     "forebay_bypass_bytes=256;",
                                     "forebay_bypass_bytes=4k;",
                                     "forebay_delay_usec=50;",
                                     "forebay_aggregators_per_node=1;",
                                     "forebay_metadata=collective;",
                                     "forebay_storage=mpiio;",
                                     "forebay_storage=posix;"};
  static constexpr std::array nodes{"",
                                    "",
                                    "",
                                    "forebay_ranks_per_node=1;",
                                    "forebay_ranks_per_node=2;",
                                    "forebay_ranks_per_node=2;forebay_link=message;",
                                    "forebay_ranks_per_node=1;forebay_link=put;"};
  std::string hints = dice.pick(sizes);
  hints += dice.pick(pools);
  hints += dice.pick(modes);
  hints += dice.pick(others);
  hints += dice.pick(nodes);
  return hints;
}

}  // namespace mixed
