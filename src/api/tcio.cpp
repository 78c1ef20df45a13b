// The C functions: what a program may get wrong, and the file pointer.
#include "forebay/tcio.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/errors.hpp"
#include "api/open.hpp"
#include "api/tcio_file.hpp"
#include "mpi/handles.hpp"

using forebay::Code;
using forebay::Status;
using forebay::tcio::fail;
using forebay::tcio::File;
using forebay::tcio::guarded;
using forebay::tcio::kMostOffset;

/// What a program holds. It outlives its file, so that a call with one that was closed can say so.
struct tcio_file_s {
  std::unique_ptr<File> file;
};

namespace {

tcio_file new_handle() {
  static std::mutex mutex;
  static auto& handles = *new std::vector<std::unique_ptr<tcio_file_s>>;
  const std::lock_guard<std::mutex> lock(mutex);
  handles.push_back(std::make_unique<tcio_file_s>());
  return handles.back().get();
}

int not_open(tcio_file file, const char* function) {
  return fail(TCIO_ERR_FILE,
              std::string(function) + (file == nullptr ? ": no file" : ": the file has been closed"));
}

bool is_open(tcio_file file) {
  return file != nullptr && file->file != nullptr;
}

int bad(const File& file, const char* function, const std::string& what) {
  return fail(TCIO_ERR_ARGUMENT, std::string(function) + " of " + file.path() + ": " + what);
}

int wrong_mode(const File& file, const char* function, const char* opened) {
  return fail(TCIO_ERR_MODE, std::string(function) + " of " + file.path() + ": it was opened " + opened);
}

bool good_range(std::int64_t offset, const void* data, std::int64_t bytes) {
  return offset >= 0 && bytes >= 0 && (data != nullptr || bytes == 0) && offset <= kMostOffset &&
         bytes <= kMostOffset - offset;
}

int bad_range(const File& file, const char* function, std::int64_t offset, std::int64_t bytes) {
  if (bytes < 0) return bad(file, function, std::to_string(bytes) + " bytes");
  if (offset < 0) return bad(file, function, "offset " + std::to_string(offset));
  if (offset > kMostOffset || bytes > kMostOffset - offset)
    return bad(file, function,
               std::to_string(bytes) + " bytes at " + std::to_string(offset) + " end past 2^62");
  return bad(file, function,
             "no memory was given for " + std::to_string(bytes) +
                 " bytes (in Fortran: a section of an array cannot be read into)");
}

int write_at(tcio_file handle, const char* function, std::int64_t offset, const void* data,
             std::int64_t bytes) {
  File& file = *handle->file;
  if (!file.access().writes) return wrong_mode(file, function, "only to be read");
  if (!good_range(offset, data, bytes)) return bad_range(file, function, offset, bytes);
  if (file.write_piece(offset, data, bytes)) return TCIO_SUCCESS;
  return guarded([&] { return file.write_at(offset, data, bytes); });
}

int read_at(tcio_file handle, const char* function, std::int64_t offset, void* data, std::int64_t bytes) {
  File& file = *handle->file;
  if (!file.access().reads) return wrong_mode(file, function, "only to be written");
  if (!good_range(offset, data, bytes)) return bad_range(file, function, offset, bytes);
  if (file.read_piece(offset, data, bytes)) return TCIO_SUCCESS;
  return guarded([&] { return file.read_at(offset, data, bytes); });
}

/// MPI has ended: nothing collective can be done any more.
int no_mpi(const char* function) {
  return fail(TCIO_ERR_MPI, std::string(function) + ": MPI is not running");
}

template <class Body>
int together(tcio_file file, const char* function, Body&& body) {
  if (!is_open(file)) return not_open(file, function);
  if (!forebay::mpi::alive()) return no_mpi(function);
  return guarded([&] { return body(*file->file); });
}

}  // namespace

extern "C" {

int tcio_open(MPI_Comm comm, const char* path, int flags, MPI_Info info, tcio_file* file) {
  if (file != nullptr) *file = TCIO_FILE_NULL;
  if (!forebay::mpi::works_with(comm)) return no_mpi("tcio_open");
  int between = 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_test_inter(comm, &between);
  if (comm == MPI_COMM_NULL || between != 0)
    return fail(TCIO_ERR_ARGUMENT, "tcio_open: not an intracommunicator");
  return guarded([&]() -> Status {
    tcio_file made = new_handle();
    // A rank that has no place for the handle opens none, and neither do the others.
    if (Status status =
            forebay::tcio::open_file(comm, file != nullptr ? path : nullptr, flags, info, made->file);
        !status.ok())
      return file != nullptr ? status : Status{Code::bad_argument, "tcio_open: no place for the file"};
    *file = made;
    return {};
  });
}

int tcio_close(tcio_file* file) {
  if (file == nullptr) return not_open(nullptr, "tcio_close");
  if (!is_open(*file)) return not_open(*file, "tcio_close");
  if (!forebay::mpi::alive()) return no_mpi("tcio_close");
  const std::unique_ptr<File> closing = std::move((*file)->file);
  *file = TCIO_FILE_NULL;
  return guarded([&] { return closing->close(); });
}

int tcio_write_at(tcio_file file, int64_t offset, const void* data, int64_t bytes) {
  if (!is_open(file)) return not_open(file, "tcio_write_at");
  return write_at(file, "tcio_write_at", offset, data, bytes);
}

int tcio_write(tcio_file file, const void* data, int64_t bytes) {
  if (!is_open(file)) return not_open(file, "tcio_write");
  const int64_t position = file->file->position();
  const int result = write_at(file, "tcio_write", position, data, bytes);
  if (result == TCIO_SUCCESS) file->file->move_to(position + bytes);
  return result;
}

int tcio_read_at(tcio_file file, int64_t offset, void* data, int64_t bytes) {
  if (!is_open(file)) return not_open(file, "tcio_read_at");
  return read_at(file, "tcio_read_at", offset, data, bytes);
}

int tcio_read(tcio_file file, void* data, int64_t bytes) {
  if (!is_open(file)) return not_open(file, "tcio_read");
  const int64_t position = file->file->position();
  const int result = read_at(file, "tcio_read", position, data, bytes);
  if (result == TCIO_SUCCESS) file->file->move_to(position + bytes);
  return result;
}

int tcio_fetch(tcio_file file) {
  if (!is_open(file)) return not_open(file, "tcio_fetch");
  return guarded([&] { return file->file->fetch(); });
}

int tcio_fetch_all(tcio_file file) {
  return together(file, "tcio_fetch_all", [](File& f) { return f.fetch_all(); });
}

int tcio_flush(tcio_file file) {
  return together(file, "tcio_flush", [](File& f) { return f.flush(); });
}

int tcio_sync(tcio_file file) {
  return together(file, "tcio_sync", [](File& f) { return f.sync(); });
}

int tcio_set_size(tcio_file file, int64_t bytes) {
  if (is_open(file) && !file->file->access().writes)
    return wrong_mode(*file->file, "tcio_set_size", "only to be read");
  return together(file, "tcio_set_size", [&](File& f) {
    Status mine;
    if (bytes < 0 || bytes > kMostOffset)
      mine = {Code::bad_argument, "tcio_set_size of " + f.path() + ": " + std::to_string(bytes) + " bytes"};
    return f.set_size(bytes, mine);
  });
}

int tcio_seek(tcio_file file, int64_t offset, int whence) {
  if (!is_open(file)) return not_open(file, "tcio_seek");
  File& f = *file->file;
  return guarded([&]() -> Status {
    int64_t base = 0;
    if (whence == SEEK_CUR) {
      base = f.position();
    } else if (whence == SEEK_END) {
      if (Status status = f.size(base); !status.ok()) return status;
    } else if (whence != SEEK_SET) {
      return {Code::bad_argument,
              "tcio_seek of " + f.path() + ": whence is " + std::to_string(whence) + ", none of the three"};
    }
    int64_t position = 0;
    if (__builtin_add_overflow(base, offset, &position) || position < 0 || position > kMostOffset) {
      return {Code::bad_argument, "tcio_seek of " + f.path() + ": " + std::to_string(base) + " and " +
                                      std::to_string(offset) + " is no offset of a file"};
    }
    f.move_to(position);
    return {};
  });
}

int tcio_tell(tcio_file file, int64_t* offset) {
  if (!is_open(file)) return not_open(file, "tcio_tell");
  if (offset == nullptr) return bad(*file->file, "tcio_tell", "no place for the offset");
  *offset = file->file->position();
  return TCIO_SUCCESS;
}

int tcio_size(tcio_file file, int64_t* bytes) {
  if (!is_open(file)) return not_open(file, "tcio_size");
  if (bytes == nullptr) return bad(*file->file, "tcio_size", "no place for the size");
  return guarded([&] { return file->file->size(*bytes); });
}

}  // extern "C"
