// MPI-IO with a view: one collective call, with a buffer that the program combines its arrays in.
#include <mpi.h>

#include <cstring>

#include "arrays_row.hpp"

namespace forebay::bench {
namespace {

class ViewsRow final : public ArraysRow {
 public:
  using ArraysRow::ArraysRow;

  void create(const std::string& path, MPI_Info info) override {
    if (setting_.rank == 0) MPI_File_delete(path.c_str(), MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    start(path, MPI_MODE_CREATE | MPI_MODE_WRONLY, info);
  }
  void open(const std::string& path, MPI_Info info) override { start(path, MPI_MODE_RDONLY, info); }
  void write() override {
    std::vector<std::byte> buffer(static_cast<std::size_t>(bytes()));
    std::byte* at = buffer.data();
    for (std::int64_t i = 0; i < length_; i += size_) {
      std::memcpy(at, &ints_[static_cast<std::size_t>(i)], static_cast<std::size_t>(int_bytes()));
      at += int_bytes();
      std::memcpy(at, &doubles_[static_cast<std::size_t>(i)], static_cast<std::size_t>(double_bytes()));
      at += double_bytes();
    }
    check_mpi(MPI_File_write_all(file_, buffer.data(), static_cast<int>(blocks()), block_, MPI_STATUS_IGNORE),
              "MPI_File_write_all");
  }
  void read() override {
    std::vector<std::byte> buffer(static_cast<std::size_t>(bytes()));
    check_mpi(MPI_File_read_all(file_, buffer.data(), static_cast<int>(blocks()), block_, MPI_STATUS_IGNORE),
              "MPI_File_read_all");
    const std::byte* at = buffer.data();
    for (std::int64_t i = 0; i < length_; i += size_) {
      std::memcpy(&got_ints_[static_cast<std::size_t>(i)], at, static_cast<std::size_t>(int_bytes()));
      at += int_bytes();
      std::memcpy(&got_doubles_[static_cast<std::size_t>(i)], at, static_cast<std::size_t>(double_bytes()));
      at += double_bytes();
    }
  }
  void close() override {
    check_mpi(MPI_File_close(&file_), "MPI_File_close");
    MPI_Type_free(&all_);
    MPI_Type_free(&block_);
  }

 private:
  void start(const std::string& path, int mode, MPI_Info info) {
    const auto bytes_of_block = static_cast<int>(int_bytes() + double_bytes());
    MPI_Type_contiguous(bytes_of_block, MPI_BYTE, &block_);
    MPI_Type_commit(&block_);
    MPI_Type_vector(static_cast<int>(blocks()), 1, setting_.ranks, block_, &all_);
    MPI_Type_commit(&all_);
    check_mpi(MPI_File_open(MPI_COMM_WORLD, path.c_str(), mode, info, &file_), "MPI_File_open");
    check_mpi(
        MPI_File_set_view(file_, MPI_Offset{setting_.rank} * bytes_of_block, block_, all_, "native", info),
        "MPI_File_set_view");
  }

  MPI_File file_ = MPI_FILE_NULL;
  MPI_Datatype block_ = MPI_DATATYPE_NULL, all_ = MPI_DATATYPE_NULL;
};

}  // namespace

std::unique_ptr<Row> make_views_row(const Setting& setting, int size, std::int64_t length) {
  return std::make_unique<ViewsRow>(setting, size, length);
}

}  // namespace forebay::bench
