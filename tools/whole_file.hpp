// A file that is there as a whole, or as it was.
#pragma once

#include <string>

#include "base/status.hpp"

namespace forebay::tools {

/// Writes `text` beside `path` and renames. Where `path` is a symbolic link, the file that it names is
/// replaced.
Status write_whole_file(const std::string& path, const std::string& text);

}  // namespace forebay::tools
