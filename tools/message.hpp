// Messages of the command on stderr.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/printable.hpp"

namespace forebay::tools {

/// Writes "forebay: message" and a line end in one piece. Whatever a name in it holds, it stays one line of
/// text.
inline void complain(const std::string& message) {
  std::fputs(("forebay: " + printable(message) + "\n").c_str(), stderr);
}

/// The same for a message in which another program, a compiler for one, speaks in several lines.
inline void complain_in_lines(std::string_view message) {
  std::string text = "forebay: ";
  while (!message.empty()) {
    const std::string_view line = message.substr(0, message.find('\n'));
    text += printable(line) + '\n';
    message.remove_prefix(std::min(line.size() + 1, message.size()));
  }
  std::fputs(text.c_str(), stderr);
}

}  // namespace forebay::tools
