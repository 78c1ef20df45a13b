// Who writes checkpoints.
#pragma once

#include <string>
#include <vector>

#include "peers.hpp"

namespace forebay::bench {

// The reference first. `romio` is what Open MPI calls its ROMIO; `log`: the folder on the node that logs go
// to; `burst_buffer`: whether PnetCDF was built with one.
std::vector<Peer> checkpoint_peers(const std::string& romio, const std::string& log, bool burst_buffer);

// What ratios are against: the stock library as most use it. A burst buffer is a rival, not that.
bool is_plain_stock(const Peer& peer);

}  // namespace forebay::bench
