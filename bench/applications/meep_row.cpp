// Meep: slices of a complex field appended to a file (src/h5fields.cpp; create_data, extend_data and
// write_chunk of src/h5file.cpp). Real and imaginary parts are datasets that grow by a slice in their last
// dimension, a chunk; a rank writes a block of it, with no property list at all.
#include <string>

#include "application_row.hpp"
#include "hdf5_program.hpp"

namespace forebay::bench {
namespace {

class MeepRow final : public Hdf5Program {
 public:
  MeepRow(const Setting& setting, bool collective_metadata)
      : Hdf5Program(setting, collective_metadata), slices_(by_size<hsize_t>(setting.size, 2, 10, 40, 100)) {
    const std::vector<int> grid = factors(setting.ranks, 2);
    const hsize_t edge = setting.size == Size::Tiny ? 8 : 100;
    int rest = setting.rank;
    for (std::size_t d = 2; d-- > 0; rest /= grid[d]) {
      shape_.insert(shape_.begin(), edge * static_cast<hsize_t>(grid[d]));
      start_.insert(start_.begin(), edge * static_cast<hsize_t>(rest % grid[d]));
    }
    count_ = {edge, edge};
    expect(shape_, count_, H5T_NATIVE_DOUBLE, static_cast<std::int64_t>(2 * slices_));
    fill();
  }

  void write() override {
    const hsize_t elements = shape_[0] * shape_[1], thickness = (128 + elements - 1) / elements;
    for (hsize_t slice = 0; slice < slices_; ++slice) {
      for (const char* name : {"ez.r", "ez.i"}) {
        if (slice == 0) {
          current_ = Hdf5Id();
          check_absent(name);
          const Hdf5Id space = make_space(with(1, shape_), with(H5S_UNLIMITED, shape_)),
                       creation = dataset_creation(with(thickness, shape_));
          current_ =
              Hdf5Id(H5Dcreate2(file(), name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                     "H5Dcreate2");
        } else {
          current_ = Hdf5Id(H5Dopen2(file(), name, H5P_DEFAULT), "H5Dopen2");
          check_hdf5(H5Dset_extent(current_, with(slice + 1, shape_).data()), "H5Dset_extent");
        }
        put(current_, H5T_NATIVE_DOUBLE, with(slice, start_), with(1, count_), H5P_DEFAULT, 2);
      }
    }
    current_ = Hdf5Id();
  }

 private:
  static Dims with(hsize_t last, Dims others) {
    others.push_back(last);
    return others;
  }
  // Meep asks by opening it.
  void check_absent(const char* name) {
    if (const hid_t found = H5Dopen2(file(), name, H5P_DEFAULT); found >= 0) H5Dclose(found);
  }

  hsize_t slices_;
  Dims shape_, start_, count_;
  Hdf5Id current_;
};

}  // namespace

std::unique_ptr<Row> make_meep_row(const Setting& setting, bool collective_metadata) {
  return std::make_unique<MeepRow>(setting, collective_metadata);
}

}  // namespace forebay::bench
