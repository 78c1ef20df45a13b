// Names against those that have a meaning, those of hints, and words that people try.
#include "base/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "base/edit_distance.hpp"
#include "base/hints.hpp"

namespace forebay {
namespace {

constexpr std::string_view known[] = {
    "FOREBAY_HINTS",  "FOREBAY_CONFIG", "FOREBAY_STATS",  "FOREBAY_ENABLE",         "FOREBAY_VERBOSE",
    "FOREBAY_LIBDIR", "FOREBAY_DROPIN", "FOREBAY_KEEPER", "FOREBAY_KEEPER_PROGRAM", "FOREBAY_TRACE"};
// Of a checkout's build; not far enough from others.
constexpr std::string_view of_the_checkout = "FOREBAY_STACK";

struct Guess {
  std::string_view word;
  std::string_view meant;
};
constexpr Guess guesses[] = {
    {"FOREBAY_DISABLE", "FOREBAY_ENABLE=off"},
    {"FOREBAY_DISABLED", "FOREBAY_ENABLE=off"},
    {"FOREBAY_OFF", "FOREBAY_ENABLE=off"},
    {"FOREBAY_ON", "FOREBAY_ENABLE=on"},
    {"FOREBAY_ACTIVE", "FOREBAY_ENABLE"},
    {"FOREBAY_COMMIT", "FOREBAY_HINTS=forebay_mode=commit"},
    {"FOREBAY_STRICT", "FOREBAY_HINTS=forebay_mode=strict"},
    {"FOREBAY_DEBUG", "FOREBAY_VERBOSE=1"},
    {"FOREBAY_LOG", "FOREBAY_VERBOSE=1"},
    {"FOREBAY_REPORT", "FOREBAY_STATS=FILE"},
    {"FOREBAY_INFO", "FOREBAY_HINTS"},
    {"FOREBAY_OPTIONS", "FOREBAY_HINTS"},
};

/// What may have been meant; empty where nothing is near.
std::string meant_by(std::string_view name, std::string_view value) {
  for (const Guess& guess : guesses) {
    if (name == guess.word) return std::string(guess.meant);
  }
  const auto hints = hint_table();
  const auto distance = [&](const HintSpec& hint) { return edit_distance(name, hint.name); };
  auto hint = std::ranges::find(hints, 0U, distance);
  if (hint == hints.end()) {
    for (const std::string_view variable : known) {
      if (edit_distance(name, variable) <= 2) return std::string(variable);
    }
    // One letter away: FOREBAY_MOD. More would find hints in names that sites gave their own variables.
    hint = std::ranges::find(hints, 1U, distance);
  }
  if (hint == hints.end()) return {};
  return "FOREBAY_HINTS=" + std::string(hint->name) + "=" + std::string(value);
}

}  // namespace

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string from_environment(std::span<const char* const> names) {
  for (const char* name : names) {
    if (std::string value = from_environment(name); !value.empty()) return value;
  }
  return {};
}

std::vector<std::string> variables_without_meaning() {
  std::vector<std::string> remarks;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view pair = *entry;
    const std::string_view name = pair.substr(0, pair.find('='));
    const std::string_view value = pair.substr(std::min(name.size() + 1, pair.size()));
    // A hint's own name, as it is in MPI_Info, is tried in the environment too.
    if (!name.starts_with("FOREBAY") && !name.starts_with("forebay_")) continue;
    if (name == of_the_checkout || std::ranges::find(known, name) != std::end(known)) continue;
    if (const std::string meant = meant_by(name, value); !meant.empty())
      remarks.push_back(std::string(name) + " is set and has no meaning; is " + meant + " meant?");
  }
  return remarks;
}

}  // namespace forebay
