// A variable dealt out to the ranks in turn, some of it a call: each rank by itself, in independent mode, and
// more than commit mode keeps; or all ranks together, with gaps between them that nobody puts.
#include "boxes.hpp"

namespace forebay::bench {
namespace {

constexpr std::int64_t calls = 32;

class StrideRow final : public PnetcdfRow {
 public:
  StrideRow(const Setting& setting, bool independent)
      : setting_(setting), independent_(independent), stride_(setting.ranks + (independent ? 0 : 1)) {
    const std::int64_t bytes = independent
                                   ? by_size<std::int64_t>(setting.size, 4096, 5 << 20, 6 << 20, 12 << 20)
                                   : by_size<std::int64_t>(setting.size, 4096, 512 << 10, 1 << 20, 4 << 20);
    a_call_ = bytes / piece_bytes / calls + 1;
    count(calls * a_call_, piece_bytes);
    values_.resize(static_cast<std::size_t>(calls * a_call_ * components));
    fill_values(std::as_writable_bytes(std::span(values_)), static_cast<std::uint64_t>(setting.rank) + 1);
  }

  void define(int file) override {
    const std::vector<int> dims =
        define_dimensions(file, {{"particle", calls * a_call_ * stride_}, {"component", components}});
    id_ = define_variable(file, "value", NC_FLOAT, dims);
  }

  void transfer(int file, Way) override {
    const MPI_Offset lengths[] = {a_call_, components}, stride[] = {stride_, 1};
    auto* const put = independent_ ? &ncmpi_put_vars_float : &ncmpi_put_vars_float_all;
    if (independent_) check(ncmpi_begin_indep_data(file), "ncmpi_begin_indep_data");
    for (std::int64_t call = 0; call < calls; ++call) {
      const MPI_Offset start[] = {call * a_call_ * stride_ + setting_.rank, 0};
      check(put(file, id_, start, lengths, stride, values_.data() + call * a_call_ * components),
            "ncmpi_put_vars_float");
    }
    if (independent_) check(ncmpi_end_indep_data(file), "ncmpi_end_indep_data");
  }

 private:
  static constexpr std::int64_t components = 4, piece_bytes = 4 * components;

  Setting setting_;
  bool independent_;
  std::int64_t stride_;
  std::int64_t a_call_ = 0;
  std::vector<float> values_;
  int id_ = -1;
};

}  // namespace

std::unique_ptr<Row> make_stride_row(const Setting& setting, bool independent) {
  return std::make_unique<StrideRow>(setting, independent);
}

}  // namespace forebay::bench
