// Mapped memory, in huge pages where the system gives them on demand, and the ones that wait for a next use.
#include "request/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

namespace forebay {
namespace {

constexpr std::size_t kHuge = 2 << 20;
constexpr std::size_t kMostSpare = 2;  // files that are open at the same time are few

struct Spare {
  std::byte* memory;
  std::size_t size;
};

struct Spares {
  std::mutex mutex;
  std::vector<Spare> list;

  static Spares& instance() {
    static auto* spares = new Spares;  // never destroyed: files may be closed at exit
    return *spares;
  }
};

std::byte* map(std::size_t size) {
  // More than asked for, so that huge pages find their boundary.
  const std::size_t all = size + kHuge;
  void* at = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t aligned = (begin + kHuge - 1) / kHuge * kHuge;
  if (aligned > begin) ::munmap(at, aligned - begin);
  ::munmap(reinterpret_cast<void*>(aligned + size), begin + all - (aligned + size));
  auto* const memory = reinterpret_cast<std::byte*>(aligned);
  // Small files touch a few small pages at the beginning: a huge one costs 0.4 ms.
  if (size >= 2 * kHuge) ::madvise(memory + kHuge, size - kHuge, MADV_HUGEPAGE);
  return memory;
}

constexpr std::size_t whole_pages(std::size_t size) {
  constexpr std::size_t page = 64 << 10;  // of any machine
  return std::max(page, (size + page - 1) / page * page);
}

}  // namespace

Arena::Arena(std::size_t size) : size_(whole_pages(size)) {
  auto& spares = Spares::instance();
  const std::lock_guard lock(spares.mutex);
  const auto found = std::ranges::find(spares.list, size_, &Spare::size);
  if (found == spares.list.end()) {
    memory_ = map(size_);
    return;
  }
  memory_ = found->memory;
  spares.list.erase(found);
}

Arena::~Arena() {
  auto& spares = Spares::instance();
  const std::lock_guard lock(spares.mutex);
  try {
    if (spares.list.size() == kMostSpare) {
      ::munmap(spares.list.front().memory, spares.list.front().size);
      spares.list.erase(spares.list.begin());
    }
    spares.list.push_back({memory_, size_});
  } catch (const std::bad_alloc&) {
    ::munmap(memory_, size_);
  }
}

}  // namespace forebay
