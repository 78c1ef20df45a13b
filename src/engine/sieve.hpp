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
#include "request/request.hpp"
#include "storage/open_mark.hpp"
#include "storage/storage.hpp"

namespace forebay {

/// Completes blocks under locks of theirs (fcntl(2)). All other independent writes of the file object are
/// within a Bypassing: as long as there is any, no block is completed, and it waits for those that are. Other
/// objects of the file leave marks.
class Sieve {
 public:
  /// Whether a request's runs are so many, short and near each other that blocks are cheaper; the first ones
  /// tell.
  static bool worth(Cursor& cursor);

  /// Writes a request; false: nothing, since the program holds a lock of the whole file. `descriptor`: the
  /// file's, readable; `sync_point`: what the ranks of the object share; `mark`: null where nobody else
  /// writes the file for certain.
  bool write(const Put& put, int descriptor, NodeWindow& sync_point, const OpenMark* mark, Storage& storage,
             std::int64_t stripe, Counters& counters, Status& status);

  class Bypassing {
   public:
    /// `sync_point` null: nothing to do.
    Bypassing(NodeWindow* sync_point, int descriptor) : sync_point_(sync_point) {
      if (sync_point != nullptr && sync_point->begin_bypass()) wait_for_blocks(*sync_point, descriptor);
    }
    ~Bypassing() {
      if (sync_point_ != nullptr) sync_point_->end_bypass();
    }
    Bypassing(const Bypassing&) = delete;
    Bypassing& operator=(const Bypassing&) = delete;

   private:
    NodeWindow* sync_point_;
  };
  static void wait_for_blocks(NodeWindow& sync_point, int descriptor);

 private:
  struct Ways;
  Status write_group(std::span<const Run> runs, Source& source, const Ways& ways);

  std::unique_ptr<std::byte[]> block_;
  std::vector<Run> runs_;
};

}  // namespace forebay
