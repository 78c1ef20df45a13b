// The same elements on the same ranks as PnetCDF's own driver fills, as requests to the core.
#include "large_fill.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <limits>
#include <span>

#include "drain.hpp"
#include "errors.hpp"
#include "open_file.hpp"
#include "request/request.hpp"
#include "request/stream.hpp"
#include "request/strided.hpp"

namespace forebay::pnc {
namespace {

constexpr std::int64_t kMostOfPnetcdf = std::numeric_limits<int>::max();  // bytes of a rank

/// One value again and again; a run may begin inside it.
class Repeated final : public Source {
 public:
  Repeated(const std::array<std::byte, 8>& value, std::int64_t width) : width_(width) {
    for (std::size_t i = 0; i < block_.size(); ++i) block_[i] = value[i % static_cast<std::size_t>(width)];
  }
  void produce(std::span<const Run> runs, std::byte* destination, std::int64_t origin) override {
    for (const Run& run : runs) {
      std::byte* to = destination + (run.file - origin);
      const std::byte* const from = block_.data() + run.stream % width_;
      for (std::int64_t left = run.length; left > 0;) {
        const std::int64_t part = std::min(left, kBlock);  // a multiple of every width
        std::memcpy(to, from, static_cast<std::size_t>(part));
        to += part, left -= part;
      }
    }
  }

 private:
  static constexpr std::int64_t kBlock = 4096;
  std::int64_t width_;
  std::array<std::byte, kBlock + 8> block_;
};

struct Share {
  std::int64_t first;
  std::int64_t count;
};

// Of `elements`, as PnetCDF deals them out; lower ranks have the larger shares.
Share share_of(std::int64_t elements, std::int64_t rank, std::int64_t ranks) {
  const std::int64_t rest = elements % ranks;
  return {elements / ranks * rank + std::min(rank, rest), elements / ranks + (rank < rest ? 1 : 0)};
}

// The value as it stands in the file.
int fill_value(const OpenFile& file, const Variable& variable, std::array<std::byte, 8>& value) {
  if (int err = file.stock.inq_var(file.stock_file, variable.id, nullptr, nullptr, nullptr, nullptr, nullptr,
                                   nullptr, nullptr, value.data()))
    return err;
  if constexpr (std::endian::native == std::endian::little)
    std::reverse(value.begin(), value.begin() + variable.element_bytes);
  return NC_NOERR;
}

// Elements of one record, or of a variable without records.
int elements_of(const OpenFile& file, const Variable& variable, std::int64_t& elements) {
  elements = variable.is_record ? variable.record_elements : 1;
  if (variable.is_record || variable.dims() == 0) return NC_NOERR;
  std::vector<int> dims(variable.dims());
  if (int err = file.stock.inq_var(file.stock_file, variable.id, nullptr, nullptr, nullptr, dims.data(),
                                   nullptr, nullptr, nullptr, nullptr))
    return err;
  MPI_Offset length = 0;
  if (int err = file.stock.inq_dim(file.stock_file, dims[0], nullptr, &length)) return err;
  elements = length * variable.pitch[0];
  return NC_NOERR;
}

/// What one rank fills.
class Requests {
 public:
  explicit Requests(OpenFile& file) : file_(file) {}

  /// `record`: the first of `repeats`.
  int add(const Variable& variable, std::int64_t elements, std::int64_t record, std::int64_t repeats) {
    std::int64_t begin = 0, stride = 0;
    if (int err = file_.variables.locate(variable, begin)) return err;
    if (int err = file_.variables.record_stride(stride)) return err;
    std::array<std::byte, 8> value{};
    if (int err = fill_value(file_, variable, value)) return err;
    const Share share = share_of(elements, file_.core->rank(), file_.core->ranks());
    if (share.count == 0) return NC_NOERR;
    const StridedDim records{stride, repeats};
    const std::int64_t each = variable.element_bytes;
    cursors_.emplace_back(begin + (variable.is_record ? record * stride : 0) + share.first * each, 0,
                          share.count * each, std::span(&records, variable.is_record ? 1 : 0));
    sources_.emplace_back(value, each);
    puts_.push_back({&cursors_.back(), &sources_.back()});
    return NC_NOERR;
  }
  void clear() { puts_.clear(); }
  std::span<const Put> puts() const { return puts_; }

 private:
  OpenFile& file_;
  std::deque<StridedCursor> cursors_;
  std::deque<Repeated> sources_;
  std::vector<Put> puts_;
};

}  // namespace

int LargeFill::prepare() {
  if (!file_.active() || !file_.writable || !file_.in_define) return NC_NOERR;
  int count = 0;
  if (int err = file_.stock.inq(file_.stock_file, nullptr, &count, nullptr, nullptr)) return err;
  std::int64_t records = 0;
  if (file_.first_new_variable > 0) {
    if (int err = file_.variables.refresh()) return err;
    if (int err = stock_records(file_, records)) return err;
  }
  std::int64_t bytes = 0;  // of the first rank, which has most
  for (int id = file_.first_new_variable; id < count; ++id) {
    int no_fill = 1;
    if (int err = file_.stock.inq_var(file_.stock_file, id, nullptr, nullptr, nullptr, nullptr, nullptr,
                                      nullptr, &no_fill, nullptr))
      return err;
    if (no_fill != 0) continue;
    const Variable* variable = nullptr;
    Filled filled{id, 0, 1};
    if (int err = file_.variables.find(id, variable)) return err;
    if (int err = elements_of(file_, *variable, filled.elements)) return err;
    if (variable->is_record) filled.repeats = records;
    if (filled.repeats == 0) continue;
    bytes +=
        share_of(filled.elements, 0, file_.core->ranks()).count * variable->element_bytes * filled.repeats;
    variables_.push_back(filled);
  }
  if (bytes <= kMostOfPnetcdf) {
    variables_.clear();
    return NC_NOERR;
  }
  for (const Filled& filled : variables_) {
    if (int err = file_.stock.def_var_fill(file_.stock_file, filled.id, NC_NOFILL, nullptr)) return err;
  }
  return NC_NOERR;
}

int LargeFill::finish(int err) {
  for (const Filled& filled : variables_) {
    const int back = file_.stock.def_var_fill(file_.stock_file, filled.id, NC_FILL, nullptr);
    if (err == NC_NOERR) err = back;
  }
  if (variables_.empty() || file_.in_define) return err;
  Requests requests(file_);
  for (const Filled& filled : variables_) {
    const Variable* variable = nullptr;
    int added = file_.variables.find(filled.id, variable);
    if (added == NC_NOERR)
      added = guarded([&] { return requests.add(*variable, filled.elements, 0, filled.repeats); });
    if (err == NC_NOERR) err = added;  // the others are filled nevertheless
  }
  variables_.clear();
  const int filled = report(file_.core->write_all(requests.puts()), "cannot write fill values");
  return err != NC_NOERR ? err : filled;
}

int fill_var_rec(void* object, int id, MPI_Offset record) {
  OpenFile& file = OpenFile::of(object);
  return guarded([&]() -> int {
    const int drained = drain_in_any_mode(file);
    const Variable* variable = nullptr;
    const int found = file.active() ? file.variables.find(id, variable) : NC_NOERR;
    std::int64_t elements = 0;
    if (variable != nullptr && found == NC_NOERR) {
      if (int err = elements_of(file, *variable, elements)) return err;
    }
    // What is wrong with the arguments PnetCDF's own driver says best.
    int no_fill = 1;
    const bool large =
        variable != nullptr && variable->is_record && record >= 0 && !file.independent &&
        share_of(elements, 0, file.core->ranks()).count * variable->element_bytes > kMostOfPnetcdf &&
        file.stock.inq_var(file.stock_file, id, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                           &no_fill, nullptr) == NC_NOERR &&
        no_fill == 0;
    if (!large) {
      const bool collective = file.active() && !file.in_define && !file.independent;
      if (collective) file.core->show_to_all("filling of a record");
      int err = file.stock.fill_var_rec(file.stock_file, id, record);
      if (collective) file.core->show_to_all("filling of a record");
      if (file.active() && !file.in_define) {
        const int again = file.records.restore(file);
        if (err == NC_NOERR) err = again;
      }
      return drained != NC_NOERR ? drained : err;
    }
    Requests requests(file);
    Reach reach;
    std::array<std::int64_t, 1> agreed{-1};
    int err = requests.add(*variable, elements, record, 1);
    if (err == NC_NOERR && !requests.puts().empty()) {
      reach = {record + 1, id, record * variable->record_elements};
      err = RecordCount::proposal(file, reach, agreed[0]);
    }
    if (err != NC_NOERR) requests.clear();
    const int written = report(file.core->write_all(requests.puts(), agreed), "cannot write fill values");
    const int counted = written == NC_NOERR ? file.records.accept(file, agreed[0], reach) : NC_NOERR;
    for (const int other : {written, counted, drained}) {
      if (err == NC_NOERR) err = other;
    }
    return err;
  });
}

}  // namespace forebay::pnc
