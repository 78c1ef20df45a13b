// What the HDF5 way needs of HDF5: identifiers that close themselves, and a file of data sets of which each
// rank moves runs of rows, all together. Failures are thrown; HDF5's calls are collective but for H5S and
// H5P.
#pragma once

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "access.hpp"
#include "agree.hpp"

namespace amr {

class Hid {  // an identifier, closed with its scope
 public:
  Hid(hid_t id, herr_t (*closing)(hid_t), const std::string& doing) : id_(id), close_(closing) {
    if (id_ < 0) fail(doing);
  }
  Hid(Hid&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hid& operator=(Hid&&) = delete;
  ~Hid() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor)

  // For files: to know whether it worked.
  void close(const std::string& doing) {
    if (close_(std::exchange(id_, H5I_INVALID_HID)) < 0) fail(doing);
  }

  [[noreturn]] static void fail(const std::string& doing) {
    throw Failure(fmt::format("{}: {}", doing, why()));
  }
  // The call that failed last.
  static std::string why() {
    std::string why = "HDF5 does not say why";
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned n, const H5E_error2_t* error, void* text) -> herr_t {
          if (n == 0) *static_cast<std::string*>(text) = error->desc;
          return 0;
        },
        &why);
    return why;
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Switches off that HDF5 prints its errors itself, while it lives.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

class Hdf5Sets {
 public:
  // `multi`: all that is moved in one call, instead of one a data set.
  Hdf5Sets(MPI_Comm comm, bool multi, std::string path, Access access)
      : path_(std::move(path)),
        multi_(multi),
        transfer_(property(H5P_DATASET_XFER)),
        file_(open(comm, access)) {
    H5Pset_dxpl_mpio(transfer_, H5FD_MPIO_COLLECTIVE);
  }

  template <class Number>
  void put_attribute(const char* name, hid_t type, Number value) {
    const Hid space(H5Screate(H5S_SCALAR), H5Sclose, path_);
    const Hid attribute(H5Acreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, path_);
    check(H5Awrite(attribute, type, &value));
  }
  // Throws where there is none.
  std::int64_t attribute(const char* name) { return get_attribute<std::int64_t>(name, H5T_NATIVE_INT64); }
  std::uint64_t attribute_unsigned(const char* name) {
    return get_attribute<std::uint64_t>(name, H5T_NATIVE_UINT64);
  }

  void make_group(const std::string& name) {
    const Hid properties = untimed(H5P_GROUP_CREATE);
    Hid(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, properties, H5P_DEFAULT), H5Gclose, path_);
  }
  void make_dataset(const std::string& name, hid_t type, const std::vector<hsize_t>& shape) {
    const Hid space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose, path_);
    const Hid properties = untimed(H5P_DATASET_CREATE);
    sets_.emplace_back(H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                       H5Dclose, fmt::format("{}: {}", path_, name));
  }
  void open_dataset(const std::string& name, const std::vector<hsize_t>& shape) {
    const std::string doing = fmt::format("{}: {}", path_, name);
    sets_.emplace_back(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose, doing);
    const Hid space(H5Dget_space(sets_.back()), H5Sclose, doing);
    std::vector<hsize_t> found(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
    H5Sget_simple_extent_dims(space, found.data(), nullptr);
    if (found != shape) throw Failure(fmt::format("{}: not of the size that the header says", doing));
  }

  // The same elements in a data set and in memory, there in one piece: as many data sets as have that shape
  // share one.
  struct Selection {
    hid_t in_file, in_memory;  // this object's
  };
  // Runs of rows (first and count) of data sets of that shape.
  Selection select(const std::vector<hsize_t>& shape, const std::vector<std::pair<hsize_t, hsize_t>>& runs) {
    const Hid& in_file = spaces_.emplace_back(
        H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose, path_);
    check(H5Sselect_none(in_file));
    std::vector<hsize_t> start(shape.size()), extent = shape;
    for (const auto& [first, count] : runs) {
      start[0] = first, extent[0] = count;
      check(H5Sselect_hyperslab(in_file, H5S_SELECT_OR, start.data(), nullptr, extent.data(), nullptr));
    }
    const hsize_t elements = static_cast<hsize_t>(H5Sget_select_npoints(in_file));
    const Hid& in_memory = spaces_.emplace_back(H5Screate_simple(1, &elements, nullptr), H5Sclose, path_);
    return {in_file, in_memory};
  }

  // What of the data set made or opened last is this rank's: `data`, of `type`.
  void add(hid_t type, const Selection& selection, void* data) {
    types_.push_back(type);
    selected_.push_back(selection.in_file);
    memory_.push_back(selection.in_memory);
    data_.push_back(data);
  }

  enum class Direction { put, get };

  // Collective: moves all that was added since the last time.
  void move(Direction direction) {
    const std::size_t count = data_.size(), from = sets_.size() - count;
    std::vector<hid_t> sets(sets_.begin() + static_cast<std::ptrdiff_t>(from), sets_.end());
    std::vector<const void*> data(data_.begin(), data_.end());
    const bool put = direction == Direction::put;
    std::string error;
    if (multi_ && put)
      check(H5Dwrite_multi(count, sets.data(), types_.data(), memory_.data(), selected_.data(), transfer_,
                           data.data()));
    else if (multi_)
      check(H5Dread_multi(count, sets.data(), types_.data(), memory_.data(), selected_.data(), transfer_,
                          data_.data()));
    else
      for (std::size_t i = 0; i < count; ++i)
        if ((put ? H5Dwrite(sets[i], types_[i], memory_[i], selected_[i], transfer_, data_[i])
                 : H5Dread(sets[i], types_[i], memory_[i], selected_[i], transfer_, data_[i])) < 0 &&
            error.empty())
          error = Hid::why();  // and goes on, since other ranks wait for this one
    if (!error.empty()) throw Failure(fmt::format("{}: {}", path_, error));
    types_.clear(), selected_.clear(), memory_.clear(), data_.clear();
  }

  void close() {
    sets_.clear();
    file_.close(path_);
  }

 private:
  template <class Number>
  Number get_attribute(const char* name, hid_t type) {
    Number value = 0;
    const Hid opened(H5Aopen(file_, name, H5P_DEFAULT), H5Aclose,
                     fmt::format("{}: attribute {}", path_, name));
    check(H5Aread(opened, type, &value));
    return value;
  }
  Hid property(hid_t of) const { return Hid(H5Pcreate(of), H5Pclose, path_); }
  // Without the time of making, so that the same state makes the same file.
  Hid untimed(hid_t of) const {
    Hid properties = property(of);
    H5Pset_obj_track_times(properties, false);
    return properties;
  }
  Hid open(MPI_Comm comm, Access access) const {
    const Hid properties = property(H5P_FILE_ACCESS);
    check(H5Pset_fapl_mpio(properties, comm, MPI_INFO_NULL));
    return Hid(access == Access::write ? H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, properties)
                                       : H5Fopen(path_.c_str(), H5F_ACC_RDONLY, properties),
               H5Fclose, path_);
  }
  void check(herr_t status) const {
    if (status < 0) Hid::fail(path_);
  }

  Quiet quiet_;  // the first: until the others are gone
  std::string path_;
  bool multi_;
  Hid transfer_, file_;
  std::deque<Hid> spaces_;
  std::vector<Hid> sets_;
  // Added and not moved.
  std::vector<hid_t> types_, selected_, memory_;
  std::vector<void*> data_;
};

}  // namespace amr
