// Failures made common: what one rank could not do, every rank of a collective call returns.
#pragma once

#include <mpi.h>

#include "base/status.hpp"

namespace forebay {

/// Collective. The lowest failing rank's code and message on every rank (its own on a rank that failed
/// itself); ok when all are.
Status agree_outcome(MPI_Comm comm, const Status& mine);

/// Collective; only when all ranks know that at least one failed.
Status spread_failure(MPI_Comm comm, const Status& mine);

}  // namespace forebay
