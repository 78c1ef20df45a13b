// The decompositions that `--map` names: generated, or recorded in a file.
#pragma once

#include <string>

#include "decomposition.hpp"

namespace forebay::bench {

struct Case {
  std::string map = "generated";
  int ne = 3;
  int levels = 60;
};

// Throws std::runtime_error where a map cannot be used.
Cutter open_case(const Case& of);

// Over all ranks: who holds anything, by decomposition.
std::vector<Coverage> cover(const Cutter& cut, int ranks);

}  // namespace forebay::bench
