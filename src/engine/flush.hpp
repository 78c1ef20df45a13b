// The rounds of a collective flush: scatter into the node's window, meet, exchange between nodes, write.
// Knows no MPI.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/counters.hpp"
#include "base/status.hpp"
#include "exchange/link.hpp"
#include "exchange/node_window.hpp"
#include "layout/layout.hpp"
#include "request/put.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// Working memory of an aggregator, kept between flushes.
struct FlushScratch {
  std::vector<std::uint64_t> merged;  ///< a round's marks, all ranks of the node together
  std::vector<std::byte> block;       ///< a block of the file, where holes are filled from it
  std::vector<Piece> pieces;
};

/// One rank's part in a flush. `rail` is null on ranks that do not aggregate, and on one node.
struct Flush {
  NodeWindow& window;
  const Layout& layout;
  Storage& storage;
  Counters& counters;
  FlushScratch& scratch;
  std::uint64_t& sequence;  ///< rounds so far over this window's life, the same on all ranks of the node
  Rail* rail = nullptr;
  int node = 0;
  int nodes = 1;
  int aggregator = -1;     ///< this rank's rail number, or -1
  int shift = 0;           ///< all runs begin and end on multiples of 1 << shift; agreed by all ranks
  std::int64_t first = 0;  ///< lowest offset that any rank puts; agreed
  bool fill_holes = true;  ///< whether blocks with holes may be read, merged and written whole
};

/// Moves all puts to the file. Returns this node's outcome after all its owners have written: a failure of
/// another rank of the node is Code::peer. Whoever flushes over several nodes agrees on the result
/// afterwards. Between two flushes over one window all its ranks must have met (the agreement on `first` and
/// `shift` is such a meeting).
Status run_flush(const Flush& flush, std::span<const Put> puts);

}  // namespace forebay
