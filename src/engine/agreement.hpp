// Failures made common: what one rank could not do, every rank of a collective call returns.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "ranks/communicator.hpp"

namespace forebay {

/// Collective. The lowest failing rank's code and message on every rank (its own on a rank that failed
/// itself); ok when all are. `least`: a value of which each rank gets the least, in the same message.
Status agree_outcome(const Communicator& ranks, const Status& mine, std::int64_t* least = nullptr);

/// Collective; only when all ranks know that at least one failed.
Status spread_failure(const Communicator& ranks, const Status& mine);

}  // namespace forebay
