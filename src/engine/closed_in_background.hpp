// Files that are closed, while the keeper process still brings their logs into them. The program does not end
// before they are complete.
#pragma once

#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "log/node_log.hpp"

namespace forebay {

/// This process waits for it in MPI_Finalize, or as it exits. `file`: its own descriptor, for what the keeper
/// process cannot do. Throws std::bad_alloc.
void wait_at_the_end(std::unique_ptr<NodeLog> log, Descriptor file, std::string path);

}  // namespace forebay
