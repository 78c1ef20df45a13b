// Looking through the loaded objects with the dynamic linker's own means.
#include "process.hpp"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loaded_object.hpp"

namespace forebay::preload {
namespace {

const void* object_start(const void* address) {
  return object_holding(address).start;
}

bool is_own_start(const void* start) {
  static const void* const own = object_start(reinterpret_cast<const void*>(&find_definition));
  return start == own;
}

bool is_own(const void* address) {
  return is_own_start(object_start(address));
}

/// A handle of it; by its path the program itself would be opened to find that it is the one.
void* open_again(const LoadedObject& holder) {
  if (holder.start == nullptr) return nullptr;
  return dlopen(*holder.path == '\0' ? nullptr : holder.path, RTLD_LAZY | RTLD_NOLOAD);
}

/// The dynamic section of a loaded object.
class Dynamic {
 public:
  explicit Dynamic(const dl_phdr_info& object) : object_(object) {
    const ElfW(Dyn)* entry = nullptr;
    for (int i = 0; i < object.dlpi_phnum; ++i) {
      if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
        entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    }
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_STRTAB) strings_ = at<char>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_SYMTAB) symbols_ = at<ElfW(Sym)>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_GNU_HASH) gnu_hash_ = at<uint32_t>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_HASH) hash_ = at<uint32_t>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_SONAME) {
        soname_ = entry->d_un.d_val;
        named_ = true;
      }
    }
  }

  /// DT_SONAME, else the last part of the path.
  const char* soname() const {
    if (named_ && strings_ != nullptr) return strings_ + soname_;
    const char* slash = strrchr(object_.dlpi_name, '/');
    return slash != nullptr ? slash + 1 : object_.dlpi_name;
  }

  /// By the object's own table of symbols: dlsym also answers for what the object depends on, and took 0.5 ms
  /// for all objects of a program.
  bool defines(const char* name) const {
    if (strings_ == nullptr || symbols_ == nullptr) return false;
    if (gnu_hash_ != nullptr) {
      // Buckets, the first symbol of them, words of a filter (of the machine's size); then the hashes.
      const uint32_t buckets = gnu_hash_[0], first = gnu_hash_[1], filters = gnu_hash_[2];
      const uint32_t* const bucket = gnu_hash_ + 4 + filters * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
      uint32_t wanted = 5381;
      for (const char* c = name; *c != '\0'; ++c) wanted = wanted * 33 + static_cast<unsigned char>(*c);
      if (buckets == 0) return false;
      for (uint32_t i = bucket[wanted % buckets]; i >= first; ++i) {
        const uint32_t found = bucket[buckets + i - first];
        if ((found | 1) == (wanted | 1) && is(i, name)) return true;
        if ((found & 1) != 0) return false;  // the last of its bucket
      }
      return false;
    }
    for (uint32_t i = 0; hash_ != nullptr && i < hash_[1]; ++i) {
      if (is(i, name)) return true;
    }
    return false;
  }

 private:
  // glibc makes the pointers absolute on most machines, others leave them relative.
  template <class T>
  const T* at(uintptr_t address) const {
    return reinterpret_cast<const T*>(address < object_.dlpi_addr ? address + object_.dlpi_addr : address);
  }
  bool is(uint32_t symbol, const char* name) const {
    const ElfW(Sym)& s = symbols_[symbol];
    return s.st_shndx != SHN_UNDEF && strcmp(strings_ + s.st_name, name) == 0;
  }

  const dl_phdr_info& object_;
  const char* strings_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const uint32_t* gnu_hash_ = nullptr;
  const uint32_t* hash_ = nullptr;
  uintptr_t soname_ = 0;
  bool named_ = false;
};

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

/// Found before main.
struct Known {
  const char* name;
  const void* caller;
  void* address;
  void* handle;
};
constexpr int most_known = 8;
Known known[most_known];
int known_count = 0;

}  // namespace

void Definition::close() {
  if (handle_ != nullptr && !kept_) dlclose(handle_);
}

void know_definition(const char* name, const void* caller) {
  if (known_count == most_known) return;
  Definition found = find_definition(name, caller);
  if (!found || !found.handle()) return;
  known[known_count++] = {name, object_holding(caller).start, found.address(), found.keep()};
}

Definition find_definition(const char* name, const void* caller) {
  const LoadedObject from = object_holding(caller);
  for (int i = 0; i < known_count; ++i) {
    if (known[i].caller == from.start && strcmp(known[i].name, name) == 0)
      return {known[i].address, known[i].handle, true};
  }
  if (void* handle = open_again(from)) {
    void* address = dlsym(handle, name);
    if (address != nullptr && !is_own(address)) return {address, handle};
    dlclose(handle);
  }
  if (void* address = dlsym(RTLD_NEXT, name)) return definition_at(address);
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

Definition definition_at(void* address) {
  return {address, open_again(object_holding(address))};
}

Object object_of(const void* address) {
  struct Search {
    const void* start;
    Object found;
  } search{object_start(address), {}};
  if (search.start == nullptr) return {};
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* argument) {
        auto& s = *static_cast<Search*>(argument);
        if (start_of(*object) != s.start) return 0;
        s.found = {s.start, object->dlpi_name, Dynamic(*object).soname()};
        return 1;
      },
      &search);
  return search.found;
}

int count_definitions(const char* name, Object found[2]) {
  struct Search {
    const char* name;
    Object* found;
    int count;
  } search{name, found, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* argument) {
        auto& s = *static_cast<Search*>(argument);
        const void* const start = start_of(*object);
        if (is_own_start(start) || !Dynamic(*object).defines(s.name)) return 0;
        if (s.count < 2) s.found[s.count] = {start, object->dlpi_name, Dynamic(*object).soname()};
        ++s.count;
        return 0;
      },
      &search);
  return search.count;
}

const char* display_name(const Object& object) {
  return object.path == nullptr || *object.path == '\0' ? "the executable" : object.path;
}

}  // namespace forebay::preload
