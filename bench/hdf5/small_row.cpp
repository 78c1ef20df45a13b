// Many small independent writes into one dataset: records of 64 to 1000 bytes, each rank's between the
// others'.
#include <random>

#include "box.hpp"
#include "hdf5_row.hpp"

namespace forebay::bench {
namespace {

class SmallRow final : public Hdf5Row {
 public:
  SmallRow(const Setting& setting, const Form& form) : Hdf5Row(form) {
    std::mt19937 lot(1999);
    std::vector<Box> mine;
    hsize_t total = 0;
    for (int i = 0; i < by_size(setting.size, 16, 1000, 4000, 8000); ++i) {
      for (int rank = 0; rank < setting.ranks; ++rank) {
        const hsize_t size = 8 + lot() % 118;
        if (rank == setting.rank) mine.push_back({{total}, {size}});
        total += size;
      }
    }
    const std::vector<hsize_t> shape = {total};
    const std::size_t records = add_dataset("records", H5T_NATIVE_DOUBLE, shape);
    for (const Box& box : mine) add_write(records, select_box(shape, box), 1);
    fill(setting);
  }
};

}  // namespace

std::unique_ptr<Row> make_small_row(const Setting& setting, const Form& form) {
  Form independent = form;
  independent.transfer = Transfer::Independent;
  return std::make_unique<SmallRow>(setting, independent);
}

}  // namespace forebay::bench
