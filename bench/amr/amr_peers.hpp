// The peers of the AMR checkpoint.
#pragma once

#include <string>
#include <vector>

#include "peers.hpp"

namespace forebay::bench {

// `romio` is what Open MPI calls its ROMIO, empty where it has none.
std::vector<Peer> amr_peers(const std::string& romio);

}  // namespace forebay::bench
