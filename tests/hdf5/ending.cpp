// A program that ends with raw data still kept by its node: `ending HOW`; `ending check` then looks at the
// bytes of the dataset where HDF5 had said that they go. It knows nothing of Forebay.
#include <hdf5.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr hsize_t kPieces = 3000, kPiece = 9;
constexpr const char* kFile = "ending.h5";
constexpr const char* kPlace = "ending.place";

int value_of(hsize_t i) {
  return static_cast<int>(1000003 * i + 17);
}

int missing() {
  std::ifstream place(kPlace);
  long long offset = 0;
  int ranks = 0;
  place >> offset >> ranks;
  std::vector<int> got(kPieces * kPiece, 0);
  std::FILE* file = std::fopen(kFile, "rb");
  if (!place || file == nullptr || std::fseek(file, static_cast<long>(offset), SEEK_SET) != 0) return -1;
  (void)!std::fread(got.data(), sizeof(int), got.size(), file);
  std::fclose(file);
  int wrong = 0;
  for (hsize_t i = 0; i < got.size(); ++i) wrong += got[i] != value_of(i) ? 1 : 0;
  std::printf("%d of %zu values are missing\n", wrong, got.size());
  return wrong;
}

// A keeper process may still write.
int check() {
  for (int i = 0; i < 100; ++i) {
    if (missing() == 0) return 0;
    usleep(100000);
  }
  return 1;
}

void end(const std::string& how, int rank, const std::vector<int>& pids) {
  if (how == "signal") raise(SIGTERM);
  if (how == "abort") {
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    sleep(60);
  }
  if (how == "killed") {
    // The last rank has no chance to write anything: the others do it for it.
    const int last = static_cast<int>(pids.size()) - 1;
    if (rank == last) raise(SIGKILL);
    for (int i = 0; i < 100000 && kill(pids[static_cast<std::size_t>(last)], 0) == 0; ++i) usleep(100);
    raise(SIGTERM);
  }
  if (how == "all_killed") raise(SIGKILL);  // the keeper process is left
  if (how == "exit") std::exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "check") return check();
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate(kFile, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  const hsize_t dims[] = {kPieces, kPiece};
  const hid_t space = H5Screate_simple(2, dims, nullptr);
  const hid_t set = H5Dcreate2(file, "data", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t one[] = {1, kPiece};
  const hid_t memory = H5Screate_simple(2, one, nullptr);
  for (hsize_t i = static_cast<hsize_t>(rank); i < kPieces; i += static_cast<hsize_t>(ranks)) {
    std::array<int, kPiece> values{};
    for (hsize_t k = 0; k < kPiece; ++k) values[k] = value_of(i * kPiece + k);
    const hsize_t start[] = {i, 0};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, one, nullptr);
    if (H5Dwrite(set, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values.data()) < 0) return 2;
  }
  if (rank == 0) std::ofstream(kPlace) << H5Dget_offset(set) << ' ' << ranks << '\n';
  std::vector<int> pids(static_cast<std::size_t>(ranks));
  const int pid = getpid();
  MPI_Allgather(&pid, 1, MPI_INT, pids.data(), 1, MPI_INT, MPI_COMM_WORLD);
  end(how, rank, pids);
  // "finalize": with everything open
  MPI_Finalize();
  return 0;
}
