// A cursor yields the file runs of one request, round by round, in ascending rounds; what is to move, without
// lists.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "request/run.hpp"

namespace forebay {

/// Memory that several cursors refer to, for whoever counts what keeping them costs.
struct SharedPart {
  const void* what = nullptr;
  std::size_t bytes = 0;
};

class Cursor {
 public:
  using RunFunction = void (*)(void* context, const Run& run);

  virtual ~Cursor() = default;

  /// A range that holds every run; exact at both ends where that is cheap. Empty when there is nothing.
  virtual Extent hull() const = 0;

  /// Largest power of two (at most 4096) that divides the begin and the length of every run; 1 if unknown.
  virtual std::int64_t alignment() const = 0;

  /// The sum of all runs' lengths; -1 where it is not known without a walk.
  virtual std::int64_t bytes() const { return stream_bytes(); }

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

  // For requests that are kept beyond the call that made them:

  /// The stream is [0, stream_bytes()), each byte once; -1 where that is not so or not known.
  virtual std::int64_t stream_bytes() const { return -1; }
  /// A cursor of its own over the same runs, referring to nothing of the caller's; null where there is none.
  virtual std::unique_ptr<Cursor> copy() const { return nullptr; }
  /// What such copies share.
  virtual SharedPart shared() const { return {}; }
  /// Calls f(run) for every run, in an order in which they may be applied one by one. Takes no memory: a
  /// program that is told to end does this in its signal handler. The cursor has to be started again
  /// afterwards.
  template <class F>
  void for_each_run(F&& f) {
    walk([](void* of, const Run& run) { (*static_cast<std::remove_reference_t<F>*>(of))(run); }, &f);
  }
  virtual void walk(RunFunction f, void* context) {
    std::array<Run, 64> batch;
    start(4096);
    while (const std::size_t n = take(kNoOffset, batch)) {
      for (std::size_t i = 0; i < n; ++i) f(context, batch[i]);
    }
  }
};

}  // namespace forebay
