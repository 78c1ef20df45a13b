// The list of peers: MPI-IO in the two ways that a program has, over both of Open MPI's libraries, at their
// defaults and tuned.
#include "tcio_peers.hpp"

#include <stdexcept>
#include <utility>

namespace forebay::bench {
namespace {

Peer by(const char* way, Peer peer) {
  peer.options = {"--way", way};
  return peer;
}

}  // namespace

std::vector<Peer> tcio_peers(const std::string& romio) {
  if (romio.empty())
    throw std::runtime_error("this Open MPI has no ROMIO, over which the reference is written");
  const std::vector<std::string> tuned = {"romio_cb_write=enable", "romio_ds_write=disable",
                                          "romio_cb_read=enable", "romio_ds_read=disable"};
  std::vector<Peer> peers = {
      by("alone", stock_peer("exact", "MPI-IO over ROMIO, a call a piece: the file that all have to match",
                             romio, {}, true, Kind::Reference)),
      by("views", stock_peer("romio", "MPI-IO over ROMIO, a view, collective", romio, {}, true)),
      by("views", stock_peer("romio-tuned", "MPI-IO over ROMIO, a view, two-phase forced without sieving",
                             romio, tuned, false)),
      by("views", stock_peer("ompio", "MPI-IO over OMPIO, a view, collective", "ompio", {}, false)),
      by("views",
         stock_peer("ompio-tuned", "MPI-IO over OMPIO, a view, collective, OMPI_MCA_fcoll=individual",
                    "ompio", {}, true)),
      by("alone",
         stock_peer("romio-alone", "MPI-IO over ROMIO, an independent call a piece", romio, {}, true)),
      by("alone",
         stock_peer("ompio-alone", "MPI-IO over OMPIO, an independent call a piece", "ompio", {}, false)),
      by("tcio", forebay_peer("tcio-strict", "strict")),
      by("tcio", forebay_peer("tcio-commit", "commit")),
      by("tcio", forebay_peer("tcio", "automatic")),
  };
  for (Peer& peer : peers) {
    if (peer.name == "ompio-tuned") peer.environment.emplace_back("OMPI_MCA_fcoll", "individual");
    if (peer.kind == Kind::Forebay)
      peer.title = "TCIO, " + peer.mode + (peer.mode == "automatic" ? " (the default)" : "");
  }
  return peers;
}

}  // namespace forebay::bench
