// Whether PnetCDF's burst buffer works.
#pragma once

#include <string>

namespace forebay::bench {

// Throws std::runtime_error where this PnetCDF has none, which it would not say by itself: the hint would be
// ignored. `folder` is where its logs go. Collective.
void require_burst_buffer(const std::string& folder);

}  // namespace forebay::bench
