// What both C interfaces do with their handles: whether one is of an open file, whether MPI works, and the
// calls that differ in nothing else.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/errors.hpp"
#include "api/tcio_file.hpp"
#include "forebay/status.h"
#include "mpi/handles.hpp"

namespace forebay::tcio {

/// What a program holds. It outlives its file, so that a call with one that was closed can say so.
template <class F>
struct HandleOf {
  std::unique_ptr<F> file;
};

template <class H>
H* new_handle() {
  static std::mutex mutex;
  static auto& handles = *new std::vector<std::unique_ptr<H>>;
  const std::lock_guard<std::mutex> lock(mutex);
  handles.push_back(std::make_unique<H>());
  return handles.back().get();
}

template <class H>
bool is_open(const H* handle) {
  return handle != nullptr && handle->file != nullptr;
}

template <class H>
int not_open(const H* handle, const char* function) {
  return fail(FOREBAY_ERR_FILE,
              std::string(function) + (handle == nullptr ? ": no file" : ": the file has been closed"));
}

/// MPI has ended: nothing collective can be done any more.
inline int no_mpi(const char* function) {
  return fail(FOREBAY_ERR_MPI, std::string(function) + ": MPI is not running");
}

template <class F>
std::string naming(const F& file, const char* function) {
  return std::string(function) + " of " + file.path();
}

template <class F>
int wrong_mode(const F& file, const char* function, const char* opened) {
  return fail(FOREBAY_ERR_MODE, naming(file, function) + ": it was opened only to be " + opened);
}

/// A collective call.
template <class H, class Body>
int together(H* handle, const char* function, Body&& body) {
  if (!is_open(handle)) return not_open(handle, function);
  if (!mpi::alive()) return no_mpi(function);
  return guarded([&] { return body(*handle->file); });
}

/// `open` is given the place of the file.
template <class H, class Open>
int open(MPI_Comm comm, H** handle, const char* function, Open&& open) {
  if (handle != nullptr) *handle = nullptr;
  if (!mpi::works_with(comm)) return no_mpi(function);
  int between = 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_test_inter(comm, &between);
  if (comm == MPI_COMM_NULL || between != 0)
    return fail(FOREBAY_ERR_ARGUMENT, std::string(function) + ": not an intracommunicator");
  return guarded([&]() -> Status {
    H* const made = new_handle<H>();
    // A rank that has no place for the handle opens none, and neither do the others.
    Status status = open(made->file);
    if (!status.ok())
      return handle != nullptr
                 ? status
                 : Status{Code::bad_argument, std::string(function) + ": no place for the file"};
    *handle = made;
    return {};
  });
}

/// `body` closes the file.
template <class H, class Body>
int close(H** handle, const char* function, Body&& body) {
  if (handle == nullptr || !is_open(*handle))
    return not_open(handle == nullptr ? nullptr : *handle, function);
  if (!mpi::alive()) return no_mpi(function);
  const auto closing = std::move((*handle)->file);
  *handle = nullptr;
  return guarded([&] { return body(*closing); });
}

template <class H>
int size(H* handle, const char* function, std::int64_t* bytes) {
  if (!is_open(handle)) return not_open(handle, function);
  if (bytes == nullptr)
    return fail(FOREBAY_ERR_ARGUMENT, naming(*handle->file, function) + ": no place for the size");
  return guarded([&] { return handle->file->size(*bytes); });
}

/// `body` is given the file, and how this rank's arguments stand.
template <class H, class Body>
int set_size(H* handle, const char* function, std::int64_t bytes, Body&& body) {
  if (is_open(handle) && !handle->file->access().writes) return wrong_mode(*handle->file, function, "read");
  return together(handle, function, [&](auto& file) {
    Status mine;
    if (bytes < 0 || bytes > kMostOffset)
      mine = {Code::bad_argument, naming(file, function) + ": " + std::to_string(bytes) + " bytes"};
    return body(file, std::move(mine));
  });
}

}  // namespace forebay::tcio
