// The list of peers, and the rows that each can be told apart in.
#include "hdf5_peers.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string_view>

#include "hdf5_rows.hpp"

namespace forebay::bench {
namespace {

std::vector<std::string> rows_but(std::initializer_list<std::string_view> without) {
  std::vector<std::string> names;
  for (const RowInfo& row : hdf5_rows())
    if (std::find(without.begin(), without.end(), row.name) == without.end()) names.emplace_back(row.name);
  return names;
}

Peer with(Peer peer, std::vector<std::string> options, std::vector<std::string> rows) {
  peer.options = std::move(options);
  peer.rows = std::move(rows);
  return peer;
}

}  // namespace

std::vector<Peer> hdf5_peers(const std::string& romio) {
  if (romio.empty())
    throw std::runtime_error("this Open MPI has no ROMIO, over which the reference is written");
  const std::vector<std::string> independent = {"--transfer", "independent"},
                                 collective = {"--transfer", "collective"}, multi = {"--transfer", "multi"},
                                 metadata = {"--transfer", "multi", "--collective-metadata"};
  const std::vector<std::string> alone = rows_but({"deflate"}),
                                 together = rows_but({"small-independent", "independent"}),
                                 several = {"datasets", "block-2d", "block-3d", "chunked",
                                            "multi",    "f",        "amr"};
  const std::vector<std::string> exact = {"romio_cb_write=disable", "romio_ds_write=disable"},
                                 tuned = {"romio_cb_write=enable", "romio_ds_write=disable"};
  std::vector<Peer> peers = {
      with(stock_peer("exact",
                      "stock over ROMIO, every piece a write of its own: the file that all have to match",
                      romio, exact, true, Kind::Reference),
           independent, {}),
      with(stock_peer("independent", "stock over ROMIO, an independent H5Dwrite a dataset", romio, {}, true),
           independent, alone),
      with(stock_peer("collective", "stock over ROMIO, a collective H5Dwrite a dataset", romio, {}, true),
           collective, together),
      with(stock_peer("multi", "stock over ROMIO, H5Dwrite_multi", romio, {}, true), multi, several),
      with(stock_peer(
               "metadata",
               "stock over ROMIO, H5Dwrite_multi, H5Pset_coll_metadata_write, H5Pset_all_coll_metadata_ops",
               romio, {}, false),
           metadata, together),
      with(stock_peer("ompio-independent", "stock over OMPIO, an independent H5Dwrite a dataset", "ompio", {},
                      false),
           independent, alone),
      with(stock_peer("ompio-collective", "stock over OMPIO, a collective H5Dwrite a dataset", "ompio", {},
                      false),
           collective, together),
      with(stock_peer("ompio-multi", "stock over OMPIO, H5Dwrite_multi", "ompio", {}, false), multi, several),
      with(stock_peer("tuned-independent", "stock over ROMIO, independent, romio_ds_write=disable", romio,
                      exact, true),
           independent, alone),
      with(stock_peer("tuned-multi", "as metadata, romio_cb_write=enable, romio_ds_write=disable", romio,
                      tuned, false),
           metadata, together),
      with(forebay_peer("forebay", "strict"), collective, {}),
      with(forebay_peer("forebay-multi", "strict"), multi, several),
      with(forebay_peer("commit", "commit"), independent, {}),
      with(forebay_peer("commit-multi", "commit"), multi, together),
      with(forebay_peer("automatic", "automatic"), independent, {}),
      with(forebay_peer("automatic-multi", "automatic"), multi, together),
      with(forebay_peer("forebay-romio", "strict", romio), independent, {"open-close"}),
      with(forebay_peer("commit-romio", "commit", romio), independent, {"open-close"}),
      with(forebay_peer("automatic-romio", "automatic", romio), independent, {"open-close"}),
  };
  const auto describe = [&](const std::string& name, const char* form) {
    for (Peer& peer : peers)
      if (peer.name == name) peer.title += form;
  };
  describe("forebay", ", a collective H5Dwrite a dataset");
  describe("forebay-multi", ", H5Dwrite_multi");
  describe("commit", ", an independent H5Dwrite a dataset");
  describe("commit-multi", ", H5Dwrite_multi");
  describe("automatic", ", an independent H5Dwrite a dataset");
  describe("automatic-multi", ", H5Dwrite_multi");
  for (const char* name : {"forebay-romio", "commit-romio", "automatic-romio"})
    describe(name, ", an independent H5Dwrite a dataset, opened by ROMIO");
  return peers;
}

}  // namespace forebay::bench
