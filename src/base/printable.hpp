// Text that may be shown to a person: names of files and variables come from outside and may hold anything.
#pragma once

#include <string>
#include <string_view>

namespace forebay {

/// `text` with control characters, and bytes that are not UTF-8, written as \n, \t or \xHH: nothing in it
/// begins a new line, and nothing reaches the terminal as a command.
std::string printable(std::string_view text);

/// `text` as UTF-8, for JSON: bytes that are not UTF-8 are written as \xHH. What a quote or a line end
/// becomes is JSON's own matter.
std::string as_utf8(std::string_view text);

}  // namespace forebay
