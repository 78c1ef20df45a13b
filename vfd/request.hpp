// One I/O call of HDF5 as puts: which selections and vector entries share a cursor, and how memory becomes a
// stream.
#pragma once

#include <H5FDdevelop.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "pair_cursor.hpp"
#include "request/memory_stream.hpp"
#include "request/request.hpp"

namespace forebay::hdf5 {

/// A part of a call: one run, or a pair of selections.
struct Segment {
  Extent hull;
  std::int64_t bytes = 0;
  bool one_run = false;
  Pair pair;  ///< one_run: only `stream` counts
};

/// Segments one after the other, each opened when it is reached and let go when it is through: a dataset of
/// 10^5 chunks costs a few words a chunk. Their hulls ascend without overlap, or there is only one.
class ChainCursor final : public Cursor {
 public:
  ChainCursor(std::vector<Segment> segments, Order order, WalkFailure& failure);

  Extent hull() const override { return hull_; }
  std::int64_t bytes() const override { return bytes_; }
  std::int64_t alignment() const override { return alignment_; }
  void start(std::int64_t round_bytes) override;
  std::int64_t peek() override;
  std::size_t take(std::int64_t limit, std::span<Run> out) override;

 private:
  bool open_segment();

  std::vector<Segment> segments_;
  Order order_;
  WalkFailure& failure_;
  Extent hull_;
  std::int64_t bytes_ = 0;
  std::int64_t alignment_ = 1;
  std::int64_t round_ = 1;
  std::size_t at_ = 0;
  std::int64_t done_bytes_ = 0;      ///< of the current segment, where it is one run
  std::unique_ptr<Cursor> current_;  ///< where it is a pair
};

/// One run, which is what most small calls are: nothing is allocated for it.
class RunCursor final : public Cursor {
 public:
  explicit RunCursor(const Segment& segment) : hull_(segment.hull), stream_(segment.pair.stream) {}

  Extent hull() const override { return hull_; }
  std::int64_t bytes() const override { return hull_.size(); }
  std::int64_t alignment() const override;
  void start(std::int64_t /*round_bytes*/) override { done_ = 0; }
  std::int64_t peek() override { return done_ < hull_.size() ? hull_.begin + done_ : kNoOffset; }
  std::size_t take(std::int64_t limit, std::span<Run> out) override;

 private:
  Extent hull_;
  std::int64_t stream_;
  std::int64_t done_ = 0;
};

/// Collects a call and cuts it into puts. Buffers and dataspaces must live and stay as they are until it is
/// gone.
class Request {
 public:
  explicit Request(Order order) : order_(order) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// HDF5's lists, in which a size of 0 or a buffer of NULL means "as the one before, from here on".
  Status add_selections(std::size_t count, const hid_t memory_spaces[], const hid_t file_spaces[],
                        const haddr_t offsets[], const std::size_t element_sizes[],
                        const void* const buffers[]);
  Status add_vector(std::size_t count, const haddr_t addrs[], const std::size_t sizes[],
                    const void* const buffers[]);
  Status add_bytes(haddr_t addr, std::size_t size, const void* buffer);

  /// The puts of all that was added; later ones win where they overlap.
  std::span<const Put> puts();

  /// The same for reading, of a request whose buffers HDF5 gave as writable.
  std::span<const Get> gets();

  /// Where the stream begins.
  const std::byte* memory() const { return base_; }

  /// What went wrong while cursors walked.
  const Status& failure() const { return failure_.status; }

 private:
  /// A long segment has a put of its own: whether a put passes by the windows is decided for the whole of it.
  static constexpr std::int64_t kOwnPut = 256 << 10;

  void add(Segment segment, const void* buffer);
  void make_puts(std::vector<Segment> segments);
  void make_put(std::vector<Segment> segments);

  Order order_;
  WalkFailure failure_;
  std::vector<Segment> segments_;  ///< streams as addresses, until puts() finds the lowest
  const std::byte* base_ = nullptr;
  std::optional<RunCursor> run_;  ///< where it is all
  Put put_;                       ///< of it
  std::list<ChainCursor> cursors_;
  std::optional<MemorySource> source_;
  std::optional<MemorySink> sink_;
  std::vector<Put> puts_;
  std::vector<Get> gets_;
};

}  // namespace forebay::hdf5
