// Where drop-in PnetCDF libraries are kept, and which one belongs to a program.
#pragma once

#include <string>
#include <vector>

#include "installation.hpp"

namespace forebay::tools {

/// The folders of FOREBAY_DROPIN that are used: whole paths of folders that are there, in which nobody else
/// may change anything. A sentence for each that is not goes to `remarks`; empty entries are passed over.
std::vector<std::string> named_dropins(std::vector<std::string>& remarks);

/// The folder of the installation's or of the user's drop-ins; empty where it cannot be told.
std::string installed_dropins(const Installation& installation);
std::string own_dropins();

/// Tells the site's PnetCDF library and this release of Forebay from all others. Empty for what is not a
/// library.
std::string dropin_key(const std::string& library);

/// The drop-in that stands for the library; empty where none was made. Looked for in the folders of
/// FOREBAY_DROPIN, which may hold one directly, then in those of the installation and of the user, where each
/// drop-in has a folder, named by dropin_key. One that others may change is not used; `remarks` tells.
std::string find_dropin(const Installation& installation, const std::string& library,
                        std::vector<std::string>& remarks);

/// What is wrong with the folders of FOREBAY_DROPIN, which somebody meant to be used: a sentence each. With
/// the PnetCDF that the program loads, where that is known, also that none of them stands for it.
std::vector<std::string> useless_dropins(const std::vector<std::string>& folders, const std::string& library);

/// Whether the installation or the user has any drop-in: most have none, and then nothing else need be asked.
bool any_dropin(const Installation& installation);

/// The shared PnetCDF that the dynamic linker would load with the program, in this environment; empty where
/// there is none or where that cannot be told (scripts).
std::string pnetcdf_of(const std::string& program);

}  // namespace forebay::tools
