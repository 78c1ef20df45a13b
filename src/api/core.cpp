// The C functions of forebay/core.h.
#include "forebay/core.h"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/box_file.hpp"
#include "api/errors.hpp"
#include "api/tcio_file.hpp"
#include "engine/agreement.hpp"
#include "forebay/tcio.h"
#include "mpi/handles.hpp"

using forebay::Code;
using forebay::Status;
using forebay::api::BoxFile;
using forebay::api::Requests;
using forebay::tcio::fail;
using forebay::tcio::guarded;

static_assert(int{FOREBAY_RDONLY} == int{TCIO_RDONLY} && int{FOREBAY_WRONLY} == int{TCIO_WRONLY} &&
              int{FOREBAY_RDWR} == int{TCIO_RDWR} && int{FOREBAY_CREATE} == int{TCIO_CREATE} &&
              int{FOREBAY_EXCL} == int{TCIO_EXCL} && int{FOREBAY_TRUNC} == int{TCIO_TRUNC});

/// What a program holds. It outlives its file, so that a call with one that was closed can say so.
struct forebay_file_s {
  std::unique_ptr<BoxFile> file;
};

namespace {

constexpr forebay::tcio::Opener kForebay{"forebay_open", "FOREBAY_", "forebay", "Forebay's own file"};

forebay_file new_handle() {
  static std::mutex mutex;
  static auto& handles = *new std::vector<std::unique_ptr<forebay_file_s>>;
  const std::lock_guard<std::mutex> lock(mutex);
  handles.push_back(std::make_unique<forebay_file_s>());
  return handles.back().get();
}

int not_open(forebay_file file, const char* function) {
  return fail(FOREBAY_ERR_FILE,
              std::string(function) + (file == nullptr ? ": no file" : ": the file has been closed"));
}

bool is_open(forebay_file file) {
  return file != nullptr && file->file != nullptr;
}

int no_mpi(const char* function) {
  return fail(FOREBAY_ERR_MPI, std::string(function) + ": MPI is not running");
}

std::string naming(const BoxFile& file, const char* function) {
  return std::string(function) + " of " + file.path();
}

// What stands before every call with a list. Files are opened one way on all ranks, so all leave here or
// none.
int refused(forebay_file handle, const char* function, Requests::Kind kind) {
  if (!is_open(handle)) return not_open(handle, function);
  const BoxFile& file = *handle->file;
  const bool may = kind == Requests::Kind::put ? file.access().writes : file.access().reads;
  if (may) return FOREBAY_SUCCESS;
  return fail(FOREBAY_ERR_MODE, naming(file, function) + ": it was opened only to be " +
                                    (kind == Requests::Kind::put ? "read" : "written"));
}

// What a rank cannot make of its arguments; memory that lacks, too, since the others wait.
Status add(Requests& list, const forebay_request* requests, int64_t count, const std::string& what) {
  try {
    return list.add(requests, count, what);
  } catch (const std::bad_alloc&) {
    return {Code::no_memory, what + ": no memory for the list"};
  }
}

template <class Body>
int alone(forebay_file handle, const char* function, Requests::Kind kind, const forebay_request* requests,
          int64_t count, Body&& body) {
  if (const int code = refused(handle, function, kind); code != FOREBAY_SUCCESS) return code;
  bool callbacks = false;
  const int code = guarded([&]() -> Status {
    Requests list(kind);
    Status status = add(list, requests, count, naming(*handle->file, function));
    return status.ok() ? body(*handle->file, list, callbacks) : status;
  });
  return callbacks ? FOREBAY_ERR_CALLBACK : code;
}

template <class Body>
int with_all(forebay_file handle, const char* function, Requests::Kind kind, const forebay_request* requests,
             int64_t count, Body&& body) {
  if (const int code = refused(handle, function, kind); code != FOREBAY_SUCCESS) return code;
  if (!forebay::mpi::alive()) return no_mpi(function);
  bool callbacks = false;
  const int code = guarded([&]() -> Status {
    Requests list(kind);
    Status mine = add(list, requests, count, naming(*handle->file, function));
    if (mine.code() == Code::no_memory) list = Requests(kind);
    return body(*handle->file, list, std::move(mine), callbacks);
  });
  return callbacks ? FOREBAY_ERR_CALLBACK : code;
}

template <class Body>
int together(forebay_file file, const char* function, Body&& body) {
  if (!is_open(file)) return not_open(file, function);
  if (!forebay::mpi::alive()) return no_mpi(function);
  return guarded([&] { return body(*file->file); });
}

}  // namespace

extern "C" {

int forebay_open(MPI_Comm comm, const char* path, int flags, MPI_Info info, forebay_file* file) {
  if (file != nullptr) *file = FOREBAY_FILE_NULL;
  if (!forebay::mpi::works_with(comm)) return no_mpi("forebay_open");
  int between = 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_test_inter(comm, &between);
  if (comm == MPI_COMM_NULL || between != 0)
    return fail(FOREBAY_ERR_ARGUMENT, "forebay_open: not an intracommunicator");
  return guarded([&]() -> Status {
    forebay_file made = new_handle();
    forebay::tcio::Opened opened;
    // A rank that has no place for the handle opens none, and neither do the others.
    Status status =
        forebay::tcio::open_core(comm, file != nullptr ? path : nullptr, flags, info, kForebay, opened);
    if (!status.ok())
      return file != nullptr ? status : Status{Code::bad_argument, "forebay_open: no place for the file"};
    made->file = std::make_unique<BoxFile>(std::move(opened));
    *file = made;
    return {};
  });
}

int forebay_close(forebay_file* file) {
  if (file == nullptr) return not_open(nullptr, "forebay_close");
  if (!is_open(*file)) return not_open(*file, "forebay_close");
  if (!forebay::mpi::alive()) return no_mpi("forebay_close");
  const std::unique_ptr<BoxFile> closing = std::move((*file)->file);
  *file = FOREBAY_FILE_NULL;
  return guarded([&] { return closing->close(); });
}

int forebay_put_all(forebay_file file, const forebay_request* requests, int64_t count) {
  return with_all(file, "forebay_put_all", Requests::Kind::put, requests, count,
                  [](BoxFile& f, Requests& list, Status mine, bool& callbacks) {
                    return f.put_all(list, std::move(mine), callbacks);
                  });
}

int forebay_put(forebay_file file, const forebay_request* requests, int64_t count) {
  return alone(file, "forebay_put", Requests::Kind::put, requests, count,
               [](BoxFile& f, Requests& list, bool& callbacks) { return f.put(list, callbacks); });
}

int forebay_get_all(forebay_file file, const forebay_request* requests, int64_t count) {
  return with_all(file, "forebay_get_all", Requests::Kind::get, requests, count,
                  [](BoxFile& f, Requests& list, Status mine, bool& callbacks) {
                    return f.get_all(list, std::move(mine), callbacks);
                  });
}

int forebay_get(forebay_file file, const forebay_request* requests, int64_t count) {
  return alone(file, "forebay_get", Requests::Kind::get, requests, count,
               [](BoxFile& f, Requests& list, bool& callbacks) { return f.get(list, callbacks); });
}

int forebay_flush(forebay_file file) {
  return together(file, "forebay_flush", [](BoxFile& f) { return f.flush(); });
}

int forebay_sync(forebay_file file) {
  return together(file, "forebay_sync", [](BoxFile& f) { return f.sync(); });
}

int forebay_size(forebay_file file, int64_t* bytes) {
  if (!is_open(file)) return not_open(file, "forebay_size");
  if (bytes == nullptr)
    return fail(FOREBAY_ERR_ARGUMENT, naming(*file->file, "forebay_size") + ": no place for the size");
  return guarded([&] { return file->file->size(*bytes); });
}

int forebay_set_size(forebay_file file, int64_t bytes) {
  if (is_open(file) && !file->file->access().writes)
    return fail(FOREBAY_ERR_MODE,
                naming(*file->file, "forebay_set_size") + ": it was opened only to be read");
  return together(file, "forebay_set_size", [&](BoxFile& f) {
    Status mine;
    if (bytes < 0 || bytes > forebay::tcio::kMostOffset)
      mine = {Code::bad_argument, naming(f, "forebay_set_size") + ": " + std::to_string(bytes) + " bytes"};
    return f.set_size(bytes, std::move(mine));
  });
}

}  // extern "C"
