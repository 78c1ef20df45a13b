// The peers of the PnetCDF driver.
#pragma once

#include <string>
#include <vector>

#include "peers.hpp"

namespace forebay::bench {

// Those that this version of PnetCDF ("1.14.0") has, the reference first. `romio` is what Open MPI calls its
// ROMIO.
std::vector<Peer> pnetcdf_peers(const std::string& version, const std::string& romio);

}  // namespace forebay::bench
