// The list of peers. What a program calls is the same under each of them; what the user can set without
// changing the program differs, and in one of them what he can change in a line of it.
#include "application_peers.hpp"

#include <stdexcept>
#include <utility>

#include "application_rows.hpp"

namespace forebay::bench {

std::vector<Peer> application_peers(const std::string& romio) {
  if (romio.empty())
    throw std::runtime_error("this Open MPI has no ROMIO, over which the reference is written");
  // The last is for PnetCDF 1.15 and later, which has a back end of its own; others do not know it.
  const std::vector<std::string> plain = {"nc_driver=mpiio"},
                                 exact = {"romio_cb_write=disable", "romio_ds_write=disable", plain[0]},
                                 unsieved = {"romio_ds_write=disable", plain[0]},
                                 forced = {"romio_cb_write=enable", "romio_ds_write=disable", plain[0]};
  std::vector<Peer> peers = {
      stock_peer("exact", "stock over ROMIO, every piece a write of its own: the file that all have to match",
                 romio, exact, true, Kind::Reference),
      stock_peer("romio", "stock over ROMIO", romio, plain, true),
      stock_peer("ompio", "stock over OMPIO", "ompio", plain, true),
      stock_peer("romio-tuned", "stock over ROMIO, romio_ds_write=disable", romio, unsieved, true),
      stock_peer("romio-forced", "stock over ROMIO, romio_cb_write=enable, romio_ds_write=disable", romio,
                 forced, false),
      stock_peer("ompio-tuned",
                 "stock over OMPIO, OMPI_MCA_fcoll=individual, OMPI_MCA_fbtl_posix_write_datasieving=0",
                 "ompio", plain, false),
      stock_peer("metadata",
                 "as romio-tuned, H5Pset_coll_metadata_write, H5Pset_all_coll_metadata_ops: another program",
                 romio, unsieved, false),
      forebay_peer("forebay", "strict"),
      forebay_peer("commit", "commit"),
      forebay_peer("automatic", "automatic"),
  };
  for (Peer& peer : peers) {
    if (peer.name == "romio-forced") peer.rows = {"lammps", "dolfinx"};
    if (peer.name == "ompio-tuned") {
      peer.environment.emplace_back("OMPI_MCA_fcoll", "individual");
      peer.environment.emplace_back("OMPI_MCA_fbtl_posix_write_datasieving", "0");
    }
    if (peer.name == "metadata") {
      peer.options = {"--collective-metadata"};
      for (const RowInfo& row : application_rows())
        if (row.name != "lammps") peer.rows.emplace_back(row.name);
    }
  }
  return peers;
}

}  // namespace forebay::bench
