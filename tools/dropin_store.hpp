// Where drop-in PnetCDF libraries are kept, and which one belongs to a program.
#pragma once

#include <string>
#include <vector>

#include "installation.hpp"

namespace forebay::tools {

/// The folders that may hold drop-ins, in the order in which they are looked at: those of FOREBAY_DROPIN,
/// that of the installation, that of the user. In the last two each drop-in has a folder, named by
/// dropin_key; the first may hold one directly.
std::vector<std::string> dropin_folders(const Installation& installation);

/// The folder of the installation's or of the user's drop-ins; empty where it cannot be told.
std::string installed_dropins(const Installation& installation);
std::string own_dropins();

/// Tells the site's PnetCDF library and this release of Forebay from all others. Empty for what is not a
/// library.
std::string dropin_key(const std::string& library);

/// The drop-in that stands for the library; empty where none was made.
std::string find_dropin(const Installation& installation, const std::string& library);

/// What is wrong with the folders of FOREBAY_DROPIN, which somebody meant to be used: a sentence each. With
/// the PnetCDF that the program loads, where that is known, also that none of them stands for it.
std::vector<std::string> useless_dropin_folders(const std::string& library);

/// Whether any drop-in can be found at all: most sites have none, and then nothing else need be asked.
bool any_dropin(const Installation& installation);

/// The shared PnetCDF that the dynamic linker would load with the program, in this environment; empty where
/// there is none or where that cannot be told (scripts).
std::string pnetcdf_of(const std::string& program);

}  // namespace forebay::tools
