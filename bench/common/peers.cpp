// What makes a run a stock run.
#include "peers.hpp"

#include <algorithm>

namespace forebay::bench {

bool Peer::takes_part(const std::string& row) const {
  return rows.empty() || std::find(rows.begin(), rows.end(), row) != rows.end();
}

Peer stock_peer(const std::string& name, const std::string& title, const std::string& io,
                std::vector<std::string> hints, bool quick, Kind kind) {
  Peer peer{name, title, kind, std::move(hints), {}, "", quick};
  for (const char* variable : {"FOREBAY_HINTS", "FOREBAY_STATS", "HDF5_DRIVER", "HDF5_DRIVER_CONFIG"})
    peer.environment.emplace_back(variable, std::nullopt);
  if (!io.empty()) peer.environment.emplace_back("OMPI_MCA_io", io);
  return peer;
}

Peer forebay_peer(const std::string& name, const std::string& mode, const std::string& io) {
  Peer peer{name, "Forebay, " + mode, Kind::Forebay, {}, {}, mode, true};
  if (!io.empty()) peer.environment.emplace_back("OMPI_MCA_io", io);
  return peer;
}

}  // namespace forebay::bench
