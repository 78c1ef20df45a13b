// POSIX shared memory with the space reserved by posix_fallocate.
#include "exchange/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

namespace forebay {
namespace {

constexpr int kMostNames = 100;

// Names count from a number that nobody else begins with, or nearly so.
std::string next_number() {
  static std::atomic<std::uint64_t> next{[] {
    std::uint64_t any = 0;
    if (::getrandom(&any, sizeof any, GRND_NONBLOCK) != sizeof any)
      any = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    return any;
  }()};
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(next++));
  return text.data();
}

bool can_populate() {
#ifdef MADV_POPULATE_WRITE
  static const bool can = ::madvise(nullptr, 0, MADV_POPULATE_WRITE) == 0;
  return can;
#else
  return false;
#endif
}

}  // namespace

bool populate(void* at, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (!can_populate()) return true;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(at) / page * page;
  const std::size_t length = reinterpret_cast<std::uintptr_t>(at) + bytes - begin;
  return ::madvise(reinterpret_cast<void*>(begin), length, MADV_POPULATE_WRITE) == 0;
#else
  return true;
#endif
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Status SharedMemory::map(int fd, std::size_t bytes, SharedMemory& out) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) {
    return {Code::no_shared_memory,
            "cannot map " + std::to_string(bytes) + " bytes of shared memory: " + std::strerror(errno)};
  }
  SharedMemory memory;
  memory.data_ = data;
  memory.size_ = bytes;
  out = std::move(memory);
  return {};
}

Status SharedMemory::create(std::size_t bytes, std::size_t reserved, SharedMemory& out, std::string& name) {
  if (!can_populate()) reserved = bytes;
  int fd = -1;
  // A name may be there already: of a process that was killed, or of another container with the same process
  // numbers. It is not ours to take away.
  for (int attempt = 0; attempt < kMostNames; ++attempt) {
    name = "/forebay-" + std::to_string(::getpid()) + "-" + next_number();
    fd = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 || errno != EEXIST) break;
  }
  if (fd < 0) {
    return {Code::no_shared_memory,
            std::string("cannot make shared memory (/dev/shm): ") + std::strerror(errno)};
  }
  Status status;
  if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    status = {Code::no_shared_memory,
              std::string("cannot size shared memory (/dev/shm): ") + std::strerror(errno)};
  } else if (const int err = ::posix_fallocate(fd, 0, static_cast<off_t>(reserved)); err != 0) {
    status = {Code::no_shared_memory, "cannot reserve " + std::to_string(reserved >> 10) +
                                          " KiB of shared memory in /dev/shm: " + std::strerror(err)};
  } else {
    status = map(fd, bytes, out);
  }
  ::close(fd);
  if (!status.ok()) unlink(name);
  return status;
}

Status SharedMemory::attach(const std::string& name, std::size_t bytes, SharedMemory& out) {
  const int fd = ::shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0)
    return {Code::no_shared_memory, "cannot attach shared memory " + name + ": " + std::strerror(errno)};
  Status status = map(fd, bytes, out);
  ::close(fd);
  return status;
}

void SharedMemory::unlink(const std::string& name) {
  ::shm_unlink(name.c_str());
}

}  // namespace forebay
