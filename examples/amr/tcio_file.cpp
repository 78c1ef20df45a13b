// The pieces by TCIO: each array with its own call, and Forebay gathers them.
#include <fmt/format.h>
#include <forebay/tcio.h>

#include "agree.hpp"
#include "binary_file.hpp"

namespace amr {
namespace {

class TcioFile final : public PieceFile {
 public:
  TcioFile(MPI_Comm comm, const std::string& path, Access access) : comm_(comm), path_(path) {
    const int flags =
        access == Access::read ? FOREBAY_RDONLY : FOREBAY_WRONLY | FOREBAY_CREATE | FOREBAY_TRUNC;
    together(comm_, [&] { check(tcio_open(comm, path.c_str(), flags, MPI_INFO_NULL, &file_)); });
  }
  ~TcioFile() override {
    if (file_ != TCIO_FILE_NULL) tcio_close(&file_);
  }

  void write_at(std::int64_t offset, const void* data, std::int64_t bytes) override {
    check(tcio_write_at(file_, offset, data, bytes));
  }
  void read_at(std::int64_t offset, void* data, std::int64_t bytes) override {
    check(tcio_read_at(file_, offset, data, bytes));
  }
  void fetch() override {
    together(comm_, [&] { check(tcio_fetch_all(file_)); });
  }
  std::int64_t size() override {
    std::int64_t bytes = 0;
    together(comm_, [&] { check(tcio_size(file_, &bytes)); });
    return bytes;
  }
  void close() override {
    together(comm_, [&] { check(tcio_close(&file_)); });
  }

 private:
  void check(int code) const {
    if (code != FOREBAY_SUCCESS)
      throw Failure(fmt::format("{}: {} ({})", path_, forebay_strerror(code), forebay_last_error()));
  }

  MPI_Comm comm_;
  std::string path_;
  tcio_file file_ = TCIO_FILE_NULL;
};

}  // namespace

std::unique_ptr<PieceFile> open_tcio(MPI_Comm comm, const std::string& path, Access access) {
  return std::make_unique<TcioFile>(comm, path, access);
}

}  // namespace amr
