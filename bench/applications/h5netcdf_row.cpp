// h5netcdf over parallel h5py (h5netcdf/core.py, dimensions.py; make_fcpl and make_new_dset in h5py/_hl):
// dimensions as scales, coordinates, and variables of which each rank assigns its columns; independent, as
// h5py is where a program does not say otherwise.
#include <fmt/format.h>
#include <hdf5_hl.h>

#include <cstdint>
#include <iterator>
#include <string>

#include "application_row.hpp"
#include "hdf5_program.hpp"

namespace forebay::bench {
namespace {

constexpr unsigned tracked = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
constexpr const char* fields[] = {"temperature", "pressure", "humidity", "wind"};

class H5netcdfRow final : public Hdf5Program {
 public:
  H5netcdfRow(const Setting& setting, bool collective_metadata)
      : Hdf5Program(setting, collective_metadata),
        rows_(by_size<hsize_t>(setting.size, 8, 300, 1000, 4000)),
        width_(columns * static_cast<hsize_t>(setting.ranks)),
        first_(columns * static_cast<hsize_t>(setting.rank)),
        transfer_(make_transfer(H5FD_MPIO_INDEPENDENT)) {
    expect({rows_, width_}, {rows_, columns}, H5T_NATIVE_DOUBLE, std::size(fields));
    expect({width_}, {columns}, H5T_NATIVE_DOUBLE);
    if (setting.rank == 0) expect({rows_}, {rows_}, H5T_NATIVE_DOUBLE);
    fill();
  }

  void write() override {
    const char* names[] = {"y", "x"};
    const hsize_t lengths[] = {rows_, width_};
    for (int d = 0; d < 2; ++d) {
      const Hdf5Id scale = make_dataset(names[d], H5T_IEEE_F32BE, {lengths[d]});
      set_number(scale, d);
      const std::string length =
          fmt::format("This is a netCDF dimension but not a netCDF variable.{:10}", lengths[d]);
      check_hdf5(H5DSset_scale(scale, length.c_str()), "H5DSset_scale");
    }
    // A coordinate takes the place of its dimension's dataset.
    for (int d = 0; d < 2; ++d) {
      check_hdf5(H5Ldelete(file(), names[d], H5P_DEFAULT), "H5Ldelete");
      const Hdf5Id scale = make_dataset(names[d], H5T_NATIVE_DOUBLE, {lengths[d]});
      set_number(scale, d);
      check_hdf5(H5DSset_scale(scale, names[d]), "H5DSset_scale");
      set_text(scale, "units", "m");
    }
    for (const char* name : fields) {
      const Hdf5Id variable = make_dataset(name, H5T_NATIVE_DOUBLE, {rows_, width_});
      for (unsigned d = 0; d < 2; ++d)
        check_hdf5(H5DSattach_scale(variable, open_dataset(names[d]), d), "H5DSattach_scale");
      const std::int32_t coordinates[] = {0, 1};
      const Hdf5Id space = make_space({2});
      const Hdf5Id attribute(
          H5Acreate2(variable, "_Netcdf4Coordinates", H5T_NATIVE_INT32, space, H5P_DEFAULT, H5P_DEFAULT),
          "H5Acreate2");
      check_hdf5(H5Awrite(attribute, H5T_NATIVE_INT32, coordinates), "H5Awrite");
      set_number(variable, 0);
      set_text(variable, "units", "1");
      set_text(variable, "long_name", name);
    }
    if (setting().rank == 0) put(open_dataset("y"), H5T_NATIVE_DOUBLE, {0}, {rows_}, transfer_);
    put(open_dataset("x"), H5T_NATIVE_DOUBLE, {first_}, {columns}, transfer_);
    for (const char* name : fields)
      put(open_dataset(name), H5T_NATIVE_DOUBLE, {0, first_}, {rows_, columns}, transfer_);
    const std::string properties = "version=2,h5netcdf=1.6.1,hdf5=1.14.5,h5py=3.13.0";
    const Hdf5Id type(H5Tcopy(H5T_C_S1), "H5Tcopy");
    check_hdf5(H5Tset_size(type, properties.size()), "H5Tset_size");
    put_attribute(file(), "_NCProperties", type, properties.c_str());
  }

 private:
  static constexpr hsize_t columns = 64;

  Hdf5Id file_creation() const override {
    Hdf5Id creation = Hdf5Program::file_creation();
    check_hdf5(H5Pset_link_creation_order(creation, tracked), "H5Pset_link_creation_order");
    check_hdf5(H5Pset_attr_creation_order(creation, tracked), "H5Pset_attr_creation_order");
    return creation;
  }

  Hdf5Id open_dataset(const char* name) { return Hdf5Id(H5Dopen2(file(), name, H5P_DEFAULT), "H5Dopen2"); }

  Hdf5Id make_dataset(const char* name, hid_t type, const Dims& shape) {
    const Hdf5Id creation = dataset_creation(), space = make_space(shape, shape);
    check_hdf5(H5Pset_attr_creation_order(creation, tracked), "H5Pset_attr_creation_order");
    return Hdf5Id(H5Dcreate2(file(), name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT), "H5Dcreate2");
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
    set_attribute(object, name, type, &text);
  }

  hsize_t rows_, width_, first_;
  Hdf5Id transfer_;
};

}  // namespace

std::unique_ptr<Row> make_h5netcdf_row(const Setting& setting, bool collective_metadata) {
  return std::make_unique<H5netcdfRow>(setting, collective_metadata);
}

}  // namespace forebay::bench
