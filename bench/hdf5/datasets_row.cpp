// Many small datasets: 64 rows of ints, of which each rank has 12 columns, 48 bytes.
#include <fmt/format.h>

#include "box.hpp"
#include "hdf5_row.hpp"

namespace forebay::bench {
namespace {

constexpr hsize_t rows = 64, columns = 12;

class DatasetsRow final : public Hdf5Row {
 public:
  DatasetsRow(const Setting& setting, const Form& form) : Hdf5Row(form) {
    const std::vector<hsize_t> shape = {rows, columns * static_cast<hsize_t>(setting.ranks)};
    const Box box{{0, columns * static_cast<hsize_t>(setting.rank)}, {rows, columns}};
    const std::shared_ptr<Hdf5Id> selection = select_box(shape, box);
    for (int i = 0; i < by_size(setting.size, 8, 256, 256, 1024); ++i)
      add_write(add_dataset(fmt::format("field_{:04}", i), H5T_NATIVE_INT, shape), selection,
                box.runs(shape));
    fill(setting);
  }
};

}  // namespace

std::unique_ptr<Row> make_datasets_row(const Setting& setting, const Form& form) {
  return std::make_unique<DatasetsRow>(setting, form);
}

}  // namespace forebay::bench
