// Parts of shared memory, each of which one rank reserves: the system takes its pages where that rank runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "layout/extent.hpp"

namespace forebay {

/// The `i`-th of `parts` consecutive parts of [begin, end), as even as whole pages allow; it may be empty.
inline Extent memory_part(std::size_t begin, std::size_t end, int parts, int i) {
  constexpr std::size_t page = 4096;
  const std::size_t pages = (end - begin + page - 1) / page;
  const auto at = [&](int part) {
    const std::size_t to =
        begin + pages * static_cast<std::size_t>(part) / static_cast<std::size_t>(parts) * page;
    return static_cast<std::int64_t>(to < end ? to : end);
  };
  return {at(i), i + 1 == parts ? static_cast<std::int64_t>(end) : at(i + 1)};
}

}  // namespace forebay
