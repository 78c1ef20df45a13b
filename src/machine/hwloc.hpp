// What hwloc tells of a machine: of this one, or of another one's description (HWLOC_XMLFILE,
// HWLOC_SYNTHETIC).
#pragma once

#include <vector>

#include "machine/machine.hpp"
#include "machine/network_cards.hpp"

namespace forebay {

struct HwlocMachine {
  struct Domain {
    unsigned number;  ///< of the operating system
    Processors processors;
  };
  std::vector<Domain> domains;         ///< those with processors
  std::vector<NetworkDevice> devices;  ///< with a PCI device behind them, up or not; numa_node: of theirs
  int cores = 0;
  bool is_here = true;  ///< false: a description of another machine
};

/// False: the library is not there, or cannot tell; then `out` is as it was.
bool ask_hwloc(HwlocMachine& out);

}  // namespace forebay
