// A report as somebody hands it over: from a file to which a program may be adding, or from stdin.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/status.hpp"

namespace forebay::tools {

/// `path`: "-" is stdin. A sentence where it is no report of a version that can be read. `text`, if it is
/// wanted, gets the report as it is.
Status read_report(const std::string& path, nlohmann::json& document, std::string* text = nullptr);

}  // namespace forebay::tools
