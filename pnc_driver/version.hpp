// Which PnetCDF releases have the driver table that this driver fills; pure, so that every case can be
// tested.
#pragma once

#include <string>
#include <string_view>

namespace forebay::pnc {

/// The release in what ncmpi_inq_libvers() returns ("1.14.0 of 10 Dec 2024"): its first word.
std::string_view release_of(std::string_view libvers);

/// The driver tables that this driver can fill.
enum class Table {
  none,
  v1_12,  ///< of 1.12.3 and later 1.12, 1.13.x and 1.14.x (abi_1_12.hpp)
  v1_15,  ///< of 1.15.0 and 1.15.1 (abi_1_15.hpp)
};

/// The table that a release has; none for those that are not known, pre-releases among them.
Table table_of(std::string_view release);

/// For messages: the releases that table_of knows.
inline constexpr const char* known_releases = "1.12.3 to 1.14.x, 1.15.0 and 1.15.1";

}  // namespace forebay::pnc
