// What a report says of the node's log, in words.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace forebay::tools {

/// Whether the file had a log and used it; reports of earlier versions say nothing.
bool had_log(const nlohmann::json& file);

/// Sentences' parts: what went to the log, how it came into the file, who waited. None without a log.
std::vector<std::string> log_in_words(const nlohmann::json& file);

}  // namespace forebay::tools
