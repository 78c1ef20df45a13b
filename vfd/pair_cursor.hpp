// Cursors over a pair of HDF5 selections: streamed where the file's order ascends, indexed by round where it
// does not.
#pragma once

#include <memory>
#include <vector>

#include "request/cursor.hpp"
#include "request/round_index.hpp"
#include "selection.hpp"

namespace forebay::hdf5 {

/// Whether runs come round by round, within one in the order in which they must be applied; or, where
/// everything is taken at once, as is best for a reader.
enum class Order { by_round, free };

/// What the cursors of one call share: failures while walking, which end the walk and are reported by the
/// call.
struct WalkFailure {
  Status status;
};

/// The cursor for a pair that selects something. Where both selections are boxes or regular, it is arithmetic
/// alone.
std::unique_ptr<Cursor> make_cursor(const Pair& pair, const Shape& file, const Shape& memory, Order order,
                                    WalkFailure& failure);

/// Selections whose file order ascends: hyperslabs of any form. Holds two iterators and their batches between
/// start and end.
class PairStream final : public Cursor {
 public:
  PairStream(const Pair& pair, const Shape& file, const Shape& memory, WalkFailure& failure);

  Extent hull() const override { return hull_; }
  std::int64_t alignment() const override { return alignment_; }
  void start(std::int64_t round_bytes) override;
  std::int64_t peek() override;
  std::size_t take(std::int64_t limit, std::span<Run> out) override;

 private:
  Pair pair_;
  Shape file_;
  Shape memory_;
  WalkFailure& failure_;
  Extent hull_;
  std::int64_t alignment_;
  PairWalk walk_;
  bool done_ = true;
};

class PointPieces;

/// Point selections. Points that ascend, or that all lie in one round, are streamed; others are indexed by
/// round. A caller that takes everything at once gets list order.
class PointCursor final : public Cursor {
 public:
  PointCursor(const Pair& pair, const Shape& file, const Shape& memory, Order order, WalkFailure& failure);
  ~PointCursor() override;

  Extent hull() const override { return hull_; }
  std::int64_t alignment() const override { return alignment_; }
  void start(std::int64_t round_bytes) override;
  std::int64_t peek() override;
  std::size_t take(std::int64_t limit, std::span<Run> out) override;

 private:
  enum class Mode {
    fresh,    ///< nothing was asked yet
    stream,   ///< in list order, which ascends or is all of one round
    index,    ///< by round
    batches,  ///< for reading everything at once, or what is all of one round: sorted, part by part
    done
  };

  bool walk_again();
  void prepare(std::int64_t limit);
  bool ascends();
  std::size_t take_sorted(std::span<Run> out);
  void finish();

  Pair pair_;
  Shape file_;
  Shape memory_;
  Order order_;
  WalkFailure& failure_;
  Extent hull_;
  std::int64_t alignment_;
  std::int64_t round_ = 1;
  Mode mode_ = Mode::done;
  bool ascending_ = false;
  PairWalk walk_;
  std::unique_ptr<RoundIndex<PointPieces>> index_;
  std::vector<Run> batch_;  ///< the first count_; its memory is used again by the next cursor
  std::size_t count_ = 0;
  std::size_t at_ = 0;
};

}  // namespace forebay::hdf5
