// An ELF file on disk, mapped: what a program or a library says of itself. Everything is checked against the
// file's end; what cannot be read is empty.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::tools {

class ElfFile {
 public:
  explicit ElfFile(const std::string& path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  /// An ELF file, of this or of another machine width.
  bool is_elf() const;
  /// An ELF file that a process of this command's width can load. Only then the rest is known.
  bool is_native() const;

  /// The dynamic linker that it asks for; empty for a library or a static program.
  std::string interpreter() const;
  std::string soname() const;
  /// The search path in it, DT_RUNPATH or DT_RPATH.
  std::string run_path() const;
  /// Whether its symbols carry versions of its own.
  bool defines_versions() const;
  /// The names that it defines for others, in no order.
  std::vector<std::string> exports() const;
  /// What tells one build from another: the build id that the linker wrote, else a checksum of the contents;
  /// in hex.
  std::string identity() const;

  /// Calls visit(name) for each symbol that is defined in it; true where the full symbol table is there.
  bool for_each_defined(const std::function<void(std::string_view)>& visit) const;
  bool contains(std::string_view text) const { return bytes_.find(text) != std::string_view::npos; }

 private:
  template <class T>
  std::span<const T> at(std::size_t offset, std::size_t count) const {
    if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(T) || offset % alignof(T) != 0)
      return {};
    return {reinterpret_cast<const T*>(bytes_.data() + offset), count};
  }
  std::string_view text(std::size_t offset) const;
  std::span<const ElfW(Phdr)> segments() const;
  std::span<const ElfW(Shdr)> sections() const;
  std::string dynamic_text(ElfW(Sxword) tag) const;

  std::string_view bytes_;
};

}  // namespace forebay::tools
