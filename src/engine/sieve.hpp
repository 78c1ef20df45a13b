// Independent writes of many short runs, in strict mode, on one node: by whole blocks that are read,
// completed and written again (data sieving; Thakur, Gropp and Lusk, Data Sieving and Collective I/O in
// ROMIO, 1999).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/counters.hpp"
#include "base/status.hpp"
#include "exchange/node_window.hpp"
#include "request/put.hpp"
#include "storage/open_mark.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// Whoever completes a block writes bytes that others may be putting at the same time. Ranks that complete
/// blocks lock them (fcntl(2)). All other independent writes of the file object are within a Passing: as long
/// as there is any, no block is completed, and it waits for those that are; some times it lets those go first
/// that come meanwhile. Other objects of the file leave marks.
class Sieve {
 public:
  /// Whether a request's runs are so many, short and near each other that blocks are cheaper; the first ones
  /// tell.
  static bool worth(Cursor& cursor);

  /// Writes a request; false: nothing, since the program holds a lock of the whole file. `descriptor`: the
  /// file's, readable; `meeting`: what the ranks of the object share; `mark`: null where nobody else writes
  /// the file for certain.
  bool write(const Put& put, int descriptor, NodeWindow& meeting, const OpenMark* mark, Storage& storage,
             std::int64_t stripe, Counters& counters, Status& status);

  class Passing {
   public:
    /// `meeting` null: nothing to do.
    Passing(NodeWindow* meeting, int descriptor) : meeting_(meeting) {
      if (meeting != nullptr && meeting->begin_passing()) wait_for_blocks(*meeting, descriptor);
    }
    ~Passing() {
      if (meeting_ != nullptr) meeting_->end_passing();
    }
    Passing(const Passing&) = delete;
    Passing& operator=(const Passing&) = delete;

   private:
    NodeWindow* meeting_;
  };
  static void wait_for_blocks(NodeWindow& meeting, int descriptor);

 private:
  struct Ways;
  Status write_group(std::span<const Run> runs, Source& source, const Ways& ways);

  std::unique_ptr<std::byte[]> block_;
  std::vector<Run> runs_;
};

}  // namespace forebay
