// The same questions that opening a file asks, put to a file of our own.
#include "doctor_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "base/config_file.hpp"
#include "base/hints.hpp"
#include "base/settings.hpp"
#include "human.hpp"
#include "storage/file_system.hpp"

namespace forebay::tools {
namespace {

constexpr std::int64_t default_stripe = 512 << 10;

std::int64_t preferred_unit_in(const std::string& folder) {
  const std::string name = folder + "/unit";
  const int fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return 0;
  const std::int64_t unit = preferred_unit(fd);
  ::close(fd);
  ::unlink(name.c_str());
  return unit;
}

std::string storage_source(const Settings& settings, const FileSystem& system, const std::string& storage) {
  if (settings.storage != StorageKind::automatic) return "the hint forebay_storage";
  if (storage == "posix") return "automatic: only this machine writes this file system";
  return std::string("automatic: ") +
         (system.local ? "MPI-IO was needed" : "other machines may write this file system, too");
}

std::string stripe_source(const Settings& settings, std::int64_t preferred, std::int64_t stripe) {
  if (settings.stripe_bytes > 0) return "the hint forebay_stripe_bytes or striping_unit";
  if (preferred > 0 && stripe == preferred) return "the unit that the file system prefers (st_blksize)";
  if (stripe == default_stripe) return "the default, since the file system names none";
  return "MPI-IO's striping_unit";
}

}  // namespace

nlohmann::ordered_json examine_folder(const std::string& folder, const Written& written) {
  Settings settings;
  for (const char* name : {"/hdf5.h5", "/pnetcdf.nc"}) (void)apply_config(folder + name, settings);
  (void)apply_environment(settings);
  const FileSystem system = file_system_at(folder);
  nlohmann::ordered_json result{{"folder", folder},
                                {"file_system", system.name},
                                {"file_system_source", "statfs(2)"},
                                {"coherent", system.coherent},
                                {"coherent_source", "the list of file systems in Forebay"},
                                {"local", system.local},
                                {"storage", written.storage},
                                {"stripe_bytes", written.stripe_bytes}};
  if (written.storage.empty()) return result;
  result["storage_source"] = storage_source(settings, system, written.storage);
  result["stripe_source"] = stripe_source(settings, preferred_unit_in(folder), written.stripe_bytes);
  return result;
}

}  // namespace forebay::tools
