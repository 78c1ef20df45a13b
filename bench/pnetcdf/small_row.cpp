// A model's history as most models write it: a small field a call, or a few a wait, over and over. Each rank
// has a patch of 16 x 64 floats, 4 KiB.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "boxes.hpp"

namespace forebay::bench {
namespace {

constexpr int variables = 32, at_once = 4;
constexpr std::int64_t rows = 16, columns = 64;

class SmallRow final : public PnetcdfRow {
 public:
  SmallRow(const Setting& setting, SmallCalls calls)
      : blocking_(calls != SmallCalls::waits),
        late_(calls == SmallCalls::late),
        rank_(setting.rank),
        ranks_(setting.ranks),
        records_(by_size(setting.size, 2, 6, 24, 64)) {
    const std::vector<int> grid = factors(setting.ranks, 2);
    shape_[0] = rows * grid[0];
    shape_[1] = columns * grid[1];
    box_ = {{0, setting.rank / grid[1] * rows, setting.rank % grid[1] * columns}, {1, rows, columns}};
    const std::int64_t runs = box_.runs(shape_);
    count(std::int64_t{records_} * variables * runs, box_.elements() / runs * 4);
    values_.resize(static_cast<std::size_t>(bytes() / 4));
    fill_values(std::as_writable_bytes(std::span(values_)), static_cast<std::uint64_t>(setting.rank) + 1);
  }

  void define(int file) override {
    const std::vector<int> dims =
        define_dimensions(file, {{"time", NC_UNLIMITED}, {"lat", shape_[0]}, {"lon", shape_[1]}});
    for (int v = 0; v < variables; ++v)
      ids_.push_back(define_variable(file, fmt::format("field_{:02}", v), NC_FLOAT, dims));
  }

  void transfer(int file, Way) override {
    const float* from = values_.data();
    std::vector<int> requests;
    for (int record = 0; record < records_; ++record) {
      box_.start[0] = record;
      for (int v = 0; v < variables; ++v, from += box_.elements()) {
        const int id = ids_[static_cast<std::size_t>(v)];
        if (late_) be_late(record * variables + v);
        if (blocking_) {
          check(ncmpi_put_vara_float_all(file, id, box_.start.data(), box_.count.data(), from),
                "ncmpi_put_vara_float_all");
          continue;
        }
        check(ncmpi_iput_vara_float(file, id, box_.start.data(), box_.count.data(), from,
                                    &requests.emplace_back(NC_REQ_NULL)),
              "ncmpi_iput_vara_float");
        if (requests.size() == at_once) wait_all(file, requests);
      }
    }
  }

 private:
  // One rank after the other, by 0 to 5 ms.
  void be_late(int call) const {
    if (call % ranks_ == rank_) std::this_thread::sleep_for(std::chrono::microseconds(call * 1237 % 5000));
  }

  bool blocking_, late_;
  int rank_, ranks_;
  int records_;
  std::int64_t shape_[2];
  Box box_;
  std::vector<float> values_;
  std::vector<int> ids_;
};

}  // namespace

std::unique_ptr<Row> make_small_row(const Setting& setting, SmallCalls calls) {
  return std::make_unique<SmallRow>(setting, calls);
}

}  // namespace forebay::bench
