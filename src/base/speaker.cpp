// Looks at the environment.
#include "base/speaker.hpp"

#include <array>
#include <string>

#include "base/environment.hpp"

namespace forebay {

std::span<const char* const> rank_variables() {
  static constexpr std::array names{"OMPI_COMM_WORLD_RANK", "PMIX_RANK",           "PMI_RANK",
                                    "PALS_RANKID",          "MV2_COMM_WORLD_RANK", "SLURM_PROCID"};
  return names;
}

std::string rank_by_launcher() {
  return from_environment(rank_variables());
}

bool first_by_launcher() {
  const std::string rank = rank_by_launcher();
  if (rank.empty() || rank == "0") return true;
  const std::string first_ranks = " " + from_environment("OMPI_FIRST_RANKS") + " ";
  return first_ranks.find(" " + rank + " ") != std::string::npos;
}

bool speaks_for(int rank, int ranks) {
  return first_by_launcher() || (rank == 0 && ranks > 1);
}

bool verbose() {
  const std::string value = from_environment("FOREBAY_VERBOSE");
  return !value.empty() && value != "0";
}

}  // namespace forebay
