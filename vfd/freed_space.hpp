// When HDF5 frees space of raw data: it does not tell the driver, but it asks for the end of the file.
#pragma once

#include <H5FDdevelop.h>

namespace forebay::hdf5 {

/// Sees the questions for the end of the allocated space. Before a piece of raw data's space can be used
/// again HDF5 looks whether it lies at the file's end, so that the file could shrink (H5MF_xfree, by
/// can_shrink of the section's class, for all but paged files). It asks with the kind of memory, while the
/// metadata cache's ring in the API context is one of the free-space managers'; every rank that takes part in
/// the (collective) call does. Allocation asks in the same way. Nothing else does, but for the query of free
/// space, which any rank may make alone: it asks for all kinds, one after the other.
class FreedSpace {
 public:
  /// Whether this question may mean that raw data's space is freed (or allocated).
  bool asked(H5FD_mem_t kind, int ring) {
    if (ring != kRingOfRawFreeSpace && ring != kRingOfMetadataFreeSpace) {
      query_ = H5FD_MEM_DEFAULT;
      return false;
    }
    const bool querying =
        kind == H5FD_MEM_SUPER || (query_ != H5FD_MEM_DEFAULT && static_cast<int>(kind) == query_ + 1);
    query_ = querying ? kind : H5FD_MEM_DEFAULT;
    return kind == H5FD_MEM_DRAW && !querying;
  }

 private:
  // H5C_RING_RDFSM and H5C_RING_MDFSM, which are in no public header.
  static constexpr int kRingOfRawFreeSpace = 2;
  static constexpr int kRingOfMetadataFreeSpace = 3;

  H5FD_mem_t query_ = H5FD_MEM_DEFAULT;  // the kind that a query of all kinds has come to
};

}  // namespace forebay::hdf5
