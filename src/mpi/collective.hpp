// Collective operations that lose patience: whoever waits long in one says, once, for which ranks. They
// complete as the blocking operations do, with the same messages and no more; only after
// forebay_patience_seconds the ranks that wait are asked who they are.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace forebay::mpi {

class RollCall;
class FirstContact;

/// The collective call that this thread is in, for what a long wait in it has to say. Lives on the stack of
/// the call; one within another is part of that.
class CollectiveCall {
 public:
  struct About {
    const char* call;       ///< what the user would call it: "collective write"
    std::string_view file;  ///< has to stay
    MPI_Comm comm;          ///< whose ranks take part
    MPI_Comm roll;  ///< with the same ranks, on which nobody else sends messages; MPI_COMM_NULL: none yet
    int patience_seconds;     ///< the same on all ranks; 0: never says anything
    const char* remedy = "";  ///< what to do where ranks are missing: a sentence
  };
  explicit CollectiveCall(const About& about);
  ~CollectiveCall();
  CollectiveCall(const CollectiveCall&) = delete;
  CollectiveCall& operator=(const CollectiveCall&) = delete;

  /// All ranks have entered the call. Whoever does not wait from now on is at work on it.
  static void all_have_come();

 private:
  friend void waited(double seconds) noexcept;
  void look_around(double seconds);

  About about_;
  bool outermost_;
  bool all_here_ = false;
  std::unique_ptr<RollCall> roll_call_;
  std::unique_ptr<FirstContact> first_contact_;
};

/// To be called now and then by a thread that waits for other ranks, with the seconds it has waited so far.
/// Does nothing before a tenth of a second.
void waited(double seconds) noexcept;

/// Completes a request. MPI's code, as of all below.
int wait(MPI_Request& request);
int start_allreduce(std::span<std::int64_t> in_place, MPI_Op op, MPI_Comm comm, MPI_Request& request);
int allreduce(void* in_place, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int barrier(MPI_Comm comm);
int duplicate(MPI_Comm comm, MPI_Comm* made);

}  // namespace forebay::mpi
