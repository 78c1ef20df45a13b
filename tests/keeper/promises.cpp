// A program that is killed: every put that has returned is counted where a kill leaves it, and afterwards
// must be in the file.
//   promises LIBRARY HOW SEED CALLS         by mpiexec
//   promises LIBRARY HOW SEED CALLS check RANKS
// LIBRARY: hdf5, pnetcdf, which know nothing of Forebay, or tcio. HOW: independent, collective, for PnetCDF
// records (collective puts that add them), for tcio independent, blocks, large (rows of so many bytes, each
// written in some pieces) or boxes (by forebay_put).
#include <fcntl.h>
#include <forebay/file.h>
#include <forebay/tcio.h>
#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr const char* kFile = "promises.data";
constexpr const char* kProgress = "promises.progress";
constexpr int kMostRanks = 64;
using Words = std::vector<std::int64_t>;

/// Also after a kill, since the system has it.
struct Progress {
  std::atomic<std::int64_t> offset;  // of the data; 0: not there yet
  std::array<std::atomic<int>, kMostRanks> begun, done;
};

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

struct Plan {
  std::string library, how;
  std::uint64_t seed;
  int calls;
  int ranks = 1;

  int words() const { return how == "blocks" ? 300 : how == "large" ? 2500 : 3; }
  std::uint64_t dice(int call) const { return mixed(seed * 1000003 + static_cast<unsigned>(call)); }
  /// Whether all ranks flush before a call.
  bool flushes(int call) const { return library == "tcio" && call > 0 && dice(call) / 100 % 701 == 0; }
  /// The row that a rank puts in a call; now and then one that was put before, by this rank or, where a flush
  /// lies between, by any.
  std::int64_t row(int rank, int call, int flushes) const {
    const std::uint64_t dice = this->dice(call);
    const int which =
        call > 0 && dice % 7 == 0 ? static_cast<int>(dice / 7 % static_cast<unsigned>(call)) : call;
    return std::int64_t{which} * ranks + (rank + flushes) % ranks;
  }
  Words value(int rank, int call) const {
    Words words(static_cast<std::size_t>(this->words()));
    for (std::size_t k = 0; k < words.size(); ++k)
      words[k] = (std::int64_t{call + 1} << 24) + (rank << 16) + static_cast<std::int64_t>(k) + 1;
    return words;
  }
};

Progress& progress(bool create) {
  const int fd = ::open(kProgress, O_RDWR | (create ? O_CREAT : 0), 0600);
  if (fd < 0 || (create && ::ftruncate(fd, sizeof(Progress)) != 0)) std::exit(9);
  void* const at = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) std::exit(9);
  return *static_cast<Progress*>(at);
}

/// What a library does: `put` is one call of a rank.
class Library {
 public:
  virtual ~Library() = default;
  virtual std::int64_t create(const Plan& plan) = 0;  ///< where the data begins
  virtual bool put(std::int64_t row, const Words& words) = 0;
  virtual bool flush() { return true; }
  virtual bool close() = 0;
};

class Hdf5 final : public Library {
 public:
  std::int64_t create(const Plan& plan) override {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    file_ = H5Fcreate(kFile, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hsize_t dims[] = {static_cast<hsize_t>(plan.calls) * static_cast<hsize_t>(plan.ranks), 3};
    space_ = H5Screate_simple(2, dims, nullptr);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    set_ = H5Dcreate2(file_, "data", H5T_STD_I64LE, space_, H5P_DEFAULT, creation, H5P_DEFAULT);
    const hsize_t one[] = {1, 3};
    memory_ = H5Screate_simple(2, one, nullptr);
    transfer_ = H5Pcreate(H5P_DATASET_XFER);
    if (plan.how == "collective") H5Pset_dxpl_mpio(transfer_, H5FD_MPIO_COLLECTIVE);
    H5Fflush(file_, H5F_SCOPE_GLOBAL);  // so that the file can be opened after a kill
    return static_cast<std::int64_t>(H5Dget_offset(set_));
  }
  bool put(std::int64_t row, const Words& words) override {
    const hsize_t start[] = {static_cast<hsize_t>(row), 0}, count[] = {1, 3};
    H5Sselect_hyperslab(space_, H5S_SELECT_SET, start, nullptr, count, nullptr);
    return H5Dwrite(set_, H5T_NATIVE_INT64, memory_, space_, transfer_, words.data()) >= 0;
  }
  bool close() override { return H5Dclose(set_) >= 0 && H5Fclose(file_) >= 0; }

 private:
  hid_t file_ = -1, space_ = -1, set_ = -1, memory_ = -1, transfer_ = -1;
};

class PnetCdf final : public Library {
 public:
  std::int64_t create(const Plan& plan) override {
    independent_ = plan.how == "independent";
    records_ = plan.how == "records";
    ranks_ = plan.ranks;
    std::array<int, 3> dims{};
    ncmpi_create(MPI_COMM_WORLD, kFile, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file_);
    ncmpi_def_dim(file_, "call", records_ ? NC_UNLIMITED : plan.calls, &dims[0]);
    ncmpi_def_dim(file_, "rank", plan.ranks, &dims[1]);
    ncmpi_def_dim(file_, "word", 3, &dims[2]);
    ncmpi_def_var(file_, "data", NC_INT64, 3, dims.data(), &variable_);
    ncmpi_enddef(file_);
    if (independent_) ncmpi_begin_indep_data(file_);
    MPI_Offset offset = 0;
    ncmpi_inq_varoffset(file_, variable_, &offset);
    return offset;
  }
  bool put(std::int64_t row, const Words& words) override {
    const MPI_Offset start[] = {row / ranks_, row % ranks_, 0}, count[] = {1, 1, 3};
    const auto* const data = reinterpret_cast<const long long*>(words.data());
    return (independent_ ? ncmpi_put_vara_longlong(file_, variable_, start, count, data)
                         : ncmpi_put_vara_longlong_all(file_, variable_, start, count, data)) == NC_NOERR;
  }
  bool close() override { return ncmpi_close(file_) == NC_NOERR; }

 private:
  int file_ = -1, variable_ = -1, ranks_ = 1;
  bool independent_ = false, records_ = false;
};

class Tcio final : public Library {
 public:
  std::int64_t create(const Plan& plan) override {
    dice_ = plan.seed;
    return tcio_open(MPI_COMM_WORLD, kFile, FOREBAY_CREATE | FOREBAY_TRUNC | FOREBAY_RDWR, MPI_INFO_NULL,
                     &file_) == FOREBAY_SUCCESS
               ? kBegin
               : -1;
  }
  bool put(std::int64_t row, const Words& words) override {
    const auto count = static_cast<std::int64_t>(words.size());
    const std::int64_t begin = kBegin + row * count * kWord;
    for (std::int64_t at = 0; at < count;) {
      const std::int64_t most = count - at;
      const std::int64_t n =
          next() % 2 == 0 ? most : 1 + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(most));
      if (tcio_write_at(file_, begin + at * kWord, &words[static_cast<std::size_t>(at)], n * kWord) !=
          FOREBAY_SUCCESS)
        return false;
      at += n;
    }
    if (next() % 50 != 0) return true;
    Words got(words.size());
    return tcio_read_at(file_, begin, got.data(), count * kWord) == FOREBAY_SUCCESS &&
           tcio_fetch(file_) == FOREBAY_SUCCESS && got == words;
  }
  bool flush() override {
    return (++flushes_ % 3 == 0 ? tcio_sync(file_) : tcio_flush(file_)) == FOREBAY_SUCCESS;
  }
  bool close() override { return tcio_close(&file_) == FOREBAY_SUCCESS; }

 private:
  static constexpr std::int64_t kBegin = 40, kWord = sizeof(std::int64_t);
  std::uint64_t next() { return dice_ = mixed(dice_ + 0x9e3779b97f4a7c15U); }

  tcio_file file_ = TCIO_FILE_NULL;
  std::uint64_t dice_ = 0;
  int flushes_ = 0;
};

class Boxes final : public Library {
 public:
  std::int64_t create(const Plan& plan) override {
    rows_ = std::int64_t{plan.calls} * plan.ranks;
    return forebay_open(MPI_COMM_WORLD, kFile, FOREBAY_CREATE | FOREBAY_TRUNC | FOREBAY_RDWR, MPI_INFO_NULL,
                        &file_) == FOREBAY_SUCCESS
               ? kBegin
               : -1;
  }
  bool put(std::int64_t row, const Words& words) override {
    const std::int64_t shape[] = {rows_, 3}, start[] = {row, 0}, count[] = {1, 3};
    forebay_request request{};
    request.size = sizeof request;
    request.offset = kBegin;
    request.element_bytes = 8;
    request.ndims = 2;
    request.shape = shape;
    request.start = start;
    request.count = count;
    request.memory = const_cast<std::int64_t*>(words.data());
    return forebay_put(file_, &request, 1) == FOREBAY_SUCCESS;
  }
  bool flush() override { return forebay_flush(file_) == FOREBAY_SUCCESS; }
  bool close() override { return forebay_close(&file_) == FOREBAY_SUCCESS; }

 private:
  static constexpr std::int64_t kBegin = 40;
  forebay_file file_ = FOREBAY_FILE_NULL;
  std::int64_t rows_ = 0;
};

int run(Plan plan, Library& library) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &plan.ranks);
  if (rank == 0) progress(true);
  MPI_Barrier(MPI_COMM_WORLD);
  Progress& counts = progress(false);
  const std::int64_t offset = library.create(plan);
  if (offset < 0) return 6;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) counts.offset = offset;
  const auto r = static_cast<std::size_t>(rank);
  for (int call = 0, flushes = 0; call < plan.calls; ++call) {
    if (plan.flushes(call)) {
      if (!library.flush()) return 7;
      ++flushes;
    }
    counts.begun[r] = call + 1;
    if (!library.put(plan.row(rank, call, flushes), plan.value(rank, call))) return 3;
    counts.done[r] = call + 1;
    if (call % 16 == rank) ::usleep(300);
  }
  return library.close() ? 0 : 4;
}

int check(const Plan& plan) {
  Progress& counts = progress(false);
  const bool big_endian = plan.library == "pnetcdf";
  const int fd = ::open(kFile, O_RDONLY);
  if (fd < 0) return counts.offset == 0 ? 0 : 5;
  std::int64_t records = 0;  // that must be counted
  int wrong = 0;
  struct Call {
    int rank, call;
  };
  std::map<std::int64_t, std::vector<Call>> allowed;  // by row
  for (int call = 0, flushes = 0; call < plan.calls; ++call) {
    flushes += plan.flushes(call) ? 1 : 0;
    for (int rank = 0; rank < plan.ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      if (call >= counts.begun[r]) continue;
      const bool done = call < counts.done[r];
      auto& calls = allowed[plan.row(rank, call, flushes)];
      if (done) calls.clear();
      if (!done && calls.empty()) calls.push_back({0, -1});
      calls.push_back({rank, call});
      // Rank 0 writes the count, and the others do not wait for it, as with the stock driver.
      if (done && rank == 0) records = std::max(records, plan.row(rank, call, flushes) / plan.ranks + 1);
    }
  }
  const auto words = static_cast<std::size_t>(plan.words());
  const auto bytes = words * sizeof(std::int64_t);
  for (const auto& [row, calls] : allowed) {
    Words got(words);
    (void)!::pread(fd, got.data(), bytes, counts.offset + row * static_cast<std::int64_t>(bytes));
    if (big_endian)
      for (auto& word : got)
        word = static_cast<std::int64_t>(__builtin_bswap64(static_cast<std::uint64_t>(word)));
    std::vector<Words> values;
    values.reserve(calls.size());
    for (const auto& [rank, call] : calls) values.push_back(call < 0 ? Words(words) : plan.value(rank, call));
    // What is being put may be there in part, word by word.
    std::size_t k = 0;
    while (k < words && std::ranges::any_of(values, [&](const Words& v) { return v[k] == got[k]; })) ++k;
    if (k == words) continue;
    if (++wrong < 6)
      std::printf("row %ld, word %zu: %lx is not of rank %d's call %d\n", static_cast<long>(row), k,
                  static_cast<unsigned long>(got[k]), calls.back().rank, calls.back().call);
  }
  if (plan.how == "records") {
    std::uint64_t counted = 0;
    (void)!::pread(fd, &counted, sizeof counted, 4);
    counted = __builtin_bswap64(counted);
    if (static_cast<std::int64_t>(counted) < records) {
      std::printf("%ld records are counted, %ld were put\n", static_cast<long>(counted),
                  static_cast<long>(records));
      ++wrong;
    }
  }
  ::close(fd);
  if (wrong == 0 && counts.offset != 0 && plan.library == "hdf5") {
    const hid_t file = H5Fopen(kFile, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) wrong = 1;
    H5Fclose(file);
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  Plan plan{argv[1], argv[2], std::strtoull(argv[3], nullptr, 10), std::atoi(argv[4])};
  if (argc > 6) {
    plan.ranks = std::atoi(argv[6]);
    return check(plan);
  }
  MPI_Init(&argc, &argv);
  Hdf5 hdf5;
  PnetCdf pnetcdf;
  Tcio tcio;
  Boxes boxes;
  const int outcome = plan.library == "hdf5"      ? run(plan, hdf5)
                      : plan.library == "pnetcdf" ? run(plan, pnetcdf)
                      : plan.how == "boxes"       ? run(plan, boxes)
                                                  : run(plan, tcio);
  MPI_Finalize();
  return outcome;
}
