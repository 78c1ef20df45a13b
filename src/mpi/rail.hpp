// A rail over MPI: one-sided puts into inboxes, or chunked messages; whichever is chosen or was measured
// faster.
#pragma once

#include <mpi.h>

#include <memory>

#include "base/settings.hpp"
#include "exchange/link.hpp"

namespace forebay {

/// Collective over `comm` (one rank a node, outlives the rail) and over `rails`, the ranks of all rails.
/// `automatic` measures both ways once, with all rails at work as in a flush: they share the node's cards and
/// processors. A platform whose one-sided calls fail gets messages; `used` tells all rails which way it
/// became.
std::unique_ptr<Rail> make_mpi_rail(MPI_Comm comm, MPI_Comm rails, forebay::Link wanted, forebay::Link& used);

}  // namespace forebay
