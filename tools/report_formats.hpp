// The forms in which a report is shown. Each throws nlohmann's exceptions where the document is none.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace forebay::tools {

void print_as_text(const nlohmann::json& document);

/// One row a file (RFC 4180).
std::string as_csv(const nlohmann::json& document);

/// Two reports side by side. Files are matched by path and driver; what is left, by name, where one file of
/// each report has it.
void print_comparison(const nlohmann::json& a, const nlohmann::json& b, const std::string& name_a,
                      const std::string& name_b);

/// One page that needs nothing else. `chart_js`: the text of the library that draws; "": tables alone.
std::string as_page(const nlohmann::json& document, const std::string& chart_js);

/// All seconds of a file, of its average rank.
double seconds_in(const nlohmann::json& file);

}  // namespace forebay::tools
