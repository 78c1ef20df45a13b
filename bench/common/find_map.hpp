// Recorded maps as a benchmark's driver looks for them.
#pragma once

#include <string>

namespace forebay::bench {

// The absolute path of the map of that name in the folder; empty where there is none.
std::string find_map(const std::string& folder, const std::string& name);

// What the output says of a map that find_map gave.
std::string describe_map(const std::string& map);

}  // namespace forebay::bench
