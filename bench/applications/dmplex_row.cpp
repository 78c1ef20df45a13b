// PETSc: an unstructured mesh of hexahedra and a vector on it (DMPlexView_HDF5_Internal in
// src/dm/impls/plex/hdf5/plexhdf5.c, storage version 1.0.0; ISView_General_HDF5, VecView_MPI_HDF5). Every
// index set and vector is a dataset of one chunk; a rank has a slab of it.
#include <fmt/format.h>

#include "application_row.hpp"
#include "petsc_viewer.hpp"

namespace forebay::bench {
namespace {

class DmplexRow final : public PetscViewer {
 public:
  DmplexRow(const Setting& setting, bool collective_metadata) : PetscViewer(setting, collective_metadata) {
    const std::int64_t edge = by_size(setting.size, 3, 16, 32, 48), nodes = edge + 1;
    const std::int64_t cells = edge * edge * edge, faces = 3 * edge * edge * nodes,
                       edges = 3 * edge * nodes * nodes, vertices = nodes * nodes * nodes,
                       points = cells + faces + edges + vertices, cones = 6 * cells + 4 * faces + 2 * edges;
    add("/geometry", "vertices", H5T_NATIVE_DOUBLE, vertices, 3);
    add("/viz/topology", "cells", H5T_NATIVE_INT, cells, 8);
    for (const char* name : {"order", "cones"}) add("/topology", name, H5T_NATIVE_INT, points, 1);
    for (const char* name : {"cells", "orientation"}) add("/topology", name, H5T_NATIVE_INT, cones, 1);
    for (const auto& [type, number] : {std::pair{0, vertices}, {1, edges}, {4, faces}, {7, cells}})
      add(fmt::format("/labels/celltype/{}", type), "indices", H5T_NATIVE_INT, number, 1);
    for (int side = 1; side <= 6; ++side)
      add(fmt::format("/labels/Face Sets/{}", side), "indices", H5T_NATIVE_INT, edge * edge, 1);
    add("/labels/marker/1", "indices", H5T_NATIVE_INT, 6 * edge * edge + 2, 1);
    add("/fields", "solution", H5T_NATIVE_DOUBLE, vertices, 0);
    fill();
  }

  void write() override {
    const int dimensions = 3, corners = 8;
    write_attribute("/", "dmplex_storage_version", "1.0.0");
    write_attribute("/", "petsc_version_git", "unknown");
    for (const Object& object : objects_) {
      view(object);
      const std::string path = object.group + "/" + object.name;
      if (path == "/viz/topology/cells") write_attribute(path, "cell_corners", H5T_NATIVE_INT, &corners);
      if (path == "/viz/topology/cells") write_attribute(path, "cell_dim", H5T_NATIVE_INT, &dimensions);
      if (path == "/topology/orientation")
        write_attribute("/topology/cells", "cell_dim", H5T_NATIVE_INT, &dimensions);
    }
  }

 private:
  // In blocks of that size; 0: of one, without a dimension.
  void add(const std::string& group, const char* name, hid_t type, std::int64_t length, hsize_t block) {
    const Slab slab(length, setting().rank, setting().ranks);
    Object object{group, name, type, {static_cast<hsize_t>(length)}, {slab.begin}, {slab.length}};
    if (block > 0) {
      object.shape.push_back(block);
      object.start.push_back(0);
      object.count.push_back(block);
    }
    expect(object.shape, object.count, type);
    objects_.push_back(std::move(object));
  }

  std::vector<Object> objects_;
};

}  // namespace

std::unique_ptr<Row> make_dmplex_row(const Setting& setting, bool collective_metadata) {
  return std::make_unique<DmplexRow>(setting, collective_metadata);
}

}  // namespace forebay::bench
