// Reads that were made before the program asked for them, because the list of pending ones had to make room:
// tcio_fetch_all promises them what other ranks have written since.
#pragma once

#include <cstdint>
#include <vector>

#include "api/folded_runs.hpp"
#include "base/status.hpp"
#include "engine/core_file.hpp"
#include "request/run.hpp"

namespace forebay::tcio {

/// Notes of reads, and of what this rank wrote over them since: that they must not get.
class EarlyReads {
 public:
  bool empty() const { return reads_.empty(); }
  Extent hull() const { return hull_; }
  /// `run.stream` is the address. Throws std::bad_alloc.
  void add(const Run& run);
  /// This rank writes there now. Throws std::bad_alloc.
  void written(Extent range);
  /// Makes them once more, but for what this rank wrote itself. Independent; `unit` as for PendingReads.
  Status read_again(CoreFile& core, std::int64_t unit);
  /// Also gives the memory back.
  void clear() { *this = {}; }

 private:
  void merge_written();

  FoldedRuns reads_;
  Extent hull_;
  std::vector<Extent> written_;
  std::size_t merged_ = 0;  // so many of them ascend and are apart
};

}  // namespace forebay::tcio
