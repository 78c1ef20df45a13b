// Looks at the environment.
#include "base/speaker.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

namespace forebay {
namespace {

std::string_view from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::span<const char* const> rank_variables() {
  static constexpr std::array names{"OMPI_COMM_WORLD_RANK", "PMIX_RANK",           "PMI_RANK",
                                    "PALS_RANKID",          "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
  return names;
}

bool first_by_launcher() {
  for (const char* name : rank_variables()) {
    if (const std::string_view rank = from_environment(name); !rank.empty()) return rank == "0";
  }
  return true;
}

bool verbose() {
  const std::string_view value = from_environment("FOREBAY_VERBOSE");
  return !value.empty() && value != "0";
}

}  // namespace forebay
