// One call of a compiler, and what to say where it fails.
#include "dropin_link.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "elf_file.hpp"
#include "subprocess.hpp"

namespace forebay::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds link_limit{300};
constexpr std::chrono::seconds trace_limit{20};

/// The files of the libraries that the dynamic linker loads with `library`; the linker itself is asked, since
/// only it knows this machine's search order. Names of what is not found go to `missing`.
std::vector<std::string> libraries_below(const std::string& library, std::string& missing) {
  std::vector<std::string> paths;
  const Outcome traced = run_program({"ldd", library}, current_environment(), trace_limit);
  std::istringstream lines(traced.output);
  for (std::string line; std::getline(lines, line);) {
    const auto arrow = line.find(" => ");
    if (arrow == line.npos) continue;
    const std::string rest = line.substr(arrow + 4);
    if (rest.starts_with("/")) {
      paths.push_back(rest.substr(0, rest.rfind(" (0x")));
    } else if (missing.empty()) {
      missing = line.substr(line.find_first_not_of(" \t"), arrow - line.find_first_not_of(" \t"));
    }
  }
  return paths;
}

/// The library's own search path, for a library elsewhere. Entries that would mean whatever folder a program
/// happens to be in are left out.
std::string search_path(const ElfFile& library, const std::string& file) {
  const std::string origin = fs::path(file).parent_path().string();
  std::string path;
  std::istringstream entries(library.run_path());
  for (std::string entry; std::getline(entries, entry, ':');) {
    for (auto at = entry.find("$ORIGIN"); at != entry.npos; at = entry.find("$ORIGIN", at + origin.size()))
      entry.replace(at, std::string_view("$ORIGIN").size(), origin);
    if (entry.starts_with('/')) path += (path.empty() ? "" : ":") + entry;
  }
  return path;
}

std::string last_lines(const std::string& text, std::size_t count) {
  std::size_t at = text.find_last_not_of('\n');
  if (at == text.npos) return {};
  const std::string trimmed = text.substr(0, at + 1);
  for (std::size_t i = 0; i < count && at != trimmed.npos && at > 0; ++i) at = trimmed.rfind('\n', at - 1);
  return at == trimmed.npos || at == 0 ? trimmed : trimmed.substr(at + 1);
}

Status explain_failed_link(const DropinParts& parts, const std::vector<std::string>& command,
                           const Outcome& outcome) {
  const std::string said = outcome.errors + outcome.output;
  if (outcome.status == -1) {
    return {Code::unsupported, outcome.timed_out ? parts.compiler + " was not done after five minutes"
                                                 : "cannot run " + parts.compiler + ": " + outcome.errors};
  }
  if (said.find("-fPIC") != said.npos) {
    return {
        Code::unsupported,
        parts.archive +
            " is not position-independent code, so no shared library can be made of it; build PnetCDF with "
            "CFLAGS=-fPIC (or configure --with-pic) and name that archive with --archive"};
  }
  const std::string end = last_lines(said, 12);
  return {Code::unsupported,
          fmt::format("{} could not link the library: it ended with status {}{}{}\nThe command was: {}",
                      parts.compiler, outcome.status, end.empty() ? " and printed nothing" : ":\n", end,
                      fmt::join(command, " "))};
}

}  // namespace

Status link_dropin(const DropinParts& parts, const std::string& output) {
  const ElfFile library(parts.library);
  std::string missing;
  const std::vector<std::string> below = libraries_below(parts.library, missing);
  if (!missing.empty()) {
    return {Code::unsupported,
            missing + ", which " + parts.library +
                " needs, is not found; load the environment in which programs run, and try again"};
  }
  const fs::path folder = fs::path(output).parent_path();
  const fs::path map = folder / "exports.map";
  {
    std::ofstream exports(map);
    exports << "{\n  global:\n    forebay_pnetcdf_inside;\n";
    for (const std::string& name : library.exports()) exports << "    \"" << name << "\";\n";
    exports << "  local:\n    *;\n};\n";
    if (!exports.flush()) return {Code::io, "cannot write " + map.string()};
  }

  std::vector<std::string> command{parts.compiler,
                                   "-shared",
                                   "-o",
                                   output,
                                   "-Wl,-soname," + library.soname(),
                                   "-Wl,--wrap=ncmpio_inq_driver",
                                   "-Wl,--version-script=" + map.string(),
                                   "-Wl,--build-id",
                                   "-Wl,-z,nodelete",
                                   "-Wl,--whole-archive",
                                   parts.archive,
                                   "-Wl,--no-whole-archive",
                                   parts.driver};
  command.insert(command.end(), parts.with.begin(), parts.with.end());
  // By their files, since a site without compilers' links (libmpi.so) has these too. Needed only where
  // something in them is.
  command.emplace_back("-Wl,--as-needed");
  command.insert(command.end(), below.begin(), below.end());
  if (const std::string path = search_path(library, parts.library); !path.empty())
    command.push_back("-Wl,-rpath," + path);
  const Outcome outcome = run_program(command, current_environment(), link_limit);
  if (outcome.status != 0) return explain_failed_link(parts, command, outcome);
  std::error_code error;
  if (fs::is_regular_file(output, error)) return {};
  return {Code::unsupported, fmt::format("{} made no library, though it ended well\nThe command was: {}",
                                         parts.compiler, fmt::join(command, " "))};
}

}  // namespace forebay::tools
