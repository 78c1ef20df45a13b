// A report as JSON, and back: what the document holds of a file is what a later open of it is added to.
#pragma once

#include <nlohmann/json.hpp>

#include "report/report.hpp"

namespace forebay {

using Json = nlohmann::ordered_json;

Json to_json(const FileReport& report);

/// Throws nlohmann's exceptions where it is no report.
FileReport from_json(const Json& json);

/// What all files of a document share; all numbers but the largest memory add up.
Json totals_of(const FileReport& report, bool first_open);
void add_totals(Json& totals, const Json& more);

/// Indented text, in which no byte is a command to a terminal that shows it.
std::string text_of(const Json& json);

}  // namespace forebay
