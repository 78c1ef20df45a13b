// When HDF5 frees space of raw data: it does not tell the driver, but it asks for the end of the file.
#pragma once

#include <H5FDdevelop.h>

#include <array>
#include <cstddef>
#include <utility>

namespace forebay::hdf5 {

/// Sees the questions for the end of the allocated space. Before a piece of raw data's space can be used
/// again HDF5 looks whether it lies at the file's end, so that the file could shrink (H5MF_xfree, by
/// can_shrink of the section's class, for all but paged files). It asks with the kind of memory, while the
/// metadata cache's ring in the API context is one of the free-space managers'; every rank that takes part in
/// the (collective) call does. Allocation asks in the same way. Nothing else does, but for the query of free
/// space, which any rank may make alone: it asks for all kinds, one after the other.
///
/// A transfer asks, too, to check its range. Within the managers' own work (free space that is kept in the
/// file) HDF5 may write metadata, each rank its share, and global heaps count as raw data there: who asks
/// tells these apart.
class FreedSpace {
 public:
  /// Whether this question may mean that raw data's space is freed (or allocated). `caller`: an address in
  /// the function that asks the driver.
  bool asked(H5FD_mem_t kind, int ring, const void* caller);

 private:
  bool is_transfer(const void* caller);

  H5FD_mem_t query_ = H5FD_MEM_DEFAULT;                    // the kind that a query of all kinds has come to
  std::array<std::pair<const void*, bool>, 8> callers_{};  // those looked up last
  std::size_t oldest_ = 0;
};

}  // namespace forebay::hdf5
