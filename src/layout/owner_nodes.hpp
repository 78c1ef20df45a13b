// Which nodes of a job a choice of owner nodes means.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/node_choice.hpp"

namespace forebay {

/// Of nodes 0 … nodes-1: those that may own, ascending; empty: all of them. So many are spread evenly, from
/// node 0 on; more than there are, are all. Numbers that no node has do not matter. Nothing: there is none
/// left.
std::optional<std::vector<int>> owner_nodes(const NodeChoice& choice, int nodes);

/// The choice that names these, ascending; of none: all.
NodeChoice choice_of(std::span<const int> nodes);

}  // namespace forebay
