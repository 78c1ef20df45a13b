// What this node has for sending to others, and how many aggregators come of it.
#pragma once

#include <nlohmann/json.hpp>

namespace forebay::tools {

/// As a file on several nodes like this one, with a rank on each core, would choose.
nlohmann::ordered_json examine_node();

/// Its lines of the text.
void print_node(const nlohmann::ordered_json& node);

}  // namespace forebay::tools
