// The calls that every row makes.
#include "hdf5_row.hpp"

#include <algorithm>
#include <utility>

namespace forebay::bench {
namespace {

void put_attributes(hid_t object, const std::vector<std::pair<std::string, std::string>>& attributes) {
  for (const auto& [name, text] : attributes) {
    const Hdf5Id type(H5Tcopy(H5T_C_S1), "H5Tcopy"), space(H5Screate(H5S_SCALAR), "H5Screate");
    check_hdf5(H5Tset_size(type, std::max<std::size_t>(text.size(), 1)), "H5Tset_size");
    const Hdf5Id attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                           "H5Acreate2");
    check_hdf5(H5Awrite(attribute, type, text.c_str()), "H5Awrite");
  }
}

}  // namespace

Hdf5Row::Hdf5Row(const Form& form) : form_(form) {
  check_hdf5(H5open(), "H5open");
  check_hdf5(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "H5Eset_auto2");
  transfer_ = Hdf5Id(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
  const bool alone = form_.transfer == Transfer::Independent;
  check_hdf5(H5Pset_dxpl_mpio(transfer_, alone ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE),
             "H5Pset_dxpl_mpio");
  add_layout({}, 0);
}

std::size_t Hdf5Row::add_layout(const std::vector<hsize_t>& chunk, unsigned level) {
  Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
  // Files stay comparable: no time stamps, and no fill values, which rows overwrite anyway.
  check_hdf5(H5Pset_obj_track_times(creation, false), "H5Pset_obj_track_times");
  check_hdf5(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
  if (!chunk.empty())
    check_hdf5(H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data()), "H5Pset_chunk");
  if (level > 0) check_hdf5(H5Pset_deflate(creation, level), "H5Pset_deflate");
  creations_.push_back(std::move(creation));
  return creations_.size() - 1;
}

std::size_t Hdf5Row::add_dataset(std::string name, hid_t type, std::vector<hsize_t> shape,
                                 std::size_t creation) {
  datasets_.push_back({std::move(name), type, std::move(shape), creation});
  return datasets_.size() - 1;
}

std::size_t Hdf5Row::add_write(std::size_t dataset, std::shared_ptr<Hdf5Id> selection, std::int64_t pieces) {
  const auto elements =
      static_cast<hsize_t>(check_hdf5(H5Sget_select_npoints(*selection), "H5Sget_select_npoints"));
  const hsize_t extent = std::max<hsize_t>(elements, 1);
  Hdf5Id memory(H5Screate_simple(1, &extent, nullptr), "H5Screate_simple");
  if (elements == 0) check_hdf5(H5Sselect_none(memory), "H5Sselect_none");
  const std::size_t bytes = elements * H5Tget_size(datasets_[dataset].type);
  writes_.push_back({dataset, call_, std::move(selection), std::move(memory), total_});
  total_ += (bytes + 7) / 8 * 8;
  tally(pieces, static_cast<std::int64_t>(bytes));
  return writes_.back().begin;
}

void Hdf5Row::fill(const Setting& setting, std::int64_t times) {
  values_.resize(std::max<std::size_t>(total_, 8));
  fill_values(values_, static_cast<std::uint64_t>(setting.rank) + 1);
  for (std::size_t at = 0; times > 1 && at < values_.size(); at += 8)
    std::copy_n(
        values_.begin() + static_cast<std::ptrdiff_t>(at - at / 8 % static_cast<std::size_t>(times) * 8), 8,
        values_.begin() + static_cast<std::ptrdiff_t>(at));
}

Hdf5Id Hdf5Row::access(MPI_Info info) const {
  Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
  check_hdf5(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, info), "H5Pset_fapl_mpio");
  if (form_.collective_metadata) {
    check_hdf5(H5Pset_all_coll_metadata_ops(access, true), "H5Pset_all_coll_metadata_ops");
    check_hdf5(H5Pset_coll_metadata_write(access, true), "H5Pset_coll_metadata_write");
  }
  if (form_.since_18)
    check_hdf5(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST), "H5Pset_libver_bounds");
  if (form_.alignment > 0)
    check_hdf5(H5Pset_alignment(access, static_cast<hsize_t>(form_.alignment),
                                static_cast<hsize_t>(form_.alignment)),
               "H5Pset_alignment");
  return access;
}

void Hdf5Row::create(const std::string& path, MPI_Info info) {
  file_ = Hdf5Id(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access(info)), "H5Fcreate");
  put_attributes(file_, attributes_);
  for (Dataset& one : datasets_) {
    const Hdf5Id space(H5Screate_simple(static_cast<int>(one.shape.size()), one.shape.data(), nullptr),
                       "H5Screate_simple");
    one.id = Hdf5Id(H5Dcreate2(file_, one.name.c_str(), one.type, space, H5P_DEFAULT,
                               creations_[one.creation], H5P_DEFAULT),
                    "H5Dcreate2");
    put_attributes(one.id, one.attributes);
  }
}

void Hdf5Row::open(const std::string& path, MPI_Info info) {
  got_ = unread(values_);
  file_ = Hdf5Id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access(info)), "H5Fopen");
  for (Dataset& one : datasets_) one.id = Hdf5Id(H5Dopen2(file_, one.name.c_str(), H5P_DEFAULT), "H5Dopen2");
}

void Hdf5Row::transfer(Way way, std::byte* values) {
  const bool writes = way == Way::Write;
  std::vector<hid_t> datasets, types, memory, selections;
  std::vector<void*> buffers;
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    const Write& one = writes_[i];
    const Dataset& of = datasets_[one.dataset];
    std::byte* at = values + one.begin;
    if (form_.transfer != Transfer::Multi) {
      check_hdf5(writes ? H5Dwrite(of.id, of.type, one.memory, *one.selection, transfer_, at)
                        : H5Dread(of.id, of.type, one.memory, *one.selection, transfer_, at),
                 writes ? "H5Dwrite" : "H5Dread");
      continue;
    }
    datasets.push_back(of.id);
    types.push_back(of.type);
    memory.push_back(one.memory);
    selections.push_back(*one.selection);
    buffers.push_back(at);
    if (i + 1 < writes_.size() && writes_[i + 1].call == one.call) continue;
    std::vector<const void*> sources(buffers.begin(), buffers.end());
    check_hdf5(writes ? H5Dwrite_multi(datasets.size(), datasets.data(), types.data(), memory.data(),
                                       selections.data(), transfer_, sources.data())
                      : H5Dread_multi(datasets.size(), datasets.data(), types.data(), memory.data(),
                                      selections.data(), transfer_, buffers.data()),
               writes ? "H5Dwrite_multi" : "H5Dread_multi");
    for (std::vector<hid_t>* ids : {&datasets, &types, &memory, &selections}) ids->clear();
    buffers.clear();
  }
}

void Hdf5Row::close() {
  for (Dataset& one : datasets_) check_hdf5(H5Dclose(one.id.release()), "H5Dclose");
  check_hdf5(H5Fclose(file_.release()), "H5Fclose");
}

}  // namespace forebay::bench
