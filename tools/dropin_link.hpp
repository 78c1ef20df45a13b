// Linking a drop-in: the site's PnetCDF archive and Forebay's driver into one shared library that looks like
// the site's.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"

namespace forebay::tools {

struct DropinParts {
  std::string library;            ///< the site's shared PnetCDF, which the drop-in stands for
  std::string archive;            ///< the site's libpnetcdf.a
  std::string driver;             ///< libforebay_pnetcdf.a
  std::vector<std::string> with;  ///< what else the archive needs
  std::string compiler;           ///< a C++ compiler, which links
};

/// Writes the shared library to `output`. Everything that the site's exports is exported and nothing else but
/// Forebay's mark; soname, search path and libraries needed are the site's. An error says what to do.
Status link_dropin(const DropinParts& parts, const std::string& output);

}  // namespace forebay::tools
