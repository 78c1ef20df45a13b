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

// The same, some of it a call: each rank by itself and more than commit mode keeps, or all with gaps between
// them that nobody writes.
class CallsRow final : public Hdf5Row {
 public:
  CallsRow(const Setting& setting, const Form& form, bool gaps) : Hdf5Row(form) {
    const hsize_t calls = 32, block = 2,
                  stride = block * static_cast<hsize_t>(setting.ranks + (gaps ? 1 : 0));
    const std::int64_t bytes = gaps ? by_size<std::int64_t>(setting.size, 4096, 512 << 10, 1 << 20, 4 << 20)
                                    : by_size<std::int64_t>(setting.size, 4096, 5 << 20, 6 << 20, 12 << 20);
    const hsize_t parts = static_cast<hsize_t>(bytes) / (8 * block * calls) + 1;
    const std::vector<hsize_t> shape = {calls * parts * stride};
    const std::size_t values = add_dataset("values", H5T_NATIVE_DOUBLE, shape);
    for (hsize_t call = 0; call < calls; ++call) {
      const hsize_t start = call * parts * stride + static_cast<hsize_t>(setting.rank) * block;
      std::shared_ptr<Hdf5Id> selection = select_nothing(shape);
      check_hdf5(H5Sselect_hyperslab(*selection, H5S_SELECT_SET, &start, &stride, &parts, &block),
                 "H5Sselect_hyperslab");
      add_write(values, selection, static_cast<std::int64_t>(parts));
      next_call();
    }
    fill(setting);
  }
};

}  // namespace

std::unique_ptr<Row> make_calls_row(const Setting& setting, const Form& form, bool independent) {
  Form of_row = form;
  if (independent) of_row.transfer = Transfer::Independent;
  return std::make_unique<CallsRow>(setting, of_row, !independent);
}

std::unique_ptr<Row> make_stride_row(const Setting& setting, const Form& form, int doubles) {
  return std::make_unique<StrideRow>(setting, form, doubles);
}

}  // namespace forebay::bench
