// The scenarios of the get path that are in a file of their own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness.hpp"

namespace forebay::test {

using Scenario = std::pair<std::string, Program>;

/// Waits for gets, what is not there, what one rank gets wrong, files opened to be read.
std::vector<Scenario> get_waits();

}  // namespace forebay::test
