// Which files and folders the command takes libraries and programs from: those that nobody else may change.
#pragma once

#include <string>

namespace forebay::tools {

/// Why the file or folder is not to be used: "others may change /tmp/x", or that it is no whole path. Empty
/// where all that may change it are this user, root, and who keeps this command.
std::string distrust(const std::string& path);

/// The same for a folder that the user named, in which whoever made it may also change things.
std::string distrust_named(const std::string& folder);

}  // namespace forebay::tools
