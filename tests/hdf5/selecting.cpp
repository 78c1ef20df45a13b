// A program that knows nothing of Forebay and says, on every rank, what became of a file: selecting HOW
// [--no-init] [--last NAME=VALUE] [--each] [--first FILE TEXT]. HOW is default (HDF5's own choice:
// HDF5_DRIVER), mpio (H5Pset_fapl_mpio), or name:DRIVER:CONFIG (H5Pset_driver_by_name; without :CONFIG it is
// NULL). --last sets a variable on the last rank only, before it calls HDF5. With --each every rank names a
// file of its own; with --first rank 0 begins, and the others come when the file says that text.
#include <hdf5.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "errors_of.hpp"

namespace {

/// The access list; H5P_DEFAULT where HDF5 chooses.
hid_t access_list(const std::string& how) {
  if (how == "default") return H5P_DEFAULT;
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  herr_t result = 0;
  if (how == "mpio") result = H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  if (how.starts_with("name:")) {
    const std::size_t colon = how.find(':', 5);
    const std::string config = colon == how.npos ? "" : how.substr(colon + 1);
    result = H5Pset_driver_by_name(fapl, how.substr(5, colon == how.npos ? colon : colon - 5).c_str(),
                                   colon == how.npos ? nullptr : config.c_str());
  }
  return result < 0 ? H5I_INVALID_HID : fapl;
}

void wait_for(const std::string& path, const std::string& text) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(40);
  while (std::chrono::steady_clock::now() < end) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      if (line.find(text) != line.npos) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

#ifdef SELECTING_MODULE  // what an interpreter loads for itself alone
extern "C" __attribute__((visibility("default"))) int make_calls(int argc, char** argv) {
#else
int main(int argc, char** argv) {
#endif
  const std::string how = argc > 1 ? argv[1] : "default";
  bool init = true;
  bool each = false;
  std::string variable, said_in, said;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--no-init") == 0) init = false;
    if (std::strcmp(argv[i], "--each") == 0) each = true;
    if (std::strcmp(argv[i], "--first") == 0 && i + 2 < argc) {
      said_in = argv[++i];
      said = argv[++i];
    }
    if (std::strcmp(argv[i], "--last") == 0 && i + 1 < argc) variable = argv[++i];
  }
  int rank = 0, ranks = 1;
  if (init) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  if (!variable.empty() && rank == ranks - 1) {
    const std::size_t equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
  if (!said.empty() && rank > 0) wait_for(said_in, said);
  const std::string name = each ? "selecting." + std::to_string(rank) + ".h5" : "selecting.h5";
  hid_t fapl = H5I_INVALID_HID, file = H5I_INVALID_HID;
  bool sees_mpio = false, atomic = false;
  std::string errors = test::errors_of([&] {
    fapl = access_list(how);
    sees_mpio = fapl > 0 && H5Pget_driver(fapl) == H5FD_MPIO;
  });
  if (fapl >= 0) {
    errors = test::errors_of([&] { file = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl); });
  }
  if (file >= 0) {
    const hid_t own = H5Fget_access_plist(file);
    sees_mpio = sees_mpio && H5Pget_driver(own) == H5FD_MPIO;
    H5Pclose(own);
    const hsize_t two[] = {2};
    const hid_t space = H5Screate_simple(1, two, nullptr);
    const hid_t set = H5Dcreate2(file, "data", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const int values[] = {42, 43};
    const herr_t written = H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(set);
    H5Sclose(space);
    hbool_t now = false;
    atomic = H5Fset_mpi_atomicity(file, true) >= 0 && H5Fget_mpi_atomicity(file, &now) >= 0 && now;
    if (H5Fclose(file) < 0 || written < 0) std::printf("rank %d: cannot write\n", rank);
  }
  for (char& c : errors)
    if (c == '\n') c = '|';
  // In one piece, or the lines of ranks would mix.
  const std::string line =
      "rank " + std::to_string(rank) + ": " +
      (file >= 0 ? std::string("created") + (sees_mpio ? ", sees mpio" : "") + (atomic ? ", atomic" : "")
                 : "refused: " + errors) +
      "\n";
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
  if (init) MPI_Finalize();
  return 0;
}
