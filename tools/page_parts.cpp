// Puts a page together.
#include "page_parts.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include "installation.hpp"
#include "template.hpp"

namespace forebay::tools {

std::string finish_page(const char* page, nlohmann::json values, const std::string& chart_js) {
  // The library is trusted, but not to have no end of a script in a string.
  std::string library = chart_js;
  for (std::size_t at = library.find("</script"); at != library.npos; at = library.find("</script", at + 3))
    library.insert(at + 1, "\\");
  values["style"] = page_template::style;
  values["script"] = page_template::script;
  values["chart_js"] = std::move(library);
  values["no_charts"] = chart_js.empty() ? "Without plots: Chart.js was not installed with Forebay." : "";
  return fill_template(page, values);
}

std::string chart_library(std::string& lacks) {
  std::ifstream stream(find_installation().charts, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (text.empty())
    lacks =
        "Chart.js, which draws the plots, is not installed with Forebay (Debian: libjs-chart.js; then build "
        "with "
        "-DFOREBAY_CHART_JS=FILE): ";
  return text;
}

}  // namespace forebay::tools
