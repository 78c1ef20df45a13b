// How a segment goes to the file: run by run, or with its small holes filled from the file where nobody else
// can be writing them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/counters.hpp"
#include "base/status.hpp"
#include "segments/segment_area.hpp"
#include "segments/segment_bytes.hpp"
#include "storage/open_mark.hpp"
#include "storage/storage.hpp"

namespace forebay {

class SegmentWriter {
 public:
  SegmentWriter(const SegmentArea& area, SegmentBytes& bytes) : area_(area), bytes_(bytes) {}

  /// NodeSegments::attach.
  void attach(Storage& storage, Counters& counters, bool fills_holes, int lock, const OpenMark* mark);

  /// Writes a segment that is locked; afterwards nothing is kept of it, unless it fails.
  Status write(int segment);

  /// While this rank may be writing past the segments no hole is filled.
  void begin_bypass();
  void end_bypass();
  /// For good.
  void never_fill() { area_.header->bypassing.fetch_add(1, std::memory_order_seq_cst); }

  Storage& storage() const { return *storage_; }
  Counters& counters() const { return *counters_; }
  int lock() const { return lock_; }
  /// As large as a segment. Throws std::bad_alloc.
  std::byte* block();

 private:
  bool may_fill() const;
  bool fill_holes(int segment, Extent part, int runs);

  const SegmentArea& area_;
  SegmentBytes& bytes_;
  Storage* storage_ = nullptr;
  Counters* counters_ = nullptr;
  bool fills_holes_ = false;
  int lock_ = -1;
  const OpenMark* mark_ = nullptr;
  bool bypassing_ = false;
  std::vector<Piece> pieces_;
  std::unique_ptr<std::byte[]> block_;
};

}  // namespace forebay
