// Who is compared in the benchmark of applications.
#pragma once

#include <string>
#include <vector>

#include "peers.hpp"

namespace forebay::bench {

// The reference first. `romio` is what Open MPI calls its ROMIO.
std::vector<Peer> application_peers(const std::string& romio);

}  // namespace forebay::bench
