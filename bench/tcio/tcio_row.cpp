// TCIO: a call for each piece, no buffer, no datatype.
#include <fmt/format.h>
#include <forebay/tcio.h>

#include <stdexcept>

#include "arrays_row.hpp"

namespace forebay::bench {
namespace {

void check_tcio(int code, const char* call) {
  if (code != FOREBAY_SUCCESS) throw std::runtime_error(fmt::format("{}: {}", call, forebay_last_error()));
}

class TcioRow final : public ArraysRow {
 public:
  using ArraysRow::ArraysRow;

  void create(const std::string& path, MPI_Info info) override {
    check_tcio(
        tcio_open(MPI_COMM_WORLD, path.c_str(), FOREBAY_CREATE | FOREBAY_TRUNC | FOREBAY_RDWR, info, &file_),
        "tcio_open");
  }
  void open(const std::string& path, MPI_Info info) override {
    check_tcio(tcio_open(MPI_COMM_WORLD, path.c_str(), FOREBAY_RDONLY, info, &file_), "tcio_open");
  }
  void write() override {
    for (std::int64_t block = 0; block < blocks(); ++block) {
      const auto i = static_cast<std::size_t>(block * size_);
      check_tcio(tcio_write_at(file_, place(block), &ints_[i], int_bytes()), "tcio_write_at");
      check_tcio(tcio_write_at(file_, place(block) + int_bytes(), &doubles_[i], double_bytes()),
                 "tcio_write_at");
    }
  }
  void read() override {
    for (std::int64_t block = 0; block < blocks(); ++block) {
      const auto i = static_cast<std::size_t>(block * size_);
      check_tcio(tcio_read_at(file_, place(block), &got_ints_[i], int_bytes()), "tcio_read_at");
      check_tcio(tcio_read_at(file_, place(block) + int_bytes(), &got_doubles_[i], double_bytes()),
                 "tcio_read_at");
    }
  }
  void close() override { check_tcio(tcio_close(&file_), "tcio_close"); }

 private:
  tcio_file file_ = TCIO_FILE_NULL;
};

}  // namespace

std::unique_ptr<Row> make_tcio_row(const Setting& setting, int size, std::int64_t length) {
  return std::make_unique<TcioRow>(setting, size, length);
}

}  // namespace forebay::bench
