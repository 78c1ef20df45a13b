#include "check.hpp"

#include <hdf5.h>
#include <mpi.h>
#include <pnetcdf.h>

#include <fstream>
#include <iterator>

#include "standing.hpp"

namespace mixed {
namespace {

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("cannot read " + path);
  const std::vector<char> text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::vector<std::byte> bytes(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) bytes[i] = static_cast<std::byte>(text[i]);
  return bytes;
}

void compare(const std::string& path, const Array& array, const std::vector<int64_t>& got) {
  std::size_t wrong = 0, first = 0;
  for (std::size_t c = 0; c < array.cells.size(); ++c) {
    if (!array.cells[c].known || got[c] == array.cells[c].value) continue;
    if (wrong++ == 0) first = c;
  }
  if (wrong == 0) return;
  fail(path + ": " + std::to_string(wrong) + " of " + std::to_string(got.size()) + " elements of " +
       array.name + " are wrong in the closed file, the first, " + std::to_string(first) + ", is " +
       std::to_string(got[first]) + ", not " + std::to_string(array.cells[first].value) +
       (array.places.size() > first ? ", at byte " + std::to_string(array.places[first]) : ""));
}

void check_records(const std::string& path, const std::vector<std::byte>& bytes, int64_t records) {
  const int width = bytes.size() > 3 && bytes[3] == std::byte{5} ? 8 : 4;
  if (bytes.size() < 4 + static_cast<std::size_t>(width)) fail(path + " has no header");
  const int64_t found = decode(&bytes[4], width, true);
  if (found != records)
    fail(path + ": the header counts " + std::to_string(found) + " records, not " + std::to_string(records));
}

}  // namespace

void check_bytes(const std::string& path, const std::vector<std::unique_ptr<Array>>& arrays,
                 const Expected& expected) {
  const std::vector<std::byte> bytes = bytes_of(path);
  if (expected.size >= 0 && expected.size != static_cast<int64_t>(bytes.size()))
    fail(path + " has " + std::to_string(bytes.size()) + " bytes, not " + std::to_string(expected.size));
  if (expected.kind == Kind::pnetcdf) check_records(path, bytes, expected.records);
  const auto big = [&](const Array& array) { return expected.kind == Kind::pnetcdf || array.big; };
  for (const auto& array : arrays) {
    if (array->gone) continue;
    if (array->places.size() != array->cells.size())
      fail(path + ": it is not known where " + array->name + " lies");
    std::vector<int64_t> got(array->cells.size(), 0);
    for (std::size_t c = 0; c < got.size(); ++c) {
      std::byte element[8] = {};  // zeros behind the end
      for (int i = 0; i < array->bytes; ++i) {
        const int64_t at = array->places[c] + i;
        if (array->places[c] >= 0 && at < static_cast<int64_t>(bytes.size()))
          element[i] = bytes[static_cast<std::size_t>(at)];
      }
      got[c] = decode(element, array->bytes, big(*array));
    }
    compare(path, *array, got);
  }
}

void check_by_libraries(const std::string& path, const std::vector<std::unique_ptr<Array>>& arrays,
                        const Expected& expected) {
  std::vector<long long> got;
  const auto finish = [&](const Array& array) {
    compare(path, array, std::vector<int64_t>(got.begin(), got.end()));
  };
  if (expected.kind == Kind::hdf5) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) fail(path + " cannot be opened by HDF5's serial driver");
    for (const auto& array : arrays) {
      if (array->gone) continue;
      got.assign(array->cells.size() + 1, 0);
      const hid_t set = H5Dopen2(file, array->name.c_str(), H5P_DEFAULT);
      if (set < 0 || H5Dread(set, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, got.data()) < 0)
        fail(path + ": " + array->name + " cannot be read");
      H5Dclose(set);
      finish(*array);
    }
    H5Fclose(file);
  } else if (expected.kind == Kind::pnetcdf) {
    int file = -1;
    if (ncmpi_open(MPI_COMM_SELF, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file) != NC_NOERR)
      fail(path + " cannot be opened by PnetCDF");
    for (const auto& array : arrays) {
      got.assign(array->cells.size() + 1, 0);
      int var = -1;
      if (ncmpi_inq_varid(file, array->name.c_str(), &var) != NC_NOERR ||
          ncmpi_get_var_longlong_all(file, var, got.data()) != NC_NOERR)
        fail(path + ": " + array->name + " cannot be read");
      finish(*array);
    }
    ncmpi_close(file);
  }
}

}  // namespace mixed
