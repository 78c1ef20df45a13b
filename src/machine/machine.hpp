// What the machine of this process has that decides who sends and who writes: NUMA domains and network cards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay {

/// Processors by the numbers of the operating system: bit p % 64 of word p / 64. Words behind the last bit
/// may lack.
using Processors = std::vector<std::uint64_t>;

struct NetworkCard {
  std::string name;  ///< of its device: mlx5_0, eth0
  int domain = -1;   ///< it hangs on this entry of Machine::domains; -1: on none alone, or not known
};

struct Machine {
  std::vector<Processors> domains;  ///< of each NUMA domain with processors; empty: not known
  /// Those that carry messages: of the physical ones whose link is up the fastest, one entry for each PCI
  /// function.
  std::vector<NetworkCard> cards;
  int cores = 0;         ///< 0: not known
  std::string known_by;  ///< "hwloc"; "sysfs", which tells cards only; "": nobody asked

  /// The domain that has all of them; -1: none does.
  int domain_of(const Processors& processors) const;
};

/// This process's. The first call asks, which takes milliseconds, or tens of them. Any thread may call.
const Machine& this_machine();

/// Where this thread may run; empty: not known.
Processors processors_of_this_thread();

}  // namespace forebay
