// What PETSc's HDF5 viewer does with a file (src/sys/classes/viewer/impls/hdf5/impl/ihdf5v.c): it finds its
// groups anew for each object and attribute, and flushes after each object.
#pragma once

#include "hdf5_program.hpp"

namespace forebay::bench {

class PetscViewer : public Hdf5Program {
 protected:
  PetscViewer(const Setting& setting, bool collective_metadata)
      : Hdf5Program(setting, collective_metadata), transfer_(make_transfer(H5FD_MPIO_INDEPENDENT)) {}

  // An index set or a vector; this rank's part of it. `limit` and `chunk` are the shape, where they are
  // empty.
  struct Object {
    std::string group, name;
    hid_t type;
    Dims shape, start, count, limit = {}, chunk = {};
  };
  void view(const Object& object);
  void make_group(const std::string& path);
  void end();  // before the file is closed
  // Of the object of that path.
  void write_attribute(const std::string& path, const char* name, hid_t type, const void* value);
  void write_attribute(const std::string& path, const char* name, const std::string& text);

 private:
  Hdf5Id transfer_;
};

}  // namespace forebay::bench
