// A combustion code's checkpoints: species (11 of them), velocity, temperature and pressure, each rank one
// block.
#include "boxes.hpp"

namespace forebay::bench {
namespace {

class S3dRow final : public PnetcdfRow {
 public:
  explicit S3dRow(const Setting& setting)
      : checkpoints_(by_size(setting.size, 1, 2, 2, 4)), edge_(by_size(setting.size, 4, 28, 40, 40)) {
    const std::vector<int> grid = factors(setting.ranks, 3);
    const int places[3] = {setting.rank / (grid[1] * grid[2]), setting.rank / grid[2] % grid[1],
                           setting.rank % grid[2]};
    for (std::size_t d = 0; d < 3; ++d) {
      shape_.push_back(grid[d] * edge_);
      start_.push_back(places[d] * edge_);
    }
    std::size_t total = 0;
    for (const Field& field : fields) {
      const Box box = box_of(field, 0);
      std::vector<std::int64_t> shape = shape_;
      if (field.components > 1) shape.insert(shape.begin(), field.components);
      const std::int64_t runs = box.runs(shape);
      for (int c = 0; c < checkpoints_; ++c) count(runs, box.elements() / runs * 8);
      total += static_cast<std::size_t>(box.elements());
    }
    values_.resize(total * static_cast<std::size_t>(checkpoints_));
    fill_values(std::as_writable_bytes(std::span(values_)), static_cast<std::uint64_t>(setting.rank) + 1);
  }

  void define(int file) override {
    const std::vector<int> dims = define_dimensions(file, {{"checkpoint", NC_UNLIMITED},
                                                           {"species", 11},
                                                           {"direction", 3},
                                                           {"z", shape_[0]},
                                                           {"y", shape_[1]},
                                                           {"x", shape_[2]}});
    for (const Field& field : fields) {
      std::vector<int> over = {dims[0]};
      if (field.components > 1) over.push_back(field.components == 11 ? dims[1] : dims[2]);
      over.insert(over.end(), dims.begin() + 3, dims.end());
      ids_.push_back(define_variable(file, field.name, NC_DOUBLE, over));
    }
  }

  void transfer(int file, Way way) override {
    auto* from = reinterpret_cast<double*>(place(way, std::as_writable_bytes(std::span(values_)).data()));
    const auto post_vara = way == Way::Put ? iput_vara : iget_vara;
    std::vector<int> requests;
    for (int checkpoint = 0; checkpoint < checkpoints_; ++checkpoint) {
      for (std::size_t f = 0; f < std::size(fields); ++f) {
        const Box box = box_of(fields[f], checkpoint);
        post_vara(file, ids_[f], box, from, requests);
        from += box.elements();
      }
      wait_all(file, requests);
    }
  }

 private:
  std::span<std::byte> memory() override { return std::as_writable_bytes(std::span(values_)); }
  void found(const std::vector<int>& ids) override { ids_ = ids; }

  struct Field {
    const char* name;
    int components;
  };
  static constexpr Field fields[] = {{"yspecies", 11}, {"u", 3}, {"temp", 1}, {"pressure", 1}};

  Box box_of(const Field& field, int checkpoint) const {
    Box box{{checkpoint}, {1}};
    if (field.components > 1) {
      box.start.push_back(0);
      box.count.push_back(field.components);
    }
    box.start.insert(box.start.end(), start_.begin(), start_.end());
    box.count.insert(box.count.end(), 3, edge_);
    return box;
  }

  int checkpoints_;
  std::int64_t edge_;
  std::vector<std::int64_t> shape_, start_;
  std::vector<double> values_;
  std::vector<int> ids_;
};

}  // namespace

std::unique_ptr<Row> make_s3d_row(const Setting& setting) {
  return std::make_unique<S3dRow>(setting);
}

}  // namespace forebay::bench
