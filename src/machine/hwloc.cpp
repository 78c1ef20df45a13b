// hwloc is looked for when it is asked: programs that load Forebay need not have it, and its names are not
// mixed with those of a program that has another one.
#include "machine/hwloc.hpp"

#ifdef FOREBAY_HWLOC_SONAME

#include <dlfcn.h>
#include <hwloc.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

namespace forebay {
namespace {

/// The functions that are used.
struct Library {
  decltype(&::hwloc_get_api_version) api_version;
  decltype(&::hwloc_topology_init) init;
  decltype(&::hwloc_topology_destroy) destroy;
  decltype(&::hwloc_topology_set_components) set_components;
  decltype(&::hwloc_topology_set_type_filter) set_type_filter;
  decltype(&::hwloc_topology_load) load;
  decltype(&::hwloc_topology_is_thissystem) is_thissystem;
  decltype(&::hwloc_get_type_depth) type_depth;
  decltype(&::hwloc_get_nbobjs_by_depth) count;
  decltype(&::hwloc_get_obj_by_depth) object;
  decltype(&::hwloc_bitmap_next) next;
  decltype(&::hwloc_bitmap_weight) weight;
  decltype(&::hwloc_bitmap_first) first;

  /// It stays loaded; null: it is not there, or of another kind than the header.
  static const Library* find() {
    void* const handle = ::dlopen(FOREBAY_HWLOC_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return nullptr;
    static Library library;
    bool all = true;
    const auto take = [&]<class F>(F& function, const char* name) {
      function = reinterpret_cast<F>(::dlsym(handle, name));
      all = all && function != nullptr;
    };
    take(library.api_version, "hwloc_get_api_version");
    take(library.init, "hwloc_topology_init");
    take(library.destroy, "hwloc_topology_destroy");
    take(library.set_components, "hwloc_topology_set_components");
    take(library.set_type_filter, "hwloc_topology_set_type_filter");
    take(library.load, "hwloc_topology_load");
    take(library.is_thissystem, "hwloc_topology_is_thissystem");
    take(library.type_depth, "hwloc_get_type_depth");
    take(library.count, "hwloc_get_nbobjs_by_depth");
    take(library.object, "hwloc_get_obj_by_depth");
    take(library.next, "hwloc_bitmap_next");
    take(library.weight, "hwloc_bitmap_weight");
    take(library.first, "hwloc_bitmap_first");
    // Versions of one first number have the same structures.
    return all && library.api_version() >> 16 == HWLOC_API_VERSION >> 16 ? &library : nullptr;
  }
};

class Asked {
 public:
  Asked(const Library& library, hwloc_topology_t topology) : l_(library), topology_(topology) {}

  HwlocMachine all() const {
    HwlocMachine machine;
    machine.is_here = l_.is_thissystem(topology_) != 0;
    if (const int depth = l_.type_depth(topology_, HWLOC_OBJ_CORE); depth >= 0)
      machine.cores = static_cast<int>(l_.count(topology_, depth));
    each(HWLOC_TYPE_DEPTH_NUMANODE, [&](const hwloc_obj& node) { add_domain(node, machine.domains); });
    each(HWLOC_TYPE_DEPTH_OS_DEVICE, [&](const hwloc_obj& device) { add_device(device, machine.devices); });
    return machine;
  }

 private:
  template <class F>
  void each(int depth, F&& f) const {
    const unsigned count = l_.count(topology_, depth);
    for (unsigned i = 0; i < count; ++i) f(*l_.object(topology_, depth, i));
  }

  Processors bits_of(hwloc_const_bitmap_t set) const {
    Processors bits;
    if (l_.weight(set) < 0) return bits;  // no end
    for (int p = l_.next(set, -1); p >= 0; p = l_.next(set, p)) {
      const auto word = static_cast<std::size_t>(p) / 64;
      if (bits.size() <= word) bits.resize(word + 1);
      bits[word] |= std::uint64_t{1} << (p % 64);
    }
    return bits;
  }

  // Memory of another kind may be a domain of the same processors, or of none.
  void add_domain(const hwloc_obj& node, std::vector<HwlocMachine::Domain>& domains) const {
    Processors processors = bits_of(node.cpuset);
    const bool known =
        std::ranges::any_of(domains, [&](const auto& d) { return d.processors == processors; });
    if (!processors.empty() && !known) domains.push_back({node.os_index, std::move(processors)});
  }

  void add_device(const hwloc_obj& device, std::vector<NetworkDevice>& devices) const {
    const bool fabric = device.attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS;
    if ((!fabric && device.attr->osdev.type != HWLOC_OBJ_OSDEV_NETWORK) || device.name == nullptr) return;
    for (unsigned i = 0; i < device.infos_count; ++i) {
      constexpr std::string_view active = "4";
      if (std::string_view(device.infos[i].name) == "Port1State" && device.infos[i].value != active) return;
    }
    const hwloc_obj* pci = device.parent;
    while (pci != nullptr && pci->type != HWLOC_OBJ_PCI_DEVICE) pci = pci->parent;
    if (pci == nullptr) return;
    const auto& at = pci->attr->pcidev;
    char bus[32];
    std::snprintf(bus, sizeof bus, "%04x:%02x:%02x.%01x", static_cast<unsigned>(at.domain), at.bus, at.dev,
                  at.func);
    const hwloc_obj* near = pci;
    while (near != nullptr && near->cpuset == nullptr) near = near->parent;
    const bool one = near != nullptr && near->nodeset != nullptr && l_.weight(near->nodeset) == 1;
    // Where nobody tells rates, an interconnect counts as faster than an Ethernet beside it.
    devices.push_back({device.name, bus, fabric ? 2.0 : 1.0, one ? l_.first(near->nodeset) : -1});
  }

  const Library& l_;
  hwloc_topology_t topology_;
};

}  // namespace

bool ask_hwloc(HwlocMachine& out) {
  static const Library* const library = Library::find();
  if (library == nullptr) return false;
  hwloc_topology_t topology = nullptr;
  if (library->init(&topology) != 0) return false;
  const std::unique_ptr<hwloc_topology, decltype(library->destroy)> owner(topology, library->destroy);
  // What looks for GPUs takes longest, and may start their drivers.
  for (const char* component : {"cuda", "nvml", "rsmi", "levelzero", "opencl", "gl"})
    library->set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  library->set_type_filter(topology, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  library->set_type_filter(topology, HWLOC_OBJ_OS_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (library->load(topology) != 0) return false;
  out = Asked(*library, topology).all();
  return true;
}

}  // namespace forebay

#else

namespace forebay {

bool ask_hwloc(HwlocMachine&) {
  return false;
}

}  // namespace forebay

#endif
