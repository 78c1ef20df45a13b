#include "log/format.hpp"

#include "segments/level1.hpp"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace forebay {

LogPlan::LogPlan(const LogIdentity& identity)
    : states(pages(kLogPage + identity.slots * static_cast<std::int64_t>(sizeof(LogSlot)))),
      level1s(states),
      level1(0),
      ring(states) {
  if (identity.level1 == 0) return;
  level1 = pages(static_cast<std::int64_t>(Level1::bytes_needed(identity.level1)));
  level1s += pages(identity.ranks * static_cast<std::int64_t>(sizeof(Level1State)));
  ring = level1s + identity.ranks * level1;
}

std::uint64_t LogIdentity::right_checksum() const {
  return XXH3_64bits(this, offsetof(LogIdentity, checksum));
}

bool LogIdentity::valid() const {
  return std::memcmp(magic, "FOREBAYL", sizeof magic) == 0 && version == kLogVersion &&
         bytes_of == sizeof(LogSlot) && checksum == right_checksum() && slots > 0 && capacity > 0;
}

std::uint64_t LogSlot::right_checksum() const {
  constexpr std::size_t from = offsetof(LogSlot, number);
  return XXH3_64bits_withSeed(reinterpret_cast<const char*>(this) + from, offsetof(LogSlot, checksum) - from,
                              static_cast<std::uint64_t>(rank));
}

}  // namespace forebay
