// The stages of a report's times, and what they stand for.
#pragma once

#include <array>

namespace forebay::tools {

struct StageWords {
  const char* key;
  const char* name;
  int group;
};
inline constexpr std::array stages{
    StageWords{"walk", "walking requests", 3},
    StageWords{"pool", "keeping over calls", 3},
    StageWords{"scatter", "into the window", 3},
    StageWords{"node_wait", "waiting for the node", 1},
    StageWords{"exchange", "between nodes", 2},
    StageWords{"write", "file writes", 0},
    StageWords{"read", "file reads", 0},
    StageWords{"pick", "out of the window", 3},
    StageWords{"agree", "agreement of all ranks", 1},
};
inline constexpr std::array groups{"file system", "waiting for other ranks", "exchange between nodes",
                                   "walking and copying pieces"};

}  // namespace forebay::tools
