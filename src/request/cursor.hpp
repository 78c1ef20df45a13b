// A cursor yields the file runs of one request, round by round, in ascending rounds; what is to move, without
// lists.
#pragma once

#include <cstddef>
#include <span>

#include "request/run.hpp"

namespace forebay {

class Cursor {
 public:
  virtual ~Cursor() = default;

  /// A range that holds every run; exact at both ends where that is cheap. Empty when there is nothing.
  virtual Extent hull() const = 0;

  /// Largest power of two (at most 4096) that divides the begin and the length of every run; 1 if unknown.
  virtual std::int64_t alignment() const = 0;

  /// Begins (again) at the first run. Every later `limit` but kNoOffset is a multiple of round_bytes: an
  /// unsorted cursor needs the grid to bucket its pieces.
  virtual void start(std::int64_t round_bytes) = 0;

  /// A lower bound of the file offsets not yet taken, exact when no round was skipped; kNoOffset when all are
  /// taken. Calling take(limit) with limit > peek() makes progress.
  virtual std::int64_t peek() = 0;

  /// Writes up to out.size() runs that lie below `limit` and returns how many; 0 means none is left below
  /// `limit`. A run that crosses `limit` is cut there. Within one round runs come in the order in which they
  /// must be applied: ascending, or list order for a request whose own runs overlap or are unsorted.
  /// Neighbours in file and stream are merged where cheap.
  virtual std::size_t take(std::int64_t limit, std::span<Run> out) = 0;
};

}  // namespace forebay
