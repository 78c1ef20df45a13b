// How this command starts a parallel program of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace forebay::tools {

/// The words before a program that start it on so many ranks; empty where there is no launcher.
std::vector<std::string> find_mpi_launcher(int ranks);

/// This process's environment without what would make such a program a rank of the one that this process is
/// in, and so that it starts on few cores and in root's account.
std::map<std::string, std::string> environment_for_mpi();

}  // namespace forebay::tools
