// One dataset whose parts, of some doubles each, are dealt out to the ranks in turn: one strided hyperslab.
#include "box.hpp"
#include "hdf5_row.hpp"

namespace forebay::bench {
namespace {

class StrideRow final : public Hdf5Row {
 public:
  StrideRow(const Setting& setting, const Form& form, int doubles) : Hdf5Row(form) {
    const auto block = static_cast<hsize_t>(doubles), ranks = static_cast<hsize_t>(setting.ranks);
    const hsize_t parts =
        by_size<hsize_t>(setting.size, 512, 32 << 10, 256 << 10, 1 << 20) / (block == 1 ? 1 : 8);
    const hsize_t start = static_cast<hsize_t>(setting.rank) * block, stride = ranks * block;
    const std::vector<hsize_t> shape = {parts * stride};
    std::shared_ptr<Hdf5Id> selection = select_nothing(shape);
    check_hdf5(H5Sselect_hyperslab(*selection, H5S_SELECT_SET, &start, &stride, &parts, &block),
               "H5Sselect_hyperslab");
    add_write(add_dataset("values", H5T_NATIVE_DOUBLE, shape), selection, static_cast<std::int64_t>(parts));
    fill(setting);
  }
};

}  // namespace

std::unique_ptr<Row> make_stride_row(const Setting& setting, const Form& form, int doubles) {
  return std::make_unique<StrideRow>(setting, form, doubles);
}

}  // namespace forebay::bench
