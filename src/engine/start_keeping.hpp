// Which way of keeping bytes a file gets when it is opened.
#pragma once

#include <memory>

#include "base/status.hpp"
#include "engine/keeper.hpp"

namespace forebay {

/// Collective, in commit mode: puts what the caller, the settings and the memory allow in the place of
/// `keeper`. Where nothing can be kept, the mode becomes strict, with a warning. Failures are this rank's
/// own.
Status start_keeping(FileContext& file, std::unique_ptr<Keeper>& keeper);

}  // namespace forebay
