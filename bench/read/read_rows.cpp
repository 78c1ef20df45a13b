// The list of rows: those of the PnetCDF benchmark that can be read back.
#include "read_rows.hpp"

namespace forebay::bench {
namespace {

constexpr RowInfo rows[] = {
    {"f-1", "E3SM F map (atmosphere), iget_varn a variable, one wait_all a record", true},
    {"f-16", "the same, 16 wait_alls a record", false},
    {"g-1", "E3SM G map (ocean), iget_varn a variable, one wait_all a record", true},
    {"s3d", "S3D-like: 4 arrays of double in blocks, iget_vara, a wait_all a checkpoint", true},
    {"btio", "BTIO-like: diagonal cells of a 5-component array, iget_vara a cell, a wait_all a step", true},
    {"wrf", "WRF-like: 2-D and 3-D fields in patches, iget_vara a variable, a wait_all a frame", true},
    {"tiny-4", "4-byte pieces, cyclic over the ranks, iget_vars, one wait_all", true},
    {"tiny-16", "16-byte pieces, cyclic over the ranks, iget_vars, one wait_all", true},
};

}  // namespace

std::span<const RowInfo> read_rows() {
  return rows;
}

}  // namespace forebay::bench
