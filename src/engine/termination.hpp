// What is done with bytes that are held back when the process ends before their file was closed.
#pragma once

namespace forebay {

/// How a process ends.
struct Ending {
  bool in_signal = false;  ///< only what a signal handler may do
  bool orderly = false;    ///< in MPI_Finalize: all ranks come to this point
};

/// Whoever holds such bytes. What would be written out is changed in a Section only.
class Holder {
 public:
  /// Writes what is held, by itself: the process is about to end, and no other rank may be waited for. Called
  /// while no thread of the process is in a Section, where that could be had in time, and perhaps more than
  /// once.
  virtual void write_out(Ending ending) noexcept = 0;

  /// In MPI_Finalize, after all holders of this rank were written out: begins what the ranks of a file do
  /// together, and ends it.
  virtual void begin_reduction() noexcept {}
  virtual void end_reduction() noexcept {}

  virtual ~Holder() = default;

 private:
  friend void watch(Holder& holder);
  friend void unwatch(Holder& holder);
  friend struct Holders;
  Holder* next_ = nullptr;
  bool watched_ = false;
  int thread_ = 0;  // that watched last
};

/// From now on `holder` is called at exit, in MPI_Finalize, and at a signal that would end the process and
/// for which the program has no handler of its own.
void watch(Holder& holder);
void unwatch(Holder& holder);

/// Before MPI_Abort: calls all of them, and keeps the other threads from what is held while the process ends.
void write_out_for_abort() noexcept;

}  // namespace forebay
