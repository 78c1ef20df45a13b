// E3SM's atmosphere history over its recorded decomposition: a dataset a variable, selections as unions of
// hyperslabs, a call a record.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "box.hpp"
#include "e3sm_case.hpp"
#include "hdf5_row.hpp"

namespace forebay::bench {
namespace {

hid_t native(Type type) {
  switch (type) {
    case Type::Float:
      return H5T_NATIVE_FLOAT;
    case Type::Double:
      return H5T_NATIVE_DOUBLE;
    case Type::Int:
      return H5T_NATIVE_INT;
    case Type::Text:
      return H5T_NATIVE_SCHAR;
  }
  return H5I_INVALID_HID;
}

class FRow final : public Hdf5Row {
 public:
  // `made`: with attributes, and with the values that whoever reads the file can work out.
  FRow(const Setting& setting, const Form& form, std::vector<Decomposition> over, History history, bool made)
      : Hdf5Row(form), rank_(setting.rank), over_(std::move(over)), history_(std::move(history)) {
    std::vector<std::size_t> datasets;
    if (made) add_attribute("title", history_.title);
    for (const Variable& variable : history_.variables) {
      datasets.push_back(add_dataset(variable.name, native(variable.type), extent(variable)));
      if (!made) continue;
      add_attribute(datasets.back(), "units", variable.units);
      add_attribute(datasets.back(), "long_name", variable.long_name);
    }
    struct Written {
      std::size_t place, variable;
      std::int64_t record;
    };
    std::vector<Written> writes;
    for (std::int64_t record = 0; record < history_.records; ++record, next_call()) {
      // By decomposition; first those of variables without records.
      std::vector<std::shared_ptr<Hdf5Id>> selections(2 * over_.size());
      for (std::size_t v = 0; v < history_.variables.size(); ++v) {
        const Variable& variable = history_.variables[v];
        if (!variable.record && record > 0) continue;
        if (variable.decomposition < 0) {
          writes.push_back({add_write(datasets[v], select(variable, record), rank_ == 0 ? 1 : 0), v, record});
          continue;
        }
        const auto k = static_cast<std::size_t>(variable.decomposition);
        std::shared_ptr<Hdf5Id>& selection = selections[k + (variable.record ? over_.size() : 0)];
        if (!selection) selection = select(variable, record);
        const auto pieces = static_cast<std::int64_t>(over_[k].pieces.size());
        writes.push_back({add_write(datasets[v], selection, pieces), v, record});
      }
    }
    fill(setting);
    for (const Written& one : writes) {
      if (!made) break;
      const Variable& variable = history_.variables[one.variable];
      std::byte* to = place(one.place);
      for (const Piece& piece : pieces_of(history_, variable, over_, rank_)) {
        make_values(variable, one.record, piece.offset, piece.length, to);
        to += static_cast<std::size_t>(piece.length) * size_of(variable.type);
      }
    }
  }

 private:
  std::vector<hsize_t> extent(const Variable& variable) const {
    const Shape shape = history_.shape(variable);
    std::vector<hsize_t> dims(shape.begin(), shape.end());
    if (variable.record) dims.insert(dims.begin(), static_cast<hsize_t>(history_.records));
    if (dims.empty()) dims.push_back(1);
    return dims;
  }

  // This rank's pieces of a variable in a record.
  std::shared_ptr<Hdf5Id> select(const Variable& variable, std::int64_t record) const {
    const std::vector<hsize_t> dims = extent(variable);
    std::shared_ptr<Hdf5Id> space = select_nothing(dims);
    Shape shape = history_.shape(variable);
    if (shape.empty()) shape.push_back(1);
    const bool leading = dims.size() > shape.size();
    for (const Piece& piece : pieces_of(history_, variable, over_, rank_)) {
      for_each_box(shape, piece,
                   [&](std::span<const std::int64_t> start, std::span<const std::int64_t> count) {
                     Box box{{start.begin(), start.end()}, {count.begin(), count.end()}};
                     if (leading) {
                       box.start.insert(box.start.begin(), static_cast<hsize_t>(record));
                       box.count.insert(box.count.begin(), 1);
                     } else if (variable.record) {
                       box.start[0] = static_cast<hsize_t>(record);
                     }
                     select_also(*space, box);
                   });
    }
    return space;
  }

  int rank_;
  std::vector<Decomposition> over_;
  History history_;
};

}  // namespace

std::unique_ptr<Row> make_f_row(const Setting& setting, const Form& form, const std::string& map) {
  std::vector<Decomposition> over = cut_e3sm(setting, map, false);
  History history = make_history(over, by_size<std::int64_t>(setting.size, 1, 1, 2, 4));
  thin_out(history, by_size(setting.size, 16, 16, 3, 1));
  return std::make_unique<FRow>(setting, form, std::move(over), std::move(history), false);
}

std::unique_ptr<Row> make_history_row(const Setting& setting, const Form& form,
                                      std::vector<Decomposition> over, std::int64_t records) {
  History history = make_history(over, records);
  return std::make_unique<FRow>(setting, form, std::move(over), std::move(history), true);
}

}  // namespace forebay::bench
