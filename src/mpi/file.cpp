// MPI_File_write_at and read_at, in parts that an int count can name, with every shortfall noticed; and what
// is done with a whole file.
#include "mpi/file.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "mpi/communicator.hpp"
#include "mpi/handles.hpp"

namespace forebay::mpi {
namespace {

// An int counts the bytes of one call, and Open MPI 5.0 has no large-count calls.
constexpr std::int64_t kMostPerCall = std::int64_t{1} << 30;

/// An independent call, made again where a signal has interrupted it: MPI-IO libraries take that for a
/// failure.
template <class Call>
int uninterrupted(Call&& call) {
  constexpr int most = 1000;  // in case that the number is an old one
  int error = MPI_SUCCESS;
  for (int i = 0; i < most; ++i) {
    errno = 0;
    error = call();
    if (error == MPI_SUCCESS || errno != EINTR) break;
  }
  return error;
}

/// Storage by independent MPI-IO. `file` stays its owner's, with the default view (bytes at 0). `descriptor`:
/// of that file, to ask how much room is left; -1: none.
class MpiioStorage final : public Storage {
 public:
  MpiioStorage(MPI_File file, std::string path, int descriptor)
      : file_(file), path_(std::move(path)), descriptor_(descriptor) {}

  Status write(std::span<const Piece> pieces) override {
    for (const Piece& piece : pieces) {
      for (std::int64_t done = 0; done < piece.length;) {
        const auto part = static_cast<int>(std::min(kMostPerCall, piece.length - done));
        MPI_Status status;
        const int error = uninterrupted([&] {
          return MPI_File_write_at(file_, piece.offset + done, piece.data + done, part, MPI_BYTE, &status);
        });
        if (error != MPI_SUCCESS) return failed_write(error, piece.offset + done, part);
        int written = 0;
        MPI_Get_count(&status, MPI_BYTE, &written);
        if (written == MPI_UNDEFINED || written <= 0)
          return failed_write(MPI_ERR_NO_SPACE, piece.offset + done, part);
        done += written;  // what a short write left is tried again, and then tells its reason
      }
    }
    return {};
  }

  Status read(std::int64_t offset, std::byte* data, std::int64_t length) override {
    std::int64_t done = 0;
    while (done < length) {
      const auto part = static_cast<int>(std::min(kMostPerCall, length - done));
      MPI_Status status;
      const int error = uninterrupted(
          [&] { return MPI_File_read_at(file_, offset + done, data + done, part, MPI_BYTE, &status); });
      if (error != MPI_SUCCESS) return from_mpi(error, range_message("read", path_, offset + done, part));
      int got = 0;
      MPI_Get_count(&status, MPI_BYTE, &got);
      if (got == MPI_UNDEFINED || got <= 0) break;
      done += got;
    }
    std::memset(data + done, 0, static_cast<std::size_t>(length - done));
    return {};
  }

 private:
  // MPI libraries differ in how they name a full disk (Open MPI's own I/O says "other"); the file system
  // knows.
  Status failed_write(int error, std::int64_t offset, std::int64_t length) const {
    Status status = from_mpi(error, range_message("write", path_, offset, length));
    struct statvfs info{};
    if (descriptor_ < 0 || ::fstatvfs(descriptor_, &info) != 0) return status;
    const auto left = static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
    if (left >= length && status.code() != Code::no_space) return status;
    return {Code::no_space, range_message("write", path_, offset, length) +
                                ": no space left, the file system has " + std::to_string(left >> 10) +
                                " KiB"};
  }

  MPI_File file_;
  std::string path_;
  int descriptor_;
};

class FileHandle final : public CollectiveHandle {
 public:
  FileHandle(File file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  MPI_File get() const { return file_.get(); }

  std::unique_ptr<Storage> storage(int descriptor) override {
    return std::make_unique<MpiioStorage>(file_.get(), path_, descriptor);
  }
  Status size(std::int64_t& bytes) override {
    MPI_Offset size = 0;
    const int error = MPI_File_get_size(file_.get(), &size);
    bytes = size;
    return outcome(error, "find the size of ");
  }
  Striping striping() override {
    MPI_Info info = MPI_INFO_NULL;
    if (MPI_File_get_info(file_.get(), &info) != MPI_SUCCESS || info == MPI_INFO_NULL) return {0, 0};
    const Info owner(info);
    const auto number = [&](const char* key) {
      std::array<char, MPI_MAX_INFO_VAL + 1> value{};
      int found = 0;
      MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found);
      return found != 0 ? std::max(0LL, std::atoll(value.data())) : 0;
    };
    return {number("striping_unit"), number("striping_factor")};
  }
  Status set_size(std::int64_t bytes) override {
    return outcome(MPI_File_set_size(file_.get(), bytes), "set the size of ");
  }
  Status sync() override { return outcome(MPI_File_sync(file_.get()), "sync "); }
  Status close() override { return outcome(file_.reset(), "close "); }
  void abandon() override { (void)file_.release(); }

 private:
  Status outcome(int error, const char* verb) const {
    return error == MPI_SUCCESS ? Status{} : from_mpi(error, std::string("cannot ") + verb + path_);
  }

  File file_;
  std::string path_;
};

class FileOpener final : public CollectiveOpener {
 public:
  FileOpener(MPI_Comm comm, int amode, MPI_Info info) : comm_(comm), amode_(amode), info_(info) {}

  Status open(const std::string& path, bool made, std::unique_ptr<CollectiveHandle>& out) const override {
    const int amode = made ? amode_ & ~(MPI_MODE_CREATE | MPI_MODE_EXCL) : amode_;
    File file;
    const int error = MPI_File_open(comm_, path.c_str(), amode, info_, file.address());
    if (error == MPI_SUCCESS) {
      out = std::make_unique<FileHandle>(std::move(file), path);
      return {};
    }
    (void)file.release();
    return from_mpi(error, "cannot open " + path);
  }

 private:
  MPI_Comm comm_;
  int amode_;
  MPI_Info info_;
};

// Of MPI_MODE_*.
OpenMode open_mode(int amode) {
  constexpr int more_than_open =
      MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
  return {.reads = (amode & MPI_MODE_WRONLY) == 0,
          .writes = (amode & MPI_MODE_RDONLY) == 0,
          .creates = (amode & MPI_MODE_CREATE) != 0,
          .exclusive = (amode & MPI_MODE_EXCL) != 0,
          .plain = (amode & more_than_open) == 0};
}

Code code_of(int error_class) {
  switch (error_class) {
    case MPI_ERR_NO_SPACE:
    case MPI_ERR_QUOTA:
      return Code::no_space;
    case MPI_ERR_NO_SUCH_FILE:
      return Code::no_such_file;
    case MPI_ERR_ACCESS:
    case MPI_ERR_READ_ONLY:
      return Code::access;
    case MPI_ERR_IO:
    case MPI_ERR_FILE:
    case MPI_ERR_BAD_FILE:
    case MPI_ERR_FILE_EXISTS:
    case MPI_ERR_FILE_IN_USE:
      return Code::io;
    case MPI_ERR_NO_MEM:
      return Code::no_memory;
    case MPI_ERR_UNSUPPORTED_OPERATION:
      return Code::unsupported;
    default:
      return Code::mpi;
  }
}

}  // namespace

Status open(MPI_Comm comm, int amode, MPI_Info info, FileOptions& options, std::unique_ptr<CoreFile>& out) {
  use_mpi();
  const FileOpener opener(comm, amode, info);
  options.mode = open_mode(amode);
  options.opener = &opener;
  return CoreFile::open(Communicator(comm), options, out);
}

MPI_File file_of(const CoreFile& file) {
  const CollectiveHandle* const handle = file.handle();
  return handle != nullptr ? static_cast<const FileHandle*>(handle)->get() : MPI_FILE_NULL;
}

Status from_mpi(int error, const std::string& what) {
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(error, &error_class);
  // The text of these says nothing ("known error not in list").
  const bool known = error_class != MPI_ERR_OTHER && error_class != MPI_ERR_UNKNOWN;
  return {code_of(error_class), what + ": " + (known ? error_text(error) : "MPI-IO does not say why")};
}

}  // namespace forebay::mpi
