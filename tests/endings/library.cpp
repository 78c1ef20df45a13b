// PnetCDF and HDF5 know nothing of Forebay; TCIO and forebay::File are its own.
#include "library.hpp"

#include <forebay/tcio.h>
#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <forebay/file.hpp>
#include <optional>
#include <span>
#include <vector>

namespace endings {
namespace {

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// A rank's elements of a row, one after the other.
std::vector<std::uint8_t> elements(std::size_t array, int step, int rank, int ranks) {
  const auto size = static_cast<std::size_t>(kElementBytes[array]);
  std::vector<std::uint8_t> bytes(kWidth * size);
  for (int i = 0; i < kWidth; ++i)
    std::memcpy(&bytes[static_cast<std::size_t>(i) * size],
                value_of(array, step, column_of(array, rank, i, ranks)).data(), size);
  return bytes;
}

// ---- PnetCDF ----

void check(int err, const char* what) {
  if (err != NC_NOERR) std::fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(err));
  require(err == NC_NOERR, what);
}

class PnetCDF final : public Library {
 public:
  explicit PnetCDF(bool independent) : independent_(independent) {}

  void create(const std::string& path, Facts& facts) override {
    rank_ = rank_of_world(), ranks_ = facts.ranks, rows_ = facts.rows;
    int time = 0, row = 0, x = 0;
    check(ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file_),
          "create");
    check(ncmpi_def_dim(file_, "time", NC_UNLIMITED, &time), "time");
    check(ncmpi_def_dim(file_, "row", rows_, &row), "row");
    check(ncmpi_def_dim(file_, "x", kWidth * ranks_, &x), "x");
    const int blocks[] = {row, x}, mixed[] = {time, x};
    check(ncmpi_def_var(file_, "blocks", NC_INT, 2, blocks, &blocks_), "blocks");
    check(ncmpi_def_var(file_, "mixed", NC_DOUBLE, 2, mixed, &mixed_), "mixed");
    check(ncmpi_enddef(file_), "enddef");
    if (facts.prefilled != 0) {
      const std::vector<std::uint8_t> ones(static_cast<std::size_t>(8 * rows_ * kWidth * ranks_), 0xff);
      const MPI_Offset start[] = {0, 0}, count[] = {rank_ == 0 ? rows_ : 0, rank_ == 0 ? kWidth * ranks_ : 0};
      check(ncmpi_put_vara_int_all(file_, blocks_, start, count, reinterpret_cast<const int*>(ones.data())),
            "fill");
      check(ncmpi_put_vara_double_all(file_, mixed_, start, count,
                                      reinterpret_cast<const double*>(ones.data())),
            "fill");
    }
    check(ncmpi_sync(file_), "sync");
    MPI_Offset offset = 0;
    check(ncmpi_inq_varoffset(file_, blocks_, &offset), "offset");
    facts.arrays[kBlocks] = {offset, 4 * kWidth * ranks_, 4};
    check(ncmpi_inq_varoffset(file_, mixed_, &offset), "offset");
    facts.arrays[kMixed] = {offset, 8 * kWidth * ranks_, 8};
    if (independent_) check(ncmpi_begin_indep_data(file_), "begin_indep_data");
  }

  void put(int step) override {
    const MPI_Offset row = step % rows_;
    const auto blocks = elements(kBlocks, step, rank_, ranks_);
    const MPI_Offset start[] = {row, rank_ * kWidth}, count[] = {1, kWidth};
    const auto* ints = reinterpret_cast<const int*>(blocks.data());
    check(independent_ ? ncmpi_put_vara_int(file_, blocks_, start, count, ints)
                       : ncmpi_put_vara_int_all(file_, blocks_, start, count, ints),
          "put blocks");
    // Not in the order of the file.
    const auto mixed = elements(kMixed, step, rank_, ranks_);
    std::vector<MPI_Offset> places;
    std::vector<MPI_Offset*> starts;
    std::vector<double> values(kWidth);
    for (int i = 0; i < kWidth; ++i) {
      const int at = (i * 7 + step) % kWidth;
      places.push_back(row), places.push_back(column_of(kMixed, rank_, at, ranks_));
      std::memcpy(&values[static_cast<std::size_t>(i)], &mixed[static_cast<std::size_t>(at) * 8], 8);
    }
    for (std::size_t i = 0; i < places.size(); i += 2) starts.push_back(&places[i]);
    check(independent_
              ? ncmpi_put_varn_double(file_, mixed_, kWidth, starts.data(), nullptr, values.data())
              : ncmpi_put_varn_double_all(file_, mixed_, kWidth, starts.data(), nullptr, values.data()),
          "put mixed");
  }

  void sync(bool alone) override {
    check(alone && independent_ ? ncmpi_flush(file_) : ncmpi_sync(file_), "sync");
  }
  void close() override { check(ncmpi_close(file_), "close"); }

 private:
  bool independent_;
  int rank_ = 0, ranks_ = 1, rows_ = 1;
  int file_ = -1, blocks_ = -1, mixed_ = -1;
};

// ---- HDF5 ----

class Hdf5 final : public Library {
 public:
  explicit Hdf5(bool independent) : independent_(independent) {}

  void create(const std::string& path, Facts& facts) override {
    rank_ = rank_of_world(), ranks_ = facts.ranks, rows_ = facts.rows;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    require(file_ >= 0, "H5Fcreate");
    transfer_ = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer_, independent_ ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE);
    const hsize_t dims[] = {static_cast<hsize_t>(rows_), static_cast<hsize_t>(kWidth * ranks_)};
    const hid_t space = H5Screate_simple(2, dims, nullptr);
    const hsize_t three[] = {3};
    const std::array<hid_t, kArrays> types{H5T_NATIVE_INT, H5T_NATIVE_DOUBLE,
                                           H5Tarray_create2(H5T_NATIVE_INT, 1, three)};
    const std::array<const char*, kArrays> names{"blocks", "mixed", "triples"};
    const std::vector<std::uint8_t> ones(static_cast<std::size_t>(12 * rows_ * kWidth * ranks_), 0xff);
    for (std::size_t a = 0; a < kArrays; ++a) {
      types_[a] = types[a];
      sets_[a] = H5Dcreate2(file_, names[a], types[a], space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      require(sets_[a] >= 0, "H5Dcreate");
      if (facts.prefilled != 0 && rank_ == 0)
        require(H5Dwrite(sets_[a], types[a], H5S_ALL, H5S_ALL, H5P_DEFAULT, ones.data()) >= 0, "fill");
    }
    sync(false);
    for (std::size_t a = 0; a < kArrays; ++a) {
      facts.arrays[a] = {static_cast<std::int64_t>(H5Dget_offset(sets_[a])),
                         std::int64_t{kElementBytes[a]} * kWidth * ranks_, kElementBytes[a]};
    }
  }

  void put(int step) override {
    for (std::size_t a = 0; a < kArrays; ++a) {
      const auto values = elements(a, step, rank_, ranks_);
      const hid_t space = H5Dget_space(sets_[a]);
      const bool together = a == kBlocks;
      const hsize_t start[] = {static_cast<hsize_t>(step % rows_),
                               static_cast<hsize_t>(column_of(a, rank_, 0, ranks_))};
      const hsize_t stride[] = {1, static_cast<hsize_t>(together ? 1 : ranks_)}, count[] = {1, kWidth};
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, nullptr);
      const hid_t memory = H5Screate_simple(2, count, nullptr);
      require(H5Dwrite(sets_[a], types_[a], memory, space, transfer_, values.data()) >= 0, "H5Dwrite");
      H5Sclose(memory), H5Sclose(space);
    }
  }

  void sync(bool) override { require(H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0, "H5Fflush"); }
  void close() override {
    for (const hid_t set : sets_) H5Dclose(set);
    require(H5Fclose(file_) >= 0, "H5Fclose");
  }

 private:
  bool independent_;
  int rank_ = 0, ranks_ = 1, rows_ = 1;
  hid_t file_ = -1, transfer_ = -1;
  std::array<hid_t, kArrays> sets_{}, types_{};
};

// ---- TCIO and forebay::File: arrays one after the other, from an odd place on ----

void place_arrays(Facts& facts) {
  std::int64_t at = 1234;
  for (std::size_t a = 0; a < kArrays; ++a) {
    facts.arrays[a] = {at, std::int64_t{kElementBytes[a]} * kWidth * facts.ranks, kElementBytes[a]};
    at += facts.arrays[a].row_bytes * facts.rows + 4;
  }
}

/// Calls f(offset, data, bytes) for what a rank puts in a step.
template <class F>
void for_each_piece(const Facts& facts, int step, int rank, F&& f) {
  for (std::size_t a = 0; a < kArrays; ++a) {
    const auto values = elements(a, step, rank, facts.ranks);
    const std::int64_t row = facts.arrays[a].offset + step % facts.rows * facts.arrays[a].row_bytes;
    const int each = kElementBytes[a];
    if (a == kBlocks) {
      f(row + std::int64_t{each} * kWidth * rank, values.data(), std::int64_t{each} * kWidth);
      continue;
    }
    for (int i = 0; i < kWidth; ++i)
      f(row + std::int64_t{each} * column_of(a, rank, i, facts.ranks),
        &values[static_cast<std::size_t>(i * each)], std::int64_t{each});
  }
}

class Tcio final : public Library {
 public:
  void create(const std::string& path, Facts& facts) override {
    rank_ = rank_of_world();
    require(tcio_open(MPI_COMM_WORLD, path.c_str(), FOREBAY_CREATE | FOREBAY_RDWR, MPI_INFO_NULL, &file_) ==
                FOREBAY_SUCCESS,
            "tcio_open");
    place_arrays(facts);
    if (facts.prefilled != 0 && rank_ == 0) {
      const std::int64_t bytes =
          facts.arrays[kTriples].offset + facts.arrays[kTriples].row_bytes * facts.rows;
      const std::vector<std::uint8_t> ones(static_cast<std::size_t>(bytes), 0xff);
      require(tcio_write_at(file_, 0, ones.data(), bytes) == FOREBAY_SUCCESS, "fill");
    }
    sync(false);
    facts_ = facts;
  }
  void put(int step) override {
    for_each_piece(facts_, step, rank_, [&](std::int64_t offset, const void* data, std::int64_t bytes) {
      require(tcio_write_at(file_, offset, data, bytes) == FOREBAY_SUCCESS, "tcio_write_at");
    });
  }
  void sync(bool) override { require(tcio_flush(file_) == FOREBAY_SUCCESS, "tcio_flush"); }
  void close() override { require(tcio_close(&file_) == FOREBAY_SUCCESS, "tcio_close"); }

 private:
  int rank_ = 0;
  Facts facts_;
  tcio_file file_ = TCIO_FILE_NULL;
};

class File final : public Library {
 public:
  explicit File(bool independent) : independent_(independent) {}
  void create(const std::string& path, Facts& facts) override {
    rank_ = rank_of_world();
    file_.emplace(MPI_COMM_WORLD, path, forebay::Mode::read_write | forebay::Mode::create);
    place_arrays(facts);
    if (facts.prefilled != 0) {
      const std::int64_t bytes =
          facts.arrays[kTriples].offset + facts.arrays[kTriples].row_bytes * facts.rows;
      const std::vector<std::uint8_t> ones(rank_ == 0 ? static_cast<std::size_t>(bytes) : 0, 0xff);
      file_->put({.offset = 0}, std::span(ones));
    }
    sync(false);
    facts_ = facts;
  }
  void put(int step) override {
    forebay::Puts puts;
    std::vector<std::vector<std::uint8_t>> kept;
    for_each_piece(facts_, step, rank_,
                   [&](std::int64_t offset, const std::uint8_t* data, std::int64_t bytes) {
                     kept.emplace_back(data, data + bytes);
                     puts.add({.offset = offset}, std::span<const std::uint8_t>(kept.back()));
                   });
    if (independent_)
      file_->put(puts);
    else
      file_->put_all(puts);
  }
  void sync(bool) override { file_->flush(); }
  void close() override { file_->close(); }

 private:
  bool independent_;
  int rank_ = 0;
  Facts facts_;
  std::optional<forebay::File> file_;
};

}  // namespace

void require(bool well, const char* what) {
  if (well) return;
  std::fprintf(stderr, "rank %d: %s failed\n", rank_of_world(), what);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

std::unique_ptr<Library> make_library(const std::string& name, bool independent) {
  if (name == "pnetcdf") return std::make_unique<PnetCDF>(independent);
  if (name == "hdf5") return std::make_unique<Hdf5>(independent);
  if (name == "tcio") return std::make_unique<Tcio>();
  if (name == "file") return std::make_unique<File>(independent);
  return nullptr;
}

}  // namespace endings
