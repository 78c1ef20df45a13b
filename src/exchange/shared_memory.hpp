// Memory that the ranks of one node share, reserved before anybody touches it.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.hpp"

namespace forebay {

/// A mapping of shared memory; unmapped with the object. The name is gone from the system once every rank has
/// attached.
class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// Makes `bytes` zeroed bytes under a fresh name, and reserves the first `reserved` of them; the others are
  /// touched only where populate() gave them. A /dev/shm too small is Code::no_shared_memory here, not a
  /// SIGBUS at the first touch.
  static Status create(std::size_t bytes, std::size_t reserved, SharedMemory& out, std::string& name);

  /// Maps what another rank created.
  static Status attach(const std::string& name, std::size_t bytes, SharedMemory& out);

  /// Takes the name away; mappings stay.
  static void unlink(const std::string& name);

  void* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  static Status map(int fd, std::size_t bytes, SharedMemory& out);

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Reserves the pages of a range, and maps them here. False: there is no memory for them. A kernel that
/// cannot do this (before 5.14) has had all of it reserved by create().
bool populate(void* at, std::size_t bytes);

}  // namespace forebay
