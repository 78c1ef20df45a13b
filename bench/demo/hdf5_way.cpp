// The history file through parallel HDF5: a contiguous dataset for each variable, written collectively, one
// call for each dataset or one for all of a record's.
#include <algorithm>
#include <utility>
#include <vector>

#include "hdf5_id.hpp"
#include "way.hpp"

namespace forebay::bench {
namespace {

hid_t stored_type(Type type) {
  switch (type) {
    case Type::Float:
      return H5T_IEEE_F32LE;
    case Type::Double:
      return H5T_IEEE_F64LE;
    case Type::Int:
      return H5T_STD_I32LE;
    case Type::Text:
      return H5T_STD_I8LE;
  }
  return H5I_INVALID_HID;
}

hid_t memory_type(Type type) {
  switch (type) {
    case Type::Float:
      return H5T_NATIVE_FLOAT;
    case Type::Double:
      return H5T_NATIVE_DOUBLE;
    case Type::Int:
      return H5T_NATIVE_INT;
    case Type::Text:
      return H5T_NATIVE_SCHAR;
  }
  return H5I_INVALID_HID;
}

std::vector<hsize_t> extent(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

Hdf5Id simple_space(const std::vector<hsize_t>& dims) {
  if (dims.empty()) return Hdf5Id(H5Screate(H5S_SCALAR), "H5Screate");
  return Hdf5Id(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), "H5Screate_simple");
}

// Selects this rank's pieces in one record of (records, shape...), or of (shape...) when there is no record
// dimension: a union of hyperslabs. A list of points is made faster but costs the stock library twice as long
// at every write.
Hdf5Id select_pieces(const Decomposition& over, std::int64_t records, std::int64_t record, bool has_records) {
  std::vector<hsize_t> dims = extent(over.shape);
  if (has_records) dims.insert(dims.begin(), static_cast<hsize_t>(records));
  Hdf5Id space = simple_space(dims);
  check_hdf5(H5Sselect_none(space), "H5Sselect_none");
  std::vector<hsize_t> first(dims.size()), block(dims.size());
  const std::vector<hsize_t> once(dims.size(), 1);
  for (const Piece& piece : over.pieces) {
    for_each_box(
        over.shape, piece, [&](std::span<const std::int64_t> start, std::span<const std::int64_t> count) {
          const std::size_t skip = has_records ? 1 : 0;
          first[0] = static_cast<hsize_t>(record);
          block[0] = 1;
          std::copy(start.begin(), start.end(), first.begin() + static_cast<std::ptrdiff_t>(skip));
          std::copy(count.begin(), count.end(), block.begin() + static_cast<std::ptrdiff_t>(skip));
          check_hdf5(
              H5Sselect_hyperslab(space, H5S_SELECT_OR, first.data(), nullptr, once.data(), block.data()),
              "H5Sselect_hyperslab");
        });
  }
  return space;
}

class Hdf5Way final : public Way {
 public:
  Hdf5Way(Workload& workload, MPI_Comm comm, Calls calls, bool complete)
      : workload_(workload), comm_(comm), calls_(calls), complete_(complete) {
    check_hdf5(H5open(), "H5open");
    check_hdf5(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "H5Eset_auto2");
    transfer_ = Hdf5Id(H5Pcreate(H5P_DATASET_XFER), "H5Pcreate");
    check_hdf5(H5Pset_dxpl_mpio(transfer_, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
    const History& history = workload_.history();
    for (std::size_t v = 0; v < history.variables.size(); ++v) {
      const auto held = static_cast<hsize_t>(workload_.elements(v));
      const std::vector<hsize_t> dims{std::max<hsize_t>(held, 1)};
      memory_spaces_.push_back(simple_space(dims));
      if (held == 0) check_hdf5(H5Sselect_none(memory_spaces_.back()), "H5Sselect_none");
    }
  }

  void create(const std::string& path) override {
    const History& history = workload_.history();
    const Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate");
    check_hdf5(H5Pset_fapl_mpio(access, comm_, MPI_INFO_NULL), "H5Pset_fapl_mpio");
    check_hdf5(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST), "H5Pset_libver_bounds");
    check_hdf5(H5Pset_all_coll_metadata_ops(access, true), "H5Pset_all_coll_metadata_ops");
    check_hdf5(H5Pset_coll_metadata_write(access, true), "H5Pset_coll_metadata_write");
    file_ = Hdf5Id(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "H5Fcreate");
    put_attribute(file_, "title", history.title);
    const Hdf5Id creation(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
    check_hdf5(H5Pset_obj_track_times(creation, false), "H5Pset_obj_track_times");
    check_hdf5(H5Pset_fill_time(creation, complete_ ? H5D_FILL_TIME_NEVER : H5D_FILL_TIME_ALLOC),
               "H5Pset_fill_time");
    for (const Variable& variable : history.variables) {
      std::vector<hsize_t> dims = extent(history.shape(variable));
      if (variable.record) dims.insert(dims.begin(), static_cast<hsize_t>(history.records));
      datasets_.emplace_back(H5Dcreate2(file_, variable.name.c_str(), stored_type(variable.type),
                                        simple_space(dims), H5P_DEFAULT, creation, H5P_DEFAULT),
                             "H5Dcreate2");
      put_attribute(datasets_.back(), "units", variable.units);
      put_attribute(datasets_.back(), "long_name", variable.long_name);
    }
  }

  void aim(std::int64_t record) override {
    const History& history = workload_.history();
    for (std::size_t k = 0; k < workload_.decompositions().size(); ++k) {
      const Decomposition& over = workload_.decompositions()[k];
      record_spaces_.resize(workload_.decompositions().size());
      fixed_spaces_.resize(workload_.decompositions().size());
      if (used(k, true)) record_spaces_[k] = select_pieces(over, history.records, record, true);
      if (record == 0 && used(k, false))
        fixed_spaces_[k] = select_pieces(over, history.records, record, false);
    }
    file_space_ids_.clear();
    whole_spaces_.clear();
    for (std::size_t v = 0; v < history.variables.size(); ++v) {
      const Variable& variable = history.variables[v];
      if (!variable.record && record > 0) {
        file_space_ids_.push_back(H5I_INVALID_HID);
      } else if (variable.decomposition >= 0) {
        const auto k = static_cast<std::size_t>(variable.decomposition);
        file_space_ids_.push_back(variable.record ? record_spaces_[k] : fixed_spaces_[k]);
      } else {
        whole_spaces_.push_back(select_whole(variable, record));
        file_space_ids_.push_back(whole_spaces_.back());
      }
    }
  }

  void write(std::int64_t record) override {
    const std::vector<Variable>& variables = workload_.history().variables;
    std::vector<hid_t> datasets, types, memory, files;
    std::vector<const void*> buffers;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      if (!variables[v].record && record > 0) continue;
      if (calls_ == Calls::PerDataset) {
        check_hdf5(H5Dwrite(datasets_[v], memory_type(variables[v].type), memory_spaces_[v],
                            file_space_ids_[v], transfer_, workload_.buffer(v)),
                   "H5Dwrite");
        continue;
      }
      datasets.push_back(datasets_[v]);
      types.push_back(memory_type(variables[v].type));
      memory.push_back(memory_spaces_[v]);
      files.push_back(file_space_ids_[v]);
      buffers.push_back(workload_.buffer(v));
    }
    if (calls_ == Calls::PerRecord)
      check_hdf5(H5Dwrite_multi(datasets.size(), datasets.data(), types.data(), memory.data(), files.data(),
                                transfer_, buffers.data()),
                 "H5Dwrite_multi");
  }

  void close() override {
    for (Hdf5Id& dataset : datasets_) check_hdf5(H5Dclose(dataset.release()), "H5Dclose");
    check_hdf5(H5Fclose(file_.release()), "H5Fclose");
  }

 private:
  bool used(std::size_t decomposition, bool record) const {
    for (const Variable& variable : workload_.history().variables)
      if (std::cmp_equal(variable.decomposition, decomposition) && variable.record == record) return true;
    return false;
  }

  static void put_attribute(hid_t object, const char* name, const std::string& text) {
    const Hdf5Id type(H5Tcopy(H5T_C_S1), "H5Tcopy");
    check_hdf5(H5Tset_size(type, std::max<std::size_t>(text.size(), 1)), "H5Tset_size");
    const Hdf5Id attribute(H5Acreate2(object, name, type, simple_space({}), H5P_DEFAULT, H5P_DEFAULT),
                           "H5Acreate2");
    check_hdf5(H5Awrite(attribute, type, text.c_str()), "H5Awrite");
  }

  // What is not partitioned: rank 0 writes all of the record, the others nothing.
  Hdf5Id select_whole(const Variable& variable, std::int64_t record) const {
    std::vector<hsize_t> count = extent(workload_.history().shape(variable));
    if (variable.record) count.insert(count.begin(), static_cast<hsize_t>(workload_.history().records));
    Hdf5Id space = simple_space(count);
    if (workload_.rank() != 0) {
      check_hdf5(H5Sselect_none(space), "H5Sselect_none");
    } else if (variable.record) {
      std::vector<hsize_t> start(count.size(), 0);
      start[0] = static_cast<hsize_t>(record);
      count[0] = 1;
      check_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
                 "H5Sselect_hyperslab");
    }
    return space;
  }

  Workload& workload_;
  MPI_Comm comm_;
  Calls calls_;
  bool complete_;
  Hdf5Id transfer_, file_;
  std::vector<Hdf5Id> datasets_, memory_spaces_, record_spaces_, fixed_spaces_, whole_spaces_;
  std::vector<hid_t> file_space_ids_;
};

}  // namespace

std::unique_ptr<Way> make_hdf5_way(Workload& workload, MPI_Comm comm, Calls calls, bool complete) {
  return std::make_unique<Hdf5Way>(workload, comm, calls, complete);
}

}  // namespace forebay::bench
