// By HDF5. Nothing in the file depends on the time.
#include <hdf5.h>
#include <mpi.h>

#include <array>
#include <cstdio>

#include "library.hpp"

namespace faults {
namespace {

constexpr std::array<const char*, kArrays> kNames{"u", "v"};

class Hdf5 final : public Library {
 public:
  bool create(const std::string& path) override {
    const hid_t access = access_list();
    file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (file_ < 0) return false;
    bool good = true;
    for (std::size_t a = 0; a < kArrays; ++a) {
      sets_[a] = make_set(kNames[a], H5D_FILL_TIME_IFSET);
      good = sets_[a] >= 0 && good;
    }
    if (good) locate();
    if (!good) (void)close();
    return good;
  }

  bool open(const std::string& path) override {
    const hid_t access = access_list();
    file_ = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
    H5Pclose(access);
    if (file_ < 0) return false;
    bool good = true;
    for (std::size_t a = 0; a < kArrays; ++a) {
      sets_[a] = H5Dopen2(file_, kNames[a], H5P_DEFAULT);
      good = sets_[a] >= 0 && good;
    }
    if (good) locate();
    if (!good) (void)close();
    return good;
  }

  bool be_alone(bool) override { return true; }

  bool write(Way way, const Part& part) override {
    const hsize_t start[] = {hsize_t(part.first_row), hsize_t(part.first_column)};
    const hsize_t stride[] = {hsize_t(part.row_step), hsize_t(part.column_step)};
    const hsize_t count[] = {hsize_t(part.rows), hsize_t(part.columns)};
    const hid_t transfer = transfer_list(way), memory = H5Screate_simple(2, count, nullptr);
    const hsize_t dims[] = {kRows, kColumns};
    const hid_t space = H5Screate_simple(2, dims, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, nullptr);
    bool good = true;
    std::array<std::vector<std::int32_t>, kArrays> values;
    for (std::size_t a = 0; a < kArrays; ++a) values[a] = values_of(part, static_cast<int>(a));
    if (way == Way::pending) {
      std::array<hid_t, kArrays> sets = sets_, types{}, memories{}, spaces{};
      std::array<const void*, kArrays> data{};
      types.fill(H5T_NATIVE_INT), memories.fill(memory), spaces.fill(space);
      for (std::size_t a = 0; a < kArrays; ++a) data[a] = values[a].data();
      good = H5Dwrite_multi(kArrays, sets.data(), types.data(), memories.data(), spaces.data(), transfer,
                            data.data()) >= 0;
    } else {
      for (std::size_t a = 0; a < kArrays; ++a)
        good = H5Dwrite(sets_[a], H5T_NATIVE_INT, memory, space, transfer, values[a].data()) >= 0 && good;
    }
    H5Sclose(space), H5Sclose(memory), H5Pclose(transfer);
    return good;
  }

  bool read(Way way, std::vector<std::int32_t>& values) override {
    const hid_t transfer = transfer_list(way);
    bool good = true;
    for (std::size_t a = 0; a < kArrays; ++a) {
      good = H5Dread(sets_[a], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer,
                     values.data() + a * kRows * kColumns) >= 0 &&
             good;
    }
    H5Pclose(transfer);
    return good;
  }

  bool sync() override { return H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0; }

  // Fill values are written, and metadata with the flush.
  bool redefine() override {
    if (later_ < 0) later_ = make_set("later", H5D_FILL_TIME_ALLOC);
    return sync() && later_ >= 0;  // for all wait there
  }
  bool fill_new() override {
    const std::vector<std::int32_t> values(std::size_t{kRows} * kColumns, 7);
    const hid_t transfer = transfer_list(Way::together);
    const bool good = H5Dwrite(later_, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer, values.data()) >= 0;
    H5Pclose(transfer);
    return good;
  }

  // Where only rank 0 has failed, in writing fill values, only rank 0 lacks the dataset.
  bool goes_on() override {
    int made = later_ >= 0 ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return made == 1;
  }

  bool close() override {
    bool good = true;
    for (hid_t& set : sets_) {
      if (set >= 0) good = H5Dclose(set) >= 0 && good;
      set = -1;
    }
    if (later_ >= 0) good = H5Dclose(later_) >= 0 && good;
    later_ = -1;
    good = H5Fclose(file_) >= 0 && good;
    file_ = -1;
    return good;
  }

 private:
  static hid_t access_list() {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    return access;
  }
  static hid_t transfer_list(Way way) {
    const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, way == Way::alone ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE);
    return transfer;
  }
  hid_t make_set(const char* name, H5D_fill_time_t fill) {
    const hsize_t dims[] = {kRows, kColumns};
    const hid_t space = H5Screate_simple(2, dims, nullptr), made = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(made, false);
    H5Pset_alloc_time(made, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(made, fill);
    const hid_t set = H5Dcreate2(file_, name, H5T_NATIVE_INT, space, H5P_DEFAULT, made, H5P_DEFAULT);
    H5Sclose(space), H5Pclose(made);
    return set;
  }
  void locate() {
    for (std::size_t a = 0; a < kArrays; ++a)
      offsets_[a] = static_cast<std::int64_t>(H5Dget_offset(sets_[a]));
  }

  hid_t file_ = -1, later_ = -1;
  std::array<hid_t, kArrays> sets_{-1, -1};
};

}  // namespace

std::unique_ptr<Library> make_hdf5() {
  return std::make_unique<Hdf5>();
}

}  // namespace faults
