// mpiexec, and the variables by which a rank would take itself for another program's.
#include "mpi_launcher.hpp"

#include <unistd.h>

#include "launcher.hpp"
#include "subprocess.hpp"
#include "surroundings.hpp"
#include "trusted.hpp"

namespace forebay::tools {

std::vector<std::string> find_mpi_launcher(int ranks) {
  bool denied = false;
  for (const char* name : {built_with::mpiexec, "mpiexec", "mpirun"}) {
    // By a path that was known when Forebay was built: what is there now may be anybody's.
    if (*name == '\0' || (*name == '/' && !distrust(name).empty())) continue;
    if (std::string path = find_program(name, denied); !path.empty())
      return {path, built_with::mpiexec_count, std::to_string(ranks)};
  }
  return {};
}

std::map<std::string, std::string> environment_for_mpi() {
  auto environment = current_environment();
  if (launcher_rank()) {
    std::erase_if(environment, [](const auto& variable) {
      const std::string& name = variable.first;
      const bool launcher = name.starts_with("PMIX_") || name.starts_with("PMI_") ||
                            name.starts_with("OMPI_") || name.starts_with("PRTE_") ||
                            name.starts_with("MPI_LOCAL") || name.starts_with("HYDI_") ||
                            name.starts_with("MV2_COMM_") || name.starts_with("PALS_");
      return launcher && name.find("_MCA_") == name.npos && !name.starts_with("OMPI_ALLOW_");
    });
  }
  // Two ranks must start also on one core, and in a container's root account.
  environment.emplace("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
  if (::geteuid() == 0) {
    environment.emplace("OMPI_ALLOW_RUN_AS_ROOT", "1");
    environment.emplace("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  return environment;
}

}  // namespace forebay::tools
