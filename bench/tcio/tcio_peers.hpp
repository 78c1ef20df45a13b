// The peers of TCIO.
#pragma once

#include <string>
#include <vector>

#include "peers.hpp"

namespace forebay::bench {

// `romio` is what Open MPI calls its ROMIO, empty where it has none.
std::vector<Peer> tcio_peers(const std::string& romio);

}  // namespace forebay::bench
