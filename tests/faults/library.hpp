// The same calls by each of the libraries: two arrays of ints, written in parts and read whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace faults {

constexpr int kArrays = 2, kRows = 32, kColumns = 512;

/// Of each array: rows first_row, first_row + row_step, …, and columns likewise.
struct Part {
  int step;  ///< what is written says so
  int first_row, row_step, rows;
  int first_column, column_step, columns;
};

/// What step `step` writes there.
std::int32_t value_of(int step, int array, int row, int column);
/// All of a part's values in one array, row by row.
std::vector<std::int32_t> values_of(const Part& part, int array);

enum class Way {
  together,  ///< a collective call for each array
  pending,   ///< calls that one collective call completes
  alone,     ///< independent calls
};

/// Each call says whether it went well on this rank; what a library tells of a failure goes to stderr.
class Library {
 public:
  virtual ~Library() = default;
  virtual bool create(const std::string& path) = 0;  ///< and defines the arrays
  virtual bool open(const std::string& path) = 0;
  /// Collective: independent calls follow, or collective ones.
  virtual bool be_alone(bool alone) = 0;
  virtual bool write(Way way, const Part& part) = 0;
  /// kArrays × kRows × kColumns values.
  virtual bool read(Way way, std::vector<std::int32_t>& values) = 0;
  virtual bool sync() = 0;
  /// A change of the definition, collective; its end, where the library has one; and data of what is new.
  virtual bool redefine() = 0;
  virtual bool end_definition() { return true; }
  virtual bool fill_new() = 0;
  /// Whether the file can be used once one of them has failed. All ranks.
  virtual bool goes_on() { return true; }
  /// Gone afterwards, well or not.
  virtual bool close() = 0;
  /// Whether write(Way::together) waits for nobody.
  virtual bool writes_alone() const { return false; }
  virtual bool swaps() const { return false; }
  /// Where an array begins in the file.
  std::int64_t offset(int array) const { return offsets_[array]; }

 protected:
  std::int64_t offsets_[kArrays] = {};
};

/// "pnetcdf", "hdf5" or "tcio"; null: no such library.
std::unique_ptr<Library> make_library(const std::string& name);
std::unique_ptr<Library> make_pnetcdf();
std::unique_ptr<Library> make_hdf5();
std::unique_ptr<Library> make_tcio();

}  // namespace faults
