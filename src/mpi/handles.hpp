// Move-only owners of MPI handles; every one is freed before MPI_Finalize or left alone after it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <utility>

namespace forebay::mpi {

/// Whether the program is between MPI_Init and MPI_Finalize: only there MPI_COMM_WORLD and MPI_COMM_SELF
/// exist.
inline bool world_works() {
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

/// Owns one handle; `Traits` says what empty is and how to free.
template <class Traits>
class Handle {
 public:
  using Type = typename Traits::Type;

  Handle() : handle_(Traits::null()) {}
  explicit Handle(Type handle) : handle_(handle) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, Traits::null())) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Type get() const { return handle_; }
  explicit operator bool() const { return handle_ != Traits::null(); }
  Type* address() { return &handle_; }  ///< for calls that make a handle into an empty owner
  Type release() { return std::exchange(handle_, Traits::null()); }

  /// Frees now; the code of the freeing call.
  int reset() {
    if (handle_ == Traits::null()) return MPI_SUCCESS;
    // Whoever has a handle had MPI, if only a session of it.
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) {
      handle_ = Traits::null();
      return MPI_SUCCESS;
    }
    return Traits::free(&handle_);
  }

 private:
  Type handle_;
};

struct CommTraits {
  using Type = MPI_Comm;
  static Type null() { return MPI_COMM_NULL; }
  static int free(Type* handle) { return MPI_Comm_free(handle); }
};
struct FileTraits {
  using Type = MPI_File;
  static Type null() { return MPI_FILE_NULL; }
  static int free(Type* handle) { return MPI_File_close(handle); }
};
struct WinTraits {
  using Type = MPI_Win;
  static Type null() { return MPI_WIN_NULL; }
  static int free(Type* handle) { return MPI_Win_free(handle); }
};
struct InfoTraits {
  using Type = MPI_Info;
  static Type null() { return MPI_INFO_NULL; }
  static int free(Type* handle) { return MPI_Info_free(handle); }
};
struct DatatypeTraits {
  using Type = MPI_Datatype;
  static Type null() { return MPI_DATATYPE_NULL; }
  static int free(Type* handle) { return MPI_Type_free(handle); }
};

using Comm = Handle<CommTraits>;
using File = Handle<FileTraits>;
using Win = Handle<WinTraits>;
using Info = Handle<InfoTraits>;
using Datatype = Handle<DatatypeTraits>;

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

}  // namespace forebay::mpi
