// The keeper of a node: a process that writes what ranks kept in their node's segments when one of them dies.
#pragma once

#include <sys/types.h>

namespace forebay {

/// Serves until `starter` and all ranks that connected have ended, and writes then, as well as when a rank
/// ends or a scheduler sends SIGTERM, what is kept of any file. It takes part in the segments' locks, so
/// ranks may go on meanwhile. Sleeps otherwise. Returns the process's exit status: 1 where something could
/// not be written, which it says on stderr.
int run_keeper(int listener, pid_t starter);

}  // namespace forebay
