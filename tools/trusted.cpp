// The shim's check, in sentences.
#include "trusted.hpp"

#include <limits.h>

#include "trust.hpp"

namespace forebay::tools {
namespace {

std::string reason(const std::string& path, const preload::Keeper& keeper) {
  if (!path.starts_with('/')) return path + " is not a whole path (it has to begin with a /)";
  char where[PATH_MAX];
  if (!preload::others_may_change(path.c_str(), keeper, where)) return {};
  return std::string("others may change ") + where;
}

}  // namespace

std::string distrust(const std::string& path) {
  return reason(path, preload::keeper_of("/proc/self/exe"));
}

std::string distrust_named(const std::string& folder) {
  return reason(folder, preload::keeper_of_named(folder.c_str()));
}

}  // namespace forebay::tools
