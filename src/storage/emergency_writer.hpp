// The last way to the file, as the process ends: nothing but what a signal handler may call.
#pragma once

#include "request/stream.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// Writes a piece, whole. False on failure, with errno; `left` gets what was not written.
bool pwrite_all(int fd, Piece piece, Piece* left = nullptr) noexcept;

/// Says on stderr that something could not be written.
void say_not_written(const char* path) noexcept;
/// That what the file lacks is in its log.
void say_in_log(const char* path) noexcept;

/// For runs of elements of 1, 2, 4 or 8 bytes, each run beginning with an element: an element in the file is
/// old or new, whatever kills the process meanwhile. Its buffer and its mapping are the process's: one thread
/// at a time.
class EmergencyWriter {
 public:
  explicit EmergencyWriter(int fd) noexcept : fd_(fd) {}

  /// Gathers runs that continue each other.
  void add(Run run, Source& source) noexcept;
  /// Writes what is left. False: not all could be written.
  bool finish() noexcept;

  /// Instead, for a range of a file of this machine alone: `walk` calls copy() for each run, straight into
  /// the file's pages, some hundred times faster than a write each. False: not all is there, as where the
  /// disk is full.
  bool map(Extent range, void (*walk)(void*), void* context) noexcept;
  static void copy(const Run& run, const std::byte* stream) noexcept;

 private:
  void flush() noexcept;

  int fd_;
  std::int64_t at_ = 0;  // file offset of the buffer
  std::int64_t used_ = 0;
  bool well_ = true;
};

}  // namespace forebay
