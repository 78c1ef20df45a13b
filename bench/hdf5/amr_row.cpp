// A block-structured adaptive mesh as its codes write it: levels of boxes of many sizes, a box's cells in one
// piece, one component a dataset. Boxes are dealt to the ranks by lot, the same for any peer.
#include <fmt/format.h>

#include <random>

#include "box.hpp"
#include "hdf5_row.hpp"

namespace forebay::bench {
namespace {

class AmrRow final : public Hdf5Row {
 public:
  AmrRow(const Setting& setting, const Form& form) : Hdf5Row(form) {
    std::mt19937 lot(20011);
    const auto edge = [&] { return 2 * (1 + lot() % 6); };  // 2 to 12 cells
    const auto ranks = static_cast<std::uint32_t>(setting.ranks);
    const std::uint32_t boxes = by_size<std::uint32_t>(setting.size, 4, 24, 48, 96) * ranks;
    const int components = by_size(setting.size, 2, 6, 8, 8);
    for (int level = 0; level < by_size(setting.size, 2, 3, 4, 4); ++level) {
      std::vector<Box> mine;
      hsize_t cells = 0;
      for (std::uint32_t box = 0; box < boxes << level; ++box) {
        const hsize_t size = hsize_t{edge()} * edge() * edge();
        if (lot() % ranks == static_cast<std::uint32_t>(setting.rank)) mine.push_back({{cells}, {size}});
        cells += size;
      }
      const std::vector<hsize_t> shape = {cells};
      const std::shared_ptr<Hdf5Id> selection = select_nothing(shape);
      for (const Box& box : mine) select_also(*selection, box);
      for (int component = 0; component < components; ++component)
        add_write(
            add_dataset(fmt::format("level_{}_component_{}", level, component), H5T_NATIVE_DOUBLE, shape),
            selection, static_cast<std::int64_t>(mine.size()));
    }
    fill(setting);
  }
};

}  // namespace

std::unique_ptr<Row> make_amr_row(const Setting& setting, const Form& form) {
  return std::make_unique<AmrRow>(setting, form);
}

}  // namespace forebay::bench
