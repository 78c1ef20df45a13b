// Drawing what a random program's call names and how its buffer is described.
#pragma once

#include <mpi.h>

#include <vector>

#include "../dice.hpp"
#include "calls.hpp"

namespace forebay::test {

using ::test::Dice;

/// Something within the box [low, high), by varn where `lists`, else in another shape. `record`: dimension 0
/// is that of the records.
void draw_shape(Dice& dice, Call& call, const std::vector<MPI_Offset>& low,
                const std::vector<MPI_Offset>& high, bool record, bool lists);

/// How the buffer is described, and what is in it.
void draw_face(Dice& dice, Call& call);

}  // namespace forebay::test
