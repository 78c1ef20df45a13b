// Looks at the environment.
#include "base/speaker.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/environment.hpp"

namespace forebay {
namespace {

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

std::string rank_by_launcher() {
  for (const char* name : rank_variables()) {
    if (std::string rank = from_environment(name); !rank.empty()) return rank;
  }
  return {};
}

bool first_by_launcher() {
  const std::string rank = rank_by_launcher();
  return rank.empty() || rank == "0" || has_word(from_environment("OMPI_FIRST_RANKS"), rank);
}

bool speaks_for(int rank, int ranks) {
  return first_by_launcher() || (rank == 0 && ranks > 1);
}

bool verbose() {
  const std::string value = from_environment("FOREBAY_VERBOSE");
  return !value.empty() && value != "0";
}

}  // namespace forebay
