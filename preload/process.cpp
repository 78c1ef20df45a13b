// Looking through the loaded objects with the dynamic linker's own means.
#include "process.hpp"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace forebay::preload {
namespace {

const void* start_of(const dl_phdr_info& object) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    if (header.p_type == PT_LOAD)
      return reinterpret_cast<const void*>((object.dlpi_addr + header.p_vaddr) & ~(page - 1));
  }
  return nullptr;
}

bool holds(const dl_phdr_info& object, const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& header = object.dlpi_phdr[i];
    const uintptr_t begin = object.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && at >= begin && at < begin + header.p_memsz) return true;
  }
  return false;
}

/// The object that holds an address. dladdr would look for the symbol there, too, in all that the object has:
/// that took a tenth of the time of opening a small file.
struct Holder {
  const void* address;
  const void* start = nullptr;
  const char* path = nullptr;  // empty: the program
};

Holder holder_of(const void* address) {
  Holder holder{address};
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* argument) {
        auto& h = *static_cast<Holder*>(argument);
        if (!holds(*object, h.address)) return 0;
        h.start = start_of(*object);
        h.path = object->dlpi_name;
        return 1;
      },
      &holder);
  return holder;
}

const void* start_of(const void* address) {
  return holder_of(address).start;
}

bool is_own(const void* address) {
  static const void* const own = start_of(reinterpret_cast<const void*>(&find_definition));
  return start_of(address) == own;
}

/// A handle of it; by its path the program itself would be opened to find that it is the one.
void* open_again(const Holder& holder) {
  if (holder.start == nullptr) return nullptr;
  return dlopen(*holder.path == '\0' ? nullptr : holder.path, RTLD_LAZY | RTLD_NOLOAD);
}

const char* soname_of(const dl_phdr_info& object) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    }
  }
  uintptr_t strings = 0;
  uintptr_t soname = 0;
  bool named = false;
  for (const ElfW(Dyn)* entry = dynamic; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SONAME) {
      soname = entry->d_un.d_val;
      named = true;
    }
  }
  if (!named || strings == 0) {
    const char* slash = strrchr(object.dlpi_name, '/');
    return slash != nullptr ? slash + 1 : object.dlpi_name;
  }
  // glibc makes the pointer absolute on most machines, others leave it relative.
  if (strings < object.dlpi_addr) strings += object.dlpi_addr;
  return reinterpret_cast<const char*>(strings + soname);
}

/// A snapshot of the loaded objects: no lock of the dynamic linker is held while they are looked into.
class Objects {
 public:
  Objects() { dl_iterate_phdr(&Objects::add, this); }
  ~Objects() {
    for (size_t i = 0; i < count_; ++i) free(entries_[i].path);
    free(entries_);
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  size_t count() const { return count_; }
  const void* start(size_t i) const { return entries_[i].start; }
  /// A counted handle, null where the object is gone or cannot be opened.
  void* open(size_t i) const {
    const char* path = entries_[i].path;
    return dlopen(*path == '\0' ? nullptr : path, RTLD_LAZY | RTLD_NOLOAD);
  }

 private:
  struct Entry {
    const void* start;
    char* path;
  };

  static int add(dl_phdr_info* object, size_t, void* argument) {
    auto& self = *static_cast<Objects*>(argument);
    if (self.count_ == self.room_) {
      const size_t room = self.room_ == 0 ? 64 : 2 * self.room_;
      auto* larger = static_cast<Entry*>(realloc(self.entries_, room * sizeof(Entry)));
      if (larger == nullptr) return 1;
      self.entries_ = larger;
      self.room_ = room;
    }
    char* path = strdup(object->dlpi_name != nullptr ? object->dlpi_name : "");
    if (path == nullptr) return 1;
    self.entries_[self.count_++] = {start_of(*object), path};
    return 0;
  }

  Entry* entries_ = nullptr;
  size_t count_ = 0;
  size_t room_ = 0;
};

}  // namespace

void Definition::close() {
  if (handle_ != nullptr) dlclose(handle_);
}

Definition find_definition(const char* name, const void* caller) {
  if (void* handle = open_again(holder_of(caller))) {
    void* address = dlsym(handle, name);
    if (address != nullptr && !is_own(address)) return {address, handle};
    dlclose(handle);
  }
  if (void* address = dlsym(RTLD_NEXT, name)) return {address, open_again(holder_of(address))};
  const Objects objects;
  for (size_t i = 0; i < objects.count(); ++i) {
    if (void* handle = objects.open(i)) {
      void* address = dlsym(handle, name);
      if (address != nullptr && !is_own(address)) return {address, handle};
      dlclose(handle);
    }
  }
  return {};
}

Object object_of(const void* address) {
  struct Search {
    const void* start;
    Object found;
  } search{start_of(address), {}};
  if (search.start == nullptr) return {};
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* argument) {
        auto& s = *static_cast<Search*>(argument);
        if (start_of(*object) != s.start) return 0;
        s.found = {s.start, object->dlpi_name, soname_of(*object)};
        return 1;
      },
      &search);
  return search.found;
}

int count_definitions(const char* name, Object found[2]) {
  const Objects objects;
  int count = 0;
  for (size_t i = 0; i < objects.count(); ++i) {
    void* handle = objects.open(i);
    if (handle == nullptr) continue;
    // A handle also answers for what its object depends on.
    void* address = dlsym(handle, name);
    if (address != nullptr && start_of(address) == objects.start(i) && !is_own(address)) {
      if (count < 2) found[count] = object_of(address);
      ++count;
    }
    dlclose(handle);
  }
  return count;
}

const char* display_name(const Object& object) {
  return object.path == nullptr || *object.path == '\0' ? "the executable" : object.path;
}

}  // namespace forebay::preload
