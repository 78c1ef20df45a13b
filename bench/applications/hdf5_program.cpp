// The calls that all of these programs make.
#include "hdf5_program.hpp"

#include <algorithm>

namespace forebay::bench {
namespace {

constexpr std::size_t shifts = 1024;  // values of one call begin 8 bytes behind those of the one before

}  // namespace

Hdf5Id make_space(const Dims& shape, const Dims& limit) {
  return Hdf5Id(
      H5Screate_simple(static_cast<int>(shape.size()), shape.data(), limit.empty() ? nullptr : limit.data()),
      "H5Screate_simple");
}

Hdf5Id make_transfer(H5FD_mpio_xfer_t mode) {
  Hdf5Id transfer(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
  check_hdf5(H5Pset_dxpl_mpio(transfer, mode), "H5Pset_dxpl_mpio");
  return transfer;
}

void Hdf5Program::expect(const Dims& shape, const Dims& count, hid_t type, std::int64_t times) {
  std::size_t d = shape.size();
  while (d > 0 && count[d - 1] == shape[d - 1]) --d;
  std::int64_t elements = 1, runs = 1;
  for (std::size_t k = 0; k < count.size(); ++k) {
    elements *= static_cast<std::int64_t>(count[k]);
    if (k + 1 < d) runs *= static_cast<std::int64_t>(count[k]);
  }
  tally(elements > 0 ? runs * times : 0, elements * static_cast<std::int64_t>(H5Tget_size(type)) * times);
  reserve(count, type);
}

void Hdf5Program::reserve(const Dims& count, hid_t type) {
  std::size_t bytes = H5Tget_size(type);
  for (const hsize_t length : count) bytes *= length;
  largest_ = std::max(largest_, bytes);
}

void Hdf5Program::fill() {
  check_hdf5(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "H5Eset_auto2");
  values_.resize(largest_ + 8 * shifts);
  fill_values(values_, static_cast<std::uint64_t>(setting_.rank) + 1);
}

Hdf5Id Hdf5Program::dataset_creation(const Dims& chunk) {
  Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
  check_hdf5(H5Pset_obj_track_times(creation, false), "H5Pset_obj_track_times");
  if (!chunk.empty())
    check_hdf5(H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data()), "H5Pset_chunk");
  return creation;
}

void Hdf5Program::create(const std::string& path, MPI_Info info) {
  const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
  check_hdf5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, info), "H5Pset_fapl_mpio");
  if (collective_metadata_) {
    check_hdf5(H5Pset_all_coll_metadata_ops(access, true), "H5Pset_all_coll_metadata_ops");
    check_hdf5(H5Pset_coll_metadata_write(access, true), "H5Pset_coll_metadata_write");
  }
  const Hdf5Id creation = file_creation();
  check_hdf5(H5Pset_obj_track_times(creation, false), "H5Pset_obj_track_times");
  file_ = Hdf5Id(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), "H5Fcreate");
}

void Hdf5Program::close() {
  check_hdf5(H5Fclose(file_.release()), "H5Fclose");
}

void Hdf5Program::put(hid_t dataset, hid_t type, const Dims& start, const Dims& count, hid_t transfer,
                      std::size_t memory_dimensions) {
  const Hdf5Id memory(H5Screate_simple(static_cast<int>(memory_dimensions), count.data(), nullptr),
                      "H5Screate_simple"),
      space(H5Dget_space(dataset), "H5Dget_space");
  check_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
             "H5Sselect_hyperslab");
  next_ = (next_ + 1) % shifts;
  check_hdf5(H5Dwrite(dataset, type, memory, space, transfer, values_.data() + 8 * next_), "H5Dwrite");
}

void Hdf5Program::put_attribute(hid_t object, const char* name, hid_t type, const void* value) {
  const Hdf5Id space(H5Screate(H5S_SCALAR), "H5Screate");
  const Hdf5Id attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), "H5Acreate2");
  check_hdf5(H5Awrite(attribute, type, value), "H5Awrite");
}

}  // namespace forebay::bench
