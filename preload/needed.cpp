// The dynamic section of an ELF file on disk.
#include "needed.hpp"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::preload {
namespace {

class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat status{};
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
      const auto size = static_cast<size_t>(status.st_size);
      void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
      if (data != MAP_FAILED) {
        data_ = static_cast<const char*>(data);
        size_ = size;
      }
    }
    close(fd);
  }
  ~MappedFile() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// `count` objects at `offset`; null where the file ends before.
  template <class T>
  const T* at(size_t offset, size_t count = 1) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(T) || offset % alignof(T) != 0) return nullptr;
    return reinterpret_cast<const T*>(data_ + offset);
  }
  /// A string that ends within the file.
  const char* text(size_t offset) const {
    if (offset >= size_ || memchr(data_ + offset, '\0', size_ - offset) == nullptr) return nullptr;
    return data_ + offset;
  }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

bool for_each_needed(const char* path, void (*visit)(const char*, void*), void* argument) {
  const MappedFile file(path);
  const auto* header = file.at<ElfW(Ehdr)>(0);
  constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (header == nullptr || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != own_class) {
    return false;
  }
  const auto* segments = file.at<ElfW(Phdr)>(header->e_phoff, header->e_phnum);
  if (segments == nullptr) return false;
  const ElfW(Dyn)* dynamic = nullptr;
  size_t entries = 0;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_DYNAMIC) continue;
    entries = segments[i].p_filesz / sizeof(ElfW(Dyn));
    dynamic = file.at<ElfW(Dyn)>(segments[i].p_offset, entries);
  }
  if (dynamic == nullptr) return false;
  size_t strings = 0;
  for (size_t i = 0; i < entries && dynamic[i].d_tag != DT_NULL; ++i) {
    if (dynamic[i].d_tag != DT_STRTAB) continue;
    const size_t address = dynamic[i].d_un.d_ptr;
    for (int s = 0; s < header->e_phnum; ++s) {
      const auto& segment = segments[s];
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address - segment.p_vaddr < segment.p_filesz) {
        strings = segment.p_offset + (address - segment.p_vaddr);
      }
    }
  }
  if (strings == 0) return false;
  for (size_t i = 0; i < entries && dynamic[i].d_tag != DT_NULL; ++i) {
    if (dynamic[i].d_tag != DT_NEEDED) continue;
    if (const char* name = file.text(strings + dynamic[i].d_un.d_val)) visit(name, argument);
  }
  return true;
}

}  // namespace forebay::preload
