// The MPI_File of a file.
#pragma once

#include "base/status.hpp"
#include "driver.hpp"

namespace forebay::hdf5 {

/// Makes `f.handle` where there is none: a file that was opened by its name has one from when somebody goes
/// past Forebay. `together`: by all ranks, here; then it is one of all of them. Else this rank's alone, and
/// what is done with it is done by this rank alone, also what MPI calls collective. Once both are there, that
/// of all ranks is `f.handle`.
Status need_handle(DriverFile& f, bool together);

/// Whether changes of atomicity are announced, so that a file needs no MPI_File before somebody asks for it:
/// HDF5 takes it from the driver's struct without a word.
bool handle_can_wait();

/// Collective where need_handle was.
Status close_handles(DriverFile& f);

/// What get_handle has to do for the calls that are about to happen in this thread.
enum class HandleWanted { by_program, for_atomicity, as_it_is };

class WantingHandle {
 public:
  explicit WantingHandle(HandleWanted wanted) { current() = {wanted, false}; }
  ~WantingHandle() { current() = {}; }
  WantingHandle(const WantingHandle&) = delete;
  WantingHandle& operator=(const WantingHandle&) = delete;

  /// Whether a file of this driver was asked.
  static bool answered() { return current().answered; }
  static HandleWanted answer() {
    current().answered = true;
    return current().wanted;
  }

 private:
  struct State {
    HandleWanted wanted = HandleWanted::by_program;
    bool answered = false;
  };
  static State& current() {
    thread_local State state;
    return state;
  }
};

}  // namespace forebay::hdf5
