// Memory that the ranks of one node share, reserved before anybody touches it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "base/status.hpp"

namespace forebay {

struct Unmap {
  std::size_t bytes = 0;
  void operator()(void* memory) const;
};
/// A mapping. The name is to go from the system (shm_unlink) once every rank has attached; mappings stay.
using SharedMemory = std::unique_ptr<void, Unmap>;

/// Makes `bytes` zeroed bytes under a fresh name, and reserves the first `reserved` of them; the others may
/// be touched where populate() gave them. A /dev/shm too small is Code::no_shared_memory here, not a SIGBUS
/// at the first touch. `descriptor`: of it, if not null.
Status create_shared_memory(std::size_t bytes, std::size_t reserved, SharedMemory& out, std::string& name,
                            Descriptor* descriptor = nullptr);

/// Maps what another rank created.
Status attach_shared_memory(const std::string& name, std::size_t bytes, SharedMemory& out);

/// Reserves the pages of a range, and maps them here. False: there is no memory for them. A kernel that
/// cannot do this (before 5.14) has had all of it reserved by create_shared_memory().
bool populate(void* at, std::size_t bytes);

}  // namespace forebay
