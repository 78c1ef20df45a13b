// Settings by the names of files: FOREBAY_CONFIG names a TOML file.
//
//   [[file]]                      # rules, in order: the later over the earlier
//   match = ["*.h5", "/scratch/*/restart/*"]
//   mode = "strict"               # any hint, with or without "forebay_"
//   stripe_bytes = "4m"
//
//   [[file]]
//   match = "log.nc"
//   enable = false                # the stock library writes it
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "base/status.hpp"

namespace forebay {

class ConfigFile {
 public:
  struct Rule {
    std::vector<std::string> patterns;
    std::vector<std::pair<std::string, std::string>> hints;
  };

  /// Reads and checks it. Code::bad_hint says file, line and what is wrong there.
  static Status read(const std::string& path, ConfigFile& out);

  const std::vector<Rule>& rules() const { return rules_; }

  /// Sets the hints of all rules that match a file of this name, as a program gives it. A pattern
  /// (fnmatch(3)) without a slash is for the last part of the name, one with a slash for the whole of it,
  /// from the root on; `*` takes slashes, too.
  void apply(std::string_view file, Settings& settings) const;

 private:
  std::vector<Rule> rules_;
};

/// ConfigFile::apply of the file that FOREBAY_CONFIG names, which a process reads once.
Status apply_config(std::string_view file, Settings& settings);

}  // namespace forebay
