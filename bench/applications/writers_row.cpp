// Small writers that are no program's in particular: a checkpoint of many datasets, of which each rank has a
// slab; and particles, whose properties grow by some of each rank's every step.
#include <fmt/format.h>

#include "application_row.hpp"
#include "hdf5_program.hpp"

namespace forebay::bench {
namespace {

class CheckpointRow final : public Hdf5Program {
 public:
  CheckpointRow(const Setting& setting, bool collective_metadata)
      : Hdf5Program(setting, collective_metadata), datasets_(by_size(setting.size, 4, 200, 800, 2000)) {
    expect(shape(), {doubles}, H5T_NATIVE_DOUBLE, datasets_);
    fill();
  }

  void write() override {
    const Hdf5Id transfer = make_transfer(H5FD_MPIO_INDEPENDENT);
    for (int i = 0; i < datasets_; ++i) {
      const Hdf5Id space = make_space(shape());
      const Hdf5Id dataset(H5Dcreate2(file(), fmt::format("field_{:04}", i).c_str(), H5T_NATIVE_DOUBLE, space,
                                      H5P_DEFAULT, dataset_creation(), H5P_DEFAULT),
                           "H5Dcreate2");
      const double time = 0.1;
      put_attribute(dataset, "time", H5T_NATIVE_DOUBLE, &time);
      put(dataset, H5T_NATIVE_DOUBLE, {doubles * static_cast<hsize_t>(setting().rank)}, {doubles}, transfer);
    }
  }

 private:
  static constexpr hsize_t doubles = 512;
  Dims shape() const { return {doubles * static_cast<hsize_t>(setting().ranks)}; }

  int datasets_;
};

class ParticlesRow final : public Hdf5Program {
 public:
  ParticlesRow(const Setting& setting, bool collective_metadata)
      : Hdf5Program(setting, collective_metadata),
        steps_(by_size<hsize_t>(setting.size, 4, 200, 1000, 4000)) {
    expect({doubles * static_cast<hsize_t>(setting.ranks)}, {doubles}, H5T_NATIVE_DOUBLE,
           static_cast<std::int64_t>(properties * steps_));
    fill();
  }

  void write() override {
    const Hdf5Id transfer = make_transfer(H5FD_MPIO_INDEPENDENT);
    const hsize_t more = doubles * static_cast<hsize_t>(setting().ranks);
    Hdf5Id datasets[properties];
    for (std::size_t i = 0; i < properties; ++i) {
      const Hdf5Id space = make_space({0}, {H5S_UNLIMITED}), creation = dataset_creation({4096});
      datasets[i] = Hdf5Id(H5Dcreate2(file(), fmt::format("property_{}", i).c_str(), H5T_NATIVE_DOUBLE, space,
                                      H5P_DEFAULT, creation, H5P_DEFAULT),
                           "H5Dcreate2");
    }
    for (hsize_t step = 0; step < steps_; ++step) {
      for (const Hdf5Id& dataset : datasets) {
        const hsize_t extent = (step + 1) * more;
        check_hdf5(H5Dset_extent(dataset, &extent), "H5Dset_extent");
        put(dataset, H5T_NATIVE_DOUBLE, {step * more + doubles * static_cast<hsize_t>(setting().rank)},
            {doubles}, transfer);
      }
    }
  }

 private:
  static constexpr std::size_t properties = 4;
  static constexpr hsize_t doubles = 8;

  hsize_t steps_;
};

}  // namespace

std::unique_ptr<Row> make_checkpoint_row(const Setting& setting, bool collective_metadata) {
  return std::make_unique<CheckpointRow>(setting, collective_metadata);
}

std::unique_ptr<Row> make_particles_row(const Setting& setting, bool collective_metadata) {
  return std::make_unique<ParticlesRow>(setting, collective_metadata);
}

}  // namespace forebay::bench
