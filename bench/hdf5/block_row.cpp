// Arrays of double cut into blocks, one a rank; contiguous, or in chunks that the blocks do not respect.
#include <fmt/format.h>

#include <algorithm>

#include "box.hpp"
#include "hdf5_row.hpp"

namespace forebay::bench {
namespace {

// How many contiguous parts the box has in chunks of `edge` elements in each dimension.
std::int64_t runs_in_chunks(const Box& box, hsize_t edge) {
  const std::size_t dimensions = box.start.size();
  const std::vector<hsize_t> chunk(dimensions, edge);
  std::vector<hsize_t> at(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) at[d] = box.start[d] / edge;
  std::int64_t runs = 0;
  for (;;) {
    Box part{box.start, box.count};
    for (std::size_t d = 0; d < dimensions; ++d) {
      part.start[d] = std::max(box.start[d], at[d] * edge);
      part.count[d] = std::min(box.start[d] + box.count[d], (at[d] + 1) * edge) - part.start[d];
    }
    runs += part.runs(chunk);
    std::size_t d = dimensions;
    while (d > 0 && ++at[d - 1] * edge >= box.start[d - 1] + box.count[d - 1]) {
      at[d - 1] = box.start[d - 1] / edge;
      --d;
    }
    if (d == 0) return runs;
  }
}

class BlockRow final : public Hdf5Row {
 public:
  BlockRow(const Setting& setting, const Form& form, const Blocks& blocks) : Hdf5Row(form) {
    const std::vector<int> grid = factors(setting.ranks, blocks.dimensions);
    const std::size_t dimensions = grid.size();
    std::vector<hsize_t> shape(dimensions);
    Box box{std::vector<hsize_t>(dimensions), std::vector<hsize_t>(dimensions)};
    int rest = setting.rank;
    for (std::size_t d = dimensions; d-- > 0; rest /= grid[d]) {
      const std::int64_t length = blocks.chunked ? blocks.edge : blocks.edge * grid[d];
      const Range range = part_of(length, rest % grid[d], grid[d]);
      shape[d] = static_cast<hsize_t>(length);
      box.start[d] = static_cast<hsize_t>(range.begin);
      box.count[d] = static_cast<hsize_t>(range.length());
    }
    // Whole chunks, lest their rims hold what nobody wrote; a third or a fifth of the array, which no block
    // is.
    const hsize_t chunk = static_cast<hsize_t>(blocks.edge) / (blocks.edge % 5 == 0 ? 5 : 3);
    const std::size_t layout =
        blocks.chunked ? add_layout(std::vector<hsize_t>(dimensions, chunk), blocks.level) : 0;
    const std::int64_t pieces =
        blocks.chunked && box.elements() > 0 ? runs_in_chunks(box, chunk) : box.runs(shape);
    const std::shared_ptr<Hdf5Id> selection = select_box(shape, box);
    for (int i = 0; i < blocks.variables; ++i)
      add_write(add_dataset(fmt::format("variable_{:02}", i), H5T_NATIVE_DOUBLE, shape, layout), selection,
                pieces);
    // Deflate has to find something.
    fill(setting, blocks.level > 0 ? 4 : 1);
  }
};

}  // namespace

std::unique_ptr<Row> make_block_row(const Setting& setting, const Form& form, const Blocks& blocks) {
  Form used = form;
  // Filtered chunks are written collectively or not at all; their places in the file follow the calls, so
  // that H5Dwrite_multi would make another file.
  if (blocks.level > 0) used.transfer = Transfer::Collective;
  return std::make_unique<BlockRow>(setting, used, blocks);
}

}  // namespace forebay::bench
