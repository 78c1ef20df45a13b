// A rail over MPI: one-sided puts into inboxes, or chunked messages; whichever is chosen or was measured
// faster.
#pragma once

#include <mpi.h>

#include <memory>

#include "base/settings.hpp"
#include "exchange/link.hpp"

namespace forebay {

/// Collective over `comm` (one rank a node, outlives the rail). `automatic` measures both ways once. A
/// platform whose one-sided calls fail gets messages; `used` tells which way it became.
std::unique_ptr<Rail> make_mpi_rail(MPI_Comm comm, forebay::Link wanted, forebay::Link& used);

}  // namespace forebay
