// Who is compared in the HDF5 benchmark.
#pragma once

#include <string>
#include <vector>

#include "peers.hpp"

namespace forebay::bench {

// The reference first. `romio` is what Open MPI calls its ROMIO.
std::vector<Peer> hdf5_peers(const std::string& romio);

}  // namespace forebay::bench
