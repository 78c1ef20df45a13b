// A limit of memory for what comes.
#pragma once

#include <cstdint>

namespace forebay::bench {

// From now on this process may take `bytes` more of address space than it has. Everything counts: what is
// private, shared with other processes, or only reserved. Throws std::runtime_error.
void limit_memory(std::int64_t bytes);

}  // namespace forebay::bench
