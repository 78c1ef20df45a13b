// The two layouts: of the build tree that this command was made in, and of an installation, which may have
// been moved.
#include "installation.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "build_tree.hpp"

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

bool is_build_tree(const fs::path& command) {
  std::error_code error;
  return fs::equivalent(command, build_tree::command, error);
}

}  // namespace

Installation find_installation() {
  Installation found;
  const fs::path command = own_path();
  found.command = command.string();
  if (is_build_tree(command)) {
    found.shim = if_exists(build_tree::shim);
    for (const char* folder : build_tree::folders) {
      if (folder != nullptr) found.folders.emplace_back(folder);
    }
    found.helpers = build_tree::helpers;
    found.hdf5_plugins = if_exists(build_tree::hdf5_plugins);
    found.first_preload = build_tree::first_preload;
    return found;
  }
  const fs::path bin = command.parent_path();
  const fs::path libraries = bin / install_tree::libraries;
  found.shim = if_exists(libraries / "forebay" / "libforebay_preload.so");
  found.folders = {(libraries / "forebay").lexically_normal().string(),
                   libraries.lexically_normal().string()};
  found.helpers = (bin / install_tree::helpers).lexically_normal().string();
  found.hdf5_plugins = if_exists(libraries / "forebay" / "hdf5");
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
    if (std::string found = if_exists(fs::path(list.substr(0, colon)) / file); !found.empty()) return found;
    if (colon == list.npos) break;
    list.remove_prefix(colon + 1);
  }
  return {};
}

}  // namespace forebay::tools
