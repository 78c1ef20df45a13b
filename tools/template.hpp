// Fills text with values: the part of Mustache that the pages use.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace forebay::tools {

/// {{name}}: the value, safe in HTML text and in quoted attributes. {{{name}}}: as it is. {{.}}: the value
/// itself, in a list of plain ones. {{#name}} … {{/name}}: for each of a list, or once where the value is
/// neither false, null, "" nor empty. {{^name}} … {{/name}}: where it is. Names that a list's element lacks
/// are looked for around it. Throws std::runtime_error where the template is wrong.
std::string fill_template(std::string_view text, const nlohmann::json& values);

/// Safe in HTML text and in quoted attributes.
std::string html_text(std::string_view text);

/// JSON for a script element, which nothing in it can end.
std::string script_json(const nlohmann::json& value);

}  // namespace forebay::tools
