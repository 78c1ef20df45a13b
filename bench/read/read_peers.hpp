// The peers of reads.
#pragma once

#include <string>
#include <vector>

#include "peers.hpp"

namespace forebay::bench {

// For a version of PnetCDF; `romio` is what Open MPI calls its ROMIO, empty where it has none.
std::vector<Peer> read_peers(const std::string& version, const std::string& romio);

}  // namespace forebay::bench
