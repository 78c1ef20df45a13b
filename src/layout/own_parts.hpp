// Where nodes put bytes into parts of the file of their own, so that each can own its parts and little has to
// cross between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "layout/extent.hpp"

namespace forebay {

/// The stripes that `hulls` touch, by number, ascending and apart: at most `most` (at least 1) extents, where
/// need be with the stripes of the smallest gaps between them. Empty hulls count for nothing.
std::vector<Extent> stripes_of(std::span<const Extent> hulls, std::int64_t stripe, std::size_t most);
/// The same of extents that are in stripes already.
std::vector<Extent> joined(std::vector<Extent> stripes, std::size_t most);

/// What each node has for itself.
struct OwnParts {
  /// By node, in bytes: the whole stripes into which nobody else puts, ascending and apart.
  std::vector<std::vector<Extent>> of_node;
  /// The lowest offset of a stripe that several nodes have; kNoOffset: there is none.
  std::int64_t first_shared;
};

/// `touched`: the stripes that each node touches, as above. Nothing where own parts are not worth while:
/// where more than a quarter of the stripes have several nodes, and where a few nodes would have to write
/// most of it.
std::optional<OwnParts> own_parts(std::span<const std::vector<Extent>> touched, std::int64_t stripe);

}  // namespace forebay
