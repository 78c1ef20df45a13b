// Collective transfers: one reduction, rounds through the window, one outcome on all ranks.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "request/request.hpp"

namespace forebay {

struct FileContext;
class Keeper;

/// Collective: all ranks' puts go to the file. `mine`: how this rank's own part stands so far. `agree_max`:
/// CoreFile::write_all.
Status collective_write(FileContext& file, std::span<const Put> puts, Status mine,
                        std::span<std::int64_t> agree_max);

/// Collective: CoreFile::read_all; what all ranks want is read once, by its owners.
Status collective_read(FileContext& file, Keeper& keeper, std::span<const Get> gets);

}  // namespace forebay
