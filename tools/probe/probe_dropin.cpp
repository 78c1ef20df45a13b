// Loads the PnetCDF library that it is told, and says what it is:
//   LIBRARY         "release VERSION"
//   LIBRARY FILE    writes a file through it, too, and says "active yes" where the file told that Forebay's
//   driver is below
// Every symbol is resolved when the library is loaded, so that one that is missing is found here.
#include <dlfcn.h>
#include <mpi.h>
#include <pnetcdf.h>

#include <array>

#include "probe.hpp"

namespace {

using namespace forebay::probe;

void* library = nullptr;

template <class Function>
Function* symbol(const char* name) {
  void* address = dlsym(library, name);
  if (address == nullptr) fail(std::string("there is no ") + name);
  return reinterpret_cast<Function*>(address);
}

void must(int error, const char* what) {
  if (error != NC_NOERR) fail(std::string(what) + ": error " + std::to_string(error));
}

#define CALL(name, ...) must(symbol<decltype(name)>(#name)(__VA_ARGS__), #name)

void write(const char* path) {
  int file = 0;
  int dimension = 0;
  int variable = 0;
  CALL(ncmpi_create, MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &file);
  CALL(ncmpi_def_dim, file, "x", 4, &dimension);
  CALL(ncmpi_def_var, file, "v", NC_INT, 1, &dimension, &variable);
  CALL(ncmpi_enddef, file);
  const std::array<int, 4> values{1, 2, 3, 4};
  std::array<int, 4> found{};
  CALL(ncmpi_put_var_int_all, file, variable, values.data());
  MPI_Info info = MPI_INFO_NULL;
  CALL(ncmpi_inq_file_info, file, &info);
  std::array<char, MPI_MAX_INFO_VAL + 1> active{};
  int known = 0;
  MPI_Info_get(info, "forebay", MPI_MAX_INFO_VAL, active.data(), &known);
  MPI_Info_free(&info);
  CALL(ncmpi_close, file);
  CALL(ncmpi_open, MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file);
  CALL(ncmpi_get_var_int_all, file, variable, found.data());
  CALL(ncmpi_close, file);
  if (found != values) fail("the file does not hold what was written");
  print("active", known != 0 && std::string(active.data()) == "active" ? "yes" : "no");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  // Global: MPI's own plug-ins expect that of whoever brings it in; this program has it already.
  library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) fail(dlerror());
  const std::string version = symbol<decltype(ncmpi_inq_libvers)>("ncmpi_inq_libvers")();
  print("release", version.substr(0, version.find(' ')));
  if (argc == 2) return 0;
  MPI_Init(&argc, &argv);
  write(argv[2]);
  MPI_Finalize();
  return 0;
}
