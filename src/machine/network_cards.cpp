// By the files of /sys/class/infiniband and /sys/class/net.
#include "machine/network_cards.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace forebay {
namespace {

namespace fs = std::filesystem;

/// The first line; "" where there is no such file, or it cannot be read (as the speed of a link that is
/// down).
std::string line_of(const fs::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

/// The number at the begin of the first line; `otherwise` where there is none.
double number_of(const fs::path& file, double otherwise) {
  double number = otherwise;
  std::ifstream stream(file);
  return stream >> number ? number : otherwise;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    all.push_back(at->path());
  std::ranges::sort(all);
  return all;
}

/// What the device hangs on; false: it is none of hardware (lo, veth, a bridge), or a part of a card that was
/// cut for virtual machines.
bool find_bus(const fs::path& device, NetworkDevice& out) {
  std::error_code error;
  fs::path hardware = fs::canonical(device / "device", error);
  if (error || fs::exists(hardware / "physfn", error)) return false;
  // virtio has a level of its own above the PCI function.
  if (hardware.filename().string().starts_with("virtio")) hardware = hardware.parent_path();
  out.name = device.filename();
  out.bus = hardware.filename();
  out.numa_node = static_cast<int>(number_of(hardware / "numa_node", -1));
  return true;
}

}  // namespace

std::vector<NetworkDevice> network_devices(const std::string& sys) {
  std::vector<NetworkDevice> found;
  for (const fs::path& device : entries(fs::path(sys) / "class/infiniband")) {
    NetworkDevice made;
    bool up = false;
    for (const fs::path& port : entries(device / "ports")) {
      if (line_of(port / "state").find("ACTIVE") == std::string::npos) continue;
      up = true;
      made.rate = std::max(made.rate, 1000 * number_of(port / "rate", 0));  // Gbit/s
    }
    if (up && find_bus(device, made)) found.push_back(made);
  }
  for (const fs::path& device : entries(fs::path(sys) / "class/net")) {
    NetworkDevice made;
    const std::string state = line_of(device / "operstate");  // some drivers do not know
    if ((state != "up" && state != "unknown") || !find_bus(device, made)) continue;
    made.rate = std::max(0.0, number_of(device / "speed", 0));  // Mbit/s
    found.push_back(made);
  }
  return found;
}

std::vector<NetworkDevice> cards_among(std::vector<NetworkDevice> devices) {
  std::ranges::stable_sort(devices, {}, &NetworkDevice::bus);
  std::vector<NetworkDevice> cards;
  double fastest = 0;
  for (const NetworkDevice& device : devices) {
    if (cards.empty() || cards.back().bus != device.bus || device.bus.empty())
      cards.push_back(device);
    else if (device.rate > cards.back().rate)
      cards.back() = device;
    fastest = std::max(fastest, cards.back().rate);
  }
  std::erase_if(cards, [&](const NetworkDevice& card) { return card.rate < fastest; });
  return cards;
}

}  // namespace forebay
