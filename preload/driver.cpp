// Search path, fit, loading.
#include "driver.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "needed.hpp"
#include "trust.hpp"

namespace forebay::preload {
namespace {

bool readable(char (&path)[PATH_MAX], const char* folder, size_t length, const char* file) {
  const int needed = snprintf(path, sizeof path, "%.*s/%s", static_cast<int>(length), folder, file);
  return needed > 0 && static_cast<size_t>(needed) < sizeof path && access(path, R_OK) == 0;
}

bool find_named_driver(const char* list, const char* file, char (&path)[PATH_MAX], Reason& reason) {
  reason.set("there is no %s in FOREBAY_LIBDIR=%s", file, list);
  for (const char* entry = list; *entry != '\0';) {
    const size_t length = strcspn(entry, ":");
    char folder[PATH_MAX] = "";
    if (length < sizeof folder) snprintf(folder, sizeof folder, "%.*s", static_cast<int>(length), entry);
    entry += length;
    if (*entry == ':') ++entry;
    if (*folder == '\0') continue;
    if (*folder != '/') {
      reason.set("FOREBAY_LIBDIR has %s, which is not a whole path", folder);
      continue;
    }
    if (!readable(path, folder, strlen(folder), file)) continue;
    char where[PATH_MAX];
    if (!others_may_change(path, keeper_of_named(folder), where)) return true;
    reason.set("%s is not loaded, since others may change %s", path, where);
  }
  return false;
}

/// What the driver asks for among the libraries whose names begin with `prefix`, against the one that is
/// loaded.
struct Fit {
  const char* prefix;
  const char* loaded;
  bool asked = false;
  bool found = false;
  char name[256] = "";
};

void compare(const char* needed, void* argument) {
  auto& fit = *static_cast<Fit*>(argument);
  if (strncmp(needed, fit.prefix, strlen(fit.prefix)) != 0) return;
  if (!fit.asked) snprintf(fit.name, sizeof fit.name, "%s", needed);
  fit.asked = true;
  if (strcmp(needed, fit.loaded) == 0) fit.found = true;
}

bool fits(const char* path, const char* prefix, const Object& loaded, const char* kind, Reason& reason) {
  const bool unknown = loaded.start == nullptr;
  const bool inside = !unknown && *loaded.path == '\0';
  Fit fit{prefix, inside ? "" : loaded.soname};
  if (!for_each_needed(path, &compare, &fit)) {
    reason.set("%s is not a shared library of this machine", path);
    return false;
  }
  if (!fit.asked || fit.found) return true;
  reason.set("%s was built for %s, but this program's %s is %s", path, fit.name, kind,
             unknown  ? "not found"
             : inside ? "part of the executable"
                      : loaded.soname);
  return false;
}

using WriteOut = void (*)();
/// A driver that is loaded, and the library that it serves.
struct Loaded {
  const char* file;
  const void* library;
  void* handle;
  WriteOut write_out;
};
Loaded drivers[2];
int driver_count = 0;

/// The MPI library that the code behind `stock` calls. PMPI: a profiler may stand before the plain names.
Object mpi_of(const Definition& stock) {
  void* address = stock.handle() != nullptr ? dlsym(stock.handle(), "PMPI_Init") : nullptr;
  if (address == nullptr) address = dlsym(RTLD_DEFAULT, "PMPI_Init");
  return address != nullptr ? object_of(address) : Object{};
}

}  // namespace

void Reason::set(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
}

bool find_driver(const char* file, char (&path)[PATH_MAX], Reason& reason) {
  const char* list = getenv("FOREBAY_LIBDIR");
  if (list != nullptr && *list != '\0') return find_named_driver(list, file, path, reason);
  const Object own = object_of(reinterpret_cast<const void*>(&load_driver));
  const char* slash = strrchr(own.path, '/');
  if (slash == nullptr || *own.path != '/') {
    reason.set("cannot tell where %s is: LD_PRELOAD has no whole path to the library; set FOREBAY_LIBDIR",
               file);
    return false;
  }
  const auto length = static_cast<size_t>(slash - own.path);
  char above[PATH_MAX];
  snprintf(above, sizeof above, "%.*s/..", static_cast<int>(length), own.path);
  if (!readable(path, own.path, length, file) && !readable(path, above, strlen(above), file)) {
    reason.set("there is no %s beside %s", file, own.path);
    return false;
  }
  char where[PATH_MAX];
  if (!others_may_change(path, keeper_of(own.path), where)) return true;
  reason.set("%s is not loaded, since others may change %s", path, where);
  return false;
}

bool enabled(Reason& reason) {
  const char* value = getenv("FOREBAY_ENABLE");
  if (value == nullptr) return true;
  constexpr const char* words[] = {"off", "0", "false", "no", "disable"};
  for (const char* off : words) {
    if (strcasecmp(value, off) == 0) {
      reason.set("FOREBAY_ENABLE=%s", value);
      return false;
    }
  }
  return true;
}

void* load_driver(const char* file, const char* prefix, const Definition& stock, Reason& reason) {
  const Object library = object_of(stock.address());
  for (int i = 0; i < driver_count; ++i) {
    if (strcmp(drivers[i].file, file) == 0 && drivers[i].library == library.start) return drivers[i].handle;
  }
  char path[PATH_MAX];
  if (!find_driver(file, path, reason)) return nullptr;
  const char* kind = strcmp(prefix, "libhdf5") == 0 ? "HDF5" : "PnetCDF";
  if (!fits(path, prefix, library, kind, reason)) return nullptr;
  if (!fits(path, "libmpi", mpi_of(stock), "MPI", reason)) return nullptr;
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    reason.set("%s", dlerror());
    return nullptr;
  }
  const auto write_out = reinterpret_cast<WriteOut>(dlsym(handle, "forebay_write_out"));
  if (driver_count < static_cast<int>(sizeof drivers / sizeof *drivers))
    drivers[driver_count++] = {file, library.start, handle, write_out};
  return handle;
}

void write_out_drivers() {
  for (int i = 0; i < driver_count; ++i) {
    if (drivers[i].write_out != nullptr) drivers[i].write_out();
  }
}

}  // namespace forebay::preload
