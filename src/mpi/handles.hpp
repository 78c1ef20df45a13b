// Move-only owners of MPI handles; every one is freed before MPI_Finalize or left alone after it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <string>
#include <utility>

namespace forebay::mpi {

/// Whether the program is between MPI_Init and MPI_Finalize: only there MPI_COMM_WORLD and MPI_COMM_SELF
/// exist.
inline bool world_works() noexcept {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

/// Counts what is open on communicators of MPI sessions, in programs that never called MPI_Init: MPI does not
/// tell whether there is a session.
inline std::atomic<int>& open_in_sessions() {
  static std::atomic<int> count{0};
  return count;
}

/// Whether MPI calls are possible now, for what is open.
inline bool alive() {
  return world_works() || open_in_sessions().load(std::memory_order_relaxed) > 0;
}

/// Whether MPI calls are possible with that communicator: a handle other than the predefined ones, from an
/// MPI session, is enough.
inline bool works_with(MPI_Comm comm) {
  if (world_works()) return true;
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized == 0 && comm != MPI_COMM_NULL && comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF;
}

/// Owns one handle; `null` makes an empty one, `free` frees one.
template <class T, T (*null)(), int (*free)(T*)>
class Handle {
 public:
  Handle() : handle_(null()) {}
  explicit Handle(T handle) : handle_(handle) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, null())) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  T get() const { return handle_; }
  explicit operator bool() const { return handle_ != null(); }
  T* address() { return &handle_; }  ///< for calls that make a handle into an empty owner
  T release() { return std::exchange(handle_, null()); }

  /// Frees now; the code of the freeing call.
  int reset() {
    if (handle_ == null()) return MPI_SUCCESS;
    // Whoever has a handle had MPI, if only a session of it.
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) {
      handle_ = null();
      return MPI_SUCCESS;
    }
    return free(&handle_);
  }

 private:
  T handle_;
};

inline MPI_Comm no_comm() {
  return MPI_COMM_NULL;
}
inline MPI_File no_file() {
  return MPI_FILE_NULL;
}
inline MPI_Win no_win() {
  return MPI_WIN_NULL;
}
inline MPI_Info no_info() {
  return MPI_INFO_NULL;
}
inline MPI_Datatype no_datatype() {
  return MPI_DATATYPE_NULL;
}

using Comm = Handle<MPI_Comm, no_comm, MPI_Comm_free>;
using File = Handle<MPI_File, no_file, MPI_File_close>;
using Win = Handle<MPI_Win, no_win, MPI_Win_free>;
using Info = Handle<MPI_Info, no_info, MPI_Info_free>;
using Datatype = Handle<MPI_Datatype, no_datatype, MPI_Type_free>;

inline int rank(MPI_Comm comm) {
  int value = 0;
  MPI_Comm_rank(comm, &value);
  return value;
}

inline int size(MPI_Comm comm) {
  int value = 1;
  MPI_Comm_size(comm, &value);
  return value;
}

/// MPI's own words.
inline std::string error_text(int error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  return text;
}

}  // namespace forebay::mpi
