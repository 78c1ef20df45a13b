// Looks at the environment.
#include "base/speaker.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace forebay {
namespace {

std::string_view from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Whether one of the words of a list between blanks is this one.
bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view next = list.substr(0, list.find(' '));
    if (next == word) return true;
    list.remove_prefix(std::min(next.size() + 1, list.size()));
  }
  return false;
}

}  // namespace

std::span<const char* const> rank_variables() {
  static constexpr std::array names{"OMPI_COMM_WORLD_RANK", "PMIX_RANK",           "PMI_RANK",
                                    "PALS_RANKID",          "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
  return names;
}

bool first_by_launcher() {
  for (const char* name : rank_variables()) {
    const std::string_view rank = from_environment(name);
    if (rank.empty()) continue;
    return rank == "0" || has_word(from_environment("OMPI_FIRST_RANKS"), rank);
  }
  return true;
}

bool verbose() {
  const std::string_view value = from_environment("FOREBAY_VERBOSE");
  return !value.empty() && value != "0";
}

}  // namespace forebay
