// Memory that the ranks of one node share, reserved before anybody touches it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/descriptor.hpp"
#include "base/status.hpp"
#include "layout/extent.hpp"

namespace forebay {

struct Unmap {
  std::size_t bytes = 0;
  void operator()(void* memory) const;
};
/// A mapping. The name is to go from the system (shm_unlink) once every rank has attached; mappings stay.
using SharedMemory = std::unique_ptr<void, Unmap>;

/// Makes `bytes` zeroed bytes under a fresh name, and reserves these ranges of them; others may be touched
/// where another rank has reserved them, or populate() gave them. A /dev/shm too small is
/// Code::no_shared_memory here, not a SIGBUS at the first touch. The system takes the pages that are reserved
/// from the NUMA domain in which this thread runs, if it has any. `descriptor`: of the memory, if not null.
Status create_shared_memory(std::size_t bytes, std::span<const Extent> reserved, SharedMemory& out,
                            std::string& name, Descriptor* descriptor = nullptr);

/// Removes from /dev/shm what processes left that were killed between making it and taking its name away,
/// more than an hour ago. Every process does so once, before it makes any.
void remove_left_behind_memory();

/// Maps what another rank created, and reserves these ranges of it.
Status attach_shared_memory(const std::string& name, std::size_t bytes, std::span<const Extent> reserved,
                            SharedMemory& out);

/// Reserves the pages of a range, and maps them here. False: there is no memory for them. Where the kernel
/// cannot do this (can_populate()), all has to be reserved before.
bool populate(void* at, std::size_t bytes);
bool can_populate();  ///< false: before 5.14

}  // namespace forebay
