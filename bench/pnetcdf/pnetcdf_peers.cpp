// The list of peers, and what each needs. The tuned sets are what was fastest somewhere on one node among the
// settings that were tried: ROMIO's two-phase writes forced or off, with and without its data sieving,
// cb_nodes, cb_buffer_size; each of OMPIO's fcoll components; all of these with and without intra-node
// aggregation.
#include "pnetcdf_peers.hpp"

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

// Before 1.15 there is no choice of back ends, and the hint would be unknown.
Peer stock(const std::string& name, const std::string& title, const std::string& io,
           std::vector<std::string> hints, bool quick, bool own_back_end, Kind kind = Kind::Stock) {
  if (own_back_end && !io.empty()) hints.emplace_back("nc_driver=mpiio");
  return stock_peer(name, title, io, std::move(hints), quick, kind);
}

}  // namespace

std::vector<Peer> pnetcdf_peers(const std::string& version, const std::string& romio) {
  const bool own = has_own_back_end(version);
  std::vector<Peer> peers = {
      stock("exact", "stock over ROMIO, every piece a write of its own: the file that all have to match",
            romio, {"romio_cb_write=disable", "romio_ds_write=disable"}, true, own, Kind::Reference),
      stock("romio", "stock over ROMIO", romio, {}, true, own),
      stock("ompio", "stock over OMPIO", "ompio", {}, false, own),
      stock("aggr1", "stock over ROMIO, nc_num_aggrs_per_node=1", romio, {"nc_num_aggrs_per_node=1"}, true,
            own),
      stock("aggr2", "stock over ROMIO, nc_num_aggrs_per_node=2", romio, {"nc_num_aggrs_per_node=2"}, false,
            own),
      stock("romio-tuned",
            "stock over ROMIO, romio_cb_write=enable, romio_ds_write=disable, nc_num_aggrs_per_node=2", romio,
            {"romio_cb_write=enable", "romio_ds_write=disable", "nc_num_aggrs_per_node=2"}, false, own),
      stock("ompio-tuned", "stock over OMPIO, OMPI_MCA_fcoll=individual", "ompio", {}, true, own),
      stock("ompio-aggr1", "stock over OMPIO, OMPI_MCA_fcoll=individual, nc_num_aggrs_per_node=1", "ompio",
            {"nc_num_aggrs_per_node=1"}, false, own),
  };
  for (Peer& peer : peers)
    if (peer.name == "ompio-tuned" || peer.name == "ompio-aggr1")
      peer.environment.emplace_back("OMPI_MCA_fcoll", "individual");
  if (own) {
    peers.push_back(stock("own", "stock over PnetCDF's own back end (1.15 and later)", "", {}, true, own));
    peers.push_back(
        stock("own-aggr1", "the same, nc_num_aggrs_per_node=1", "", {"nc_num_aggrs_per_node=1"}, false, own));
  }
  // Open MPI 6 has no ROMIO. PnetCDF's own back end follows the same hints, and then writes piece by piece.
  if (romio.empty()) {
    std::erase_if(peers, [](const Peer& peer) { return peer.title.find("ROMIO") != std::string::npos; });
    peers.insert(
        peers.begin(),
        stock("exact",
              "stock over its own back end, every piece a write of its own: the file that all have to match",
              "", {"romio_cb_write=disable", "romio_ds_write=disable"}, true, own, Kind::Reference));
    for (Peer& peer : peers) peer.quick = peer.quick || peer.name == "ompio" || peer.name == "own-aggr1";
  }
  peers.push_back(forebay_peer("forebay", "strict"));
  peers.push_back(forebay_peer("commit", "commit"));
  peers.push_back(forebay_peer("automatic", "automatic"));
  // PnetCDF opens its files by MPI-IO whoever writes them, and what that takes is much of a small file's
  // time.
  if (!romio.empty()) {
    for (const char* mode : {"strict", "commit", "automatic"}) {
      Peer peer =
          forebay_peer(std::string(mode == std::string("strict") ? "forebay" : mode) + "-romio", mode, romio);
      peer.title += ", opened by ROMIO";
      peer.rows = {"open-close", "reopen", "reopen-cyclic"};
      peers.push_back(std::move(peer));
    }
  }
  return peers;
}

}  // namespace forebay::bench
