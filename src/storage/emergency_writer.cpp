// Plain system calls on a buffer that is there from the start, or stores into the pages of the file.
#include "storage/emergency_writer.hpp"

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

#include "request/byte_order.hpp"

namespace forebay {
namespace {

constexpr std::int64_t kBuffer = 256 << 10;
std::array<std::byte, kBuffer> buffer;  // a signal's stack may be small

struct Map {
  std::byte* memory;
  std::int64_t begin;  // of the file
  pid_t thread;
  sigjmp_buf full;
  struct sigaction before;
};
Map map_of;

// A full disk shows when a page is touched.
void jump(int number) {
  if (::gettid() == map_of.thread) siglongjmp(map_of.full, 1);
  ::sigaction(SIGBUS, &map_of.before, nullptr);  // another thread's own
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

}  // namespace

bool pwrite_all(int fd, Piece piece, Piece* left) noexcept {
  while (piece.length > 0) {
    const ssize_t n = ::pwrite(fd, piece.data, static_cast<std::size_t>(piece.length), piece.offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      // A pwrite of nothing is a file system that can take no more.
      if (n == 0) errno = ENOSPC;
      if (left != nullptr) *left = piece;
      return false;
    }
    piece = {piece.offset + n, piece.data + n, piece.length - n};
  }
  return true;
}

void say_not_written(const char* path) noexcept {
  const auto put = [](const char* text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); };
  put("forebay: cannot write all that was put into ");
  put(path);
  put(" as the program ended\n");
}

void say_in_log(const char* path) noexcept {
  const auto put = [](const char* text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); };
  put("forebay: the program ended before all of ");
  put(path);
  put(" was written; the rest is in its log. Type: forebay recover ");
  put(path);
  put("\n");
}

void EmergencyWriter::flush() noexcept {
  well_ = well_ && pwrite_all(fd_, {at_, buffer.data(), used_});
  used_ = 0;
}

bool EmergencyWriter::finish() noexcept {
  flush();
  return well_;
}

// The buffer is a multiple of an element: no write begins in the middle of one.
void EmergencyWriter::add(Run run, Source& source) noexcept {
  if (used_ > 0 && (run.file != at_ + used_ || run.length > kBuffer - used_)) flush();
  while (run.length > 0) {
    if (used_ == 0) at_ = run.file;
    const Run part{run.file, run.stream, std::min(run.length, kBuffer - used_)};
    source.produce({&part, 1}, buffer.data(), at_);
    used_ += part.length;
    if (used_ == kBuffer) flush();
    run.file += part.length, run.stream += part.length, run.length -= part.length;
  }
}

bool EmergencyWriter::map(Extent range, void (*walk)(void*), void* context) noexcept {
  if (range.empty()) return true;
  if (!lengthen(fd_, range.end)) return false;
  range.begin -= range.begin % ::sysconf(_SC_PAGESIZE);
  const auto length = static_cast<std::size_t>(range.size());
  void* memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, range.begin);
  if (memory == MAP_FAILED) return false;
  map_of.memory = static_cast<std::byte*>(memory);
  map_of.begin = range.begin;
  map_of.thread = ::gettid();
  struct sigaction catching{};
  catching.sa_handler = jump;
  ::sigaction(SIGBUS, &catching, &map_of.before);
  sigset_t bus;
  sigemptyset(&bus);
  sigaddset(&bus, SIGBUS);
  ::pthread_sigmask(SIG_UNBLOCK, &bus, nullptr);
  const bool well = sigsetjmp(map_of.full, 1) == 0;
  if (well) walk(context);
  ::sigaction(SIGBUS, &map_of.before, nullptr);
  ::munmap(memory, length);
  return well;
}

// From an element's begin on each element becomes new by one store, whatever comes in between: a kill, or
// somebody who reads.
void EmergencyWriter::copy(const Run& run, const std::byte* stream) noexcept {
  const std::byte* from = stream + run.stream;
  std::byte* to = map_of.memory + (run.file - map_of.begin);
  std::int64_t length = run.length;
  store_all<std::uint64_t>(to, from, length);
  store_all<std::uint32_t>(to, from, length);
  store_all<std::uint16_t>(to, from, length);
  store_all<std::uint8_t>(to, from, length);
}

}  // namespace forebay
