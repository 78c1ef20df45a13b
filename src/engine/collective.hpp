// Collective transfers: one reduction, rounds through the window, one outcome on all ranks.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "layout/extent.hpp"
#include "request/request.hpp"

namespace forebay {

struct FileContext;
struct Window;
class Keeper;

/// Collective: all ranks' puts go to the file. `mine`: how this rank's own part stands so far. `agree_max`:
/// CoreFile::write_all.
Status collective_write(FileContext& file, std::span<const Put> puts, Status mine,
                        std::span<std::int64_t> agree_max);

/// Collective: the puts of all ranks go to the file through the window, in rounds; this node's outcome.
/// All that is put lies in `hull`; `shift`: FlushRun::begin.
Status flush_in_rounds(FileContext& file, Window& window, std::span<const Put> puts, Extent hull, int shift);
/// The same, whatever the nodes put: owners as the layout says.
Status flush_shared(FileContext& file, Window& window, std::span<const Put> puts, Extent hull, int shift);

/// A window takes milliseconds to make, which a file of a few small writes never gets back: as long as it has
/// none, so many runs of it, of all ranks together, their ranks write by themselves. How many those of `puts`
/// are; more than fit where that takes long to find out. The sum over all ranks decides.
std::int64_t count_direct(const FileContext& file, std::span<const Put> puts);
bool fits_direct(const FileContext& file, std::int64_t all_runs);
/// Collective: writes them, and the outcome on all ranks.
Status write_direct(FileContext& file, std::span<const Put> puts, Status mine, std::int64_t all_runs);

/// Collective: CoreFile::read_all; what all ranks want is read once, by its owners.
Status collective_read(FileContext& file, Keeper& keeper, std::span<const Get> gets);

}  // namespace forebay
