// `forebay doctor FILE`: what can be told of one file. Writes nothing.
#pragma once

#include <string>

namespace forebay::tools {

/// Prints it. The exit status: 0 where nothing is missing, as far as can be told; else 1.
int examine_file(const std::string& file, bool json);

}  // namespace forebay::tools
