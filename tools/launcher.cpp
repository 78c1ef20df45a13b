// Ranks and programs.
#include "launcher.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/speaker.hpp"

namespace forebay::tools {
namespace {

std::optional<int> number_in(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::string_view view = text;
  int value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc{} || end != view.data() + view.size()) return std::nullopt;
  return value;
}

bool is_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

std::optional<int> launcher_rank() {
  for (const char* name : rank_variables()) {
    if (const auto rank = number_in(name)) return rank;
  }
  return std::nullopt;
}

bool is_first_rank() {
  return launcher_rank().value_or(0) == 0;
}

bool is_first_of_program() {
  return first_by_launcher();
}

std::string find_program(const std::string& name, bool& denied) {
  denied = false;
  const auto usable = [&](const std::string& path) {
    if (!is_file(path)) return false;
    if (::access(path.c_str(), X_OK) == 0) return true;
    denied = true;
    return false;
  };
  if (name.find('/') != name.npos) return usable(name) ? name : std::string{};
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : "/usr/local/bin:/bin:/usr/bin";
  for (;;) {
    const auto colon = folders.find(':');
    const std::string_view folder = folders.substr(0, colon);
    const std::string candidate = (folder.empty() ? "." : std::string(folder)) + "/" + name;
    if (usable(candidate)) return candidate;
    if (colon == folders.npos) return {};
    folders.remove_prefix(colon + 1);
  }
}

}  // namespace forebay::tools
