// Looking for what several nodes keep of one place: such bytes were written without a flush between.
#pragma once

#include <cstdint>

#include "ranks/communicator.hpp"
#include "segments/node_share.hpp"

namespace forebay {

struct OrderConflicts {
  std::int64_t bytes = 0;
  Extent first;  ///< somewhere in here is the first of them
};

/// Collective, and the same on all ranks. `share`: what this rank has to write of all that its node keeps;
/// null where it could not be had.
OrderConflicts find_order_conflicts(const NodeSegments::Share* share, const Communicator& ranks);

}  // namespace forebay
