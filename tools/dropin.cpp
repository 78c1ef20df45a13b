// forebay dropin: a PnetCDF library with Forebay's driver in it, for programs whose shared PnetCDF lets
// nobody replace its driver. It is made beside its place, tried, and only then put there.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <unordered_set>

#include "commands.hpp"
#include "dropin_link.hpp"
#include "dropin_store.hpp"
#include "elf_file.hpp"
#include "installation.hpp"
#include "launcher.hpp"
#include "message.hpp"
#include "probe_facts.hpp"
#include "subprocess.hpp"
#include "surroundings.hpp"
#include "trusted.hpp"

namespace forebay::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds probe_limit{60};

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

Status refuse(const std::string& message) {
  return {Code::unsupported, message};
}

/// A folder inside `parent`, removed with the object.
class WorkFolder {
 public:
  explicit WorkFolder(const std::string& parent) {
    std::string name = parent + "/.making-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~WorkFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Status choose_library(const DropinOptions& options, DropinParts& parts) {
  if (!options.archive.empty() && !is_file(options.archive))
    return refuse("there is no archive " + options.archive + "; --archive names the site's libpnetcdf.a");
  parts.library = options.library;
  if (parts.library.empty() && !options.archive.empty())
    parts.library = (fs::path(options.archive).parent_path() / "libpnetcdf.so").string();
  if (parts.library.empty()) {
    parts.library = built_with::pnetcdf;
    const std::string reason = is_file(parts.library) ? distrust(parts.library) : "";
    if (!reason.empty())
      return refuse(reason + ", where the PnetCDF is that Forebay was built with; name one with --library");
  }
  if (!is_file(parts.library)) {
    return refuse("there is no shared PnetCDF " + parts.library +
                  "; name the one that programs use with --library (ldd PROGRAM shows it). Programs linked "
                  "with the archive "
                  "need no drop-in but the flags of `pkg-config --libs forebay-pnetcdf-static`");
  }
  const ElfFile file(parts.library);
  if (!file.is_native() || file.soname().empty())
    return refuse(parts.library + " is not a shared library of this machine, or has no soname");
  if (file.defines_versions())
    return refuse(parts.library + " has versioned symbols, which a drop-in would lack");
  return {};
}

Status choose_archives(const DropinOptions& options, const Installation& installation, DropinParts& parts) {
  const fs::path folder = fs::path(parts.library).parent_path();
  parts.archive = options.archive.empty() ? (folder / "libpnetcdf.a").string() : options.archive;
  if (!is_file(parts.archive)) {
    return refuse("there is no archive " + parts.archive +
                  "; a drop-in is made of PnetCDF's static library: install it (Debian: libpnetcdf-dev), or "
                  "configure PnetCDF "
                  "with --enable-static --with-pic, and name it with --archive");
  }
  parts.with = options.with;
  // From 1.15 on PnetCDF's file access is a library of its own.
  const fs::path file_access = fs::path(parts.archive).parent_path() / "libgio.a";
  if (parts.with.empty() && is_file(file_access)) parts.with.push_back(file_access.string());
  for (const std::string& file : parts.with) {
    if (!is_file(file)) return refuse("--with: there is no " + file);
  }
  parts.driver = installation.find("libforebay_pnetcdf.a");
  if (parts.driver.empty())
    return refuse("libforebay_pnetcdf.a is missing beside the other libraries; install Forebay as a whole");
  return {};
}

Status choose_compiler(const DropinOptions& options, DropinParts& parts) {
  const char* chosen = std::getenv("CXX");
  std::vector<std::string> names{options.compiler, chosen != nullptr ? chosen : ""};
  const bool told =
      std::any_of(names.begin(), names.end(), [](const std::string& name) { return !name.empty(); });
  if (!told) names = {built_with::compiler, "c++", "g++", "clang++"};
  bool denied = false;
  for (const std::string& name : names) {
    if (name.empty()) continue;
    parts.compiler = find_program(name, denied);
    // By a path that was known when Forebay was built: what is there now may be anybody's.
    if (!told && name.starts_with('/') && !distrust(name).empty()) parts.compiler.clear();
    if (!parts.compiler.empty()) return {};
    if (told) return refuse("there is no C++ compiler " + name);
  }
  return refuse(
      "no C++ compiler is found, and one must link the library; install g++, or name one with --compiler");
}

/// What the probe says of a library: key and value.
Status probe(const Installation& installation, const std::vector<std::string>& arguments,
             std::map<std::string, std::string>& facts) {
  std::vector<std::string> command{installation.helpers + "/forebay-probe-dropin"};
  if (!is_file(command[0]))
    return refuse("the test program " + command[0] + " is missing; install Forebay as a whole");
  command.insert(command.end(), arguments.begin(), arguments.end());
  auto environment = current_environment();
  for (const char* name : {"LD_PRELOAD", "FOREBAY_HINTS", "FOREBAY_STATS", "FOREBAY_ENABLE", "PNETCDF_HINTS"})
    environment.erase(name);
  const Outcome outcome = run_program(command, environment, probe_limit);
  if (outcome.status != 0) {
    return refuse(arguments[0] + " does not work: " +
                  (outcome.timed_out ? "not done after a minute"
                                     : outcome.errors.substr(0, outcome.errors.find_last_not_of('\n') + 1)));
  }
  facts = probe_facts(outcome.output);
  facts["said"] = outcome.errors;
  return {};
}

Status check(const Installation& installation, const DropinParts& parts, const std::string& made,
             const std::string& folder) {
  const ElfFile stock(parts.library);
  const ElfFile file(made);
  if (file.soname() != stock.soname())
    return refuse("the library made has the soname '" + file.soname() + "'");
  const std::vector<std::string> exports = file.exports();
  const std::unordered_set<std::string> found(exports.begin(), exports.end());
  int lacking = 0;
  std::string first;
  for (const std::string& name : stock.exports()) {
    // What the C++ library has every user instantiate, anybody's copy serves.
    const bool is_of_std =
        name.starts_with("_ZNSt") || name.starts_with("_ZNKSt") || name.starts_with("_ZSt");
    if (is_of_std || found.contains(name)) continue;
    if (++lacking == 1) first = name;
  }
  if (lacking > 0) {
    return refuse(
        fmt::format("{} lacks {} of the symbols that {} has, {} first; is it the archive of the same build?",
                    parts.archive, lacking, parts.library, first));
  }
  std::map<std::string, std::string> before, after;
  if (Status status = probe(installation, {parts.library}, before); !status.ok()) return status;
  if (Status status = probe(installation, {made, folder + "/probe.nc"}, after); !status.ok()) return status;
  if (before["release"] != after["release"]) {
    return refuse(parts.archive + " is PnetCDF " + after["release"] + ", but " + parts.library + " is " +
                  before["release"]);
  }
  if (after["active"] != "yes") {
    const std::string& said = after["said"];
    return refuse("the library made does not run on Forebay's driver" +
                  (said.empty() ? "" : ": " + said.substr(0, said.find('\n'))));
  }
  return {};
}

/// Makes the folder for the library; empty, with the reason, where that is not possible.
std::string make_place(const std::string& folder, std::string& reason) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    reason = "cannot make " + folder + ": " + error.message();
    return {};
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    reason = "may not write to " + folder;
    return {};
  }
  return folder;
}

Status choose_place(const DropinOptions& options, const Installation& installation,
                    const std::string& library, std::string& place) {
  std::string reason;
  if (!options.output.empty()) {
    std::error_code error;
    place = make_place(fs::absolute(options.output, error).lexically_normal().string(), reason);
    if (place.empty()) return refuse(reason);
    reason = distrust_named(place);
    return reason.empty() ? Status{} : refuse("--output: " + reason + ", so forebay run would not use it");
  }
  const std::string key = dropin_key(library);
  for (const std::string& folder : {installed_dropins(installation), own_dropins()}) {
    if (!folder.empty()) place = make_place(folder + "/" + key, reason);
    if (!place.empty()) reason = distrust(place);
    if (!place.empty() && reason.empty()) return {};
    place.clear();
  }
  return refuse(reason + "; name a folder with --output, and set FOREBAY_DROPIN to it for forebay run");
}

Status make(const DropinOptions& options, DropinParts& parts, std::string& result) {
  const Installation installation = find_installation();
  if (!installation.distrust.empty()) return refuse(installation.distrust);
  if (Status status = choose_library(options, parts); !status.ok()) return status;
  if (Status status = choose_archives(options, installation, parts); !status.ok()) return status;
  if (Status status = choose_compiler(options, parts); !status.ok()) return status;
  std::string place;
  if (Status status = choose_place(options, installation, parts.library, place); !status.ok()) return status;
  const WorkFolder work(place);
  if (work.path().empty()) return refuse("cannot make a folder in " + place);
  const std::string soname = ElfFile(parts.library).soname();
  const std::string made = work.path() + "/" + soname;
  if (Status status = link_dropin(parts, made); !status.ok()) return status;
  if (Status status = check(installation, parts, made, work.path()); !status.ok()) return status;
  result = place + "/" + soname;
  std::error_code error;
  fs::rename(made, result, error);
  return error ? refuse("cannot put the library at " + result + ": " + error.message()) : Status{};
}

}  // namespace

int make_dropin(const DropinOptions& options) {
  DropinParts parts;
  std::string result;
  if (const Status status = make(options, parts, result); !status.ok()) {
    complain_in_lines("dropin: " + status.message());
    return exit_failed;
  }
  fmt::print("{}\n", result);
  fmt::print(
      "It stands for {}, has all its symbols, and a file written through it ran on Forebay's driver.\n",
      parts.library);
  if (options.output.empty()) {
    fmt::print("forebay run takes it from now on.\n");
  } else {
    const std::string folder = fs::path(result).parent_path().string();
    fmt::print("Use it with FOREBAY_DROPIN={} forebay run PROGRAM, or alone: LD_LIBRARY_PATH={} PROGRAM\n",
               folder, folder);
  }
  return 0;
}

}  // namespace forebay::tools
