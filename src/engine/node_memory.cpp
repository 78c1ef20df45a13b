// One rank of a node makes it, the others attach.
#include "engine/node_memory.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace forebay {
namespace {

constexpr std::uintptr_t kAlignment = 4096;

}  // namespace

Status share_on_node(const Topology& topology, MPI_Comm all, std::size_t bytes, SharedMemory::Pages pages,
                     Status mine, NodeMemory& out) {
  return share_on_node(topology.node_comm.get(), {topology.local_ranks, topology.local_rank}, all, bytes,
                       pages, std::move(mine), out);
}

Status share_on_node(MPI_Comm node, PlaceOnNode place, MPI_Comm all, std::size_t bytes,
                     SharedMemory::Pages pages, Status mine, NodeMemory& out) {
  Status status = std::move(mine);
  std::array<char, 64> name{};
  if (place.local_ranks == 1) {
    try {
      out.plain.resize(bytes + kAlignment);
      const auto address = reinterpret_cast<std::uintptr_t>(out.plain.data());
      out.at = reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
    } catch (const std::bad_alloc&) {
      status.update({Code::no_memory, "no memory for a window of " + std::to_string(bytes) + " bytes"});
    }
  } else {
    if (place.local_rank == 0) {
      std::string made;
      Status created = SharedMemory::create(bytes, pages, out.shared, made);
      if (created.ok()) std::strncpy(name.data(), made.c_str(), name.size() - 1);
      status.update(std::move(created));
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, node);
    if (place.local_rank != 0 && name[0] != '\0')
      status.update(SharedMemory::attach(name.data(), bytes, pages, out.shared));
    out.at = out.shared.data();
  }

  // Also the meeting after which the name may go.
  int code = status.ok() && (place.local_ranks == 1 || name[0] != '\0') ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, all);
  if (place.local_rank == 0 && name[0] != '\0') SharedMemory::unlink(name.data());
  if (code == 0) return {};
  return status.ok() ? Status{Code::peer, "another rank could not get its window"} : status;
}

}  // namespace forebay
