// What HDF5 writes for: reports keep the program's data apart from what the library writes of its own accord,
// and tell which collective transfers HDF5 broke into independent ones. HDF5 does not say; it can be told
// from what it asks the driver before, and from the property list.
#pragma once

#include <H5FDdevelop.h>

#include <cstdint>

#include "base/counters.hpp"
#include "driver.hpp"

namespace forebay::hdf5 {

enum class Purpose { data, metadata, fill };

/// Of one contiguous write. Rank 0 fills a contiguous dataset alone, and HDF5 has asked who that is; before a
/// transfer of the program's it asks whether MPI_File_sync is needed.
Purpose purpose_of_bytes(const DriverFile& f, H5FD_mem_t type);

/// Of a vector. Chunks are filled from one buffer, or while a dataset is made, where no property list of the
/// program's is at hand: its filtered data come with one, since they must be written collectively.
Purpose purpose_of_vector(std::uint32_t count, const H5FD_mem_t types[], const void* const buffers[],
                          hid_t dxpl);

/// Counts what a callback has the core write to its purpose; from the beginning of the callback to its end.
class Accounting {
 public:
  Accounting(DriverFile& f, hid_t dxpl);
  /// The callback's purpose is known: what was counted since is moved there. Raw data that the program asked
  /// to write collectively and that came independently are noted with HDF5's cause.
  void close(Purpose purpose);

 private:
  DriverFile& f_;
  hid_t dxpl_;
  Counters& counters_;
  std::int64_t requests_, pieces_, bytes_, collective_, independent_;
};

}  // namespace forebay::hdf5
