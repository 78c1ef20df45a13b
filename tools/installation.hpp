// Where the parts of Forebay are: beside this command in a build tree, or below the same prefix once
// installed.
#pragma once

#include <string>
#include <vector>

namespace forebay::tools {

struct Installation {
  std::string command;               ///< this executable
  std::string shim;                  ///< libforebay_preload.so; empty where it is missing
  std::vector<std::string> folders;  ///< where the drivers may be
  std::string helpers;               ///< folder of the probe programs
  std::string hdf5_plugins;          ///< for HDF5_PLUGIN_PATH; empty where it is missing
  std::string first_preload;         ///< a sanitizer's runtime, in a build with one; else empty

  std::string charts;  ///< Chart.js; may be missing

  std::string distrust;  ///< what others may change of it, a sentence; empty where nobody may

  /// The path of a file in `folders`, as the shim would find it (FOREBAY_LIBDIR goes first); empty where
  /// there is none.
  std::string find(const std::string& file) const;
  /// FOREBAY_LIBDIR for the shim.
  std::string library_path() const;
};

Installation find_installation();

}  // namespace forebay::tools
