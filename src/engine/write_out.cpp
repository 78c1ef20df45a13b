// Plain system calls on a buffer that is there from the start.
#include "engine/write_out.hpp"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace forebay {
namespace {

constexpr std::int64_t kBuffer = 256 << 10;

struct Out {
  std::array<std::byte, kBuffer> buffer;
  int fd;
  std::int64_t at;  // file offset of the buffer
  std::int64_t used;
  bool well;
  Source* source;

  void write(std::int64_t offset, const std::byte* data, std::int64_t length) {
    while (length > 0 && well) {
      const ssize_t n = ::pwrite(fd, data, static_cast<std::size_t>(length), offset);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        well = false;
        return;
      }
      data += n, offset += n, length -= n;
    }
  }
  void flush() {
    write(at, buffer.data(), used);
    used = 0;
  }
  void add(Run run) {
    while (run.length > 0) {
      if (used > 0 && (run.file != at + used || used == kBuffer)) flush();
      if (used == 0) at = run.file;
      const Run part{run.file, run.stream, std::min(run.length, kBuffer - used)};
      source->produce({&part, 1}, buffer.data(), at);
      used += part.length;
      run.file += part.length, run.stream += part.length, run.length -= part.length;
    }
  }
};

Out out;  // a signal's stack may be small

using Digits = std::array<std::uint8_t, 8>;

// The bytes of a number, the most significant first, at the end of the array.
Digits digits_of(std::int64_t value) {
  Digits digits{};
  for (std::size_t i = 0; i < 8; ++i) digits[i] = static_cast<std::uint8_t>(value >> (8 * (7 - i)));
  return digits;
}

bool is_less(const std::uint8_t* number, const CountAtExit& count) {
  const Digits digits = digits_of(count.value);
  return std::memcmp(number, digits.data() + 8 - count.width, static_cast<std::size_t>(count.width)) < 0;
}

// ---- by mapping ----

struct Map {
  std::byte* memory;
  std::int64_t begin;  // file offset of memory
  Run last;            // the run that reaches furthest
  Source* last_source;
  Source* source;
  sigjmp_buf full;
};
Map map;

// A full disk shows when a page is touched.
void jump(int) {
  siglongjmp(map.full, 1);
}

void copy_all(Pool& pool) {
  pool.for_each([](const Put& put) {
    map.source = put.source;
    put.cursor->walk([](void*, const Run& run) { map.source->produce({&run, 1}, map.memory, map.begin); },
                     nullptr);
  });
}

bool write_out_by_mapping(Pool& pool) {
  const Extent hull = pool.hull();
  map.last = {};
  pool.for_each([](const Put& put) {
    map.source = put.source;
    put.cursor->walk(
        [](void*, const Run& run) {
          if (run.file + run.length <= map.last.file + map.last.length) return;
          map.last = run;
          map.last_source = map.source;
        },
        nullptr);
  });
  if (map.last.length == 0) return true;
  // The file must reach so far before its pages are touched. Only a write makes it longer without ever making
  // it shorter than another rank has made it.
  out.source = map.last_source;
  out.add({map.last.file + map.last.length - 1, map.last.stream + map.last.length - 1, 1});
  out.flush();
  if (!out.well) return false;

  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  map.begin = hull.begin / page * page;
  const auto length = static_cast<std::size_t>(map.last.file + map.last.length - map.begin);
  void* memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, out.fd, map.begin);
  if (memory == MAP_FAILED) return false;
  map.memory = static_cast<std::byte*>(memory);
  struct sigaction catching{}, before{};
  catching.sa_handler = jump;
  ::sigaction(SIGBUS, &catching, &before);
  sigset_t bus;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  ::pthread_sigmask(SIG_UNBLOCK, &bus, nullptr);
  const bool well = sigsetjmp(map.full, 1) == 0;
  if (well) copy_all(pool);
  ::sigaction(SIGBUS, &before, nullptr);
  ::munmap(memory, length);
  return well;
}

}  // namespace

// Ranks may know different numbers, so each looks and writes under a lock.
bool raise_count(int fd, const CountAtExit& count) noexcept {
  if (count.width <= 0) return true;
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = count.offset;
  lock.l_len = count.width;
  while (::fcntl(fd, F_SETLKW, &lock) != 0 && errno == EINTR) {
  }
  const Digits digits = digits_of(count.value);
  const auto width = static_cast<std::size_t>(count.width);
  Digits there{};
  bool well = ::pread(fd, there.data(), width, count.offset) == count.width;
  if (well && is_less(there.data(), count))
    well = ::pwrite(fd, digits.data() + 8 - width, width, count.offset) == count.width;
  lock.l_type = F_UNLCK;
  (void)::fcntl(fd, F_SETLK, &lock);
  return well;
}

void say_not_written(const char* path) noexcept {
  const auto put = [](const char* text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); };
  put("forebay: cannot write all that was put into ");
  put(path);
  put(" as the program ended\n");
}

void write_out_in_signal(int fd, const char* path, bool local, Pool& pool,
                         const CountAtExit& count) noexcept {
  out.fd = fd;
  out.used = 0;
  out.well = true;
  if (!local || !write_out_by_mapping(pool)) {
    out.well = true;
    pool.for_each([](const Put& put) {
      out.source = put.source;
      put.cursor->walk([](void*, const Run& run) { out.add(run); }, nullptr);
    });
    out.flush();
  }
  if (out.well && !raise_count(fd, count)) out.well = false;
  if (!out.well) say_not_written(path);
}

}  // namespace forebay
