// A file that is there as a whole, or as it was.
#pragma once

#include <string>

#include "base/status.hpp"

namespace forebay::tools {

/// What would keep `path` from being written, as far as that shows before.
Status look_at_whole_file(const std::string& path);

/// Writes `text` beside `path` and renames. Where `path` is a symbolic link, the file that it names is
/// replaced.
Status write_whole_file(const std::string& path, const std::string& text);

}  // namespace forebay::tools
