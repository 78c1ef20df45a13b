// A weather model's history: many fields of float in patches, buffered puts, one wait a frame.
#include <fmt/format.h>

#include "boxes.hpp"

namespace forebay::bench {
namespace {

class WrfRow final : public PnetcdfRow {
 public:
  explicit WrfRow(const Setting& setting)
      : frames_(by_size(setting.size, 1, 3, 3, 6)),
        levels_(by_size(setting.size, 3, 24, 40, 40)),
        flat_(by_size(setting.size, 4, 48, 80, 80)),
        deep_(by_size(setting.size, 2, 8, 12, 12)) {
    const std::vector<int> grid = factors(setting.ranks, 2);
    shape_[0] = by_size(setting.size, 8, 64, 96, 96);
    shape_[1] = by_size(setting.size, 12, 96, 128, 128);
    const Range y = part_of(shape_[0], setting.rank / grid[1], grid[0]),
                x = part_of(shape_[1], setting.rank % grid[1], grid[1]);
    flat_box_ = {{0, y.begin, x.begin}, {1, y.length(), x.length()}};
    deep_box_ = {{0, 0, y.begin, x.begin}, {1, levels_, y.length(), x.length()}};
    const std::int64_t deep_shape[] = {levels_, shape_[0], shape_[1]};
    const std::int64_t flat_runs = flat_box_.runs(shape_), deep_runs = deep_box_.runs(deep_shape);
    if (flat_runs > 0) count(frames_ * flat_ * flat_runs, flat_box_.elements() / flat_runs * 4);
    if (deep_runs > 0) count(frames_ * deep_ * deep_runs, deep_box_.elements() / deep_runs * 4);
    values_.resize(static_cast<std::size_t>(bytes() / 4));
    fill_values(std::as_writable_bytes(std::span(values_)), static_cast<std::uint64_t>(setting.rank) + 1);
  }

  void define(int file) override {
    const std::vector<int> dims = define_dimensions(file, {{"Time", NC_UNLIMITED},
                                                           {"bottom_top", levels_},
                                                           {"south_north", shape_[0]},
                                                           {"west_east", shape_[1]}});
    for (int i = 0; i < flat_ + deep_; ++i)
      ids_.push_back(
          i < flat_
              ? define_variable(file, fmt::format("surface_{:03}", i), NC_FLOAT, {dims[0], dims[2], dims[3]})
              : define_variable(file, fmt::format("field_{:03}", i - flat_), NC_FLOAT, dims));
  }

  void transfer(int file, Way way) override {
    const bool puts = way == Way::Put;
    if (puts)
      check(ncmpi_buffer_attach(file, std::max<std::int64_t>(bytes() / frames_, 1)), "ncmpi_buffer_attach");
    auto* from = reinterpret_cast<float*>(place(way, std::as_writable_bytes(std::span(values_)).data()));
    std::vector<int> requests;
    for (int frame = 0; frame < frames_; ++frame) {
      flat_box_.start[0] = deep_box_.start[0] = frame;
      for (int i = 0; i < flat_ + deep_; ++i) {
        const Box& box = i < flat_ ? flat_box_ : deep_box_;
        const int id = ids_[static_cast<std::size_t>(i)];
        int* request = &requests.emplace_back(NC_REQ_NULL);
        check(puts ? ncmpi_bput_vara_float(file, id, box.start.data(), box.count.data(), from, request)
                   : ncmpi_iget_vara_float(file, id, box.start.data(), box.count.data(), from, request),
              puts ? "ncmpi_bput_vara_float" : "ncmpi_iget_vara_float");
        from += box.elements();
      }
      wait_all(file, requests);
    }
    if (puts) check(ncmpi_buffer_detach(file), "ncmpi_buffer_detach");
  }

 private:
  std::span<std::byte> memory() override { return std::as_writable_bytes(std::span(values_)); }
  void found(const std::vector<int>& ids) override { ids_ = ids; }

  int frames_;
  std::int64_t levels_;
  int flat_, deep_;  // how many variables
  std::int64_t shape_[2];
  Box flat_box_, deep_box_;
  std::vector<float> values_;
  std::vector<int> ids_;
};

}  // namespace

std::unique_ptr<Row> make_wrf_row(const Setting& setting) {
  return std::make_unique<WrfRow>(setting);
}

}  // namespace forebay::bench
