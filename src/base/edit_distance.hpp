// How far a mistyped name is from one that may have been meant.
#pragma once

#include <cstddef>
#include <string_view>

namespace forebay {

inline char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Letters to insert, delete, replace, or swap with the next, to make one of the other; case does not matter
/// (ASCII).
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace forebay
