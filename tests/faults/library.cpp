// What is written, and by whom.
#include "library.hpp"

namespace faults {

std::int32_t value_of(int step, int array, int row, int column) {
  return (step + 1) << 24 | array << 20 | row << 12 | column;
}

std::vector<std::int32_t> values_of(const Part& part, int array) {
  std::vector<std::int32_t> values;
  for (int r = 0; r < part.rows; ++r) {
    for (int c = 0; c < part.columns; ++c) {
      values.push_back(value_of(part.step, array, part.first_row + r * part.row_step,
                                part.first_column + c * part.column_step));
    }
  }
  return values;
}

std::unique_ptr<Library> make_library(const std::string& name) {
  if (name == "pnetcdf") return make_pnetcdf();
  if (name == "hdf5") return make_hdf5();
  if (name == "tcio") return make_tcio();
  return nullptr;
}

}  // namespace faults
