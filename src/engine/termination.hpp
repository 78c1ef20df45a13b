// What is done with bytes that are held back when the process ends before their file was closed.
#pragma once

namespace forebay {

/// Whoever holds such bytes. One thread watches and unwatches; it is the one on which signals are handled.
class Holder {
 public:
  /// Writes what is held, by itself: the process is about to end, and no other rank may be waited for.
  /// `in_signal`: only what a signal handler may do. Called at any moment, and perhaps more than once.
  virtual void write_out(bool in_signal) noexcept = 0;

  virtual ~Holder() = default;

 private:
  friend void watch(Holder& holder);
  friend void unwatch(Holder& holder);
  friend void write_out_all(bool in_signal) noexcept;
  Holder* next_ = nullptr;
  bool watched_ = false;
};

/// From now on `holder` is called at exit, in MPI_Finalize, and at a signal that would end the process and
/// for which the program has no handler of its own.
void watch(Holder& holder);
void unwatch(Holder& holder);

/// Calls all of them, now; for MPI_Abort.
void write_out_all(bool in_signal) noexcept;

}  // namespace forebay
