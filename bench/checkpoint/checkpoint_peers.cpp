// The list of peers: stock, what PnetCDF has for checkpoints, and Forebay in each of its ways to keep bytes.
#include "checkpoint_peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <utility>

namespace forebay::bench {
namespace {

constexpr const char* burst_buffer_name = "burst-buffer";

Peer stock(const std::string& name, const std::string& title, const std::string& io,
           std::vector<std::string> hints, bool quick, Kind kind = Kind::Stock) {
  hints.emplace_back("nc_driver=mpiio");  // PnetCDF 1.15's own back end is another peer's; others ignore it
  Peer peer = stock_peer(name, title, io, std::move(hints), quick, kind);
  peer.options = {"--binary", "mpiio"};
  return peer;
}

// Where no log can be kept Forebay is strict, which its report tells.
Peer with_log(const std::string& name, const std::string& title, std::vector<std::string> hints) {
  Peer peer = forebay_peer(name, "");
  peer.title = title;
  peer.run_hints = fmt::format("{}", fmt::join(hints, ";"));
  peer.reported = std::move(hints);
  peer.reported.emplace_back("forebay_mode=commit");
  return peer;
}

}  // namespace

std::vector<Peer> checkpoint_peers(const std::string& romio, const std::string& log, bool burst_buffer) {
  if (romio.empty())
    throw std::runtime_error("this Open MPI has no ROMIO, over which the reference is written");
  std::vector<Peer> peers = {
      stock("exact", "stock over ROMIO, every piece a write of its own: the file that all have to match",
            romio, {"romio_cb_write=disable", "romio_ds_write=disable"}, true, Kind::Reference),
      stock("romio", "stock over ROMIO", romio, {}, true),
      stock("ompio", "stock over OMPIO", "ompio", {}, false),
  };
  if (burst_buffer) {
    peers.push_back(
        stock(burst_buffer_name, "PnetCDF's burst buffer in the log's folder, over ROMIO", romio,
              {"nc_burst_buf=enable", "nc_burst_buf_dirname=" + log, "nc_burst_buf_overwrite=enable"}, true));
    peers.back().options.emplace_back("--burst-buffer");
    peers.back().rows = {"f", "btio"};
  }
  peers.push_back(forebay_peer("forebay", "strict"));
  peers.push_back(forebay_peer("commit", "commit"));
  peers.push_back(with_log("log", "Forebay, a log on the node", {"forebay_log=" + log}));
  peers.push_back(with_log("background", "Forebay, a log on the node, drained in the background",
                           {"forebay_log=" + log, "forebay_drain=background", "forebay_sync=log"}));
  return peers;
}

bool is_plain_stock(const Peer& peer) {
  return peer.kind == Kind::Stock && peer.name != burst_buffer_name;
}

}  // namespace forebay::bench
