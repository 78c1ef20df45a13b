// forebay run: checks everything that can be checked, sets the environment, and becomes the program.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "announce.hpp"
#include "base/config_file.hpp"
#include "base/environment.hpp"
#include "base/hints.hpp"
#include "commands.hpp"
#include "dropin_store.hpp"
#include "installation.hpp"
#include "keeper/connection.hpp"
#include "keeper/protocol.hpp"
#include "launcher.hpp"
#include "message.hpp"
#include "program_check.hpp"
#include "report/report.hpp"
#include "report/trace_file.hpp"

namespace forebay::tools {
namespace {

/// No empty entry comes in between, also where `list` ends with a separator: in a search path that would be
/// the current folder.
void join(std::string& list, const std::string& more, char separator) {
  if (more.empty()) return;
  if (!list.empty() && list.back() != separator) list += separator;
  list += more;
}

/// The hints of the environment and of the command line, the latter winning; checked.
Status gather_hints(const RunOptions& options, std::string& hints, Settings& settings) {
  hints = from_environment("FOREBAY_HINTS");
  if (Status status = apply_environment(settings); !status.ok()) return status;
  // Its mistakes are told before the job starts; its rules are for files.
  if (const std::string config = from_environment("FOREBAY_CONFIG"); !config.empty()) {
    ConfigFile checked;
    if (Status status = ConfigFile::read(config, checked); !status.ok()) return status;
  }
  if (Status status = parse_hints(settings, options.hints, Origin::command); !status.ok()) {
    return {status.code(), "--hints: " + status.message()};
  }
  join(hints, options.hints, ';');
  if (!options.mode.empty()) {
    if (Status status = set_hint(settings, "forebay_mode", options.mode, Origin::command); !status.ok()) {
      return {status.code(), "--mode: " + status.message()};
    }
    join(hints, "forebay_mode=" + options.mode, ';');
  }
  return {};
}

/// The drop-in for the program's PnetCDF; empty where it has none, or needs none. A program that is a script
/// does not tell which PnetCDF it will load: `for_scripts` is set to what it would have to find first.
/// `remarks` gets, too, what is wrong with the folders of drop-ins.
std::string dropin_for(const Installation& installation, const std::string& program, std::string& for_scripts,
                       std::vector<std::string>& remarks) {
  const std::vector<std::string> named = named_dropins(remarks);
  const bool wanted = !from_environment("FOREBAY_DROPIN").empty();
  if (!wanted && !any_dropin(installation)) return {};
  const std::string library = pnetcdf_of(program);
  for (std::string& remark : useless_dropins(named, library)) remarks.push_back(std::move(remark));
  if (library.empty()) {
    for (const std::string& folder : named) join(for_scripts, folder, ':');
    return {};
  }
  return find_dropin(installation, library, remarks);
}

/// What LD_PRELOAD has to be. The dynamic linker takes blanks and colons for separators and knows no quoting.
Status preload_list(const Installation& installation, const std::string& dropin, std::string& list) {
  if (installation.shim.empty()) {
    return {Code::unsupported, "libforebay_preload.so is not where " + installation.command +
                                   " looks for it; install Forebay as a whole, or build all of it"};
  }
  if (!installation.distrust.empty()) return {Code::access, installation.distrust};
  for (const std::string& file : {installation.shim, dropin}) {
    if (file.find_first_of(" :") == std::string::npos) continue;
    return {Code::unsupported,
            "a library in a folder with a blank or a colon in its name cannot be preloaded: " + file};
  }
  const std::string old = from_environment("LD_PRELOAD");
  list = installation.first_preload;
  if (old.find(installation.shim) == std::string::npos) join(list, installation.shim, ':');
  // By its soname it is the PnetCDF that the program asks for, whatever search path is built into that.
  if (!dropin.empty() && old.find(dropin) == std::string::npos) join(list, dropin, ':');
  join(list, old, ':');
  return {};
}

std::string absolute(const std::string& path) {
  if (path.empty()) return path;
  std::error_code error;
  const std::filesystem::path full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

void set(const char* name, const std::string& value) {
  if (!value.empty()) ::setenv(name, value.c_str(), 1);
}

/// What may have been meant by a program that cannot be found.
std::string hint_for(const std::string& program) {
  std::error_code error;
  if (std::filesystem::is_directory(program, error)) return ": it is a folder";
  if (program.find('/') == std::string::npos && std::filesystem::exists(program, error))
    return " in PATH; the one in this folder is ./" + program;
  return "";
}

void set_plugin_path(const Installation& installation) {
  // Only for a program that is told to take the driver by name: the variable replaces HDF5's own default
  // path.
  if (from_environment("HDF5_DRIVER") != "forebay" || installation.hdf5_plugins.empty()) return;
  std::string path = from_environment("HDF5_PLUGIN_PATH");
  if (path.find(installation.hdf5_plugins) != std::string::npos) return;
  join(path, installation.hdf5_plugins, ':');
  set("HDF5_PLUGIN_PATH", path);
}

/// Beside a launcher for all of its job on this machine; beside ranks for those of theirs.
Status start_keeper_for_job(const Installation& installation) {
  if (from_environment("FOREBAY_KEEPER").empty())
    ::setenv("FOREBAY_KEEPER", (launcher_rank() ? keeper_name() : fresh_keeper_name()).c_str(), 1);
  const std::string program = installation.find("forebay-keeper");
  set("FOREBAY_KEEPER_PROGRAM", program);
  return start_keeper(keeper_name(), program);
}

}  // namespace

int run(const RunOptions& options) {
  const bool first = is_first_rank();
  std::string hints;
  Settings settings;
  if (const Status status = gather_hints(options, hints, settings); !status.ok())
    return give_up(exit_usage, status.message());
  bool denied = false;
  const std::string program = find_program(options.program.front(), denied);
  if (program.empty() && denied)
    return give_up(exit_not_executable, "may not execute " + options.program.front());
  if (program.empty()) {
    return give_up(exit_not_found,
                   "cannot find the program " + options.program.front() + hint_for(options.program.front()));
  }
  const Installation installation = find_installation();
  std::string preload;
  std::string search_first;
  std::vector<std::string> remarks = variables_without_meaning();
  const std::string dropin = dropin_for(installation, program, search_first, remarks);
  if (const Status status = preload_list(installation, dropin, preload); !status.ok())
    return give_up(exit_failed, status.message());
  // The program may change its folder before it closes a file.
  const std::string stats =
      absolute(options.stats.empty() ? from_environment("FOREBAY_STATS") : options.stats);
  const std::string trace =
      absolute(options.trace.empty() ? from_environment("FOREBAY_TRACE") : options.trace);
  if (first) {
    std::string command;
    for (const std::string& word : options.program) join(command, word, ' ');
    if (const Status status = options.stats.empty() ? Status{} : start_report(stats, command); !status.ok())
      return give_up(exit_usage, "--stats: " + status.message());
    if (const Status status = options.trace.empty() ? Status{} : start_trace(trace, command); !status.ok())
      return give_up(exit_usage, "--trace: " + status.message());
  }
  if (first) {
    for (const std::string& remark : remarks) complain(remark);
  }
  if (is_first_of_program()) {
    for (const std::string& part : unreachable_parts(program)) complain(part);
  }

  set("LD_PRELOAD", preload);
  if (!search_first.empty()) {
    join(search_first, from_environment("LD_LIBRARY_PATH"), ':');
    set("LD_LIBRARY_PATH", search_first);
  }
  set("FOREBAY_HINTS", hints);
  set("FOREBAY_STATS", stats);
  set("FOREBAY_TRACE", trace);
  set("FOREBAY_LIBDIR", installation.library_path());
  if (options.verbose) set("FOREBAY_VERBOSE", "1");
  set_plugin_path(installation);
  if (settings.mode != Mode::strict && settings.keeper != KeeperUse::none) {
    const Status status = start_keeper_for_job(installation);
    if (!status.ok() && first)
      complain(status.message() +
               (settings.mode == Mode::commit
                    ? "; what a killed program has kept will be lost"
                    : "; HDF5 and PnetCDF files are in strict mode, TCIO's lose what was not flushed "
                      "when the program is killed"));
  }
  if (options.verbose && first) {
    for (const char* name :
         {"LD_PRELOAD", "FOREBAY_LIBDIR", "FOREBAY_HINTS", "FOREBAY_STATS", "FOREBAY_TRACE"}) {
      if (const std::string value = from_environment(name); !value.empty())
        complain(std::string(name) + "=" + value);
    }
  }

  std::vector<char*> arguments;
  for (const std::string& argument : options.program)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(options.program.front().c_str(), arguments.data());
  const int error = errno;
  return give_up(error == ENOENT ? exit_not_found : exit_not_executable,
                 "cannot execute " + program + ": " + std::strerror(error));
}

}  // namespace forebay::tools
