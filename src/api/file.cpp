// The C functions of forebay/file.h.
#include "forebay/file.h"

#include <memory>
#include <string>
#include <utility>

#include "api/box_file.hpp"
#include "api/errors.hpp"
#include "api/handle.hpp"
#include "api/open.hpp"
#include "mpi/handles.hpp"

namespace tcio = forebay::tcio;
using forebay::Status;
using forebay::api::BoxFile;
using forebay::api::Requests;
using forebay::tcio::guarded;
using forebay::tcio::together;

struct forebay_file_s : tcio::HandleOf<BoxFile> {};

namespace {

constexpr tcio::Opener kForebay{"forebay_open", "forebay", "Forebay's own file", false};

// What stands before every call with a list. Files are opened one way on all ranks, so all leave here or
// none.
int refused(forebay_file handle, const char* function, Requests::Kind kind) {
  if (!is_open(handle)) return not_open(handle, function);
  const BoxFile& file = *handle->file;
  const bool may = kind == Requests::Kind::put ? file.access().writes : file.access().reads;
  if (may) return FOREBAY_SUCCESS;
  return tcio::wrong_mode(file, function, kind == Requests::Kind::put ? "read" : "written");
}

// Runs body(callbacks), which sets that where a callback of this rank's failed.
template <class Body>
int minding_callbacks(Body&& body) {
  bool callbacks = false;
  const int code = body(callbacks);
  return callbacks && code != FOREBAY_SUCCESS ? FOREBAY_ERR_CALLBACK : code;
}

int alone(forebay_file handle, const char* function, Requests::Kind kind, const forebay_request* requests,
          int64_t count, Status (BoxFile::*body)(Requests&, bool&)) {
  if (const int code = refused(handle, function, kind); code != FOREBAY_SUCCESS) return code;
  return minding_callbacks([&](bool& callbacks) {
    return guarded([&]() -> Status {
      Requests list(kind);
      Status status = list.add(requests, count, tcio::naming(*handle->file, function));
      return status.ok() ? ((*handle->file).*body)(list, callbacks) : status;
    });
  });
}

int with_all(forebay_file handle, const char* function, Requests::Kind kind, const forebay_request* requests,
             int64_t count, Status (BoxFile::*body)(Requests&, Status, bool&)) {
  if (const int code = refused(handle, function, kind); code != FOREBAY_SUCCESS) return code;
  if (!forebay::mpi::alive()) return tcio::no_mpi(function);
  return minding_callbacks([&](bool& callbacks) {
    return guarded([&]() -> Status {
      Requests list(kind);
      Status mine = list.add(requests, count, tcio::naming(*handle->file, function));
      return ((*handle->file).*body)(list, std::move(mine), callbacks);
    });
  });
}

int note(forebay_file handle, const char* function, Requests::Kind kind, const forebay_request* requests,
         int64_t count) {
  if (const int code = refused(handle, function, kind); code != FOREBAY_SUCCESS) return code;
  return guarded(
      [&] { return handle->file->note(kind, requests, count, tcio::naming(*handle->file, function)); });
}

int all_meet(forebay_file handle, const char* function, Status (BoxFile::*body)(bool&)) {
  return minding_callbacks([&](bool& callbacks) {
    return together(handle, function, [&](BoxFile& file) { return (file.*body)(callbacks); });
  });
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
  return minding_callbacks([&](bool& callbacks) {
    return tcio::close(file, "forebay_close", [&](BoxFile& f) { return f.close(callbacks); });
  });
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

int forebay_iput(forebay_file file, const forebay_request* requests, int64_t count) {
  return note(file, "forebay_iput", Requests::Kind::put, requests, count);
}

int forebay_iget(forebay_file file, const forebay_request* requests, int64_t count) {
  return note(file, "forebay_iget", Requests::Kind::get, requests, count);
}

int forebay_wait_all(forebay_file file) {
  return all_meet(file, "forebay_wait_all", &BoxFile::wait_all);
}

int forebay_wait(forebay_file file) {
  if (!is_open(file)) return not_open(file, "forebay_wait");
  return minding_callbacks(
      [&](bool& callbacks) { return guarded([&] { return file->file->wait(callbacks); }); });
}

int forebay_flush(forebay_file file) {
  return all_meet(file, "forebay_flush", &BoxFile::flush);
}

int forebay_sync(forebay_file file) {
  return all_meet(file, "forebay_sync", &BoxFile::sync);
}

int forebay_size(forebay_file file, int64_t* bytes) {
  return tcio::size(file, "forebay_size", bytes);
}

int forebay_set_size(forebay_file file, int64_t bytes) {
  return minding_callbacks([&](bool& callbacks) {
    return tcio::set_size(file, "forebay_set_size", bytes, [&](BoxFile& f, Status mine) {
      return f.set_size(bytes, std::move(mine), callbacks);
    });
  });
}

}  // extern "C"
