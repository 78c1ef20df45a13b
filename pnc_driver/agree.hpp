// What ranks agree on that PnetCDF leaves to each of them.
#pragma once

namespace forebay::pnc {

struct OpenFile;

/// Collective, of a file that is served: an error of any rank becomes every rank's, where they have none of
/// their own.
int spread_error(const OpenFile& file, int err);

}  // namespace forebay::pnc
