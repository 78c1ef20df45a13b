// Memory that the ranks of one node share, reserved before anybody touches it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/status.hpp"

namespace forebay {

struct Unmap {
  std::size_t bytes = 0;
  void operator()(void* memory) const;
};
/// A mapping. The name is to go from the system (shm_unlink) once every rank has attached; mappings stay.
using SharedMemory = std::unique_ptr<void, Unmap>;

/// Makes and reserves `bytes` zeroed bytes under a fresh name. A /dev/shm too small is Code::no_shared_memory
/// here, not a SIGBUS at the first touch.
Status create_shared_memory(std::size_t bytes, SharedMemory& out, std::string& name);

/// Maps what another rank created.
Status attach_shared_memory(const std::string& name, std::size_t bytes, SharedMemory& out);

}  // namespace forebay
