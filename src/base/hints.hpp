// The one table of hints and the `k=v;k=v` grammar; every place that takes hints goes through here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/settings.hpp"
#include "base/status.hpp"

namespace forebay {

/// Where a hint came from decides how hard an unknown `forebay_*` key is taken, and who wins.
enum class Origin {
  info,    ///< MPI_Info: unknown forebay_* keys warn; keys of others are ignored
  call,    ///< a config struct or driver-config string: unknown keys are errors
  command  ///< FOREBAY_HINTS or the command line: unknown keys are errors
};

struct HintSpec {
  const char* name;
  const char* values;  ///< grammar for people: "strict | commit", "bytes (1m, 512k)", "0..n"
  std::string default_value;
  const char* meaning;
};

/// Every hint, in the order the documentation shows them.
std::span<const HintSpec> hint_table();

/// Sets one hint. Bad values are Code::bad_hint naming key, value and grammar; an unknown `forebay_*` key
/// names the near ones.
Status set_hint(Settings& settings, std::string_view key, std::string_view value, Origin origin);

/// Parses "k=v;k=v" (blanks around tokens allowed, empty entries skipped) into settings. Malformed:
/// Code::bad_hint.
Status parse_hints(Settings& settings, std::string_view text, Origin origin);

/// How a hint says it.
std::string_view word_of(StorageKind kind);

/// Applies the environment variables FOREBAY_HINTS, FOREBAY_ENABLE, FOREBAY_STATS and FOREBAY_TRACE.
Status apply_environment(Settings& settings);

/// The settings as "k=v;k=v" of all that differ from the default; parse_hints of it gives the settings back.
std::string format_hints(const Settings& settings);

}  // namespace forebay
