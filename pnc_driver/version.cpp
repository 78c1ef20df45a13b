// Reading a release number, strictly: what is not understood is not supported.
#include "version.hpp"

#include <charconv>

namespace forebay::pnc {
namespace {

// Takes a number off the front of `text`; -1 when there is none.
int take_number(std::string_view& text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take_dot(std::string_view& text) {
  if (text.empty() || text.front() != '.') return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string_view release_of(std::string_view libvers) {
  while (!libvers.empty() && libvers.front() == ' ') libvers.remove_prefix(1);
  return libvers.substr(0, libvers.find(' '));
}

Table table_of(std::string_view release) {
  const int major = take_number(release);
  if (major != 1 || !take_dot(release)) return Table::none;
  const int minor = take_number(release);
  if (!take_dot(release)) return Table::none;
  const int patch = take_number(release);
  if (patch < 0 || !release.empty()) return Table::none;  // anything behind the number is a pre-release
  if (minor == 13 || minor == 14 || (minor == 12 && patch >= 3)) return Table::v1_12;
  // A release that nobody has seen may change the table again, as 1.12.3 did.
  return minor == 15 && patch <= 1 ? Table::v1_15 : Table::none;
}

}  // namespace forebay::pnc
