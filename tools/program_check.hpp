// Why a program cannot be reached by what is preloaded, told from its file before it starts.
#pragma once

#include <string>
#include <vector>

namespace forebay::tools {

/// A sentence for each reason; none for a program that can be reached, for scripts and for what is not
/// understood.
std::vector<std::string> unreachable_parts(const std::string& path);

}  // namespace forebay::tools
