// ADIOS2's HDF5 engine (source/adios2/engine/hdf5/HDF5WriterP.cpp,
// source/adios2/toolkit/interop/hdf5/HDF5Common.tcc and .cpp): a group a step, in it a dataset a variable,
// made and closed with its put, of which every rank has columns. Nothing is flushed.
#include <fmt/format.h>

#include "application_row.hpp"
#include "hdf5_program.hpp"

namespace forebay::bench {
namespace {

class Adios2Row final : public Hdf5Program {
 public:
  Adios2Row(const Setting& setting, bool collective_metadata, int row_bytes, int steps)
      : Hdf5Program(setting, collective_metadata),
        steps_(setting.size == Size::Tiny ? 3 : steps),
        transfer_(make_transfer(H5FD_MPIO_INDEPENDENT)) {
    const auto columns = static_cast<hsize_t>(row_bytes / 8);
    // No file takes longer than a second for its size alone.
    const int total = row_bytes * steps;
    const hsize_t rows =
        by_size<hsize_t>(setting.size, 4, 32, 64, 128) * (total < 40000 ? 2 : 1) / (total > 400000 ? 2 : 1);
    shape_ = {rows, columns * static_cast<hsize_t>(setting.ranks)};
    start_ = {0, columns * static_cast<hsize_t>(setting.rank)};
    count_ = {rows, columns};
    expect(shape_, count_, H5T_NATIVE_DOUBLE, steps_);
    fill();
  }

  void write() override {
    Hdf5Id group = make_group(0);
    for (int step = 0; step < steps_; ++step) {
      if (step > 0) group = make_group(step);
      {
        const Hdf5Id space = make_space(shape_);
        check_hdf5(H5Lexists(group, "T0", H5P_DEFAULT), "H5Lexists");
        const Hdf5Id dataset(
            H5Dcreate2(group, "T0", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, dataset_creation(), H5P_DEFAULT),
            "H5Dcreate2");
        put(dataset, H5T_NATIVE_DOUBLE, start_, count_, transfer_);
      }
      check_hdf5(H5Gclose(group.release()), "H5Gclose");
    }
    const auto steps = static_cast<std::uint64_t>(steps_);
    if (check_hdf5(H5Aexists(file(), "NumSteps"), "H5Aexists") == 0)
      put_attribute(file(), "NumSteps", H5T_NATIVE_UINT64, &steps);
  }

 private:
  Hdf5Id make_group(int step) {
    return Hdf5Id(
        H5Gcreate2(file(), fmt::format("/Step{}", step).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        "H5Gcreate2");
  }

  int steps_;
  Hdf5Id transfer_;
  Dims shape_, start_, count_;
};

}  // namespace

std::unique_ptr<Row> make_adios2_row(const Setting& setting, bool collective_metadata, int row_bytes,
                                     int steps) {
  return std::make_unique<Adios2Row>(setting, collective_metadata, row_bytes, steps);
}

}  // namespace forebay::bench
