// Folders by name and by key; the dynamic linker itself tells what a program would load.
#include "dropin_store.hpp"

#include <chrono>
#include <filesystem>
#include <sstream>

#include "base/environment.hpp"
#include "elf_file.hpp"
#include "forebay/version.h"
#include "subprocess.hpp"
#include "trusted.hpp"

namespace forebay::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds trace_limit{20};

std::string if_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) ? path.lexically_normal().string() : std::string{};
}

std::string dropin_in(const std::string& folder, const std::string& key, const std::string& soname) {
  for (const fs::path& place : {fs::path(folder) / key, fs::path(folder)}) {
    if (std::string found = if_file(place / soname); !found.empty()) return found;
  }
  return {};
}

// Some PnetCDF library, in the folder or in one that is named by a key.
bool holds_any(const std::string& folder) {
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (error) break;
    if (entry.depth() == 1) entry.disable_recursion_pending();
    if (entry->path().filename().string().find("libpnetcdf.so") == 0) return true;
  }
  return false;
}

}  // namespace

std::string installed_dropins(const Installation& installation) {
  if (installation.shim.empty()) return {};
  return (fs::path(installation.shim).parent_path() / "dropin").string();
}

std::string own_dropins() {
  if (const std::string data = from_environment("XDG_DATA_HOME"); data.starts_with("/"))
    return data + "/forebay/dropin";
  const std::string home = from_environment("HOME");
  return home.starts_with("/") ? home + "/.local/share/forebay/dropin" : std::string{};
}

std::vector<std::string> named_dropins(std::vector<std::string>& remarks) {
  std::vector<std::string> folders;
  std::istringstream named(from_environment("FOREBAY_DROPIN"));
  for (std::string folder; std::getline(named, folder, ':');) {
    std::error_code error;
    if (folder.empty()) continue;
    if (folder.starts_with('/') && !fs::is_directory(folder, error)) {
      remarks.push_back("FOREBAY_DROPIN: there is no folder " + folder);
    } else if (const std::string reason = distrust_named(folder); !reason.empty()) {
      remarks.push_back("FOREBAY_DROPIN: " + folder + " is left out: " + reason);
    } else {
      folders.push_back(folder);
    }
  }
  return folders;
}

std::string dropin_key(const std::string& library) {
  const ElfFile file(library);
  return file.soname().empty() ? std::string{} : file.identity() + "-" FOREBAY_VERSION;
}

std::string find_dropin(const Installation& installation, const std::string& library,
                        std::vector<std::string>& remarks) {
  const std::string soname = ElfFile(library).soname();
  const std::string key = dropin_key(library);
  if (key.empty()) return {};
  std::vector<std::string> known;  // what is wrong with these was said
  const std::vector<std::string> named = named_dropins(known);
  for (const std::string& folder : named) {
    if (std::string found = dropin_in(folder, key, soname); !found.empty()) return found;
  }
  for (const std::string& folder : {installed_dropins(installation), own_dropins()}) {
    const std::string found = folder.empty() ? "" : dropin_in(folder, key, soname);
    if (found.empty()) continue;
    const std::string reason = distrust(found);
    if (reason.empty()) return found;
    remarks.push_back("the drop-in " + found + " is not used: " + reason);
  }
  return {};
}

std::vector<std::string> useless_dropins(const std::vector<std::string>& folders,
                                         const std::string& library) {
  std::vector<std::string> remarks;
  const std::string soname = library.empty() ? "" : ElfFile(library).soname();
  const std::string key = library.empty() ? "" : dropin_key(library);
  std::vector<std::string> without;
  for (const std::string& folder : folders) {
    if (!holds_any(folder))
      remarks.push_back("FOREBAY_DROPIN: there is no PnetCDF library in " + folder);
    else if (!key.empty() && dropin_in(folder, key, soname).empty())
      without.push_back(folder);
  }
  // Of several folders one is enough.
  if (!without.empty() && remarks.size() + without.size() == folders.size()) {
    remarks.push_back("FOREBAY_DROPIN: there is no " + soname + " in " + without.front() +
                      ", which would stand for " + library + "; `forebay dropin --library " + library +
                      " --output FOLDER` makes it");
  }
  return remarks;
}

bool any_dropin(const Installation& installation) {
  std::error_code error;
  for (const std::string& folder : {installed_dropins(installation), own_dropins()}) {
    if (!folder.empty() && fs::is_directory(folder, error) && !fs::is_empty(folder, error)) return true;
  }
  return false;
}

std::string pnetcdf_of(const std::string& program) {
  const std::string linker = ElfFile(program).interpreter();
  if (linker.empty()) return {};
  std::error_code error;
  const fs::path path = fs::absolute(program, error);
  const Outcome traced = run_program({linker, "--list", path.string()}, current_environment(), trace_limit);
  std::istringstream lines(traced.output);  // "\tlibpnetcdf.so.8 => /usr/lib/libpnetcdf.so.8 (0x...)"
  for (std::string line; std::getline(lines, line);) {
    const auto arrow = line.find(" => ");
    const auto end = line.rfind(" (0x");
    if (line.find("libpnetcdf.so") >= arrow || end == line.npos) continue;
    return line.substr(arrow + 4, end - arrow - 4);
  }
  return {};
}

}  // namespace forebay::tools
