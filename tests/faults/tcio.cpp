// By TCIO, whose writes wait for nobody: arrays one after the other, from an odd place on.
#include <forebay/tcio.h>
#include <mpi.h>

#include <cstdio>

#include "library.hpp"

namespace faults {
namespace {

constexpr std::int64_t kInt = sizeof(std::int32_t);
constexpr std::int64_t kBegin = 1236, kArrayBytes = kInt * kRows * kColumns,
                       kEnd = kBegin + kArrays * (kArrayBytes + 8);

bool well(int code, const char* call) {
  if (code != FOREBAY_SUCCESS) std::fprintf(stderr, "%s: %s\n", call, forebay_last_error());
  return code == FOREBAY_SUCCESS;
}

class Tcio final : public Library {
 public:
  Tcio() {
    for (int a = 0; a < kArrays; ++a) offsets_[a] = kBegin + a * (kArrayBytes + 8);
  }
  bool create(const std::string& path) override {
    return well(tcio_open(MPI_COMM_WORLD, path.c_str(), FOREBAY_CREATE | FOREBAY_RDWR, MPI_INFO_NULL, &file_),
                "tcio_open");
  }
  bool open(const std::string& path) override {
    return well(tcio_open(MPI_COMM_WORLD, path.c_str(), FOREBAY_RDWR, MPI_INFO_NULL, &file_), "tcio_open");
  }
  bool be_alone(bool) override { return true; }

  bool write(Way way, const Part& part) override {
    bool good = true;
    for (int a = 0; a < kArrays; ++a) {
      const std::vector<std::int32_t> values = values_of(part, a);
      const bool whole = part.column_step == 1;
      const std::int32_t* data = values.data();
      for (int r = 0; r < part.rows; ++r) {
        const std::int64_t row = offsets_[a] + kInt * kColumns * (part.first_row + r * part.row_step);
        for (int c = 0; c < part.columns; c += whole ? part.columns : 1) {
          const std::int64_t at = row + kInt * (part.first_column + c * part.column_step);
          const int n = whole ? part.columns : 1;
          good = well(tcio_write_at(file_, at, data, kInt * n), "tcio_write_at") && good;
          data += n;
        }
      }
    }
    if (way == Way::pending) good = well(tcio_flush(file_), "tcio_flush") && good;
    return good;
  }

  bool read(Way way, std::vector<std::int32_t>& values) override {
    bool good = true;
    for (int a = 0; a < kArrays; ++a)
      good = well(tcio_read_at(file_, offsets_[a], values.data() + a * kRows * kColumns, kArrayBytes),
                  "tcio_read_at") &&
             good;
    return well(way == Way::alone ? tcio_fetch(file_) : tcio_fetch_all(file_), "tcio_fetch") && good;
  }

  bool sync() override { return well(tcio_sync(file_), "tcio_sync"); }
  bool redefine() override { return well(tcio_set_size(file_, kEnd + 5000), "tcio_set_size"); }
  bool fill_new() override {
    const std::int32_t last = 7;
    return well(tcio_write_at(file_, kEnd + 4996, &last, kInt), "tcio_write_at");
  }
  bool close() override { return well(tcio_close(&file_), "tcio_close"); }
  bool writes_alone() const override { return true; }

 private:
  tcio_file file_ = TCIO_FILE_NULL;
};

}  // namespace

std::unique_ptr<Library> make_tcio() {
  return std::make_unique<Tcio>();
}

}  // namespace faults
