// Plain system calls on a buffer that is there from the start.
#include "engine/write_out.hpp"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "request/byte_order.hpp"

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

  void flush() {
    well = well && pwrite_all(fd, {at, buffer.data(), used});
    used = 0;
  }
  // Pieces begin with an element, and an element has 1, 2, 4 or 8 bytes: no write begins in the middle of
  // one.
  void add(Run run) {
    if (used > 0 && (run.file != at + used || run.length > kBuffer - used)) flush();
    while (run.length > 0) {
      if (used == 0) at = run.file;
      const Run part{run.file, run.stream, std::min(run.length, kBuffer - used)};
      source->produce({&part, 1}, buffer.data(), at);
      used += part.length;
      if (used == kBuffer) flush();
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
  Extent range;  // of the file
  const std::byte* stream;
  pid_t thread;
  sigjmp_buf full;
  struct sigaction before;
};
Map map;

// A full disk shows when a page is touched.
void jump(int number) {
  if (::gettid() == map.thread) siglongjmp(map.full, 1);
  ::sigaction(SIGBUS, &map.before, nullptr);  // another thread's own
  ::raise(number);
}

template <class Word>
void store_all(std::byte*& to, const std::byte*& from, std::int64_t& length) {
  struct [[gnu::packed, gnu::may_alias]] Place {
    Word word;
  };
  constexpr std::int64_t width = sizeof(Word);
  for (; length >= width; length -= width, from += width, to += width)
    reinterpret_cast<volatile Place*>(to)->word = load<Word>(from);
}

// From an element's begin on each element becomes new by one store, whatever comes in between: a kill, or
// somebody who reads.
void copy_elements(const std::byte* from, std::byte* to, std::int64_t length) {
  store_all<std::uint64_t>(to, from, length);
  store_all<std::uint32_t>(to, from, length);
  store_all<std::uint16_t>(to, from, length);
  store_all<std::uint8_t>(to, from, length);
}

// The file must reach so far before its pages are touched. It is never made shorter than another rank has
// made it, and no byte of it is written for that.
bool lengthen(int fd, std::int64_t end) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return false;
  if (info.st_size >= end) return true;
  int result = 0;
  do {
    result = ::fallocate(fd, 0, end - 1, 1);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

bool write_out_by_mapping(Pool& pool) {
  map.range = {kNoOffset, 0};
  pool.for_each([](const Put& put) {
    put.cursor->walk(
        [](void*, const Run& run) {
          map.range.begin = std::min(map.range.begin, run.file);
          map.range.end = std::max(map.range.end, run.file + run.length);
        },
        nullptr);
  });
  if (map.range.empty()) return true;
  if (!lengthen(out.fd, map.range.end)) return false;
  map.range.begin -= map.range.begin % ::sysconf(_SC_PAGESIZE);
  const auto length = static_cast<std::size_t>(map.range.size());
  void* memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, out.fd, map.range.begin);
  if (memory == MAP_FAILED) return false;
  map.memory = static_cast<std::byte*>(memory);
  map.thread = ::gettid();
  struct sigaction catching{};
  catching.sa_handler = jump;
  ::sigaction(SIGBUS, &catching, &map.before);
  sigset_t bus;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  ::pthread_sigmask(SIG_UNBLOCK, &bus, nullptr);
  const bool well = sigsetjmp(map.full, 1) == 0;
  if (well) {
    pool.for_each([](const Put& put) {
      map.stream = put.source->direct();
      put.cursor->walk(
          [](void*, const Run& run) {
            copy_elements(map.stream + run.stream, map.memory + (run.file - map.range.begin), run.length);
          },
          nullptr);
    });
  }
  ::sigaction(SIGBUS, &map.before, nullptr);
  ::munmap(memory, length);
  return well;
}

}  // namespace

bool pwrite_all(int fd, Piece piece) noexcept {
  while (piece.length > 0) {
    const ssize_t n = ::pwrite(fd, piece.data, static_cast<std::size_t>(piece.length), piece.offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    piece = {piece.offset + n, piece.data + n, piece.length - n};
  }
  return true;
}

// Ranks may know different numbers, so each looks and writes under a lock.
bool raise_count(int fd, const CountAtExit& count) noexcept {
  if (count.width <= 0 || count.value <= 0) return true;
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = count.offset;
  lock.l_len = count.width;
  // Another rank holds it for two system calls; where it is stopped there, nobody waits for it.
  for (int i = 0; i < 1000 && ::fcntl(fd, F_SETLK, &lock) != 0; ++i) {
    if (errno != EINTR && errno != EAGAIN && errno != EACCES) break;
    const timespec time{0, 100'000};
    ::nanosleep(&time, nullptr);
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

bool write_out_in_signal(int fd, bool local, Pool& pool) noexcept {
  out.fd = fd;
  out.used = 0;
  out.well = true;
  if (local && write_out_by_mapping(pool)) return true;
  pool.for_each([](const Put& put) {
    out.source = put.source;
    put.cursor->walk([](void*, const Run& run) { out.add(run); }, nullptr);
  });
  out.flush();
  return out.well;
}

}  // namespace forebay
