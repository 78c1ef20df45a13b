// The table of file systems, and what trial files in the folder were written with.
#include "doctor_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/config_file.hpp"
#include "base/hints.hpp"
#include "base/settings.hpp"
#include "human.hpp"
#include "layout/file_domains.hpp"
#include "message.hpp"
#include "storage/file_system.hpp"
#include "storage/lustre.hpp"

namespace forebay::tools {
namespace {

std::string storage_source(const Settings& settings, const FileSystem& system, const std::string& storage) {
  if (settings.storage != StorageKind::automatic) return "the hint forebay_storage";
  if (storage == "posix") return "automatic: only this machine writes this file system";
  return std::string("automatic: ") +
         (system.local ? "MPI-IO was needed" : "other machines may write this file system, too");
}

std::string stripe_source(const std::string& word) {
  constexpr std::array<std::pair<const char*, const char*>, 4> sources{
      {{"hint", "the hint forebay_stripe_bytes or striping_unit"},
       {"lustre.lov", "the file's layout, its attribute lustre.lov"},
       {"MPI-IO", "MPI-IO's striping_unit"},
       {"st_blksize", "the unit that the file system prefers, st_blksize"}}};
  for (const auto& [source, text] : sources) {
    if (word == source) return text;
  }
  return "the default, since the file system names none";
}

std::string how_known(const FileSystem& system) {
  std::string text = fmt::format("statfs(2): 0x{:08X}", system.magic);
  if (!system.type.empty()) text += "; mounted as " + system.type;
  return text;
}

std::string reach_of(Locks locks) {
  switch (locks) {
    case Locks::everywhere:
      return "whoever can write the file sees them";
    case Locks::this_machine:
      return "other machines do not see them";
    case Locks::not_known:
      break;
  }
  return "it is not known whether other machines see them";
}

/// What to do there, and not elsewhere; "": nothing.
std::string advice_on(const FileSystem& system, const std::string& folder) {
  const std::string& name = system.name;
  if (name == "lustre") {
    if (folder_has_layout(folder)) return "files get this folder's layout (lfs getstripe -d)";
    return "this folder has no layout of its own: forebay_stripe=auto gives new files stripes that fit "
           "the owners";
  }
  if (name == "nfs") {
    return "MPI-IO locks each write, or the whole file: few large writes help. Serial HDF5 (h5dump, h5py) "
           "locks "
           "a file that it opens: HDF5_USE_FILE_LOCKING=BEST_EFFORT where the server has no locks. A "
           "program's own MPI-IO calls that read what other nodes wrote need the mount option noac";
  }
  if (name == "beegfs") return "forebay_stripe_bytes should be the chunk size (beegfs-ctl --getentryinfo)";
  if (!system.coherent && name != "unknown") {
    return "ranks of other nodes see writes after a flush, sync, close or collective read, which sync the "
           "file; "
           "what a program itself reads by MPI-IO may be old until all have closed the file";
  }
  return "";
}

nlohmann::ordered_json describe(const FileSystem& system, const std::string& folder, const Written& written,
                                const Settings& settings) {
  nlohmann::ordered_json result{{"file_system", system.name},
                                {"file_system_source", how_known(system)},
                                {"coherent", system.coherent},
                                {"coherent_source", "the list of file systems in Forebay"},
                                {"local", system.local},
                                {"locks", reach_of(system.locks)},
                                {"advice", advice_on(system, folder)},
                                {"storage", written.storage},
                                {"stripe_bytes", written.stripe_bytes},
                                {"storage_targets", written.storage_targets}};
  if (written.storage.empty()) return result;
  result["storage_source"] = storage_source(settings, system, written.storage);
  result["stripe_source"] = stripe_source(written.stripe_source);
  return result;
}

void line(const std::string& label, const std::string& text) {
  fmt::print("  {:<14}{}\n", label, printable(text));
}

}  // namespace

nlohmann::ordered_json examine_folder(const std::string& folder, const Written& written) {
  Settings settings;
  for (const char* name : {"/hdf5.h5", "/pnetcdf.nc"}) (void)apply_config(folder + name, settings);
  (void)apply_environment(settings);
  nlohmann::ordered_json result{{"folder", folder}};
  result.update(describe(file_system_at(folder), folder, written, settings));
  return result;
}

// As StoredFile::settle and FileContext::choose_striping choose; MPI-IO is not asked.
nlohmann::ordered_json examine_file_system(const std::string& file, int descriptor, std::int64_t bytes) {
  Settings settings;
  (void)apply_config(file, settings);
  (void)apply_environment(settings);
  const FileSystem system = file_system_of(descriptor);
  const bool posix = settings.storage == StorageKind::posix       ? system.coherent
                     : settings.storage == StorageKind::automatic ? system.local
                                                                  : false;
  Written would{posix ? "posix" : "mpiio", kDefaultStripe, "default", 0};
  const Striping laid_out = system.unit == Unit::layout ? lustre_stripes(descriptor, bytes) : Striping{0, 0};
  const std::int64_t preferred = preferred_unit(descriptor);
  if (settings.stripe_bytes > 0)
    would = {would.storage, settings.stripe_bytes, "hint",
             settings.stripe_bytes == laid_out.unit ? laid_out.factor : 0};
  else if (laid_out.unit > 0)
    would = {would.storage, laid_out.unit, "lustre.lov", laid_out.factor};
  else if (settings.striping_unit > 0)
    would = {would.storage, settings.striping_unit, "hint", 0};
  else if (preferred > 0)
    would = {would.storage, preferred, "st_blksize", 0};
  return describe(system, folder_of(file), would, settings);
}

void print_file_system(const nlohmann::ordered_json& found) {
  const auto text = [&](const char* key) { return found[key].get<std::string>(); };
  line("file system", fmt::format("{} ({})", text("file_system"), text("file_system_source")));
  line("coherent",
       fmt::format("{} ({})",
                   found["coherent"].get<bool>()
                       ? "yes: what one node has written any other reads"
                       : "not known to be: nothing that another node may write is read and completed",
                   text("coherent_source")));
  line("locks", text("locks"));
  if (!text("storage").empty()) {
    line("storage", fmt::format("{} ({})", text("storage"), text("storage_source")));
    const auto targets = found["storage_targets"].get<std::int64_t>();
    line("stripe",
         fmt::format("{}{} ({})", human_bytes(found["stripe_bytes"].get<std::int64_t>()),
                     targets > 0 ? " on " + counted(targets, "storage target", "storage targets") : "",
                     text("stripe_source")));
  }
  if (!text("advice").empty()) line("what to know", text("advice"));
}

}  // namespace forebay::tools
