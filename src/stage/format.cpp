#include "stage/format.hpp"

#include <cstring>
#include <ctime>
#include <fstream>

#include "base/host_name.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace forebay {
namespace {

// File systems count a modification time in steps of up to two seconds: what is read sooner after one may be
// what the next one, in the same step, changes.
constexpr std::int64_t kCertainAfter = 2'000'000'000;
constexpr std::int64_t kLeastUnit = 64 << 10, kLargestUnit = 4 << 20;

}  // namespace

std::int64_t time_of_day() {
  struct timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

bool is_certain(const FileStamp& file, std::int64_t time) {
  return time - file.changed_at >= kCertainAfter;
}

std::uint64_t StageIdentity::right_checksum() const {
  return XXH3_64bits(this, offsetof(StageIdentity, checksum));
}

bool StageIdentity::usable() const {
  return std::memcmp(magic, "FOREBAYS", sizeof magic) == 0 && version == kStageVersion &&
         bytes_of == sizeof(StageSlot) && checksum == right_checksum() && unit > 0 && size > 0 &&
         slots >= 0 && units() <= kMostUnits && boot_of_machine() == boot && host_name() == host;
}

FileStamp StageIdentity::stamp() const {
  return {path, {device, inode}, size, changed_at};
}

std::string boot_of_machine() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(in, id);
  return id.substr(0, sizeof(StageIdentity::boot) - 1);
}

std::int64_t choose_unit(std::int64_t stripe, std::int64_t size) {
  std::int64_t unit = stripe > 0 ? stripe : kLeastUnit;
  while (unit < kLeastUnit) unit *= 2;
  while (unit > kLargestUnit && unit % 2 == 0) unit /= 2;
  if (unit > kLargestUnit) unit = kLargestUnit;
  while ((size + unit - 1) / unit > kMostUnits) unit *= 2;
  return unit;
}

}  // namespace forebay
