// One rank of a node makes it, the others attach.
#include "engine/node_memory.hpp"

#include <sys/mman.h>

#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace forebay {
namespace {

// Each page at its first touch: a small file touches few.
std::shared_ptr<std::byte[]> zeroed_pages(std::size_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<std::byte*>(at), [bytes](std::byte* memory) { ::munmap(memory, bytes); }};
}

}  // namespace

Status share_on_node(const Communicator& node, const Communicator& all, const NodeMemoryWish& wish,
                     Status mine, NodeMemory& out) {
  const std::size_t bytes = wish.bytes;
  Status status = std::move(mine);
  const bool first = node.rank() == 0;
  std::array<char, 64> name{};
  std::shared_ptr<std::byte[]>* heap = nullptr;
  if ((node.size() == 1 && !wish.outlives) || node.shares_heap()) {
    try {
      if (first) out.heap = zeroed_pages(bytes);
    } catch (const std::bad_alloc&) {
      status.update({Code::no_memory, "no memory for a window of " + std::to_string(bytes) + " bytes"});
    }
    heap = &out.heap;
    if (node.size() > 1) node.broadcast(&heap, sizeof heap, 0);
    if (!first) out.heap = *heap;
    out.at = out.heap.get();
  } else {
    const std::size_t at_first = !first ? 0 : can_populate() ? wish.reserved : bytes;
    const Extent begin{0, static_cast<std::int64_t>(at_first)};
    const auto reserved = wish.shares.empty() ? std::span(&begin, 1) : std::span<const Extent>(wish.shares);
    if (first) {
      std::string made;
      Status created =
          create_shared_memory(bytes, reserved, out.shared, made, wish.outlives ? &out.descriptor : nullptr);
      if (created.ok()) std::strncpy(name.data(), made.c_str(), name.size() - 1);
      status.update(std::move(created));
    }
    node.broadcast(name.data(), name.size(), 0);
    if (!first && name[0] != '\0')
      status.update(attach_shared_memory(name.data(), bytes, reserved, out.shared));
    out.at = out.shared.get();
  }

  // Also the barrier after which the name may go.
  const bool well = all.all(status.ok() && (heap != nullptr ? out.heap != nullptr : name[0] != '\0'));
  if (first && name[0] != '\0') ::shm_unlink(name.data());
  if (well) return {};
  return status.ok() ? Status{Code::peer, "another rank could not get its window"} : status;
}

}  // namespace forebay
