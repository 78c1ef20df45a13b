// The drivers' runs, and the small HDF5 helpers that the cases share.
#include "harness.hpp"

#include <algorithm>

#ifndef FOREBAY_TEST_BY_ENVIRONMENT
#include "forebay/hdf5.h"
#endif

namespace test {
namespace {

int failed_checks = 0;
std::string where;  // the case and driver that run now

}  // namespace

herr_t Id::reset() {
  if (id_ < 0) return 0;
  const hid_t id = std::exchange(id_, H5I_INVALID_HID);
  switch (H5Iget_type(id)) {
    case H5I_FILE:
      return H5Fclose(id);
    case H5I_GROUP:
      return H5Gclose(id);
    case H5I_DATASET:
      return H5Dclose(id);
    case H5I_DATASPACE:
      return H5Sclose(id);
    case H5I_DATATYPE:
      return H5Tclose(id);
    case H5I_ATTR:
      return H5Aclose(id);
    case H5I_GENPROP_LST:
      return H5Pclose(id);
    default:
      return H5Oclose(id);
  }
}

Id Run::access(MPI_Comm on) const {
  Id fapl(H5Pcreate(H5P_FILE_ACCESS));
  if (!forebay) {
    CHECK(H5Pset_fapl_mpio(fapl, on, MPI_INFO_NULL) >= 0);
    return fapl;
  }
#ifdef FOREBAY_TEST_BY_ENVIRONMENT
  if (on != MPI_COMM_WORLD) CHECK(H5Pset_mpi_params(fapl, on, MPI_INFO_NULL) >= 0);
#else
  H5FD_forebay_config_t config = H5FD_FOREBAY_CONFIG_INIT;
  std::snprintf(config.hints, sizeof config.hints, "%s", hints.c_str());
  CHECK(H5Pset_fapl_forebay(fapl, on, MPI_INFO_NULL, &config) >= 0);
#endif
  return fapl;
}

Id Run::create(const Id& fapl, hid_t fcpl) const {
  const Id plain(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_obj_track_times(plain, false);  // the root group's header holds times in newer formats
  Id file(
      H5Fcreate(path.c_str(), H5F_ACC_TRUNC, fcpl == H5P_DEFAULT ? static_cast<hid_t>(plain) : fcpl, fapl));
  CHECK(file >= 0);
  return file;
}

Id Run::open(const Id& fapl, unsigned flags) const {
  Id file(H5Fopen(path.c_str(), flags, fapl));
  CHECK(file >= 0);
  return file;
}

int failures() {
  return failed_checks;
}

void now_running(std::string what) {
  where = std::move(what);
}

bool check(bool holds, const char* what, const char* file, int line) {
  if (holds) return true;
  ++failed_checks;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "%s:%d: rank %d, %s: failed: %s\n", file, line, rank, where.c_str(), what);
  return false;
}

Id creation() {
  Id dcpl(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(dcpl, false);
  // What nobody writes is garbage with the stock driver; filled, it also shows bytes that should have been
  // left alone.
  H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC);
  return dcpl;
}

Id space(std::vector<hsize_t> dims) {
  return Id(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
}

Id transfer(H5FD_mpio_xfer_t mode) {
  Id dxpl(H5Pcreate(H5P_DATASET_XFER));
  CHECK(H5Pset_dxpl_mpio(dxpl, mode) >= 0);
  return dxpl;
}

Id collective() {
  return transfer(H5FD_MPIO_COLLECTIVE);
}

Id dataset(hid_t file, const std::string& name, hid_t type, const Id& extent, hid_t dcpl) {
  Id own;
  if (dcpl < 0) {
    own = creation();
    dcpl = own;
  }
  Id set(H5Dcreate2(file, name.c_str(), type, extent, H5P_DEFAULT, dcpl, H5P_DEFAULT));
  CHECK(set >= 0);
  return set;
}

std::vector<std::uint64_t> selected(hid_t extent) {
  std::vector<std::uint64_t> out;
  const hssize_t elements = H5Sget_select_npoints(extent);
  if (elements <= 0) return out;
  // Not by the iterator that the driver uses: H5Diterate visits elements in the order of a transfer.
  std::vector<std::uint64_t> all(static_cast<std::size_t>(H5Sget_simple_extent_npoints(extent)));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  H5Diterate(
      all.data(), H5T_NATIVE_UINT64, extent,
      [](void* element, hid_t, unsigned, const hsize_t*, void* data) -> herr_t {
        static_cast<std::vector<std::uint64_t>*>(data)->push_back(*static_cast<std::uint64_t*>(element));
        return 0;
      },
      &out);
  return out;
}

void write_selected(const Id& set, const Id& file_space, const Id& dxpl, unsigned salt) {
  const std::vector<std::uint64_t> indices = selected(file_space);
  std::vector<int> values(std::max<std::size_t>(indices.size(), 1));
  for (std::size_t i = 0; i < indices.size(); ++i) values[i] = value_of(indices[i], salt);
  const Id memory = space({values.size()});
  if (indices.empty()) H5Sselect_none(memory);
  CHECK(H5Dwrite(set, H5T_NATIVE_INT, memory, file_space, dxpl, values.data()) >= 0);
}

void check_selected(const Id& set, const Id& file_space, const Id& dxpl, unsigned salt) {
  const std::vector<std::uint64_t> indices = selected(file_space);
  std::vector<int> values(std::max<std::size_t>(indices.size(), 1), -1);
  const Id memory = space({values.size()});
  if (indices.empty()) H5Sselect_none(memory);
  CHECK(H5Dread(set, H5T_NATIVE_INT, memory, file_space, dxpl, values.data()) >= 0);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) wrong += values[i] != value_of(indices[i], salt) ? 1 : 0;
  if (!CHECK(wrong == 0)) std::fprintf(stderr, "  %zu of %zu elements are wrong\n", wrong, indices.size());
}

}  // namespace test
