// The pieces by independent MPI-IO: each array goes to the file by itself, as a program does that does not
// combine.
#include <fmt/format.h>

#include <limits>

#include "agree.hpp"
#include "binary_file.hpp"

namespace amr {
namespace {

class MpiioFile final : public PieceFile {
 public:
  MpiioFile(MPI_Comm comm, const std::string& path, Access access) : comm_(comm), path_(path) {
    const int mode = access == Access::read ? MPI_MODE_RDONLY : MPI_MODE_WRONLY | MPI_MODE_CREATE;
    together(comm_, [&] { check(MPI_File_open(comm, path.c_str(), mode, MPI_INFO_NULL, &file_)); });
    if (access == Access::write) together(comm_, [&] { check(MPI_File_set_size(file_, 0)); });
  }
  ~MpiioFile() override {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  }

  void write_at(std::int64_t offset, const void* data, std::int64_t bytes) override {
    check(MPI_File_write_at(file_, offset, data, count(bytes), MPI_BYTE, MPI_STATUS_IGNORE));
  }
  void read_at(std::int64_t offset, void* data, std::int64_t bytes) override {
    check(MPI_File_read_at(file_, offset, data, count(bytes), MPI_BYTE, MPI_STATUS_IGNORE));
  }
  void fetch() override {}
  std::int64_t size() override {
    MPI_Offset bytes = 0;
    together(comm_, [&] { check(MPI_File_get_size(file_, &bytes)); });
    return bytes;
  }
  void close() override {
    together(comm_, [&] { check(MPI_File_close(&file_)); });
  }

 private:
  void check(int code) const {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw Failure(fmt::format("{}: {}", path_, text));
  }
  int count(std::int64_t bytes) const {
    if (bytes > std::numeric_limits<int>::max())
      throw Failure(
          fmt::format("{}: an array of {} bytes, more than one call of MPI-IO takes", path_, bytes));
    return static_cast<int>(bytes);
  }

  MPI_Comm comm_;
  std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace

std::unique_ptr<PieceFile> open_mpiio(MPI_Comm comm, const std::string& path, Access access) {
  return std::make_unique<MpiioFile>(comm, path, access);
}

}  // namespace amr
