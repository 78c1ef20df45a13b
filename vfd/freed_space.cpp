#include "freed_space.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <string_view>

namespace forebay::hdf5 {
namespace {

// H5C_RING_RDFSM and H5C_RING_MDFSM, which are in no public header.
constexpr int kRingOfRawFreeSpace = 2;
constexpr int kRingOfMetadataFreeSpace = 3;

/// Only where it is certain: a missed release of space costs data.
bool in_transfer_function(const void* caller) {
  Dl_info info{};
  ElfW(Sym)* symbol = nullptr;
  if (dladdr1(caller, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) == 0 || symbol == nullptr ||
      info.dli_sname == nullptr)
    return false;
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  const auto begin = reinterpret_cast<std::uintptr_t>(info.dli_saddr);
  if (at < begin || at >= begin + symbol->st_size) return false;  // a function without a name follows
  const std::string_view name(info.dli_sname);
  return name.starts_with("H5FD_read") || name.starts_with("H5FD_write");
}

}  // namespace

bool FreedSpace::asked(H5FD_mem_t kind, int ring, const void* caller) {
  if (ring != kRingOfRawFreeSpace && ring != kRingOfMetadataFreeSpace) {
    query_ = H5FD_MEM_DEFAULT;
    return false;
  }
  if (is_transfer(caller)) return false;
  const bool querying =
      kind == H5FD_MEM_SUPER || (query_ != H5FD_MEM_DEFAULT && static_cast<int>(kind) == query_ + 1);
  query_ = querying ? kind : H5FD_MEM_DEFAULT;
  return kind == H5FD_MEM_DRAW && !querying;
}

bool FreedSpace::is_transfer(const void* caller) {
  for (const auto& [known, transfers] : callers_)
    if (known == caller) return transfers;
  const bool transfers = in_transfer_function(caller);
  callers_[oldest_] = {caller, transfers};
  oldest_ = (oldest_ + 1) % callers_.size();
  return transfers;
}

}  // namespace forebay::hdf5
