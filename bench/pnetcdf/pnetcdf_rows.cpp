// The list of rows.
#include "pnetcdf_rows.hpp"

namespace forebay::bench {
namespace {

constexpr RowInfo rows[] = {
    {"f-1", "E3SM F map (atmosphere), iput_varn a variable, one wait_all a record", true},
    {"f-16", "the same, 16 wait_alls a record", false},
    {"g-1", "E3SM G map (ocean), iput_varn a variable, one wait_all a record", false},
    {"g-16", "the same, 16 wait_alls a record", true},
    {"s3d", "S3D-like: 4 arrays of double in blocks, iput_vara, a wait_all a checkpoint", true},
    {"btio", "BTIO-like: diagonal cells of a 5-component array, iput_vara a cell, a wait_all a step", true},
    {"wrf", "WRF-like: 2-D and 3-D fields in patches, bput_vara a variable, a wait_all a frame", true},
    {"tiny-4", "4-byte pieces, cyclic over the ranks, iput_vars, one wait_all", true},
    {"tiny-16", "16-byte pieces, cyclic over the ranks, iput_vars, one wait_all", false},
    {"small-puts", "a field a call: small put_vara_alls one after another", true},
    {"small-waits", "4 fields a call: small wait_alls one after another", true},
    {"late", "as small-puts, before each call a rank in turn is 0 to 5 ms late", false},
    {"independent", "independent put_vars, cyclic over the ranks, more than commit mode keeps", true},
    {"gaps", "small put_vars_alls, cyclic, with a gap between the ranks that nobody puts", true},
    {"open-close", "one put of 1 KiB a rank, as a program: timed from create to close", false, true, true},
    {"reopen", "LAMMPS-like: 4-byte pieces and some long ones, opened and closed for each frame", false, true,
     true},
    {"reopen-cyclic", "the same, atoms cyclic over the ranks", false, true, true},
};

}  // namespace

std::span<const RowInfo> pnetcdf_rows() {
  return rows;
}

}  // namespace forebay::bench
