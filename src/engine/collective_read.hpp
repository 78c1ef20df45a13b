// The collective read: what all ranks want, read once by its owners.
#pragma once

#include <span>

#include "base/status.hpp"
#include "request/get.hpp"

namespace forebay {

struct FileContext;
class Keeper;

/// Collective: CoreFile::read_all.
Status collective_read(FileContext& file, Keeper& keeper, std::span<const Get> gets);

}  // namespace forebay
