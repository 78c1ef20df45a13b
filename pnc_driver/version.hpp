// Which PnetCDF releases have the driver table that this driver fills; pure, so that every case can be
// tested.
#pragma once

#include <string>
#include <string_view>

namespace forebay::pnc {

/// The release in what ncmpi_inq_libvers() returns ("1.14.0 of 10 Dec 2024"): its first word.
std::string_view release_of(std::string_view libvers);

/// True for 1.12.3 and later 1.12, 1.13.x and 1.14.x, pre-releases excluded.
bool is_supported_release(std::string_view release);

}  // namespace forebay::pnc
