// NAS BT's solution array, 5 components a point: p x p ranks hold p cells each along the diagonals of p x p x
// p.
#include "boxes.hpp"

namespace forebay::bench {
namespace {

class BtioRow final : public PnetcdfRow {
 public:
  explicit BtioRow(const Setting& setting)
      : before_step_(setting.before_step),
        steps_(setting.steps_or(by_size(setting.size, 1, 3, 4, 8))),
        points_(by_size(setting.size, 8, 64, 96, 96)) {
    // The largest square; what is left of the ranks writes nothing and takes part.
    int p = 1;
    while ((p + 1) * (p + 1) <= setting.ranks) ++p;
    std::size_t total = 0;
    for (int c = 0; c < p && setting.rank < p * p; ++c) {
      const int i = setting.rank % p, j = setting.rank / p;
      const Range x = part_of(points_, (i + c) % p, p), y = part_of(points_, (j + c) % p, p),
                  z = part_of(points_, c, p);
      cells_.push_back({{0, z.begin, y.begin, x.begin, 0}, {1, z.length(), y.length(), x.length(), 5}});
      const std::int64_t shape[] = {points_, points_, points_, 5};
      const std::int64_t runs = cells_.back().runs(shape);
      for (int step = 0; step < steps_; ++step) count(runs, cells_.back().elements() / runs * 8);
      total += static_cast<std::size_t>(cells_.back().elements());
    }
    values_.resize(total * static_cast<std::size_t>(steps_));
    fill_values(std::as_writable_bytes(std::span(values_)), static_cast<std::uint64_t>(setting.rank) + 1);
  }

  void define(int file) override {
    const std::vector<int> dims = define_dimensions(
        file, {{"step", NC_UNLIMITED}, {"z", points_}, {"y", points_}, {"x", points_}, {"component", 5}});
    id_ = define_variable(file, "u", NC_DOUBLE, dims);
  }

  void transfer(int file, Way way) override {
    auto* from = reinterpret_cast<double*>(place(way, std::as_writable_bytes(std::span(values_)).data()));
    const auto post_vara = way == Way::Put ? iput_vara : iget_vara;
    std::vector<int> requests;
    for (int step = 0; step < steps_; ++step) {
      if (before_step_) before_step_();
      for (Box& cell : cells_) {
        cell.start[0] = step;
        post_vara(file, id_, cell, from, requests);
        from += cell.elements();
      }
      wait_all(file, requests);
    }
  }

 private:
  std::span<std::byte> memory() override { return std::as_writable_bytes(std::span(values_)); }
  void found(const std::vector<int>& ids) override { id_ = ids.at(0); }

  std::function<void()> before_step_;
  int steps_;
  std::int64_t points_;
  std::vector<Box> cells_;
  std::vector<double> values_;
  int id_ = -1;
};

}  // namespace

std::unique_ptr<Row> make_btio_row(const Setting& setting) {
  return std::make_unique<BtioRow>(setting);
}

}  // namespace forebay::bench
