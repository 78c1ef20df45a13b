// The TCIO paper's synthetic benchmark: each rank has an array of ints and one of doubles, and blocks of SIZE
// elements of them go to the file in turn: rank 0's ints, rank 0's doubles, rank 1's ints, …
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "row.hpp"

namespace forebay::bench {

class ArraysRow : public Row {
 public:
  // `length`: elements of an array; 0: by the setting's size.
  ArraysRow(const Setting& setting, int size, std::int64_t length);
  bool same() const final;

 protected:
  std::int64_t blocks() const { return length_ / size_; }
  std::int64_t int_bytes() const { return size_ * std::int64_t{sizeof(std::int32_t)}; }
  std::int64_t double_bytes() const { return size_ * std::int64_t{sizeof(double)}; }
  // Where a block of this rank begins in the file.
  std::int64_t place(std::int64_t block) const {
    return (block * setting_.ranks + setting_.rank) * (int_bytes() + double_bytes());
  }

  Setting setting_;
  std::int64_t length_, size_;
  // Those to read into are there from the beginning: memory is the program's, and of no value that is
  // written.
  std::vector<std::int32_t> ints_, got_ints_;
  std::vector<double> doubles_, got_doubles_;
};

// How a row is written: a collective call with a view and a buffer that combines the arrays (the paper's
// Program 2), a call of MPI-IO for each piece, or of TCIO (Program 3).
enum class ArraysWay { Views, Alone, Tcio };

// "views", "alone", "tcio"; throws std::runtime_error.
ArraysWay parse_arrays_way(const std::string& name);
// "size-N"; throws std::runtime_error where there is none of that name.
std::unique_ptr<Row> make_arrays_row(const std::string& name, const Setting& setting, ArraysWay way,
                                     std::int64_t length = 0);

// By file.
std::unique_ptr<Row> make_views_row(const Setting& setting, int size, std::int64_t length);
std::unique_ptr<Row> make_alone_row(const Setting& setting, int size, std::int64_t length);
std::unique_ptr<Row> make_tcio_row(const Setting& setting, int size, std::int64_t length);

// Throws std::runtime_error, naming the call and the reason.
void check_mpi(int error, const char* call);

}  // namespace forebay::bench
