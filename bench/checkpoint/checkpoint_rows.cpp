// The list of rows.
#include "checkpoint_rows.hpp"

namespace forebay::bench {
namespace {

// Each has launches of its own, as a program: what it computes is chosen for its checkpoints.
constexpr RowInfo rows[] = {
    {"f", "E3SM F map, a record a checkpoint: iput_varn a variable, one wait_all", true, true},
    {"btio", "BTIO-like, a step a checkpoint: iput_vara a cell, one wait_all", true, true},
    {"trees", "an adaptive mesh, a file a checkpoint: trees' arrays by TCIO, stock by independent MPI-IO",
     true, true},
    {"restart", "HDF5, a group a checkpoint: 6 fields in blocks, a collective H5Dwrite each, then H5Fflush",
     true, true},
};

}  // namespace

std::span<const RowInfo> checkpoint_rows() {
  return rows;
}

std::int64_t bytes_of_checkpoint(Size size) {
  return by_size<std::int64_t>(size, 4, 40, 120, 400) << 20;
}

}  // namespace forebay::bench
