// A file that is read through a stage: Storage over Storage.
#pragma once

#include <functional>
#include <memory>

#include "base/counters.hpp"
#include "stage/node_stage.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// What is read is taken from `stage`, and what is not there is fetched from `below` and put there. `below`
/// and `counters` outlive this. `may_change`: whether this process has, or had, the file open once more; then
/// each read looks whether it has been written, and from then on the stage is not used.
std::unique_ptr<Storage> make_staged_storage(Storage& below, std::unique_ptr<NodeStage> stage,
                                             Counters& counters, std::function<bool()> may_change = nullptr);

}  // namespace forebay
