// The list of peers, and what each needs. The tuned sets are what was fastest somewhere on one node among the
// settings that were tried: ROMIO's two-phase writes forced or off, with and without its data sieving,
// cb_nodes, cb_buffer_size; each of OMPIO's fcoll components; all of these with and without intra-node
// aggregation.
#include "peers.hpp"

#include <cstdlib>
#include <vector>

namespace forebay::bench {
namespace {

bool has_own_back_end(const std::string& version) {
  char* end = nullptr;
  const long major = std::strtol(version.c_str(), &end, 10);
  const long minor = *end == '.' ? std::strtol(end + 1, nullptr, 10) : 0;
  return major > 1 || (major == 1 && minor >= 15);
}

Peer stock(const std::string& name, const std::string& title, const std::string& io,
           std::vector<std::string> hints, bool quick, Kind kind = Kind::Stock) {
  Peer peer{name, title, kind, std::move(hints), {}, "", quick};
  peer.environment = {{"FOREBAY_HINTS", std::nullopt}, {"FOREBAY_STATS", std::nullopt}};
  if (!io.empty()) {
    peer.environment.emplace_back("OMPI_MCA_io", io);
    peer.hints.push_back("nc_driver=mpiio");
  }
  return peer;
}

std::vector<Peer> build(const std::string& romio, bool own_back_end) {
  std::vector<Peer> peers = {
      stock("exact", "stock over ROMIO, every piece a write of its own: the file that all have to match",
            romio, {"romio_cb_write=disable", "romio_ds_write=disable"}, true, Kind::Reference),
      stock("romio", "stock over ROMIO", romio, {}, true),
      stock("ompio", "stock over OMPIO", "ompio", {}, false),
      stock("aggr1", "stock over ROMIO, nc_num_aggrs_per_node=1", romio, {"nc_num_aggrs_per_node=1"}, true),
      stock("aggr2", "stock over ROMIO, nc_num_aggrs_per_node=2", romio, {"nc_num_aggrs_per_node=2"}, false),
      stock("romio-tuned",
            "stock over ROMIO, romio_cb_write=enable, romio_ds_write=disable, nc_num_aggrs_per_node=2", romio,
            {"romio_cb_write=enable", "romio_ds_write=disable", "nc_num_aggrs_per_node=2"}, false),
      stock("ompio-tuned", "stock over OMPIO, OMPI_MCA_fcoll=individual", "ompio", {}, true),
      stock("ompio-aggr1", "stock over OMPIO, OMPI_MCA_fcoll=individual, nc_num_aggrs_per_node=1", "ompio",
            {"nc_num_aggrs_per_node=1"}, false),
  };
  for (Peer& peer : peers)
    if (peer.name == "ompio-tuned" || peer.name == "ompio-aggr1")
      peer.environment.emplace_back("OMPI_MCA_fcoll", "individual");
  // Before 1.15 there is no choice of back ends, and the hint would be unknown.
  if (!own_back_end) {
    for (Peer& peer : peers) std::erase(peer.hints, "nc_driver=mpiio");
  } else {
    peers.push_back(stock("own", "stock over PnetCDF's own back end (1.15 and later)", "", {}, true));
    peers.push_back(
        stock("own-aggr1", "the same, nc_num_aggrs_per_node=1", "", {"nc_num_aggrs_per_node=1"}, false));
  }
  peers.push_back({"forebay", "Forebay, strict", Kind::Forebay, {}, {}, "strict", true});
  peers.push_back({"commit", "Forebay, commit", Kind::Forebay, {}, {}, "commit", true});
  return peers;
}

}  // namespace

const std::vector<Peer>& all_peers() {
  static const std::vector<Peer> peers = build("romio", true);
  return peers;
}

std::vector<Peer> peers_of(const std::string& version, const std::string& romio) {
  return build(romio, has_own_back_end(version));
}

}  // namespace forebay::bench
