// A plain restart file by HDF5: a group a step, in it the fields of a grid in blocks, a collective call a
// dataset, and a flush when the step is complete.
#include <fmt/format.h>

#include "applications/hdf5_program.hpp"
#include "checkpoint_row.hpp"

namespace forebay::bench {
namespace {

constexpr const char* fields[] = {"density",    "momentum_x", "momentum_y",
                                  "momentum_z", "energy",     "magnetic_x"};

class RestartRow final : public Hdf5Program {
 public:
  explicit RestartRow(const Setting& setting)
      : Hdf5Program(setting, false), transfer_(make_transfer(H5FD_MPIO_COLLECTIVE)) {
    const auto points = by_size<std::int64_t>(setting.size, 8, 40, 64, 96);
    const std::vector<int> parts = factors(setting.ranks, 3);
    int place = setting.rank;
    for (int d = 2; d >= 0; --d) {
      const int of = parts[static_cast<std::size_t>(d)];
      const Slab slab(points, place % of, of);
      place /= of;
      shape_.insert(shape_.begin(), static_cast<hsize_t>(points));
      start_.insert(start_.begin(), slab.begin);
      count_.insert(count_.begin(), slab.length);
    }
    expect(shape_, count_, H5T_NATIVE_DOUBLE, static_cast<std::int64_t>(std::size(fields)) * setting.steps);
    fill();
  }

  void write() override {
    for (int step = 0; step < setting().steps; ++step) {
      if (setting().before_step) setting().before_step();
      const Hdf5Id group(
          H5Gcreate2(file(), fmt::format("step_{:04}", step).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
          "H5Gcreate2");
      const double time = 0.25 * step;
      put_attribute(group, "time", H5T_NATIVE_DOUBLE, &time);
      const Hdf5Id space = make_space(shape_), creation = dataset_creation();
      for (const char* field : fields) {
        const Hdf5Id dataset(
            H5Dcreate2(group, field, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT),
            "H5Dcreate2");
        put(dataset, H5T_NATIVE_DOUBLE, start_, count_, transfer_);
      }
      check_hdf5(H5Fflush(file(), H5F_SCOPE_GLOBAL), "H5Fflush");
    }
  }

 private:
  Hdf5Id transfer_;
  Dims shape_, start_, count_;
};

}  // namespace

std::unique_ptr<Row> make_restart_row(const Setting& setting) {
  return std::make_unique<RestartRow>(setting);
}

}  // namespace forebay::bench
