// Looks for recorded maps.
#include "find_map.hpp"

#include <filesystem>

namespace forebay::bench {
namespace fs = std::filesystem;

std::string find_map(const std::string& folder, const std::string& name) {
  const fs::path path = fs::path(folder) / name;
  std::error_code error;
  return fs::is_regular_file(path, error) ? fs::absolute(path).string() : "";
}

std::string describe_map(const std::string& map) {
  return map.empty() ? "a generated cubed sphere, since there is no recorded map"
                     : "recorded " + fs::path(map).filename().string();
}

}  // namespace forebay::bench
