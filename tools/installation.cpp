// The two layouts: of a build tree, told by a file beside the command, and of an installation, which may have
// been moved. Nothing is looked for at a place that was known when the command was built.
#include "installation.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "surroundings.hpp"
#include "trusted.hpp"

namespace forebay::tools {
namespace {

namespace fs = std::filesystem;

fs::path own_path() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

std::string if_exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) ? path.lexically_normal().string() : std::string{};
}

/// What a build leaves beside its command, and an installation does not have: where the parts are.
fs::path build_tree_of(const fs::path& command) {
  const fs::path file = command.parent_path() / "forebay.build-tree";
  return distrust(file.string()).empty() ? file : fs::path{};
}

bool read_build_tree(const fs::path& command, Installation& found) {
  std::ifstream file(build_tree_of(command));
  for (std::string line; std::getline(file, line);) {
    const auto equals = std::min(line.find('='), line.size() - 1);
    const std::string key = line.substr(0, equals);
    const std::string value = line.substr(equals + 1);
    if (key == "shim") found.shim = if_exists(value);
    if (key == "folder") found.folders.push_back(value);
    if (key == "helpers") found.helpers = value;
    if (key == "hdf5_plugins") found.hdf5_plugins = if_exists(value);
    if (key == "first_preload") found.first_preload = value;
    if (key == "charts") found.charts = value;
  }
  return !found.helpers.empty();
}

void read_installation(const fs::path& command, Installation& found) {
  const fs::path bin = command.parent_path();
  const fs::path libraries = bin / install_tree::libraries;
  found.shim = if_exists(libraries / "forebay" / "libforebay_preload.so");
  found.folders = {(libraries / "forebay").lexically_normal().string(),
                   libraries.lexically_normal().string()};
  found.helpers = (bin / install_tree::helpers).lexically_normal().string();
  found.hdf5_plugins = if_exists(libraries / "forebay" / "hdf5");
  found.charts = (bin / install_tree::data / "chart.min.js").lexically_normal().string();
}

/// Also what is in a folder may be changed by whoever may change the folder.
void look_who_may_change(Installation& found) {
  std::vector<std::string> places = found.folders;
  places.insert(places.end(), {found.shim, found.helpers, found.hdf5_plugins});
  for (const std::string& place : places) {
    std::error_code error;
    if (place.empty() || !fs::exists(place, error)) continue;
    if (const std::string reason = distrust(place); !reason.empty()) {
      found.distrust =
          reason + ", from which Forebay would be loaded; take the right to write there from them";
      return;
    }
  }
}

}  // namespace

Installation find_installation() {
  Installation found;
  const fs::path command = own_path();
  found.command = command.string();
  if (!read_build_tree(command, found)) read_installation(command, found);
  look_who_may_change(found);
  return found;
}

std::string Installation::library_path() const {
  if (const char* chosen = std::getenv("FOREBAY_LIBDIR"); chosen != nullptr && *chosen != '\0') return chosen;
  std::string path;
  for (const std::string& folder : folders) {
    if (!path.empty()) path += ':';
    path += folder;
  }
  return path;
}

std::string Installation::find(const std::string& file) const {
  const std::string path = library_path();
  std::string_view list = path;
  while (!list.empty()) {
    const auto colon = list.find(':');
    const fs::path folder = list.substr(0, colon);
    if (std::string found = if_exists(folder / file); folder.is_absolute() && !found.empty()) return found;
    if (colon == list.npos) break;
    list.remove_prefix(colon + 1);
  }
  return {};
}

}  // namespace forebay::tools
