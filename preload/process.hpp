// What is loaded in this process, and which library a call was meant for.
//
// The shim takes the place of functions of HDF5 and PnetCDF, of which a process may hold several copies, some
// of them loaded by an interpreter for itself alone. So "the next definition" is not enough: a call belongs
// to the library that its caller was linked with. No part of the shim uses the C++ library, which the program
// may not have.
#pragma once

#include <link.h>
#include <stddef.h>
#include <stdint.h>

namespace forebay::preload {

/// A function and a handle of the object that was asked for it; the handle is counted and closed with this.
class Definition {
 public:
  Definition() = default;
  /// `kept`: the handle stays open, since others have it.
  Definition(void* address, void* handle, bool kept = false)
      : address_(address), handle_(handle), kept_(kept) {}
  ~Definition() { close(); }
  Definition(const Definition&) = delete;
  Definition& operator=(const Definition&) = delete;
  Definition(Definition&& other) : address_(other.address_), handle_(other.handle_), kept_(other.kept_) {
    other.handle_ = nullptr;
  }

  explicit operator bool() const { return address_ != nullptr; }
  void* address() const { return address_; }
  /// Of the object that was asked, for dlsym; null where none was.
  void* handle() const { return handle_; }
  /// Keeps the object loaded for good.
  void* keep() {
    void* handle = handle_;
    handle_ = nullptr;
    return handle;
  }

 private:
  void close();

  void* address_ = nullptr;
  void* handle_ = nullptr;
  bool kept_ = false;
};

/// The definition of `name` that the code at `caller` was linked with; the next one, or any, where that
/// cannot be told. Never the shim's own.
Definition find_definition(const char* name, const void* caller);

/// Before main: finds it for all further calls from the object that holds `caller`, which is never unloaded.
void know_definition(const char* name, const void* caller);

/// The function at `address`, with a handle of the object that holds it.
Definition definition_at(void* address);

/// Where an object is and what it calls itself.
struct Object {
  const void* start = nullptr;  ///< tells objects apart
  const char* path = "";        ///< "" for the executable
  const char* soname = "";      ///< DT_SONAME, else the last part of the path
};

/// The object that holds `address`.
Object object_of(const void* address);

/// How many objects of the process define `name`, the shim not counted. The first two are named in `found`.
int count_definitions(const char* name, Object found[2]);

/// "the executable" or the path, for messages.
const char* display_name(const Object& object);

}  // namespace forebay::preload
