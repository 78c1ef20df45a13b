// stage_reader LIBRARY write|read FILE [VALUE]: four arrays of a file, element i of each VALUE + i. Reading
// prints "value V" where every rank has read the same, collectively and by itself. Knows nothing of stages.
#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "forebay/tcio.h"

namespace {

constexpr int kArrays = 4;
constexpr int kElements = 60'000;
int rank = 0, ranks = 1;

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Of one array, this rank's part.
struct Part {
  int begin, count;
};
Part part_of(int who) {
  const int each = kElements / ranks;
  return {each * who, who == ranks - 1 ? kElements - each * who : each};
}

/// An open file of some library. Independent reads begin when all collective ones are done.
class File {
 public:
  virtual ~File() = default;
  virtual void write(int array, Part part, const int* data) = 0;
  virtual void read(int array, Part part, int* data, bool together) = 0;
  virtual void independent() {}
};

class Hdf5File final : public File {
 public:
  Hdf5File(const char* path, bool writes) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    file_ =
        writes ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access) : H5Fopen(path, H5F_ACC_RDONLY, access);
    check(file_ >= 0, "open");
    H5Pclose(access);
    const hsize_t size = kElements;
    for (int i = 0; i < kArrays; ++i) {
      const std::string name = "a" + std::to_string(i);
      if (writes) {
        const hid_t space = H5Screate_simple(1, &size, nullptr);
        sets_[i] =
            H5Dcreate2(file_, name.c_str(), H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Sclose(space);
      } else {
        sets_[i] = H5Dopen2(file_, name.c_str(), H5P_DEFAULT);
      }
      check(sets_[i] >= 0, "dataset");
    }
  }
  ~Hdf5File() override {
    for (const hid_t set : sets_) H5Dclose(set);
    check(H5Fclose(file_) >= 0, "close");
  }
  void write(int array, Part part, const int* data) override {
    move(array, part, true, [&](hid_t memory, hid_t space, hid_t how) {
      return H5Dwrite(sets_[array], H5T_NATIVE_INT, memory, space, how, data);
    });
  }
  void read(int array, Part part, int* data, bool together) override {
    move(array, part, together, [&](hid_t memory, hid_t space, hid_t how) {
      return H5Dread(sets_[array], H5T_NATIVE_INT, memory, space, how, data);
    });
  }

 private:
  template <class Call>
  void move(int array, Part part, bool together, Call&& call) {
    const hsize_t begin = static_cast<hsize_t>(part.begin), count = static_cast<hsize_t>(part.count);
    const hid_t space = H5Dget_space(sets_[array]), memory = H5Screate_simple(1, &count, nullptr);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &begin, nullptr, &count, nullptr);
    const hid_t how = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(how, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    check(call(memory, space, how) >= 0, "transfer");
    H5Pclose(how);
    H5Sclose(memory);
    H5Sclose(space);
  }
  hid_t file_ = -1;
  hid_t sets_[kArrays] = {};
};

class PnetcdfFile final : public File {
 public:
  PnetcdfFile(const char* path, bool writes) {
    if (!writes) {
      check(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file_) == NC_NOERR, "open");
      return;
    }
    int dimension = 0, variable = 0;
    check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file_) == NC_NOERR,
          "create");
    ncmpi_def_dim(file_, "x", kElements, &dimension);
    for (int i = 0; i < kArrays; ++i)
      ncmpi_def_var(file_, ("a" + std::to_string(i)).c_str(), NC_INT, 1, &dimension, &variable);
    check(ncmpi_enddef(file_) == NC_NOERR, "enddef");
  }
  ~PnetcdfFile() override { check(ncmpi_close(file_) == NC_NOERR, "close"); }
  void write(int array, Part part, const int* data) override {
    const MPI_Offset begin = part.begin, count = part.count;
    check(ncmpi_put_vara_int_all(file_, array, &begin, &count, data) == NC_NOERR, "put");
  }
  void read(int array, Part part, int* data, bool together) override {
    const MPI_Offset begin = part.begin, count = part.count;
    const int error = together ? ncmpi_get_vara_int_all(file_, array, &begin, &count, data)
                               : ncmpi_get_vara_int(file_, array, &begin, &count, data);
    check(error == NC_NOERR, "get");
  }
  void independent() override { check(ncmpi_begin_indep_data(file_) == NC_NOERR, "independent"); }

 private:
  int file_ = -1;
};

class TcioFile final : public File {
 public:
  TcioFile(const char* path, bool writes) {
    const int flags = writes ? FOREBAY_CREATE | FOREBAY_RDWR : FOREBAY_RDONLY;
    check(tcio_open(MPI_COMM_WORLD, path, flags, MPI_INFO_NULL, &file_) == 0, "open");
  }
  ~TcioFile() override { check(tcio_close(&file_) == 0, "close"); }
  void write(int array, Part part, const int* data) override {
    check(tcio_write_at(file_, at(array, part), data, bytes(part)) == 0, "write");
  }
  void read(int array, Part part, int* data, bool together) override {
    check(tcio_read_at(file_, at(array, part), data, bytes(part)) == 0, "read");
    check((together ? tcio_fetch_all(file_) : tcio_fetch(file_)) == 0, "fetch");
  }

 private:
  static std::int64_t bytes(Part part) { return std::int64_t{4} * part.count; }
  static std::int64_t at(int array, Part part) { return 4 * (std::int64_t{kElements} * array + part.begin); }
  tcio_file file_ = TCIO_FILE_NULL;
};

std::unique_ptr<File> open(const std::string& library, const char* path, bool writes) {
  if (library == "hdf5") return std::make_unique<Hdf5File>(path, writes);
  if (library == "pnetcdf") return std::make_unique<PnetcdfFile>(path, writes);
  check(library == "tcio", "no such library");
  return std::make_unique<TcioFile>(path, writes);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(argc >= 4, "what?");
  const bool writes = std::strcmp(argv[2], "write") == 0;
  auto file = open(argv[1], argv[3], writes);
  int least = 1 << 30, most = -(1 << 30);
  std::vector<int> data(kElements);
  const auto look = [&](Part part) {
    for (int i = 0; i < part.count; ++i) {
      const int value = data[static_cast<std::size_t>(i)] - (part.begin + i);
      least = std::min(least, value);
      most = std::max(most, value);
    }
  };
  if (writes) {
    const Part part = part_of(rank);
    const int value = argc > 4 ? std::atoi(argv[4]) : 0;
    for (int i = 0; i < part.count; ++i) data[static_cast<std::size_t>(i)] = value + part.begin + i;
    for (int array = 0; array < kArrays; ++array) file->write(array, part, data.data());
  } else {
    for (int array = 0; array < kArrays; ++array) {
      file->read(array, part_of(rank), data.data(), true);
      look(part_of(rank));
    }
    file->independent();
    // Another one's, and in another order.
    for (int array = kArrays - 1; array >= 0; --array) {
      const Part part = part_of((rank + array) % ranks);
      file->read(array, part, data.data(), false);
      look(part);
    }
  }
  file.reset();
  least = -least;
  int all[2] = {0, 0};
  const int mine[2] = {least, most};
  MPI_Reduce(mine, all, 2, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (!writes && rank == 0) {
    if (-all[0] == all[1])
      std::printf("value %d\n", all[1]);
    else
      std::printf("values %d to %d\n", -all[0], all[1]);
  }
  MPI_Finalize();
  return 0;
}
