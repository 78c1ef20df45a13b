// Moving runs between a stream in memory and the file's bytes in a window, byte order turned round on the
// way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "request/run.hpp"

namespace forebay {

/// Width in bytes of the elements whose byte order is turned round.
enum class Swap : int { none = 1, two = 2, four = 4, eight = 8 };

/// Byte s of the stream is memory[s], byte f of the file window[f - origin]. A run may begin or end inside an
/// element.
void scatter_runs(std::span<const Run> runs, Swap swap, const std::byte* memory, std::byte* window,
                  std::int64_t origin);
void pick_runs(std::span<const Run> runs, Swap swap, const std::byte* window, std::int64_t origin,
               std::byte* memory);

}  // namespace forebay
