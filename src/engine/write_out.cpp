// What walks the pool, and the number of records, for the last way to the file.
#include "engine/write_out.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/waiting.hpp"
#include "storage/emergency_writer.hpp"
#include "storage/file_lock.hpp"

namespace forebay {
namespace {

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

bool write_out_by_mapping(EmergencyWriter& writer, Pool& pool) {
  Extent range{kNoOffset, 0};
  pool.for_each([&](const Put& put) {
    put.cursor->walk(
        [](void* context, const Run& run) {
          auto& hull = *static_cast<Extent*>(context);
          hull.begin = std::min(hull.begin, run.file);
          hull.end = std::max(hull.end, run.file + run.length);
        },
        &range);
  });
  const auto copy = [](void* context) {
    static_cast<Pool*>(context)->for_each([](const Put& put) {
      put.cursor->walk(
          [](void* stream, const Run& run) {
            EmergencyWriter::copy(run, static_cast<const std::byte*>(stream));
          },
          const_cast<std::byte*>(put.source->direct()));
    });
  };
  return writer.map(range, copy, &pool);
}

}  // namespace

// Ranks may know different numbers, so each looks and writes under a lock.
bool raise_count(int fd, const CountAtExit& count) noexcept {
  if (count.width <= 0 || count.value <= 0) return true;
  // Another rank holds it for two system calls; where it is stopped there, nobody waits for it.
  for (int i = 0; i < 1000 && !lock_range(fd, F_SETLK, F_WRLCK, count.offset, count.width); ++i) {
    if (errno != EAGAIN && errno != EACCES) break;
    sleep_for(100'000);
  }
  const Digits digits = digits_of(count.value);
  const auto width = static_cast<std::size_t>(count.width);
  Digits there{};
  bool well = ::pread(fd, there.data(), width, count.offset) == count.width;
  if (well && is_less(there.data(), count))
    well = pwrite_all(
        fd, {count.offset, reinterpret_cast<const std::byte*>(digits.data()) + 8 - width, count.width});
  (void)lock_range(fd, F_SETLK, F_UNLCK, count.offset, count.width);
  return well;
}

bool write_out_in_signal(int fd, bool local, Pool& pool) noexcept {
  EmergencyWriter writer(fd);
  if (local && write_out_by_mapping(writer, pool)) return true;
  pool.for_each([&](const Put& put) {
    struct Way {
      EmergencyWriter& to;
      Source& source;
    } way{writer, *put.source};
    put.cursor->walk(
        [](void* context, const Run& run) {
          const auto& [to, source] = *static_cast<Way*>(context);
          to.add(run, source);
        },
        &way);
  });
  return writer.finish();
}

}  // namespace forebay
