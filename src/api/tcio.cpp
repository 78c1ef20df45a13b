// The C functions: what a program may get wrong, and the file pointer.
#include "forebay/tcio.h"

#include <memory>
#include <string>
#include <utility>

#include "api/errors.hpp"
#include "api/handle.hpp"
#include "api/open.hpp"
#include "api/tcio_file.hpp"

namespace tcio = forebay::tcio;
using forebay::Code;
using forebay::Status;
using forebay::tcio::fail;
using forebay::tcio::File;
using forebay::tcio::guarded;
using forebay::tcio::kMostOffset;
using forebay::tcio::together;

struct tcio_file_s : tcio::HandleOf<File> {};

namespace {

int bad(const File& file, const char* function, const std::string& what) {
  return fail(FOREBAY_ERR_ARGUMENT, naming(file, function) + ": " + what);
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
  if (!file.access().writes) return wrong_mode(file, function, "read");
  if (!good_range(offset, data, bytes)) return bad_range(file, function, offset, bytes);
  if (file.write_piece(offset, data, bytes)) return FOREBAY_SUCCESS;
  return guarded([&] { return file.write_at(offset, data, bytes); });
}

int read_at(tcio_file handle, const char* function, std::int64_t offset, void* data, std::int64_t bytes) {
  File& file = *handle->file;
  if (!file.access().reads) return wrong_mode(file, function, "written");
  if (!good_range(offset, data, bytes)) return bad_range(file, function, offset, bytes);
  if (file.read_piece(offset, data, bytes)) return FOREBAY_SUCCESS;
  return guarded([&] { return file.read_at(offset, data, bytes); });
}

}  // namespace

extern "C" {

int tcio_open(MPI_Comm comm, const char* path, int flags, MPI_Info info, tcio_file* file) {
  return tcio::open(comm, file, "tcio_open", [&](std::unique_ptr<File>& out) {
    return tcio::open_file(comm, file != nullptr ? path : nullptr, flags, info, out);
  });
}

int tcio_close(tcio_file* file) {
  return tcio::close(file, "tcio_close", [](File& f) { return f.close(); });
}

int tcio_write_at(tcio_file file, int64_t offset, const void* data, int64_t bytes) {
  if (!is_open(file)) return not_open(file, "tcio_write_at");
  return write_at(file, "tcio_write_at", offset, data, bytes);
}

int tcio_write(tcio_file file, const void* data, int64_t bytes) {
  if (!is_open(file)) return not_open(file, "tcio_write");
  const int64_t position = file->file->position();
  const int result = write_at(file, "tcio_write", position, data, bytes);
  if (result == FOREBAY_SUCCESS) file->file->move_to(position + bytes);
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
  if (result == FOREBAY_SUCCESS) file->file->move_to(position + bytes);
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
  return tcio::set_size(file, "tcio_set_size", bytes,
                        [bytes](File& f, Status mine) { return f.set_size(bytes, std::move(mine)); });
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
  return FOREBAY_SUCCESS;
}

int tcio_size(tcio_file file, int64_t* bytes) {
  return tcio::size(file, "tcio_size", bytes);
}

}  // extern "C"
