// What the pages share: style, script, Chart.js; and their templates, which CMake makes of tools/report/.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace forebay::tools {

namespace page_template {
extern const char* const report;
extern const char* const attempt;
extern const char* const style;
extern const char* const script;
}  // namespace page_template

/// Fills a template. `values` has what is the page's own. `chart_js`: the library's text; "": no plots.
std::string finish_page(const char* page, nlohmann::json values, const std::string& chart_js);

/// Chart.js as it was installed. Where it is not there, "", and `lacks` says so: a sentence's beginning.
std::string chart_library(std::string& lacks);

}  // namespace forebay::tools
