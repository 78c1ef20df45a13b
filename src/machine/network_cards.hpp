// Which devices are network cards that carry a parallel program's messages.
#pragma once

#include <string>
#include <vector>

namespace forebay {

/// A device of a network card. A card may have several: of InfiniBand, and of Ethernet or IP above it.
struct NetworkDevice {
  std::string name;
  std::string bus;     ///< what it hangs on, the same for all devices of a card's function: 0000:81:00.0
  double rate = 0;     ///< only compared: what is faster has more; 0: not known
  int numa_node = -1;  ///< by the number of the operating system; -1: not known
};

/// Physical devices whose link is up, by the tree that Linux has at `sys`.
std::vector<NetworkDevice> network_devices(const std::string& sys = "/sys");

/// One device for each function of a card, and of these the fastest: a slower one is for administration. In
/// the order of their buses.
std::vector<NetworkDevice> cards_among(std::vector<NetworkDevice> devices);

}  // namespace forebay
