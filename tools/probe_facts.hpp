// What the probe programs tell on stdout, where launchers, profiles and libraries print what they like too.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace forebay::tools {

/// Key and value of each line that a probe marked as its own (probe/probe.hpp).
inline std::map<std::string, std::string> probe_facts(const std::string& output) {
  constexpr std::string_view mark = "forebay-probe: ";
  std::map<std::string, std::string> facts;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(mark)) continue;
    line.erase(0, mark.size());
    const auto blank = line.find(' ');
    if (blank != line.npos) facts[line.substr(0, blank)] = line.substr(blank + 1);
  }
  return facts;
}

}  // namespace forebay::tools
