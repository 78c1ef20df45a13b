// Where nodes put bytes into parts of the file of their own, so that each can own its part and little has to
// cross between them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "layout/extent.hpp"

namespace forebay {

/// `hulls`: what each node puts, an entry a node, empty ones included. For each node the whole stripes into
/// which nobody else puts, one after the other (empty where there are none); nothing where it is not worth
/// while: where more than a quarter of the stripes have several nodes, where a node's part lies within
/// another's, and where a few nodes would have to write most of it.
std::optional<std::vector<Extent>> own_parts(std::span<const Extent> hulls, std::int64_t stripe);

}  // namespace forebay
