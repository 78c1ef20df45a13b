// hwloc's domains, and cards by the system's own files, which know what is up; of a described machine hwloc
// has to tell the cards, too.
#include "machine/machine.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <exception>

#include "machine/hwloc.hpp"
#include "machine/network_cards.hpp"

namespace forebay {
namespace {

int domain_with_number(const HwlocMachine& told, int number) {
  const auto found =
      std::ranges::find_if(told.domains, [&](const auto& d) { return static_cast<int>(d.number) == number; });
  return found == told.domains.end() ? -1 : static_cast<int>(found - told.domains.begin());
}

Machine load() {
  Machine machine;
  HwlocMachine told;
  const bool well = ask_hwloc(told);
  machine.known_by = well ? "hwloc" : "sysfs";
  machine.cores = told.cores;
  for (const auto& domain : told.domains) machine.domains.push_back(domain.processors);
  for (const NetworkDevice& card : cards_among(told.is_here ? network_devices() : told.devices)) {
    int number = card.numa_node;
    for (const NetworkDevice& device : told.devices) {
      if (device.name == card.name && device.numa_node >= 0) number = device.numa_node;
    }
    machine.cards.push_back({card.name, domain_with_number(told, number)});
  }
  return machine;
}

}  // namespace

int Machine::domain_of(const Processors& processors) const {
  if (std::ranges::all_of(processors, [](std::uint64_t word) { return word == 0; })) return -1;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    bool all = true;
    for (std::size_t w = 0; w < processors.size(); ++w)
      all = all && (processors[w] & ~(w < domains[d].size() ? domains[d][w] : 0)) == 0;
    if (all) return static_cast<int>(d);
  }
  return -1;
}

const Machine& this_machine() {
  static const Machine machine = [] {
    try {
      return load();
    } catch (const std::exception&) {  // as one of which nothing is known
      return Machine{};
    }
  }();
  return machine;
}

Processors processors_of_this_thread() {
  // The system wants room for all processors that it might have.
  for (std::size_t words = 16; words <= 1024; words *= 4) {
    Processors bits(words);
    if (::sched_getaffinity(0, words * 8, reinterpret_cast<cpu_set_t*>(bits.data())) == 0) {
      while (!bits.empty() && bits.back() == 0) bits.pop_back();
      return bits;
    }
    if (errno != EINVAL) break;
  }
  return {};
}

}  // namespace forebay
