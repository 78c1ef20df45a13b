// Which questions for the end of the file mean that space is freed: HDF5's own functions ask, by address.
#include "freed_space.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <initializer_list>
#include <string>

using forebay::hdf5::FreedSpace;

namespace {

constexpr int kUser = 1, kRawFreeSpace = 2, kMetadataFreeSpace = 3;

/// An address inside a function of the HDF5 library; null where it does not export it.
const void* inside(const char* name) {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&H5FDctl), &library) == 0) return nullptr;
  void* handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  const auto* at = static_cast<const char*>(dlsym(handle, name));
  dlclose(handle);
  return at == nullptr ? nullptr : at + 20;
}

}  // namespace

TEST(FreedSpace, IsAskedForRawDataInTheRingsOfFreeSpace) {
  FreedSpace freed;
  const void* caller = inside("H5FD_get_eoa");
  ASSERT_NE(caller, nullptr);
  EXPECT_TRUE(freed.asked(H5FD_MEM_DRAW, kRawFreeSpace, caller));
  EXPECT_TRUE(freed.asked(H5FD_MEM_DRAW, kMetadataFreeSpace, caller));
  EXPECT_FALSE(freed.asked(H5FD_MEM_DRAW, kUser, caller));
  for (const H5FD_mem_t kind : {H5FD_MEM_BTREE, H5FD_MEM_OHDR, H5FD_MEM_LHEAP})
    EXPECT_FALSE(freed.asked(kind, kRawFreeSpace, caller));
  EXPECT_TRUE(freed.asked(H5FD_MEM_DRAW, kRawFreeSpace, caller));
}

TEST(FreedSpace, AQueryOfAllKindsFreesNothing) {
  FreedSpace freed;
  const void* caller = inside("H5FD_get_eoa");
  for (int turn = 0; turn < 2; ++turn) {
    for (int kind = H5FD_MEM_SUPER; kind < H5FD_MEM_NTYPES; ++kind)
      EXPECT_FALSE(freed.asked(static_cast<H5FD_mem_t>(kind), kRawFreeSpace, caller)) << kind;
  }
  EXPECT_TRUE(freed.asked(H5FD_MEM_DRAW, kRawFreeSpace, caller));
}

// Each rank writes its share of metadata, global heaps as raw data: not a call that all ranks make.
TEST(FreedSpace, ATransferFreesNothing) {
  FreedSpace freed;
  const void* caller = inside("H5FD_get_eoa");
  for (int turn = 0; turn < 2; ++turn) {
    for (const char* name : {"H5FD_write", "H5FD_read", "H5FD_write_vector", "H5FD_read_vector"}) {
      const void* transfer = inside(name);
      ASSERT_NE(transfer, nullptr) << name;
      EXPECT_FALSE(freed.asked(H5FD_MEM_DRAW, kRawFreeSpace, transfer)) << name;
      EXPECT_TRUE(freed.asked(H5FD_MEM_DRAW, kRawFreeSpace, caller));
      // Nor is it part of a query.
      EXPECT_FALSE(freed.asked(H5FD_MEM_SUPER, kRawFreeSpace, transfer));
      EXPECT_FALSE(freed.asked(H5FD_MEM_BTREE, kRawFreeSpace, transfer));
      EXPECT_TRUE(freed.asked(H5FD_MEM_DRAW, kRawFreeSpace, caller));
    }
  }
}
