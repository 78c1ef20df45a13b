// Headers, the dynamic section, symbols and notes, by their offsets in the file.
#include "elf_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace forebay::tools {

ElfFile::ElfFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  struct stat status{};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data != MAP_FAILED) bytes_ = {static_cast<const char*>(data), size};
  }
  ::close(fd);
}

ElfFile::~ElfFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

bool ElfFile::is_elf() const {
  return bytes_.size() >= sizeof(ElfW(Ehdr)) && std::memcmp(bytes_.data(), ELFMAG, SELFMAG) == 0;
}

bool ElfFile::is_native() const {
  constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  return is_elf() && static_cast<unsigned char>(bytes_[EI_CLASS]) == own_class;
}

std::string_view ElfFile::text(std::size_t offset) const {
  if (offset >= bytes_.size()) return {};
  const std::string_view rest = bytes_.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

std::span<const ElfW(Phdr)> ElfFile::segments() const {
  if (!is_native()) return {};
  const auto header = at<ElfW(Ehdr)>(0, 1);
  return at<ElfW(Phdr)>(header[0].e_phoff, header[0].e_phnum);
}

std::span<const ElfW(Shdr)> ElfFile::sections() const {
  if (!is_native()) return {};
  const auto header = at<ElfW(Ehdr)>(0, 1);
  return at<ElfW(Shdr)>(header[0].e_shoff, header[0].e_shnum);
}

std::string ElfFile::interpreter() const {
  for (const auto& segment : segments()) {
    if (segment.p_type == PT_INTERP) return std::string(text(segment.p_offset));
  }
  return {};
}

std::string ElfFile::dynamic_text(ElfW(Sxword) tag) const {
  std::span<const ElfW(Dyn)> entries;
  for (const auto& segment : segments()) {
    if (segment.p_type == PT_DYNAMIC)
      entries = at<ElfW(Dyn)>(segment.p_offset, segment.p_filesz / sizeof(ElfW(Dyn)));
  }
  std::size_t strings = 0;
  std::size_t found = 0;
  bool any = false;
  for (const auto& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == tag) {
      found = entry.d_un.d_val;
      any = true;
    }
    if (entry.d_tag != DT_STRTAB) continue;
    for (const auto& segment : segments()) {  // from where it will be in memory to where it is in the file
      if (segment.p_type == PT_LOAD && entry.d_un.d_ptr >= segment.p_vaddr &&
          entry.d_un.d_ptr - segment.p_vaddr < segment.p_filesz)
        strings = segment.p_offset + (entry.d_un.d_ptr - segment.p_vaddr);
    }
  }
  return any && strings != 0 ? std::string(text(strings + found)) : std::string{};
}

std::string ElfFile::soname() const {
  return dynamic_text(DT_SONAME);
}

std::string ElfFile::run_path() const {
  const std::string path = dynamic_text(DT_RUNPATH);
  return path.empty() ? dynamic_text(DT_RPATH) : path;
}

bool ElfFile::defines_versions() const {
  for (const auto& section : sections()) {
    if (section.sh_type == SHT_GNU_verdef) return true;
  }
  return false;
}

std::vector<std::string> ElfFile::exports() const {
  std::vector<std::string> names;
  const auto all = sections();
  for (const auto& section : all) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= all.size()) continue;
    const std::size_t strings = all[section.sh_link].sh_offset;
    for (const auto& symbol : at<ElfW(Sym)>(section.sh_offset, section.sh_size / sizeof(ElfW(Sym)))) {
      const unsigned bind = symbol.st_info >> 4U;
      const unsigned visibility = symbol.st_other & 3U;
      if (symbol.st_shndx == SHN_UNDEF || bind == STB_LOCAL) continue;
      if (visibility == STV_HIDDEN || visibility == STV_INTERNAL) continue;
      const std::string_view name = text(strings + symbol.st_name);
      if (!name.empty()) names.emplace_back(name);
    }
  }
  return names;
}

std::string ElfFile::identity() const {
  for (const auto& segment : segments()) {
    if (segment.p_type != PT_NOTE) continue;
    std::size_t offset = segment.p_offset;
    const std::size_t end = segment.p_offset + segment.p_filesz;
    while (offset + sizeof(ElfW(Nhdr)) <= end) {
      const auto note = at<ElfW(Nhdr)>(offset, 1);
      if (note.empty()) break;
      const std::size_t name = offset + sizeof(ElfW(Nhdr));
      const std::size_t content = name + (note[0].n_namesz + 3U) / 4U * 4U;
      const auto id = at<unsigned char>(content, note[0].n_descsz);
      if (note[0].n_type == NT_GNU_BUILD_ID && text(name) == "GNU" && id.size() >= 8) {
        std::string hex;
        for (const unsigned char byte : id) hex += fmt::format("{:02x}", byte);
        return hex;
      }
      offset = content + (note[0].n_descsz + 3U) / 4U * 4U;
    }
  }
  std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : bytes_) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", sum);
}

bool ElfFile::for_each_defined(const std::function<void(std::string_view)>& visit) const {
  bool full = false;
  const auto all = sections();
  for (const auto& section : all) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= all.size()) continue;
    if (section.sh_type == SHT_SYMTAB) full = true;
    const std::size_t strings = all[section.sh_link].sh_offset;
    for (const auto& symbol : at<ElfW(Sym)>(section.sh_offset, section.sh_size / sizeof(ElfW(Sym)))) {
      if (symbol.st_shndx != SHN_UNDEF) visit(text(strings + symbol.st_name));
    }
  }
  return full;
}

}  // namespace forebay::tools
