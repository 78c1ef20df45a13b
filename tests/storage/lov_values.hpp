// Values of lustre.lov, as Lustre's documentation of lustre_user.h lays them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace forebay::test {

template <class T>
void append(std::vector<std::byte>& out, T number) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&number);
  out.insert(out.end(), bytes, bytes + sizeof number);
}

/// Version 1 or 3, without objects.
inline std::vector<std::byte> record(int version, std::int64_t unit, std::uint16_t count,
                                     std::uint32_t pattern = 1, std::uint16_t first = 0) {
  std::vector<std::byte> out;
  append<std::uint32_t>(out, version == 1 ? 0x0BD10BD0 : 0x0BD30BD0);  // lmm_magic
  append<std::uint32_t>(out, pattern);                                 // lmm_pattern
  append<std::uint64_t>(out, 0);                                       // lmm_oi
  append<std::uint64_t>(out, 0);
  append(out, static_cast<std::uint32_t>(unit));  // lmm_stripe_size
  append(out, count);                             // lmm_stripe_count
  append(out, first);                             // lmm_stripe_offset
  if (version == 3) out.resize(out.size() + 16);  // lmm_pool_name
  return out;
}

struct Component {
  std::uint64_t begin, end;
  std::vector<std::byte> record;
  std::uint32_t flags = 0x10;
};

inline std::vector<std::byte> composite(const std::vector<Component>& components) {
  std::vector<std::byte> out, records;
  append<std::uint32_t>(out, 0x0BD60BD0);  // lcm_magic
  append<std::uint32_t>(out, 0);           // lcm_size, at last
  append<std::uint32_t>(out, 1);           // lcm_layout_gen
  append<std::uint16_t>(out, 0);           // lcm_flags
  append(out, static_cast<std::uint16_t>(components.size()));
  out.resize(32);
  for (const Component& each : components) {
    append<std::uint32_t>(out, 1);  // lcme_id
    append(out, each.flags);        // lcme_flags
    append(out, each.begin);        // lcme_extent
    append(out, each.end);
    append(out, static_cast<std::uint32_t>(32 + 48 * components.size() + records.size()));  // lcme_offset
    append(out, static_cast<std::uint32_t>(each.record.size()));                            // lcme_size
    append<std::uint32_t>(out, 0);                                                          // lcme_layout_gen
    append<std::uint64_t>(out, 0);                                                          // lcme_timestamp
    append<std::uint32_t>(out, 0);  // lcme_dstripe_count and its like
    records.insert(records.end(), each.record.begin(), each.record.end());
  }
  out.insert(out.end(), records.begin(), records.end());
  const auto size = static_cast<std::uint32_t>(out.size());
  std::memcpy(out.data() + 4, &size, sizeof size);
  return out;
}

}  // namespace forebay::test
