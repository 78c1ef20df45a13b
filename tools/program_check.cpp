// A look into an ELF file: HDF5 or PnetCDF linked statically call their own functions without asking the
// dynamic linker.
#include "program_check.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "elf_file.hpp"

namespace forebay::tools {
namespace {

struct Findings {
  bool hdf5 = false;
  bool pnetcdf = false;
  bool forebay = false;  ///< PnetCDF linked with --wrap and libforebay_pnetcdf.a
};

Findings look_at(const ElfFile& file) {
  Findings findings;
  const bool all_symbols = file.for_each_defined([&](std::string_view name) {
    if (name == "H5Fcreate") findings.hdf5 = true;
    if (name == "ncmpi_create") findings.pnetcdf = true;
    if (name == "forebay_pnetcdf_inside") findings.forebay = true;
  });
  if (all_symbols) return findings;
  // A stripped program still holds the sentences of its libraries.
  findings.hdf5 |= file.contains("***HDF5 library version mismatched error***");
  findings.pnetcdf |= file.contains("@(#) PnetCDF library version ");
  findings.forebay |= file.contains("@(#) Forebay PnetCDF driver ");
  return findings;
}

}  // namespace

std::vector<std::string> unreachable_parts(const std::string& path) {
  const ElfFile file(path);
  if (!file.is_elf()) return {};
  if (!file.is_native())
    return {path + " is built for another machine width: nothing can be preloaded into it"};

  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    const bool other_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid();
    const bool other_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != ::getgid();
    if (other_user || other_group)
      return {path + " runs as another user or group: nothing can be preloaded into it"};
  }

  if (file.interpreter().empty()) return {path + " is linked statically: nothing can be preloaded into it"};
  const Findings findings = look_at(file);
  std::vector<std::string> parts;
  const auto is_linked = [&](const std::string& library, const std::string& relink) {
    parts.push_back(library + " runs on its stock driver: it is linked statically into " + path + "; " +
                    relink);
  };
  if (findings.hdf5) is_linked("HDF5", "link the shared library (h5pcc -shlib)");
  if (findings.pnetcdf && !findings.forebay) {
    is_linked("PnetCDF",
              "link it with `pkg-config --libs forebay-pnetcdf-static`, or link the shared library "
              "(libpnetcdf.so)");
  }
  return parts;
}

}  // namespace forebay::tools
