// The list of peers, and the rows that each takes part in.
#include "amr_peers.hpp"

#include <stdexcept>
#include <utility>

namespace forebay::bench {
namespace {

Peer in(std::vector<std::string> rows, std::vector<std::string> options, Peer peer) {
  peer.rows = std::move(rows);
  peer.options = std::move(options);
  return peer;
}

}  // namespace

std::vector<Peer> amr_peers(const std::string& romio) {
  if (romio.empty())
    throw std::runtime_error("this Open MPI has no ROMIO, over which the reference is written");
  const std::vector<std::string> alone = {"--binary", "mpiio"}, multi = {"--hdf5", "hdf5-multi"},
                                 exact = {"romio_cb_write=disable", "romio_ds_write=disable"};
  std::vector<Peer> peers = {
      in({}, {"--binary", "mpiio", "--hdf5", "hdf5-multi"},
         stock_peer("exact",
                    "stock over ROMIO, every piece a write of its own: the file that all have to match",
                    romio, exact, true, Kind::Reference)),
      in({"trees"}, alone,
         stock_peer("romio-alone", "MPI-IO over ROMIO, an independent call an array", romio, {}, true)),
      in({"trees"}, alone,
         stock_peer("ompio-alone", "MPI-IO over OMPIO, an independent call an array", "ompio", {}, false)),
      in({"hdf5", "pnetcdf"}, {},
         stock_peer("romio", "stock over ROMIO: a collective call a dataset; a wait_all", romio, {}, true)),
      in({"hdf5", "pnetcdf"}, {}, stock_peer("ompio", "the same over OMPIO", "ompio", {}, false)),
      in({"hdf5"}, multi,
         stock_peer("romio-multi", "stock over ROMIO, H5Dwrite_multi, H5Dread_multi", romio, {}, true)),
      in({"hdf5"}, multi, stock_peer("ompio-multi", "the same over OMPIO", "ompio", {}, false)),
      in({"hdf5"}, multi,
         stock_peer("romio-tuned", "as romio-multi, two-phase forced, without sieving", romio,
                    {"romio_cb_write=enable", "romio_ds_write=disable", "romio_cb_read=enable",
                     "romio_ds_read=disable"},
                    false)),
      in({"pnetcdf"}, {},
         stock_peer("ompio-tuned", "stock over OMPIO, OMPI_MCA_fcoll=individual", "ompio", {}, true)),
      in({"trees"}, {}, forebay_peer("tcio-strict", "strict")),
      in({"trees"}, {}, forebay_peer("tcio", "commit")),
      in({"hdf5", "pnetcdf"}, {}, forebay_peer("forebay", "strict")),
      in({"hdf5"}, multi, forebay_peer("forebay-multi", "strict")),
      in({"hdf5", "pnetcdf"}, {}, forebay_peer("commit", "commit")),
      in({"hdf5"}, multi, forebay_peer("commit-multi", "commit")),
  };
  for (Peer& peer : peers) {
    if (peer.name == "ompio-tuned") peer.environment.emplace_back("OMPI_MCA_fcoll", "individual");
    if (peer.name.ends_with("-multi") && peer.kind == Kind::Forebay)
      peer.title += ", H5Dwrite_multi, H5Dread_multi";
    if (peer.name.starts_with("tcio")) peer.title = "TCIO, " + peer.mode;
  }
  return peers;
}

}  // namespace forebay::bench
