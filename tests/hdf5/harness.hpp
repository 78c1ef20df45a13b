// Runs the same HDF5 program with the stock driver and with Forebay, and compares what they left in the file.
#pragma once

#include <hdf5.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// Owns an HDF5 identifier of any kind.
class Id {
 public:
  explicit Id(hid_t id = H5I_INVALID_HID) : id_(id) {}
  ~Id() { reset(); }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  operator hid_t() const { return id_; }
  herr_t reset();

 private:
  hid_t id_;
};

/// One run of a case: who takes part, and which driver is to be used.
struct Run {
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0;
  int ranks = 1;
  std::string path;
  bool forebay = false;
  std::string
      hints;  ///< for Forebay: the config's hints; with FOREBAY_TEST_BY_ENVIRONMENT HDF5_DRIVER selects it

  /// An access list with this run's driver.
  Id access(MPI_Comm on) const;
  Id access() const { return access(comm); }
  Id create(const Id& fapl, hid_t fcpl = H5P_DEFAULT) const;
  Id open(const Id& fapl, unsigned flags = H5F_ACC_RDWR) const;
};

/// Failed checks of this rank so far.
int failures();
/// What a failed check names as the place: a case and its driver.
void now_running(std::string what);

/// Counts a failed check and says where; returns whether it held.
bool check(bool holds, const char* what, const char* file, int line);
#define CHECK(condition) ::test::check((condition), #condition, __FILE__, __LINE__)

/// How the files of a case are compared: where the stock library is deterministic byte for byte, and where
/// they are files of HDF5's format by what is in them.
enum class Compared { all, datasets, bytes };

struct Case {
  const char* name;
  std::function<void(const Run&)> body;
  Compared compared = Compared::all;
};

/// Registers a case; cases run in the order of their names' registration.
struct Register {
  Register(const char* name, std::function<void(const Run&)> body, Compared compared = Compared::all);
};
#define CASE(name)                                            \
  static void name(const ::test::Run& run);                   \
  static const ::test::Register register_##name(#name, name); \
  static void name(const ::test::Run& run)
/// For files that are not the same twice with the stock driver either: only datasets and attributes are
/// compared.
#define CASE_OF_DATASETS(name) CASE_COMPARED(name, datasets)
/// For files that HDF5 could not open.
#define CASE_OF_BYTES(name) CASE_COMPARED(name, bytes)
#define CASE_COMPARED(name, how)                                                     \
  static void name(const ::test::Run& run);                                          \
  static const ::test::Register register_##name(#name, name, ::test::Compared::how); \
  static void name(const ::test::Run& run)

/// What element `index` of dataset `salt` is to hold.
inline int value_of(std::uint64_t index, unsigned salt = 0) {
  std::uint64_t x = index * 0x9e3779b97f4a7c15ull + salt * 0xd1b54a32d192ed03ull + 0x2545f4914f6cdd1dull;
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 29;
  return static_cast<int>(x & 0x7fffffff);
}

/// HDF5 2.2 as Debian builds it ends the program by an assertion of its own in some cases, on the stock
/// driver as well.
constexpr bool stock_asserts = H5_VERS_MAJOR >= 2;

/// A dataset creation list whose objects carry no times and are filled, so that files can be compared.
Id creation();
Id space(std::vector<hsize_t> dims);
Id transfer(H5FD_mpio_xfer_t mode);
Id collective();
Id dataset(hid_t file, const std::string& name, hid_t type, const Id& space, hid_t dcpl = H5I_INVALID_HID);

/// Linear indices (row-major, in the extent) of what is selected, in the order in which HDF5 moves it.
std::vector<std::uint64_t> selected(hid_t space);

/// Writes value_of(index in file) into the selected elements; memory holds them one after the other.
/// Collective if `dxpl` is.
void write_selected(const Id& set, const Id& file_space, const Id& dxpl, unsigned salt = 0);
/// Reads the selected elements back and compares them. Elements nobody wrote must not be selected.
void check_selected(const Id& set, const Id& file_space, const Id& dxpl, unsigned salt = 0);

int run_all(int argc, char** argv);

}  // namespace test
