// Particles dealt out in turn: the smallest pieces there are, every rank's between the others'.
#include "boxes.hpp"

namespace forebay::bench {
namespace {

class TinyRow final : public PnetcdfRow {
 public:
  TinyRow(const Setting& setting, int piece_bytes)
      : setting_(setting), piece_bytes_(piece_bytes), variables_(4) {
    const std::int64_t bytes = by_size<std::int64_t>(setting.size, 4096, 512 << 10, 2 << 20, 8 << 20);
    mine_ = bytes / piece_bytes / setting.ranks + 1;  // of each variable
    count(variables_ * mine_, piece_bytes);
    values_.resize(static_cast<std::size_t>(variables_ * mine_ * piece_bytes));
    fill_values(values_, static_cast<std::uint64_t>(setting.rank) + 1);
  }

  void define(int file) override {
    const std::vector<int> dims =
        define_dimensions(file, {{"particle", mine_ * setting_.ranks}, {"component", 2}});
    for (int v = 0; v < variables_; ++v) {
      const std::string name = "value_" + std::to_string(v);
      ids_.push_back(piece_bytes_ == 4 ? define_variable(file, name, NC_INT, {dims[0]})
                                       : define_variable(file, name, NC_DOUBLE, dims));
    }
  }

  void transfer(int file, Way way) override {
    const MPI_Offset start[] = {setting_.rank, 0}, count[] = {mine_, 2}, stride[] = {setting_.ranks, 1};
    std::vector<int> requests;
    std::byte* from = place(way, values_.data());
    const auto post = [&](int id, auto* values, auto&& iput, auto&& iget) {
      int* request = &requests.emplace_back(NC_REQ_NULL);
      check(way == Way::Put ? iput(file, id, start, count, stride, values, request)
                            : iget(file, id, start, count, stride, values, request),
            way == Way::Put ? "ncmpi_iput_vars" : "ncmpi_iget_vars");
    };
    for (const int id : ids_) {
      if (piece_bytes_ == 4) {
        post(id, reinterpret_cast<int*>(from), ncmpi_iput_vars_int, ncmpi_iget_vars_int);
      } else {
        post(id, reinterpret_cast<double*>(from), ncmpi_iput_vars_double, ncmpi_iget_vars_double);
      }
      from += mine_ * piece_bytes_;
    }
    wait_all(file, requests);
  }

 private:
  std::span<std::byte> memory() override { return values_; }
  void found(const std::vector<int>& ids) override { ids_ = ids; }

  Setting setting_;
  int piece_bytes_, variables_;
  std::int64_t mine_ = 0;
  std::vector<std::byte> values_;
  std::vector<int> ids_;
};

}  // namespace

std::unique_ptr<Row> make_tiny_row(const Setting& setting, int piece_bytes) {
  return std::make_unique<TinyRow>(setting, piece_bytes);
}

}  // namespace forebay::bench
