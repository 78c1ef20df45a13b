// Two hosts with a mount each: what the file holds in which holes were to be filled by a host that had read
// it before, and what each rank reads through its own mount right after close. By each library, where all
// values are of four bytes, the most significant one first.
//
//   two_mounts [--seconds S] [--values N] [LIBRARY...]
//
// S: how long a mount may go on to show what it had read before a close (10): it is told, and no failure.
// Exit status 1: the file is wrong in the end.
#include <fcntl.h>
#include <forebay/tcio.h>
#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using std::int64_t;
using Values = std::vector<std::int32_t>;

int rank = 0, ranks = 1;

void must(bool well, const std::string& what) {
  if (well) return;
  std::fprintf(stderr, "rank %d: %s failed\n", rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

constexpr std::int32_t kFirst = -1, kLong = 0, kPairs = 1'000'000'000, kAgain = 1'500'000'000;

/// A file with one array. All calls are collective.
class Array {
 public:
  virtual ~Array() = default;
  virtual void create(const std::string& path, int64_t values) = 0;
  virtual void open(const std::string& path) = 0;
  /// Ranges of `width` values, the first of which begins at `first`, one every `step`; for width == 0
  /// nothing.
  virtual void put(int64_t first, int64_t width, int64_t step, int64_t count, const Values& values) = 0;
  virtual void get(int64_t first, Values& values) = 0;
  /// What any rank has put is seen by all that read then.
  virtual void sync() = 0;
  /// Where in the file it begins.
  virtual int64_t place() = 0;
  virtual void close() = 0;
};

class ByPnetcdf final : public Array {
 public:
  void create(const std::string& path, int64_t values) override {
    int dim = -1;
    call(ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file_));
    call(ncmpi_def_dim(file_, "x", values, &dim));
    call(ncmpi_def_var(file_, "v", NC_INT, 1, &dim, &var_));
    call(ncmpi_enddef(file_));
  }
  void open(const std::string& path) override {
    call(ncmpi_open(MPI_COMM_WORLD, path.c_str(), NC_WRITE, MPI_INFO_NULL, &file_));
  }
  void put(int64_t first, int64_t width, int64_t step, int64_t count, const Values& values) override {
    std::vector<MPI_Offset> starts(static_cast<std::size_t>(count)), counts(starts.size(), width);
    std::vector<MPI_Offset*> start_of, count_of;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      starts[i] = first + static_cast<MPI_Offset>(i) * step;
      start_of.push_back(&starts[i]);
      count_of.push_back(&counts[i]);
    }
    call(ncmpi_put_varn_int_all(file_, var_, static_cast<int>(width > 0 ? count : 0), start_of.data(),
                                count_of.data(), values.data()));
  }
  void get(int64_t first, Values& values) override {
    const MPI_Offset start = first, count = static_cast<MPI_Offset>(values.size());
    call(ncmpi_get_vara_int_all(file_, var_, &start, &count, values.data()));
  }
  void sync() override { call(ncmpi_sync(file_)); }
  int64_t place() override {
    MPI_Offset at = -1;
    call(ncmpi_inq_varoffset(file_, var_, &at));
    return at;
  }
  void close() override { call(ncmpi_close(file_)); }

 private:
  static void call(int error) {
    must(error == NC_NOERR, std::string("PnetCDF: ") + ncmpi_strerror(error) + ", and so a call");
  }
  int file_ = -1, var_ = 0;
};

class ByHdf5 final : public Array {
 public:
  void create(const std::string& path, int64_t values) override {
    with_access([&](hid_t access) { file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access); });
    must(file_ >= 0, "H5Fcreate");
    const auto size = static_cast<hsize_t>(values);
    const hid_t space = H5Screate_simple(1, &size, nullptr), how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
    set_ = H5Dcreate2(file_, "v", H5T_STD_I32BE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    must(set_ >= 0, "H5Dcreate2");
    H5Pclose(how);
    H5Sclose(space);
  }
  void open(const std::string& path) override {
    with_access([&](hid_t access) { file_ = H5Fopen(path.c_str(), H5F_ACC_RDWR, access); });
    must(file_ >= 0, "H5Fopen");
    set_ = H5Dopen2(file_, "v", H5P_DEFAULT);
    must(set_ >= 0, "H5Dopen2");
  }
  void put(int64_t first, int64_t width, int64_t step, int64_t count, const Values& values) override {
    transfer(first, width, step, count, [&](hid_t memory, hid_t space, hid_t how) {
      return H5Dwrite(set_, H5T_NATIVE_INT32, memory, space, how, values.data());
    });
  }
  void get(int64_t first, Values& values) override {
    const auto count = static_cast<int64_t>(values.size());
    transfer(first, count, count, 1, [&](hid_t memory, hid_t space, hid_t how) {
      return H5Dread(set_, H5T_NATIVE_INT32, memory, space, how, values.data());
    });
  }
  void sync() override { must(H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0, "H5Fflush"); }
  int64_t place() override { return static_cast<int64_t>(H5Dget_offset(set_)); }
  void close() override { must(H5Dclose(set_) >= 0 && H5Fclose(file_) >= 0, "H5Fclose"); }

 private:
  static void with_access(const std::function<void(hid_t)>& body) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    body(access);
    H5Pclose(access);
  }
  void transfer(int64_t first, int64_t width, int64_t step, int64_t count,
                const std::function<herr_t(hid_t, hid_t, hid_t)>& move) {
    const auto unsign = [](int64_t x) { return static_cast<hsize_t>(x); };
    const hsize_t start = unsign(first), stride = unsign(std::max<int64_t>(step, 1)), many = unsign(count),
                  block = unsign(width), bytes = many * block;
    const hid_t space = H5Dget_space(set_), memory = H5Screate_simple(1, &bytes, nullptr);
    if (bytes == 0) {
      H5Sselect_none(space);
      H5Sselect_none(memory);
    } else {
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &many, &block);
    }
    const hid_t how = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE);
    must(move(memory, space, how) >= 0, "H5Dread or H5Dwrite");
    H5Pclose(how);
    H5Sclose(memory);
    H5Sclose(space);
  }
  hid_t file_ = H5I_INVALID_HID, set_ = H5I_INVALID_HID;
};

class ByTcio final : public Array {
 public:
  void create(const std::string& path, int64_t values) override {
    call(tcio_open(MPI_COMM_WORLD, path.c_str(), FOREBAY_CREATE | FOREBAY_RDWR, MPI_INFO_NULL, &file_));
    call(tcio_set_size(file_, 4 * values));
  }
  void open(const std::string& path) override {
    call(tcio_open(MPI_COMM_WORLD, path.c_str(), FOREBAY_RDWR, MPI_INFO_NULL, &file_));
  }
  void put(int64_t first, int64_t width, int64_t step, int64_t count, const Values& values) override {
    Values swapped = values;
    swap(swapped);
    for (int64_t i = 0; i < count && width > 0; ++i)
      call(tcio_write_at(file_, 4 * (first + i * step), swapped.data() + i * width, 4 * width));
    call(tcio_flush(file_));
  }
  void get(int64_t first, Values& values) override {
    call(tcio_read_at(file_, 4 * first, values.data(), 4 * static_cast<int64_t>(values.size())));
    call(tcio_fetch_all(file_));
    swap(values);
  }
  void sync() override { call(tcio_sync(file_)); }
  int64_t place() override { return 0; }
  void close() override { call(tcio_close(&file_)); }

 private:
  static void call(int code) {
    must(code == FOREBAY_SUCCESS, std::string("TCIO: ") + forebay_last_error() + ", and so a call");
  }
  static void swap(Values& values);
  tcio_file file_ = TCIO_FILE_NULL;
};

std::int32_t swapped(std::int32_t value) {
  return std::bit_cast<std::int32_t>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
}
void ByTcio::swap(Values& values) {
  std::ranges::transform(values, values.begin(), swapped);
}

/// How many values of the file are not `wanted(i)`, by this rank's mount, opened anew.
int64_t wrong_in(const std::string& path, int64_t place, int64_t values,
                 const std::function<std::int32_t(int64_t)>& wanted, std::string& first) {
  Values got(static_cast<std::size_t>(values), 0);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  must(file >= 0, "open " + path);
  const int64_t bytes = 4 * values;
  for (int64_t at = 0; at < bytes;) {
    const ssize_t n = ::pread(file, reinterpret_cast<char*>(got.data()) + at,
                              static_cast<std::size_t>(bytes - at), static_cast<off_t>(place + at));
    must(n >= 0, "read " + path);
    if (n == 0) break;
    at += n;
  }
  ::close(file);
  int64_t wrong = 0;
  for (int64_t i = 0; i < values; ++i) {
    const std::int32_t value = swapped(got[static_cast<std::size_t>(i)]);
    if (value == wanted(i)) continue;
    if (wrong++ == 0)
      first = "value " + std::to_string(i) + " is " + std::to_string(value) + ", not " +
              std::to_string(wanted(i));
  }
  return wrong;
}

/// Whether the file is right on every rank, at once or within `seconds`.
bool check(const std::string& what, const std::string& path, int64_t place, int64_t values, double seconds,
           const std::function<std::int32_t(int64_t)>& wanted) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  std::string first;
  const int64_t at_once = wrong_in(path, place, values, wanted, first);
  int64_t now = at_once;
  while (now > 0 && MPI_Wtime() - begin < seconds) {
    ::usleep(100'000);
    now = wrong_in(path, place, values, wanted, first);
  }
  double took = at_once > 0 ? MPI_Wtime() - begin : 0;
  if (now > 0)
    std::fprintf(stderr, "rank %d: %s: wrong: %lld of %lld values: %s\n", rank, what.c_str(),
                 static_cast<long long>(now), static_cast<long long>(values), first.c_str());
  int64_t all[2] = {now, at_once};
  MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && all[0] == 0 && all[1] > 0)
    std::printf("%s: %lld old values after close, for %.1f s\n", what.c_str(), static_cast<long long>(all[1]),
                took);
  return all[0] == 0;
}

bool play(Array& array, const std::string& library, int64_t n, double seconds) {
  const std::string path = library + ".two_mounts";
  const int64_t share = n / ranks, own = rank * share, pairs = n / 4 / ranks;
  array.create(path, n);
  array.put(own, share, share, 1, Values(static_cast<std::size_t>(share), kFirst));
  const auto let_all_see = [&] {
    array.sync();
    MPI_Barrier(MPI_COMM_WORLD);
    array.sync();
  };
  let_all_see();
  Values all(static_cast<std::size_t>(n));
  array.get(0, all);  // both hosts have it now
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = kLong + static_cast<std::int32_t>(i);
  array.put(0, rank == ranks - 1 ? n : 0, n, 1, all);  // by one rank, as one long run
  let_all_see();
  // Every other pair, all ranks together: each block has holes.
  Values some;
  for (int64_t i = 0; i < pairs; ++i) {
    for (int64_t k = 0; k < 2; ++k)
      some.push_back(kPairs + static_cast<std::int32_t>((i * ranks + rank) * 4 + k));
  }
  array.put(rank * 4, 2, ranks * 4, pairs, some);
  const int64_t place = array.place();
  array.close();
  bool well = check(library + ", holes", path, place, n, seconds,
                    [](int64_t i) { return (i % 4 < 2 ? kPairs : kLong) + static_cast<std::int32_t>(i); });
  // All of it once more, in small pieces: both mounts have read the file.
  array.open(path);
  Values mine;
  for (int64_t i = 0; i < n / ranks; ++i)
    mine.push_back(kAgain + static_cast<std::int32_t>(i * ranks + rank));
  array.put(rank, 1, ranks, n / ranks, mine);
  array.close();
  well = check(library + ", written again", path, place, n, seconds,
               [](int64_t i) { return kAgain + static_cast<std::int32_t>(i); }) &&
         well;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && well) std::remove(path.c_str());
  return well;
}

std::unique_ptr<Array> make(const std::string& library) {
  if (library == "pnetcdf") return std::make_unique<ByPnetcdf>();
  if (library == "hdf5") return std::make_unique<ByHdf5>();
  if (library == "tcio") return std::make_unique<ByTcio>();
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<std::string> libraries;
  double seconds = 10;
  int64_t values = int64_t{1} << 18;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--seconds" && i + 1 < argc) {
      seconds = std::atof(argv[++i]);
    } else if (argument == "--values" && i + 1 < argc) {
      values = std::atoll(argv[++i]);
    } else if (make(argument)) {
      libraries.push_back(argument);
    } else {
      if (rank == 0)
        std::fprintf(stderr, "usage: two_mounts [--seconds S] [--values N] [pnetcdf|hdf5|tcio]...\n");
      MPI_Finalize();
      return 2;
    }
  }
  if (libraries.empty()) libraries = {"pnetcdf", "hdf5", "tcio"};
  values -= values % (4 * ranks);
  bool well = true;
  for (const std::string& library : libraries) well = play(*make(library), library, values, seconds) && well;
  if (rank == 0) std::printf("%s\n", well ? "ok" : "wrong");
  MPI_Finalize();
  return well ? 0 : 1;
}
