// E3SM's cases for rows: what a rank holds of each decomposition, recorded or generated.
#pragma once

#include <string>
#include <vector>

#include "decomposition.hpp"
#include "history.hpp"
#include "row.hpp"

namespace forebay::bench {

// The atmosphere's (F) three decompositions, or the ocean's (G) six, ascending; of the recorded `map`, or
// where that is empty of a generated sphere. Throws std::runtime_error where the map is another one.
std::vector<Decomposition> cut_e3sm(const Setting& setting, const std::string& map, bool ocean);

// Leaves one in `step` of the partitioned record variables.
void thin_out(History& history, int step);

}  // namespace forebay::bench
