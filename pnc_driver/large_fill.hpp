// Fill values of more than 2^31 bytes a rank: PnetCDF's own driver, which puts all of them into one call of
// MPI-IO, refuses them (NC_EINTOVERFLOW), though puts and gets of that size work.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace forebay::pnc {

struct OpenFile;

/// The fill of one enddef. Nothing happens where PnetCDF's own driver can do it.
class LargeFill {
 public:
  explicit LargeFill(OpenFile& file) : file_(file) {}

  /// Before PnetCDF's own enddef: takes its fill over where it would be too large. The same on all ranks,
  /// whose definitions are.
  int prepare();
  bool taken_over() const { return !variables_.empty(); }

  /// Collective, after it (`err`: how that ended). Errors on every rank.
  int finish(int err);

 private:
  struct Filled {
    int id = 0;
    std::int64_t elements = 0;  ///< of one record, or of all
    std::int64_t repeats = 1;   ///< records that are there already
  };

  OpenFile& file_;
  std::vector<Filled> variables_;
};

/// Collective: ncmpi_fill_var_rec.
int fill_var_rec(void* object, int variable, MPI_Offset record);

}  // namespace forebay::pnc
