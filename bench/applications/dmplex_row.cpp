// PETSc: a checkpoint of an unstructured mesh of hexahedra and of vectors on it (DMPlexTopologyView,
// LabelsView, CoordinatesView, SectionView and GlobalVectorView in src/dm/impls/plex/hdf5/plexhdf5.c, storage
// version 1.0.0). Every index set and vector is a dataset of one chunk (ISView_General_HDF5,
// VecView_MPI_HDF5); a rank has a slab of it.
#include <fmt/format.h>

#include "application_row.hpp"
#include "petsc_viewer.hpp"

namespace forebay::bench {
namespace {

class DmplexRow final : public PetscViewer {
 public:
  DmplexRow(const Setting& setting, bool collective_metadata)
      : PetscViewer(setting, collective_metadata), vectors_(by_size(setting.size, 1, 2, 4, 8)) {
    const std::int64_t edge = by_size(setting.size, 3, 10, 20, 30), nodes = edge + 1, side = edge * edge;
    const std::int64_t cells = edge * edge * edge, faces = 3 * side * nodes, edges = 3 * edge * nodes * nodes,
                       vertices = nodes * nodes * nodes, points = cells + faces + edges + vertices,
                       cones = 6 * cells + 4 * faces + 2 * edges;
    for (const auto& [name, length] :
         {std::pair{"cones", points}, {"cells", cones}, {"orientation", cones}, {"order", points}})
      add("/topology", name, H5T_NATIVE_INT, length, 1);
    add("/labels/marker/1", "indices", H5T_NATIVE_INT, 24 * side + 2, 1);
    for (int number = 1; number <= 6; ++number)
      add(fmt::format("/labels/Face Sets/{}", number), "indices", H5T_NATIVE_INT, side, 1);
    for (const auto& [type, length] : {std::pair{0, vertices}, {1, edges}, {4, faces}, {7, cells}})
      add(fmt::format("/labels/celltype/{}", type), "indices", H5T_NATIVE_INT, length, 1);
    add("/geometry", "vertices", H5T_NATIVE_DOUBLE, vertices, 3);
    for (const char* name : {"atlasDof", "atlasOff"}) add(section, name, H5T_NATIVE_INT, points, 1);
    add(dofs, "order", H5T_NATIVE_INT, points, 1);
    for (int vector = 0; vector < vectors_; ++vector) {
      const std::string name = fmt::format("u{}", vector);
      add(std::string(dofs) + "/vecs/" + name, name, H5T_NATIVE_DOUBLE, 3 * vertices, 0);
    }
    fill();
  }

  void write() override {
    const int dimensions = 3, none = 0, one = 1;
    write_attribute("/", "dmplex_storage_version", "1.0.0");
    write_attribute("/", "petsc_version_git", "unknown");
    for (const Object& object : objects_) {
      make_group(object.group);
      if (object.name == "atlasDof")
        for (const auto& [name, value] :
             {std::pair{"numFields", &none}, {"hasConstraints", &none}, {"includesConstraints", &one}})
          write_attribute(section, name, H5T_NATIVE_INT, value);
      if (object.name.starts_with("u"))
        write_attribute(object.group, "blockSize", H5T_NATIVE_INT, &dimensions);
      view(object);
      if (object.group == "/topology" && object.name == "order")
        write_attribute("/topology/cells", "cell_dim", H5T_NATIVE_INT, &dimensions);
    }
    end();
  }

 private:
  static constexpr const char *dofs = "/topologies/mesh/dms/dofs",
                              *section = "/topologies/mesh/dms/dofs/section";

  // In blocks of that size; 0: of one, without a dimension. The first two sides of the box are the first and
  // the last rank's.
  void add(const std::string& group, const std::string& name, hid_t type, std::int64_t length,
           hsize_t block) {
    const bool first = group.ends_with("Face Sets/1"), last = group.ends_with("Face Sets/2");
    const int owner = first ? 0 : setting().ranks - 1;
    const Slab slab = !first && !last ? Slab(length, setting().rank, setting().ranks)
                                      : Slab(setting().rank == owner ? length : 0, 0, 1);
    Object object{group, name, type, {static_cast<hsize_t>(length)}, {slab.begin}, {slab.length}};
    if (block > 0) {
      object.shape.push_back(block);
      object.start.push_back(0);
      object.count.push_back(block);
    }
    expect(object.shape, object.count, type);
    objects_.push_back(std::move(object));
  }

  int vectors_;
  std::vector<Object> objects_;
};

}  // namespace

std::unique_ptr<Row> make_dmplex_row(const Setting& setting, bool collective_metadata) {
  return std::make_unique<DmplexRow>(setting, collective_metadata);
}

}  // namespace forebay::bench
