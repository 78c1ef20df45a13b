// forebay doctor: whether Forebay works here, found out by writing files with small programs that know
// nothing of it.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/hints.hpp"
#include "commands.hpp"
#include "doctor_file.hpp"
#include "doctor_folder.hpp"
#include "doctor_node.hpp"
#include "doctor_probe.hpp"
#include "elf_file.hpp"
#include "exchange/shared_memory.hpp"
#include "forebay/version.h"
#include "human.hpp"
#include "installation.hpp"
#include "keeper/connection.hpp"
#include "keeper/protocol.hpp"
#include "launcher.hpp"
#include "message.hpp"
#include "surroundings.hpp"

namespace forebay::tools {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// A folder of its own for the test files, removed with the object.
class Scratch {
 public:
  explicit Scratch(const std::string& parent) {
    std::error_code error;
    const fs::path place = parent.empty() ? fs::temp_directory_path(error) : fs::absolute(parent, error);
    std::string name = place / "forebay-doctor-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr)
      path_ = name;
    else
      why_ = from_errno(errno, "cannot make a folder for the test files in " + place.string()).message();
  }
  ~Scratch() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }
  const std::string& why_not() const { return why_; }

 private:
  fs::path path_;
  std::string why_;
};

/// Started as `forebay run` does it; it ends with this process.
Json keeper_process(const Installation& installation) {
  const std::string program = installation.find("forebay-keeper");
  const std::string name = fresh_keeper_name();
  const Status status = start_keeper(name, program);
  const int socket = status.ok() ? connect_to_keeper(name) : -1;
  if (socket >= 0) ::close(socket);
  return {{"program", program},
          {"runs", socket >= 0},
          {"problem", status.ok() && socket < 0 ? "it does not answer" : status.message()}};
}

Json shared_memory() {
  Settings settings;
  (void)apply_environment(settings);
  // Half of the bound is for the windows.
  const std::int64_t rank_share = settings.memory_bytes / 2;
  const auto tried = static_cast<std::size_t>(2 * rank_share);
  const std::int64_t node = rank_share * std::max(1u, std::thread::hardware_concurrency());
  Json result{{"folder", "/dev/shm"}};
  struct statvfs space{};
  if (::statvfs("/dev/shm", &space) == 0) {
    result["bytes"] = static_cast<std::int64_t>(space.f_blocks * space.f_frsize);
    result["free_bytes"] = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
  } else {
    result["bytes"] = result["free_bytes"] = 0;
  }
  SharedMemory memory;
  std::string name;
  const Status status = create_shared_memory(tried, {{{0, 2 * rank_share}}}, memory, name);
  if (status.ok()) ::shm_unlink(name.c_str());
  result["window_bytes"] = tried;
  result["reserved"] = status.ok();
  result["full_node_bytes"] = node;
  result["problem"] = status.message();
  if (status.ok() && node > result["free_bytes"].get<std::int64_t>()) {
    result["problem"] = fmt::format(
        "a rank on each of this node's cores may need {}; a file that finds less makes each rank a node of "
        "its own and keeps nothing; make /dev/shm larger or set forebay_memory_bytes lower",
        human_bytes(node));
  }
  return result;
}

/// What a shared PnetCDF allows: from 1.15 on it hides its driver, and only a drop-in has Forebay's.
void add_pnetcdf_paths(const Installation& installation, const std::string& library_path, Json& paths) {
  const std::vector<std::string> exports = ElfFile(library_path).exports();
  const auto has = [&](const char* name) {
    return std::find(exports.begin(), exports.end(), name) != exports.end();
  };
  if (has("forebay_pnetcdf_inside")) {
    paths.push_back("forebay run, by the drop-in " + library_path);
  } else if (has("ncmpio_inq_driver") || exports.empty()) {
    if (!installation.shim.empty()) paths.push_back("preloaded by forebay run");
    paths.push_back("linked before PnetCDF");
  } else {
    paths.push_back("forebay run, after forebay dropin: this PnetCDF hides its driver");
  }
  if (!installation.find("libforebay_pnetcdf.a").empty())
    paths.push_back("linked with PnetCDF's archive (pkg-config --libs forebay-pnetcdf-static)");
}

Json attach_paths(const Installation& installation, const Prober& prober, const std::string& library,
                  const std::string& library_path) {
  Json paths = Json::array();
  if (library == "pnetcdf") {
    add_pnetcdf_paths(installation, library_path, paths);
  } else {
    if (!installation.shim.empty()) paths.push_back("preloaded by forebay run");
    paths.push_back("H5Pset_fapl_forebay");
    if (!installation.hdf5_plugins.empty()) {
      const std::string problem = prober.try_plugin(installation.hdf5_plugins);
      paths.push_back(problem.empty() ? "HDF5_DRIVER=forebay HDF5_PLUGIN_PATH=" + installation.hdf5_plugins
                                      : "HDF5_DRIVER=forebay does not work: " + problem);
    }
  }
  return paths;
}

Json examine(const Installation& installation, const Prober& prober, const std::string& library, Json& mpi,
             Written& written) {
  const std::string title = library == "hdf5" ? "HDF5" : "PnetCDF";
  const std::string driver = installation.find("libforebay_" + library + ".so");
  Json result{{"name", library},
              {"title", title},
              {"installed", !driver.empty()},
              {"driver", driver},
              {"active", false}};
  if (driver.empty()) return result;
  ProbeResult probe = prober.try_library(library);
  if (mpi.empty() && !probe.facts["mpi"].empty()) {
    mpi = {{"library", probe.facts["mpi"]},
           {"path", probe.facts["mpi_path"]},
           {"thread_level", probe.facts["thread_level"]}};
  }
  if (written.storage.empty() && probe.active) written = probe.written;
  result["library"] = probe.facts["library"];
  result["library_path"] = probe.facts["library_path"];
  result["ranks"] = probe.ranks;
  result["active"] = probe.active;
  result["file_correct"] = probe.file_correct;
  result["pieces"] = probe.pieces;
  result["file_writes"] = probe.file_writes;
  result["problem"] = probe.problem;
  result["advice"] = probe.advice;
  result["attach"] = attach_paths(installation, prober, library, probe.facts["library_path"]);
  return result;
}

void line(const std::string& label, const std::string& text) {
  fmt::print("  {:<14}{}\n", label, printable(text));
}

void print_text(const Json& d) {
  const auto text = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  fmt::print("Forebay {}\n", text(d["forebay"]));
  line("command", text(d["command"]));
  line("shim", text(d["shim"]).empty() ? "missing" : text(d["shim"]));
  fmt::print("MPI\n");
  if (d["mpi"].empty()) {
    line("library", "not tried");
  } else {
    line("library", fmt::format("{} ({})", text(d["mpi"]["library"]), text(d["mpi"]["path"])));
    line("thread level",
         text(d["mpi"]["thread_level"]) + " where a program asks for multiple; Forebay needs none");
  }
  line("launcher",
       text(d["launcher"]).empty() ? "none found: programs were tried with one rank" : text(d["launcher"]));
  print_node(d["node"]);
  const Json& memory = d["shared_memory"];
  fmt::print("Shared memory\n");
  line(text(memory["folder"]),
       fmt::format("{} free of {}", human_bytes(memory["free_bytes"].get<std::int64_t>()),
                   human_bytes(memory["bytes"].get<std::int64_t>())));
  line("window", fmt::format("{} {}", human_bytes(memory["window_bytes"].get<std::int64_t>()),
                             memory["reserved"].get<bool>() ? "can be reserved" : "cannot be reserved"));
  if (!text(memory["problem"]).empty()) {
    line("problem", text(memory["problem"]));
    line("what to do",
         "Make /dev/shm larger, or set forebay_memory_bytes lower. With less room Forebay works, slower.");
  }
  const Json& keeper = d["keeper"];
  fmt::print("Keeper process\n");
  line("program", text(keeper["program"]).empty() ? "missing" : text(keeper["program"]));
  line("mode", keeper["runs"].get<bool>()
                   ? "automatic keeps small writes in the node's memory; the keeper writes them if ranks die"
                   : "automatic is strict: " + text(keeper["problem"]));
  for (const Json& driver : d["drivers"]) {
    fmt::print("{}\n", text(driver["title"]));
    if (!driver["installed"].get<bool>()) {
      line("driver", "not installed");
      continue;
    }
    line("driver", text(driver["driver"]));
    if (!text(driver["library"]).empty()) {
      line("library", fmt::format("{} ({})", text(driver["library"]), text(driver["library_path"])));
    }
    for (const Json& path : driver["attach"]) line("selected by", text(path));
    if (driver["active"].get<bool>()) {
      const std::int64_t ranks = driver["ranks"].get<std::int64_t>();
      line("active",
           fmt::format("yes: {} wrote {} in {}, and the file reads back {}", counted(ranks, "rank", "ranks"),
                       counted(driver["pieces"].get<std::int64_t>(), "piece", "pieces"),
                       counted(driver["file_writes"].get<std::int64_t>(), "file write", "file writes"),
                       driver["file_correct"].get<bool>() ? "right" : "WRONG"));
    } else {
      line("active", "NO");
    }
    if (!text(driver["problem"]).empty()) line("problem", text(driver["problem"]));
    if (!text(driver["advice"]).empty()) line("what to do", text(driver["advice"]));
  }
  const Json& folder = d["folder"];
  fmt::print("{}\n", text(folder["folder"]));
  print_file_system(folder);
  fmt::print("{}\n", text(d["verdict"]));
}

}  // namespace

int doctor(const DoctorOptions& options) {
  // Started by mpiexec, one of the ranks is enough.
  if (!is_first_rank()) return 0;
  std::error_code error;
  if (!options.folder.empty() && !fs::is_directory(options.folder, error))
    return examine_file(options.folder, options.json);
  const Installation installation = find_installation();
  if (!installation.distrust.empty()) {
    complain(installation.distrust);
    return exit_failed;
  }
  const Scratch scratch(options.folder);
  if (scratch.path().empty()) {
    complain(scratch.why_not());
    return exit_failed;
  }
  const Prober prober(installation, scratch.path().string());
  Json d{{"forebay", FOREBAY_VERSION},
         {"command", installation.command},
         {"shim", installation.shim},
         {"launcher", prober.launcher()},
         {"mpi", Json::object()},
         {"node", examine_node()},
         {"shared_memory", shared_memory()},
         {"keeper", keeper_process(installation)},
         {"drivers", Json::array()}};
  bool all_active = !installation.shim.empty();
  int installed = 0;
  Written written;
  for (const char* library : {"pnetcdf", "hdf5"}) {
    Json driver = examine(installation, prober, library, d["mpi"], written);
    if (driver["installed"].get<bool>()) {
      ++installed;
      if (!driver["active"].get<bool>() || !driver["file_correct"].get<bool>()) all_active = false;
    }
    d["drivers"].push_back(std::move(driver));
  }
  d["folder"] = examine_folder(scratch.path().string(), written);
  d["folder"]["folder"] = scratch.path().parent_path().string();
  const bool ok = all_active && installed > 0;
  d["ok"] = ok;
  d["verdict"] = installed == 0 ? "No driver is installed: build and install Forebay with HDF5 or PnetCDF."
                 : ok           ? "Every driver that is installed would be active."
                                : "Not every driver that is installed would be active.";
  if (options.json) {
    fmt::print("{}\n", d.dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print_text(d);
  }
  return ok ? 0 : exit_failed;
}

}  // namespace forebay::tools
