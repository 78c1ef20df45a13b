// What the processor has done, told to whoever wants to know. Nobody does but a simulated machine, on which
// time passes only where a rank says that it works or waits: it brings these functions itself.
#pragma once

#include <cstdint>
#include <span>

#include "request/run.hpp"

namespace forebay {

/// These runs have been copied.
void copied(std::span<const Run> runs);
void copied(std::int64_t pieces, std::int64_t bytes);
/// So many bytes of marks have been read, to merge them.
void merged(std::int64_t bytes);

}  // namespace forebay
