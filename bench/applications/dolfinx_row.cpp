// DOLFINx: a mesh of tetrahedra and steps of a function to XDMF (cpp/dolfinx/io/xdmf_mesh.cpp,
// xdmf_function.cpp; write_dataset in HDF5Interface.h): contiguous datasets, of which each rank's slab is
// written collectively. Nothing is flushed.
#include <fmt/format.h>

#include "application_row.hpp"
#include "hdf5_program.hpp"

namespace forebay::bench {
namespace {

class DolfinxRow final : public Hdf5Program {
 public:
  DolfinxRow(const Setting& setting, bool collective_metadata)
      : Hdf5Program(setting, collective_metadata),
        edge_(by_size(setting.size, 3, 12, 24, 40)),
        steps_(by_size(setting.size, 2, 10, 40, 60)) {
    each([&](const std::string&, hid_t type, const Dims& shape, const Dims&, const Dims& count) {
      expect(shape, count, type);
    });
    fill();
  }

  void write() override {
    each([&](const std::string& path, hid_t type, const Dims& shape, const Dims& start, const Dims& count) {
      make_groups(path);
      const Hdf5Id space = make_space(shape, shape);
      const Hdf5Id dataset(
          H5Dcreate2(file(), path.c_str(), type, space, H5P_DEFAULT, dataset_creation(), H5P_DEFAULT),
          "H5Dcreate2");
      put(dataset, type, start, count, make_transfer(H5FD_MPIO_COLLECTIVE));
    });
  }

 private:
  // Visits what is written, in order: path, type, shape, and this rank's slab.
  template <typename Visit>
  void each(const Visit& visit) {
    const std::int64_t cells = 6 * edge_ * edge_ * edge_, points = (edge_ + 1) * (edge_ + 1) * (edge_ + 1);
    const auto one = [&](const std::string& path, hid_t type, std::int64_t length, hsize_t width) {
      const Slab slab(length, setting().rank, setting().ranks);
      visit(path, type, {static_cast<hsize_t>(length), width}, {slab.begin, 0}, {slab.length, width});
    };
    one("/Mesh/mesh/topology", H5T_NATIVE_INT64, cells, 4);
    one("/Mesh/mesh/geometry", H5T_NATIVE_DOUBLE, points, 3);
    for (int step = 0; step < steps_; ++step)
      one(fmt::format("/Function/u/{}", step), H5T_NATIVE_DOUBLE, points, 3);
  }

  // All but the last name of the path.
  void make_groups(const std::string& path) {
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
      const std::string name = path.substr(0, end);
      if (check_hdf5(H5Lexists(file(), name.c_str(), H5P_DEFAULT), "H5Lexists") > 0) {
        H5O_info2_t info;
        check_hdf5(H5Oget_info_by_name3(file(), name.c_str(), &info, H5O_INFO_ALL, H5P_DEFAULT),
                   "H5Oget_info_by_name3");
        continue;
      }
      const Hdf5Id group(H5Gcreate2(file(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                         "H5Gcreate2");
    }
  }

  std::int64_t edge_;
  int steps_;
};

}  // namespace

std::unique_ptr<Row> make_dolfinx_row(const Setting& setting, bool collective_metadata) {
  return std::make_unique<DolfinxRow>(setting, collective_metadata);
}

}  // namespace forebay::bench
