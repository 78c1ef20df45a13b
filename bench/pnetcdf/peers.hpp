// Who is compared: the stock library in several settings, and Forebay in its modes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forebay::bench {

enum class Kind { Reference, Stock, Forebay };

struct Peer {
  std::string name, title;
  Kind kind = Kind::Stock;
  std::vector<std::string> hints;  // key=value for MPI_Info
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;
  std::string mode;    // Forebay's
  bool quick = false;  // among those that --quick runs
};

// The names that --peers takes with some version of PnetCDF, with what they are.
const std::vector<Peer>& all_peers();

// Those that this version of PnetCDF ("1.14.0") has, complete: the reference first. `romio` is what Open MPI
// calls its ROMIO.
std::vector<Peer> peers_of(const std::string& version, const std::string& romio);

}  // namespace forebay::bench
