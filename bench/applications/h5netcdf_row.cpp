// h5netcdf over parallel h5py (h5netcdf/core.py, dimensions.py; make_fcpl and make_new_dset in h5py/_hl):
// dimensions as scales, and variables of which each rank assigns its columns, a step at a time; independent,
// as h5py is where a program does not say otherwise.
#include <fmt/format.h>
#include <hdf5_hl.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "application_row.hpp"
#include "hdf5_program.hpp"

namespace forebay::bench {
namespace {

constexpr unsigned tracked = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
constexpr const char *dimensions[] = {"time", "lev", "col"}, *fields[] = {"T0", "T1", "T2", "T3"};

class H5netcdfRow final : public Hdf5Program {
 public:
  H5netcdfRow(const Setting& setting, bool collective_metadata)
      : Hdf5Program(setting, collective_metadata),
        shape_{by_size<hsize_t>(setting.size, 2, 5, 25, 40), by_size<hsize_t>(setting.size, 4, 64, 64, 64),
               columns * static_cast<hsize_t>(setting.ranks)},
        transfer_(make_transfer(H5FD_MPIO_INDEPENDENT)) {
    expect(shape_, count(), H5T_NATIVE_DOUBLE, static_cast<std::int64_t>(std::size(fields) * shape_[0]));
    fill();
  }

  void write() override {
    for (int d = 0; d < 3; ++d) {
      const hsize_t length = shape_[static_cast<std::size_t>(d)];
      check_hdf5(H5Lexists(file(), dimensions[d], H5P_DEFAULT), "H5Lexists");
      const Hdf5Id scale = make_dataset(dimensions[d], H5T_IEEE_F32BE, {length});
      set_number(scale, d);
      check_hdf5(
          H5DSset_scale(
              scale,
              fmt::format("This is a netCDF dimension but not a netCDF variable.{:10}", length).c_str()),
          "H5DSset_scale");
    }
    set_text(file(), "title", "columns");
    std::vector<Hdf5Id> variables;
    for (const char* name : fields) variables.push_back(make_variable(name));
    for (hsize_t step = 0; step < shape_[0]; ++step)
      for (const Hdf5Id& variable : variables)
        put(variable, H5T_NATIVE_DOUBLE, {step, 0, columns * static_cast<hsize_t>(setting().rank)}, count(),
            transfer_);
    const std::string properties = "version=2,h5netcdf=1.6.1,hdf5=1.14.5,h5py=3.13.0";
    const Hdf5Id type(H5Tcopy(H5T_C_S1), "H5Tcopy");
    check_hdf5(H5Tset_size(type, properties.size()), "H5Tset_size");
    set_attribute(file(), "_NCProperties", type, properties.c_str());
  }

 private:
  static constexpr hsize_t columns = 100;

  Hdf5Id file_creation() const override {
    Hdf5Id creation = Hdf5Program::file_creation();
    check_hdf5(H5Pset_link_creation_order(creation, tracked), "H5Pset_link_creation_order");
    check_hdf5(H5Pset_attr_creation_order(creation, tracked), "H5Pset_attr_creation_order");
    return creation;
  }

  Dims count() const { return {1, shape_[1], columns}; }

  Hdf5Id make_dataset(const char* name, hid_t type, const Dims& shape) {
    const Hdf5Id creation = dataset_creation(), space = make_space(shape, shape);
    check_hdf5(H5Pset_attr_creation_order(creation, tracked), "H5Pset_attr_creation_order");
    return Hdf5Id(H5Dcreate2(file(), name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT), "H5Dcreate2");
  }

  Hdf5Id make_variable(const char* name) {
    Hdf5Id variable = make_dataset(name, H5T_NATIVE_DOUBLE, shape_);
    for (unsigned d = 0; d < 3; ++d) {
      const Hdf5Id scale(H5Dopen2(file(), dimensions[d], H5P_DEFAULT), "H5Dopen2");
      check_hdf5(H5DSattach_scale(variable, scale, d), "H5DSattach_scale");
    }
    const std::int32_t coordinates[] = {0, 1, 2};
    const Hdf5Id space = make_space({3});
    const Hdf5Id attribute(
        H5Acreate2(variable, "_Netcdf4Coordinates", H5T_NATIVE_INT32, space, H5P_DEFAULT, H5P_DEFAULT),
        "H5Acreate2");
    check_hdf5(H5Awrite(attribute, H5T_NATIVE_INT32, coordinates), "H5Awrite");
    set_number(variable, 0);
    set_text(variable, "units", "K");
    return variable;
  }

  // h5py asks before it makes an attribute.
  void set_attribute(hid_t object, const char* name, hid_t type, const void* value) {
    check_hdf5(H5Aexists(object, name), "H5Aexists");
    put_attribute(object, name, type, value);
  }
  void set_number(hid_t object, std::int32_t number) {
    set_attribute(object, "_Netcdf4Dimid", H5T_NATIVE_INT32, &number);
  }
  // Of a string of any length, as Python's are.
  void set_text(hid_t object, const char* name, const char* text) {
    const Hdf5Id type(H5Tcopy(H5T_C_S1), "H5Tcopy");
    check_hdf5(H5Tset_size(type, H5T_VARIABLE), "H5Tset_size");
    check_hdf5(H5Tset_cset(type, H5T_CSET_UTF8), "H5Tset_cset");
    set_attribute(object, name, type, static_cast<const void*>(&text));
  }

  Dims shape_;
  Hdf5Id transfer_;
};

}  // namespace

std::unique_ptr<Row> make_h5netcdf_row(const Setting& setting, bool collective_metadata) {
  return std::make_unique<H5netcdfRow>(setting, collective_metadata);
}

}  // namespace forebay::bench
