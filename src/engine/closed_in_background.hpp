// Files that are closed, while the keeper process still brings their logs into them. The program does not end
// before they are complete.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "log/node_log.hpp"

namespace forebay {

struct ClosedFile {
  std::unique_ptr<NodeLog> log;
  Descriptor file;  ///< this process's own, for what the keeper process cannot do
  std::string path;
  std::chrono::steady_clock::time_point at;  ///< when its ranks had nothing more to do with it
  /// Where how long it took is added; a document or a file without a name: nowhere.
  struct Report {
    std::string document, file, driver;
  } report;
  bool tells = false;  ///< that on stderr
};

/// From now on this process waits for it in MPI_Finalize, or as it exits. Throws std::bad_alloc.
void wait_at_the_end(ClosedFile closed);

}  // namespace forebay
