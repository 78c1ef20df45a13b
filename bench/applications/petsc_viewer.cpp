// Groups, objects and attributes.
#include "petsc_viewer.hpp"

namespace forebay::bench {

void PetscViewer::make_group(const std::string& path) {
  for (std::size_t end = 1; end < path.size();) {
    end = std::min(path.find('/', end), path.size());
    const std::string part = path.substr(0, end++);
    if (check_hdf5(H5Lexists(file(), part.c_str(), H5P_DEFAULT), "H5Lexists") > 0 &&
        check_hdf5(H5Oexists_by_name(file(), part.c_str(), H5P_DEFAULT), "H5Oexists_by_name") > 0)
      continue;
    const Hdf5Id group(H5Gcreate2(file(), part.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Gcreate2");
  }
}

void PetscViewer::view(const Object& object) {
  make_group(object.group);
  H5O_info2_t info;
  check_hdf5(H5Oget_info_by_name3(file(), object.group.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT),
             "H5Oget_info_by_name3");
  const Hdf5Id group(H5Gopen2(file(), object.group.c_str(), H5P_DEFAULT), "H5Gopen2");
  const Hdf5Id space = make_space(object.shape, object.limit.empty() ? object.shape : object.limit);
  Hdf5Id dataset;
  if (check_hdf5(H5Lexists(group, object.name.c_str(), H5P_DEFAULT), "H5Lexists") == 0) {
    const Hdf5Id creation = dataset_creation(object.chunk.empty() ? object.shape : object.chunk);
    dataset =
        Hdf5Id(H5Dcreate2(group, object.name.c_str(), object.type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
               "H5Dcreate2");
  } else {
    dataset = Hdf5Id(H5Dopen2(group, object.name.c_str(), H5P_DEFAULT), "H5Dopen2");
    check_hdf5(H5Dset_extent(dataset, object.shape.data()), "H5Dset_extent");
  }
  put(dataset, object.type, object.start, object.count, transfer_);
  check_hdf5(H5Fflush(file(), H5F_SCOPE_GLOBAL), "H5Fflush");
}

void PetscViewer::end() {
  check_hdf5(H5Fflush(file(), H5F_SCOPE_LOCAL), "H5Fflush");
}

void PetscViewer::write_attribute(const std::string& path, const char* name, hid_t type, const void* value) {
  make_group(path);
  const bool has =
      check_hdf5(H5Aexists_by_name(file(), path.c_str(), name, H5P_DEFAULT), "H5Aexists_by_name") > 0;
  const Hdf5Id object(H5Oopen(file(), path.c_str(), H5P_DEFAULT), "H5Oopen");
  if (!has) return put_attribute(object, name, type, value);
  const Hdf5Id attribute(H5Aopen(object, name, H5P_DEFAULT), "H5Aopen");
  check_hdf5(H5Awrite(attribute, type, value), "H5Awrite");
}

void PetscViewer::write_attribute(const std::string& path, const char* name, const std::string& text) {
  const Hdf5Id type(H5Tcopy(H5T_C_S1), "H5Tcopy");
  check_hdf5(H5Tset_size(type, text.size() + 1), "H5Tset_size");
  write_attribute(path, name, type, text.c_str());
}

}  // namespace forebay::bench
