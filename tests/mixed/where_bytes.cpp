// After each call, where the bytes are that each rank has put before, found by looking: in the file, else in
// a log, else in memory. where_bytes.py holds what is printed against the table of docs/consistency.md.
//
// where_bytes LOG_FOLDER [waits]
// waits: until the keeper process has a file, which is when something is kept of it.
// Prints "KEY STATE", a line a call; the state is F, L, M, or "mixed" where ranks see different ones.
#include <fcntl.h>
#include <forebay/file.h>
#include <forebay/tcio.h>
#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

namespace fs = std::filesystem;

int rank = 0;
std::string log_folder;
bool waits = false;

void must(bool well, const char* what) {
  if (well) return;
  std::fprintf(stderr, "where_bytes: rank %d: %s failed\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define MUST(call) must(call, #call)

/// A pattern that is nowhere else, and the next one's.
long long fresh_value() {
  static long long number = 0;
  return 0x4f4e4c5948455245 + 0x10000 * ++number + rank;
}

std::string bytes_of(long long value, bool turned) {
  std::array<char, sizeof value> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  std::string text(bytes.begin(), bytes.end());
  return turned ? std::string(text.rbegin(), text.rend()) : text;
}

char place_of(const std::string& path, long long offset, const std::string& bytes) {
  std::array<char, sizeof(long long)> found{};
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool there = file >= 0 && ::pread(file, found.data(), found.size(), offset) == 8 &&
                     std::string(found.begin(), found.end()) == bytes;
  if (file >= 0) ::close(file);
  if (there) return 'F';
  for (const auto& entry : fs::directory_iterator(log_folder)) {
    if (entry.path().extension() != ".log") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    if (std::string(std::istreambuf_iterator<char>(in), {}).find(bytes) != std::string::npos) return 'L';
  }
  return 'M';
}

void tell(const char* key, char place) {
  int least = place, most = place;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && least == most) std::printf("%s %c\n", key, place);
  if (rank == 0 && least != most) std::printf("%s mixed\n", key);
}

/// What the last write of this rank put, and where.
struct Written {
  std::string path;
  bool turned = false;
  long long offset = 0, value = 0;
  void look(const char* key) const { tell(key, place_of(path, offset, bytes_of(value, turned))); }
};

template <class Put>
void settle(const Written& written, Put&& put) {
  constexpr int most = 150;
  for (int i = 0; waits && i < most; ++i) {
    put();
    int kept = place_of(written.path, written.offset, bytes_of(written.value, written.turned)) == 'M' ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &kept, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (kept != 0) return;
    ::usleep(10'000);
  }
}

// ---- HDF5 ----

struct Hdf5 {
  Hdf5() {
    written.path = "where.h5";
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    MUST((file = H5Fcreate(written.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access)) >= 0);
    H5Pclose(access);
    const hsize_t size = 4096;
    space = H5Screate_simple(1, &size, nullptr);
    MUST((data = H5Dcreate2(file, "data", H5T_NATIVE_LLONG, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) >=
         0);
    MUST(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    begin = static_cast<long long>(H5Dget_offset(data));
    const hsize_t one = 1;
    memory = H5Screate_simple(1, &one, nullptr);
  }
  ~Hdf5() {
    H5Sclose(memory);
    H5Sclose(space);
    if (data >= 0) close();
  }
  void close() {
    MUST(H5Dclose(data) >= 0 && H5Fclose(file) >= 0);
    data = -1;
  }
  hid_t transfer(bool together) const {
    const hid_t list = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(list, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    return list;
  }
  void choose() const {
    const hsize_t at = static_cast<hsize_t>(100 * rank + 7), one = 1;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, nullptr, &one, nullptr);
  }
  void put(bool together) {
    choose();
    written.offset = begin + 8 * (100LL * rank + 7);
    written.value = fresh_value();
    const hid_t list = transfer(together);
    MUST(H5Dwrite(data, H5T_NATIVE_LLONG, memory, space, list, &written.value) >= 0);
    H5Pclose(list);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void get(bool together) const {
    choose();
    long long got = 0;
    const hid_t list = transfer(together);
    MUST(H5Dread(data, H5T_NATIVE_LLONG, memory, space, list, &got) >= 0);
    H5Pclose(list);
    must(got == written.value, "reading what was written");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  hid_t file = -1, data = -1, space = -1, memory = -1;
  long long begin = 0;
  Written written;
};

void hdf5() {
  for (const bool together : {false, true}) {
    Hdf5 f;
    const auto put = [&] { f.put(together); };
    settle(f.written, put);
    put();
    f.written.look(together ? "hdf5-collective" : "hdf5-independent");
    f.get(false);
    f.written.look(together ? "hdf5-collective+read" : "hdf5-independent+read");
    f.get(true);
    f.written.look(together ? "hdf5-collective+read-all" : "hdf5-independent+read-all");
    put();
    MUST(H5Fflush(f.file, H5F_SCOPE_GLOBAL) >= 0);
    f.written.look(together ? "hdf5-collective+sync" : "hdf5-independent+sync");
    put();
    f.close();
    f.written.look(together ? "hdf5-collective+close" : "hdf5-independent+close");
  }
}

// ---- PnetCDF ----

struct Pnetcdf {
  Pnetcdf() {
    written.path = "where.nc";
    written.turned = true;
    MUST(ncmpi_create(MPI_COMM_WORLD, written.path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                      &file) == NC_NOERR);
    int dimension = 0;
    MUST(ncmpi_def_dim(file, "x", 4096, &dimension) == NC_NOERR);
    MUST(ncmpi_def_var(file, "v", NC_INT64, 1, &dimension, &variable) == NC_NOERR);
    MUST(ncmpi_enddef(file) == NC_NOERR);
    MPI_Offset at = 0;
    MUST(ncmpi_inq_varoffset(file, variable, &at) == NC_NOERR);
    begin = at;
  }
  void close() { MUST(ncmpi_close(file) == NC_NOERR); }
  void put(bool together) {
    const MPI_Offset at = 100LL * rank + 7;
    written.offset = begin + 8 * at;
    written.value = fresh_value();
    MUST((together ? ncmpi_put_var1_longlong_all(file, variable, &at, &written.value)
                   : ncmpi_put_var1_longlong(file, variable, &at, &written.value)) == NC_NOERR);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void get(bool together) const {
    const MPI_Offset at = 100LL * rank + 7;
    long long got = 0;
    MUST((together ? ncmpi_get_var1_longlong_all(file, variable, &at, &got)
                   : ncmpi_get_var1_longlong(file, variable, &at, &got)) == NC_NOERR);
    must(got == written.value, "reading what was written");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int file = 0, variable = 0;
  long long begin = 0;
  Written written;
};

void pnetcdf() {
  {
    Pnetcdf f;
    settle(f.written, [&] { f.put(true); });
    f.put(true);
    f.written.look("pnetcdf-collective");
    f.get(true);
    f.written.look("pnetcdf-collective+read-all");
    f.put(true);
    MUST(ncmpi_flush(f.file) == NC_NOERR);
    f.written.look("pnetcdf-collective+flush");
    f.put(true);
    MUST(ncmpi_redef(f.file) == NC_NOERR);
    f.written.look("pnetcdf-collective+redef");
    MUST(ncmpi_enddef(f.file) == NC_NOERR);
    f.put(true);
    MUST(ncmpi_begin_indep_data(f.file) == NC_NOERR);
    f.written.look("pnetcdf-collective+mode");
    MUST(ncmpi_end_indep_data(f.file) == NC_NOERR);
    f.put(true);
    MUST(ncmpi_sync(f.file) == NC_NOERR);
    f.written.look("pnetcdf-collective+sync");
    f.put(true);
    f.close();
    f.written.look("pnetcdf-collective+close");
  }
  Pnetcdf f;
  MUST(ncmpi_begin_indep_data(f.file) == NC_NOERR);
  settle(f.written, [&] { f.put(false); });
  f.put(false);
  f.written.look("pnetcdf-independent");
  f.get(false);
  f.written.look("pnetcdf-independent+read");
  f.put(false);
  MUST(ncmpi_flush(f.file) == NC_NOERR);
  MPI_Barrier(MPI_COMM_WORLD);
  f.written.look("pnetcdf-independent+flush");
  f.put(false);
  MUST(ncmpi_sync(f.file) == NC_NOERR);
  f.written.look("pnetcdf-independent+sync");
  f.put(false);
  MUST(ncmpi_end_indep_data(f.file) == NC_NOERR);
  f.written.look("pnetcdf-independent+mode");
  f.close();
}

// ---- Forebay's own files ----

struct Own {
  Own() {
    written.path = "where.dat";
    if (rank == 0) fs::remove(written.path);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void next() {
    written.offset = 8 * (1000LL * rank + 7);
    written.value = fresh_value();
  }
  Written written;
};

void tcio() {
  Own own;
  tcio_file file = TCIO_FILE_NULL;
  MUST(tcio_open(MPI_COMM_WORLD, own.written.path.c_str(), FOREBAY_CREATE | FOREBAY_RDWR, MPI_INFO_NULL,
                 &file) == FOREBAY_SUCCESS);
  const auto put = [&] {
    own.next();
    MUST(tcio_write_at(file, own.written.offset, &own.written.value, 8) == FOREBAY_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
  };
  settle(own.written, put);
  put();
  own.written.look("tcio");
  long long got = 0;
  MUST(tcio_read_at(file, own.written.offset, &got, 8) == FOREBAY_SUCCESS);
  MUST(tcio_fetch_all(file) == FOREBAY_SUCCESS);
  must(got == own.written.value, "reading what was written");
  own.written.look("tcio+read-all");
  put();
  MUST(tcio_flush(file) == FOREBAY_SUCCESS);
  own.written.look("tcio+flush");
  put();
  MUST(tcio_set_size(file, 1 << 20) == FOREBAY_SUCCESS);
  own.written.look("tcio+size");
  put();
  MUST(tcio_sync(file) == FOREBAY_SUCCESS);
  own.written.look("tcio+sync");
  put();
  MUST(tcio_close(&file) == FOREBAY_SUCCESS);
  own.written.look("tcio+close");
}

void boxes() {
  for (const bool together : {false, true}) {
    Own own;
    forebay_file file = FOREBAY_FILE_NULL;
    MUST(forebay_open(MPI_COMM_WORLD, own.written.path.c_str(), FOREBAY_CREATE | FOREBAY_RDWR, MPI_INFO_NULL,
                      &file) == FOREBAY_SUCCESS);
    const auto request = [&](long long& value) {
      forebay_request r{};
      r.size = sizeof r;
      r.offset = own.written.offset;
      r.element_bytes = 8;
      r.memory = &value;
      return r;
    };
    const auto put = [&] {
      own.next();
      const forebay_request r = request(own.written.value);
      MUST((together ? forebay_put_all(file, &r, 1) : forebay_put(file, &r, 1)) == FOREBAY_SUCCESS);
      MPI_Barrier(MPI_COMM_WORLD);
    };
    const std::string key = together ? "box-collective" : "box-independent";
    settle(own.written, put);
    put();
    own.written.look(key.c_str());
    long long got = 0;
    forebay_request r = request(got);
    MUST(forebay_get(file, &r, 1) == FOREBAY_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    own.written.look((key + "+read").c_str());
    MUST(forebay_get_all(file, &r, 1) == FOREBAY_SUCCESS);
    must(got == own.written.value, "reading what was written");
    own.written.look((key + "+read-all").c_str());
    put();
    MUST(forebay_flush(file) == FOREBAY_SUCCESS);
    own.written.look((key + "+flush").c_str());
    put();
    MUST(forebay_sync(file) == FOREBAY_SUCCESS);
    own.written.look((key + "+sync").c_str());
    put();
    MUST(forebay_close(&file) == FOREBAY_SUCCESS);
    own.written.look((key + "+close").c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  log_folder = argc > 1 ? argv[1] : ".";
  waits = argc > 2;
  hdf5();
  pnetcdf();
  tcio();
  boxes();
  // A file that is open as MPI ends.
  auto* const left = new Pnetcdf;
  left->put(true);
  MPI_Finalize();
  if (rank == 0)
    std::printf("finalize %c\n",
                place_of(left->written.path, left->written.offset, bytes_of(left->written.value, true)));
  std::fflush(stdout);
  ::_exit(0);
}
