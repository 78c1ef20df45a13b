// What walks the pool, and the number of records, for the last way to the file.
#include "engine/write_out.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/waiting.hpp"
#include "request/byte_order.hpp"
#include "storage/emergency_writer.hpp"
#include "storage/file_lock.hpp"

namespace forebay {
namespace {

using Digits = std::array<std::byte, 8>;

bool write_out_by_mapping(EmergencyWriter& writer, Pool& pool) {
  Extent range{kNoOffset, 0};
  pool.for_each([&](const Put& put) {
    put.cursor->for_each_run([&](const Run& run) {
      range = {std::min(range.begin, run.file), std::max(range.end, run.file + run.length)};
    });
  });
  const auto copy = [](void* context) {
    static_cast<Pool*>(context)->for_each([](const Put& put) {
      const std::byte* const stream = put.source->direct();
      put.cursor->for_each_run([&](const Run& run) { EmergencyWriter::copy(run, stream); });
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
  const auto digits = std::bit_cast<Digits>(byte_swap(static_cast<std::uint64_t>(count.value)));
  const auto width = static_cast<std::size_t>(count.width);
  const std::byte* const wanted = digits.data() + digits.size() - width;
  Digits there{};
  bool well = ::pread(fd, there.data(), width, count.offset) == count.width;
  if (well && std::memcmp(there.data(), wanted, width) < 0)
    well = pwrite_all(fd, {count.offset, wanted, count.width});
  (void)lock_range(fd, F_SETLK, F_UNLCK, count.offset, count.width);
  return well;
}

bool write_out_in_signal(int fd, bool local, Pool& pool) noexcept {
  EmergencyWriter writer(fd);
  if (local && write_out_by_mapping(writer, pool)) return true;
  pool.for_each([&](const Put& put) {
    put.cursor->for_each_run([&](const Run& run) { writer.add(run, *put.source); });
  });
  return writer.finish();
}

}  // namespace forebay
