// What this driver needs to know of each variable: asked of PnetCDF's own driver once, since puts may come by
// the 10^5.
#pragma once

#include <mpi.h>
#include <pnetcdf.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "abi_1_12.hpp"

namespace forebay::pnc {

/// Elements of a variable are numbered row by row; of a record variable, record after record.
struct Variable {
  int id = 0;
  nc_type type = NC_NAT;
  std::int64_t element_bytes = 0;
  bool is_record = false;
  std::vector<std::int64_t> pitch;   ///< elements from one index to the next, in each dimension
  std::int64_t record_elements = 0;  ///< of a record variable: elements of one record
  std::int64_t begin = 0;            ///< file offset of the first element; moves when a definition ends
  std::uint64_t begin_epoch = 0;     ///< in which it was asked

  std::size_t dims() const { return pitch.size(); }
};

class Variables {
 public:
  Variables(const DriverTable& stock, void* file) : stock_(stock), file_(file) {}

  /// Looks the variable up, asking PnetCDF's driver the first time. The pointer stays valid until forget().
  int find(int id, const Variable*& variable);

  /// Fills in where the variable begins now. Not to be called in define mode.
  int locate(const Variable& variable, std::int64_t& begin);

  /// Bytes from one record to the next, now.
  int record_stride(std::int64_t& bytes);

  /// The id of the unlimited dimension; -1 when there is none.
  int unlimited_dimension() const { return unlimited_; }

  /// To be called when a definition ended: dimensions, variables and their places may have changed.
  int refresh();

 private:
  int load(int id, Variable& variable);

  const DriverTable& stock_;
  void* file_;
  int unlimited_ = -1;
  std::uint64_t epoch_ = 1;
  std::vector<std::unique_ptr<Variable>> known_;
};

}  // namespace forebay::pnc
