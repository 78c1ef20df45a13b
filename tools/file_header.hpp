// What the header of an HDF5 or netCDF file says of the file, read without the libraries: for a file that a
// program left behind.
#pragma once

#include <cstdint>
#include <string>

namespace forebay::tools {

struct FileHeader {
  std::string format;              ///< "HDF5, superblock 3", "netCDF, CDF-5"; "": neither
  std::string problem;             ///< why the header cannot be read to its end; ""
  bool open_for_writing = false;   ///< HDF5: its superblock says so
  bool swmr = false;               ///< of these, for readers at the same time
  std::int64_t told_end = -1;      ///< the end of the file as the header has it; -1: it does not say
  std::int64_t records = -1;       ///< netCDF: how many the header counts; -1: there are no record variables
  std::int64_t whole_records = 0;  ///< how many the file has room for
};

/// `bytes`: the file's size.
FileHeader read_header(int descriptor, std::int64_t bytes);

}  // namespace forebay::tools
