// The puts of one call to the core: cursors and sources made from selections.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "conversion.hpp"
#include "convert/convert_source.hpp"
#include "open_file.hpp"
#include "placement.hpp"
#include "request/memory_stream.hpp"
#include "request/request.hpp"

namespace forebay::pnc {

class Batch {
 public:
  explicit Batch(OpenFile& file) : placement_(file) {}

  /// Adds a put whose data are in the variable's type at `data`, to be swapped. The selection must stay.
  int add(const Variable& variable, const Selection& selection, const std::byte* data, Swap swap);

  /// Adds a put that is converted on its way; from elements side by side, or through `mapping` unless that is
  /// null.
  int add_converted(const Variable& variable, const Selection& selection, const std::byte* data,
                    const Conversion& conversion, const Mapping* mapping);

  /// Takes nothing after all: the rank only takes part.
  void clear();

  std::span<const Put> puts() const { return puts_; }
  const Reach& reach() const { return reach_; }
  std::int64_t bytes() const { return bytes_; }

  /// True when a converted number was out of range; to be asked after the core has walked the puts.
  bool out_of_range() const;

 private:
  template <class MakeSource>
  int add_parts(const Variable& variable, const Selection& selection, MakeSource&& make_source);

  Placement placement_;
  std::deque<MemorySource> memory_;
  std::deque<ConvertSource> converted_;
  std::deque<GatherSource> gathered_;
  std::vector<Put> puts_;
  Reach reach_;
  std::int64_t bytes_ = 0;
};

/// Collective. Writes all ranks' batches and agrees on the number of records. `flag` is raised on every rank
/// when any rank raised it. `problem` is what this rank found wrong before: it then takes part with nothing,
/// and gets that code back.
int write_collective(OpenFile& file, Batch& batch, int problem, bool& flag);

/// Writes this rank's batch.
int write_independent(OpenFile& file, Batch& batch);

}  // namespace forebay::pnc
