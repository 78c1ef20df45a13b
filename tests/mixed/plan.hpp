// What a program is made of, drawn from its seed: files and their arrays, hints, and which boxes each rank
// takes in an access.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../dice.hpp"
#include "model.hpp"
#include "open_file.hpp"

namespace mixed {

/// `next`: where the next array of a raw file may begin; it is moved on.
std::unique_ptr<Array> draw_array(Dice& dice, Kind kind, int number, int64_t& next);

/// Boxes of `ranks` ranks, disjoint where they are written, in the first `rows` of the array.
Access draw_access(Dice& dice, const Array& array, int64_t rows, int ranks, bool writing, bool together);

/// Hints of Forebay's for one file; MPI and the stock libraries do not know them.
std::string draw_hints(Dice& dice);

}  // namespace mixed
