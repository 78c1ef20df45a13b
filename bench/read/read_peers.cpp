// The list of peers. The tuned sets are what was fastest somewhere on one node among the settings that were
// tried: ROMIO's two-phase reads forced or off, with and without its data sieving, and OMPIO's individual
// reads.
#include "read_peers.hpp"

#include <algorithm>

#include "pnetcdf_peers.hpp"

namespace forebay::bench {

std::vector<Peer> read_peers(const std::string& version, const std::string& romio) {
  const std::vector<Peer> writers = pnetcdf_peers(version, romio);
  std::vector<Peer> peers;
  const auto take = [&](const char* name, bool quick) {
    const auto found =
        std::find_if(writers.begin(), writers.end(), [&](const Peer& peer) { return peer.name == name; });
    if (found == writers.end()) return;
    peers.push_back(*found);
    peers.back().quick = quick;
  };
  const auto add = [&](const char* like, const char* name, const char* title,
                       const std::vector<std::string>& hints) {
    const auto found =
        std::find_if(writers.begin(), writers.end(), [&](const Peer& peer) { return peer.name == like; });
    if (found == writers.end()) return;
    Peer peer = *found;
    peer.name = name;
    peer.title = title;
    peer.hints.insert(peer.hints.end(), hints.begin(), hints.end());
    peers.push_back(std::move(peer));
  };
  take("exact", true);
  take("romio", true);
  add("romio", "romio-two-phase", "stock over ROMIO, romio_cb_read=enable, romio_ds_read=disable",
      {"romio_cb_read=enable", "romio_ds_read=disable"});
  add("romio", "romio-alone", "stock over ROMIO, romio_cb_read=disable (each rank for itself, with sieving)",
      {"romio_cb_read=disable"});
  take("ompio", false);
  take("ompio-tuned", true);
  take("own", true);
  take("own-aggr1", false);
  take("forebay", true);
  take("commit", true);
  return peers;
}

}  // namespace forebay::bench
