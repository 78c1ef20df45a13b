// Messages of the command on stderr.
#pragma once

#include <cstdio>
#include <string>

namespace forebay::tools {

/// Writes "forebay: message" and a line end in one piece.
inline void complain(const std::string& message) {
  std::fputs(("forebay: " + message + "\n").c_str(), stderr);
}

}  // namespace forebay::tools
