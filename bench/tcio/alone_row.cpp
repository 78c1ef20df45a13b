// MPI-IO without a view: an independent call for each piece.
#include <mpi.h>

#include "arrays_row.hpp"

namespace forebay::bench {
namespace {

class AloneRow final : public ArraysRow {
 public:
  using ArraysRow::ArraysRow;

  void create(const std::string& path, MPI_Info info) override {
    if (setting_.rank == 0) MPI_File_delete(path.c_str(), MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    check_mpi(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file_),
              "MPI_File_open");
  }
  void open(const std::string& path, MPI_Info info) override {
    check_mpi(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDONLY, info, &file_), "MPI_File_open");
  }
  void write() override {
    each_piece([&](std::int64_t at, std::size_t i, MPI_Datatype type) {
      const void* from = type == MPI_DOUBLE ? static_cast<const void*>(&doubles_[i]) : &ints_[i];
      check_mpi(MPI_File_write_at(file_, at, from, static_cast<int>(size_), type, MPI_STATUS_IGNORE),
                "MPI_File_write_at");
    });
  }
  void read() override {
    each_piece([&](std::int64_t at, std::size_t i, MPI_Datatype type) {
      void* to = type == MPI_DOUBLE ? static_cast<void*>(&got_doubles_[i]) : &got_ints_[i];
      check_mpi(MPI_File_read_at(file_, at, to, static_cast<int>(size_), type, MPI_STATUS_IGNORE),
                "MPI_File_read_at");
    });
  }
  void close() override { check_mpi(MPI_File_close(&file_), "MPI_File_close"); }

 private:
  template <class F>
  void each_piece(F&& f) {
    for (std::int64_t block = 0; block < blocks(); ++block) {
      const auto i = static_cast<std::size_t>(block * size_);
      f(place(block), i, MPI_INT);
      f(place(block) + int_bytes(), i, MPI_DOUBLE);
    }
  }

  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace

std::unique_ptr<Row> make_alone_row(const Setting& setting, int size, std::int64_t length) {
  return std::make_unique<AloneRow>(setting, size, length);
}

}  // namespace forebay::bench
