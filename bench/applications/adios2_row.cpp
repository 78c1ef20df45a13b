// ADIOS2's HDF5 engine (source/adios2/engine/hdf5/HDF5WriterP.cpp,
// source/adios2/toolkit/interop/hdf5/HDF5Common.tcc and .cpp): a group a step, in it a dataset a variable,
// made and closed with its put. Every rank has columns of an array, and writes the number of the step.
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
    const hsize_t rows = by_size<hsize_t>(setting.size, 4, 32, 64, 128) / (row_bytes > 512 ? 2 : 1);
    shape_ = {rows, columns * static_cast<hsize_t>(setting.ranks)};
    start_ = {0, columns * static_cast<hsize_t>(setting.rank)};
    count_ = {rows, columns};
    expect(shape_, count_, H5T_NATIVE_DOUBLE, steps_);
    if (setting.rank == 0) tally(steps_, steps_ * static_cast<std::int64_t>(sizeof(int)));
    fill();
  }

  void write() override {
    Hdf5Id group = make_group(0);
    for (int step = 0; step < steps_; ++step) {
      if (step > 0) group = make_group(step);
      {
        const Hdf5Id space = make_space(shape_), dataset = make_dataset(group, "T", H5T_NATIVE_DOUBLE, space);
        put(dataset, H5T_NATIVE_DOUBLE, start_, count_, transfer_);
      }
      {
        const int number = 0x01010101 + step % 200;
        const Hdf5Id space(H5Screate(H5S_SCALAR), "H5Screate"),
            dataset = make_dataset(group, "step", H5T_NATIVE_INT, space);
        check_hdf5(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer_, &number), "H5Dwrite");
      }
      check_hdf5(H5Gclose(group.release()), "H5Gclose");
      write_attributes();
    }
    write_attributes();
    const std::uint64_t steps = static_cast<std::uint64_t>(steps_);
    if (check_hdf5(H5Aexists(file(), "NumSteps"), "H5Aexists") == 0)
      put_attribute(file(), "NumSteps", H5T_NATIVE_ULONG, &steps);
  }

 private:
  Hdf5Id make_group(int step) {
    return Hdf5Id(
        H5Gcreate2(file(), fmt::format("/Step{}", step).c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        "H5Gcreate2");
  }

  Hdf5Id make_dataset(hid_t group, const char* name, hid_t type, hid_t space) {
    check_hdf5(H5Lexists(group, name, H5P_DEFAULT), "H5Lexists");
    return Hdf5Id(H5Dcreate2(group, name, type, space, H5P_DEFAULT, dataset_creation(), H5P_DEFAULT),
                  "H5Dcreate2");
  }

  // Those that are not there yet, at the end of each step.
  void write_attributes() {
    for (const char* name : {"Du", "Dv", "F", "dt", "k", "noise"}) {
      const double value = 0.1;
      if (check_hdf5(H5Aexists(file(), name), "H5Aexists") == 0)
        put_attribute(file(), name, H5T_NATIVE_DOUBLE, &value);
    }
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
