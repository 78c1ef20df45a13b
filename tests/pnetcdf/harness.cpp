// What a run of a test program logs, on whichever driver.
#include "harness.hpp"

#include <cstdio>
#include <string>

namespace forebay::test {

Run::Run(MPI_Comm comm, std::string path, bool forebay)
    : comm_(comm), path_(std::move(path)), forebay_(forebay) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
}

int Run::code(const std::string& what, int err) {
  value(what, err == NC_NOERR ? "ok" : ncmpi_strerrno(err));
  return err;
}

void Run::expect_driver(int file) {
  MPI_Info info = MPI_INFO_NULL;
  char answer[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  if (ncmpi_inq_file_info(file, &info) == NC_NOERR) {
    MPI_Info_get(info, "forebay", MPI_MAX_INFO_VAL, answer, &found);
    MPI_Info_free(&info);
  }
  if ((found != 0) == forebay_) return;
  std::fprintf(stderr, "%s: the driver of this run is not %s\n", path_.c_str(),
               forebay_ ? "Forebay's" : "PnetCDF's own");
  MPI_Abort(MPI_COMM_WORLD, 3);
}

std::string file_name_of(std::string name) {
  for (char& c : name) {
    if (c == ' ' || c == '/') c = '_';
  }
  return name;
}

std::uint64_t hash_of(const void* data, std::size_t bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto* p = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 0x100000001b3;
  return hash;
}

bool is_pnetcdf_1_15() {
  return std::string(ncmpi_inq_libvers()).rfind("1.15.", 0) == 0;
}

}  // namespace forebay::test
