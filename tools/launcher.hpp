// What the environment tells about the parallel program that this process is to become a part of.
#pragma once

#include <optional>
#include <string>

namespace forebay::tools {

/// This process's rank in the program, where a launcher tells it.
std::optional<int> launcher_rank();

/// Whether this process speaks for the whole program: rank 0, or a process that no launcher started.
bool is_first_rank();

/// The same where a job is of several programs: whether it is the first rank of its own, where that is told.
bool is_first_of_program();

/// The folders of PATH, and whether a file there may be executed: the program that execvp would take. Empty
/// where there is none; `denied` is set where a file was found that may not be executed.
std::string find_program(const std::string& name, bool& denied);

}  // namespace forebay::tools
