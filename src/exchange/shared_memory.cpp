// POSIX shared memory with the space reserved by posix_fallocate.
#include "exchange/shared_memory.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace forebay {
namespace {

constexpr int kMostNames = 100;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, which older headers lack

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

Status reserve(int fd, std::span<const Extent> ranges) {
  for (const Extent& range : ranges) {
    if (range.empty()) continue;
    int err = 0;
    do {
      err = ::posix_fallocate(fd, range.begin, range.size());
    } while (err == EINTR);
    if (err != 0) {
      return {Code::no_shared_memory, "cannot reserve " + std::to_string(range.size() >> 10) +
                                          " KiB of shared memory in /dev/shm: " + std::strerror(err)};
    }
  }
  return {};
}

Status map(int fd, std::size_t bytes, SharedMemory& out) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) {
    return {Code::no_shared_memory,
            "cannot map " + std::to_string(bytes) + " bytes of shared memory: " + std::strerror(errno)};
  }
  out = SharedMemory(data, {bytes});
  return {};
}

}  // namespace

void Unmap::operator()(void* memory) const {
  ::munmap(memory, bytes);
}

bool can_populate() {
  static const bool can = ::madvise(nullptr, 0, kPopulateWrite) == 0;
  return can;
}

bool populate(void* at, std::size_t bytes) {
  if (!can_populate()) return true;
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const std::uintptr_t before = address % static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return ::madvise(reinterpret_cast<void*>(address - before), bytes + before, kPopulateWrite) == 0;
}

// Process numbers of another container look dead here, so only names go that are old: others have them for
// milliseconds.
void remove_left_behind_memory() {
  constexpr auto kOld = std::chrono::hours(1);
  constexpr std::size_t number = std::string_view("forebay-").size();
  std::error_code error;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (std::filesystem::directory_iterator at("/dev/shm", error), last; !error && at != last;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with("forebay-")) continue;
    char* end = nullptr;
    const long process = std::strtol(name.c_str() + number, &end, 10);
    if (process <= 0 || *end != '-' || ::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH)
      continue;
    std::error_code gone;
    const auto made = at->last_write_time(gone);
    if (!gone && now - made > kOld) ::shm_unlink(("/" + name).c_str());
  }
}

Status create_shared_memory(std::size_t bytes, std::span<const Extent> reserved, SharedMemory& out,
                            std::string& name, Descriptor* descriptor) {
  static const bool removed = (remove_left_behind_memory(), true);
  (void)removed;
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
  int sized = -1;
  do {
    sized = ::ftruncate(fd, static_cast<off_t>(bytes));
  } while (sized != 0 && errno == EINTR);
  if (sized != 0) {
    status = {Code::no_shared_memory,
              std::string("cannot size shared memory (/dev/shm): ") + std::strerror(errno)};
  } else {
    status = reserve(fd, reserved);
    if (status.ok()) status = map(fd, bytes, out);
  }
  Descriptor made(fd);
  if (!status.ok()) ::shm_unlink(name.c_str());
  if (descriptor != nullptr) *descriptor = std::move(made);
  return status;
}

Status attach_shared_memory(const std::string& name, std::size_t bytes, std::span<const Extent> reserved,
                            SharedMemory& out) {
  const Descriptor there(::shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0600));
  if (there.number() < 0)
    return {Code::no_shared_memory, "cannot attach shared memory " + name + ": " + std::strerror(errno)};
  Status status = reserve(there.number(), reserved);
  return status.ok() ? map(there.number(), bytes, out) : status;
}

}  // namespace forebay
