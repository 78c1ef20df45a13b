// A look into an ELF file: HDF5 or PnetCDF linked statically call their own functions without asking the
// dynamic linker.
#include "program_check.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <span>
#include <string_view>

namespace forebay::tools {
namespace {

class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat status{};
    if (::fstat(fd, &status) == 0 && status.st_size > 0) {
      const auto size = static_cast<std::size_t>(status.st_size);
      void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
      if (data != MAP_FAILED) bytes_ = {static_cast<const char*>(data), size};
    }
    ::close(fd);
  }
  ~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return bytes_; }

  /// `count` objects at `offset`; empty where the file ends before.
  template <class T>
  std::span<const T> at(std::size_t offset, std::size_t count) const {
    if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(T) || offset % alignof(T) != 0)
      return {};
    return {reinterpret_cast<const T*>(bytes_.data() + offset), count};
  }
  std::string_view text(std::size_t offset) const {
    if (offset >= bytes_.size()) return {};
    const std::string_view rest = bytes_.substr(offset);
    return rest.substr(0, rest.find('\0'));
  }

 private:
  std::string_view bytes_;
};

struct Findings {
  bool symbols = false;  ///< the file has its full symbol table
  bool hdf5 = false;
  bool pnetcdf = false;
};

void look_at_symbols(const MappedFile& file, const ElfW(Ehdr) & header, Findings& findings) {
  const auto sections = file.at<ElfW(Shdr)>(header.e_shoff, header.e_shnum);
  for (const auto& section : sections) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= sections.size()) continue;
    if (section.sh_type == SHT_SYMTAB) findings.symbols = true;
    const std::size_t strings = sections[section.sh_link].sh_offset;
    for (const auto& symbol : file.at<ElfW(Sym)>(section.sh_offset, section.sh_size / sizeof(ElfW(Sym)))) {
      if (symbol.st_shndx == SHN_UNDEF) continue;
      const std::string_view name = file.text(strings + symbol.st_name);
      if (name == "H5Fcreate") findings.hdf5 = true;
      if (name == "ncmpi_create") findings.pnetcdf = true;
    }
  }
}

// A stripped program still holds the sentences of its libraries.
void look_at_sentences(const MappedFile& file, Findings& findings) {
  if (file.bytes().find("***HDF5 library version mismatched error***") != std::string_view::npos)
    findings.hdf5 = true;
  if (file.bytes().find("@(#) PnetCDF library version ") != std::string_view::npos) findings.pnetcdf = true;
}

}  // namespace

std::vector<std::string> unreachable_parts(const std::string& path) {
  const MappedFile file(path);
  const auto headers = file.at<ElfW(Ehdr)>(0, 1);
  constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0) return {};
  const ElfW(Ehdr)& header = headers[0];
  if (header.e_ident[EI_CLASS] != own_class)
    return {path + " is built for another machine width: nothing can be preloaded into it"};

  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    const bool other_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid();
    const bool other_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != ::getgid();
    if (other_user || other_group)
      return {path + " runs as another user or group: nothing can be preloaded into it"};
  }

  std::vector<std::string> parts;
  bool interpreted = false;
  for (const auto& segment : file.at<ElfW(Phdr)>(header.e_phoff, header.e_phnum)) {
    if (segment.p_type == PT_INTERP) interpreted = true;
  }
  if (!interpreted) return {path + " is linked statically: nothing can be preloaded into it"};
  Findings findings;
  look_at_symbols(file, header, findings);
  if (!findings.symbols) look_at_sentences(file, findings);
  const auto is_linked = [&](const char* library, const char* relink) {
    parts.push_back(std::string(library) + " runs on its stock driver: it is linked statically into " + path +
                    "; link the shared library (" + relink + ")");
  };
  if (findings.hdf5) is_linked("HDF5", "h5pcc -shlib");
  if (findings.pnetcdf) is_linked("PnetCDF", "libpnetcdf.so");
  return parts;
}

}  // namespace forebay::tools
