// The C functions of forebay/core.h.
#include "forebay/core.h"

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "api/box_file.hpp"
#include "api/errors.hpp"
#include "api/handle.hpp"
#include "api/open.hpp"
#include "forebay/tcio.h"
#include "mpi/handles.hpp"

namespace tcio = forebay::tcio;
using forebay::Code;
using forebay::Status;
using forebay::api::BoxFile;
using forebay::api::Requests;
using forebay::tcio::guarded;
using forebay::tcio::together;

static_assert(int{FOREBAY_RDONLY} == int{TCIO_RDONLY} && int{FOREBAY_WRONLY} == int{TCIO_WRONLY} &&
              int{FOREBAY_RDWR} == int{TCIO_RDWR} && int{FOREBAY_CREATE} == int{TCIO_CREATE} &&
              int{FOREBAY_EXCL} == int{TCIO_EXCL} && int{FOREBAY_TRUNC} == int{TCIO_TRUNC});

struct forebay_file_s : tcio::HandleOf<BoxFile> {};

namespace {

constexpr tcio::Opener kForebay{"forebay_open", "FOREBAY_", "forebay", "Forebay's own file", false};

// What stands before every call with a list. Files are opened one way on all ranks, so all leave here or
// none.
int refused(forebay_file handle, const char* function, Requests::Kind kind) {
  if (!is_open(handle)) return not_open(handle, function);
  const BoxFile& file = *handle->file;
  const bool may = kind == Requests::Kind::put ? file.access().writes : file.access().reads;
  if (may) return FOREBAY_SUCCESS;
  return tcio::wrong_mode(file, function, kind == Requests::Kind::put ? "read" : "written");
}

// What a rank cannot make of its arguments; memory that lacks, too, since the others wait.
Status add(Requests& list, const forebay_request* requests, int64_t count, const std::string& what) {
  try {
    return list.add(requests, count, what);
  } catch (const std::bad_alloc&) {
    return {Code::no_memory, what + ": no memory for the list"};
  }
}

int alone(forebay_file handle, const char* function, Requests::Kind kind, const forebay_request* requests,
          int64_t count, Status (BoxFile::*body)(Requests&, bool&)) {
  if (const int code = refused(handle, function, kind); code != FOREBAY_SUCCESS) return code;
  bool callbacks = false;
  const int code = guarded([&]() -> Status {
    Requests list(kind);
    Status status = add(list, requests, count, tcio::naming(*handle->file, function));
    return status.ok() ? ((*handle->file).*body)(list, callbacks) : status;
  });
  return callbacks ? FOREBAY_ERR_CALLBACK : code;
}

int with_all(forebay_file handle, const char* function, Requests::Kind kind, const forebay_request* requests,
             int64_t count, Status (BoxFile::*body)(Requests&, Status, bool&)) {
  if (const int code = refused(handle, function, kind); code != FOREBAY_SUCCESS) return code;
  if (!forebay::mpi::alive()) return tcio::no_mpi(function);
  bool callbacks = false;
  const int code = guarded([&]() -> Status {
    Requests list(kind);
    Status mine = add(list, requests, count, tcio::naming(*handle->file, function));
    if (mine.code() == Code::no_memory) list = Requests(kind);
    return ((*handle->file).*body)(list, std::move(mine), callbacks);
  });
  return callbacks ? FOREBAY_ERR_CALLBACK : code;
}

}  // namespace

extern "C" {

int forebay_open(MPI_Comm comm, const char* path, int flags, MPI_Info info, forebay_file* file) {
  return tcio::open(comm, file, "forebay_open", [&](std::unique_ptr<BoxFile>& out) {
    tcio::Opened opened;
    Status status = tcio::open_core(comm, file != nullptr ? path : nullptr, flags, info, kForebay, opened);
    if (status.ok()) out = std::make_unique<BoxFile>(std::move(opened));
    return status;
  });
}

int forebay_close(forebay_file* file) {
  return tcio::close(file, "forebay_close");
}

int forebay_put_all(forebay_file file, const forebay_request* requests, int64_t count) {
  return with_all(file, "forebay_put_all", Requests::Kind::put, requests, count, &BoxFile::put_all);
}

int forebay_put(forebay_file file, const forebay_request* requests, int64_t count) {
  return alone(file, "forebay_put", Requests::Kind::put, requests, count, &BoxFile::put);
}

int forebay_get_all(forebay_file file, const forebay_request* requests, int64_t count) {
  return with_all(file, "forebay_get_all", Requests::Kind::get, requests, count, &BoxFile::get_all);
}

int forebay_get(forebay_file file, const forebay_request* requests, int64_t count) {
  return alone(file, "forebay_get", Requests::Kind::get, requests, count, &BoxFile::get);
}

int forebay_flush(forebay_file file) {
  return together(file, "forebay_flush", [](BoxFile& f) { return f.flush(); });
}

int forebay_sync(forebay_file file) {
  return together(file, "forebay_sync", [](BoxFile& f) { return f.sync(); });
}

int forebay_size(forebay_file file, int64_t* bytes) {
  return tcio::size(file, "forebay_size", bytes);
}

int forebay_set_size(forebay_file file, int64_t bytes) {
  return tcio::set_size(file, "forebay_set_size", bytes);
}

}  // extern "C"
