// The list of rows.
#include "hdf5_rows.hpp"

namespace forebay::bench {
namespace {

constexpr RowInfo rows[] = {
    {"datasets", "256 datasets of 12 KiB on 4 ranks, of which each rank has columns of 48 bytes", true},
    {"stride-1", "one dataset, its doubles dealt out to the ranks in turn", true},
    {"stride-64", "the same by 64 doubles", false},
    {"block-2d", "4 datasets of doubles in 2-D blocks", false},
    {"block-3d", "4 datasets of doubles in 3-D blocks", true},
    {"chunked", "2 datasets in 3-D blocks, in chunks across the blocks", false},
    {"deflate", "the same, deflated (level 1), always a collective H5Dwrite a dataset", true},
    {"multi", "32 datasets of doubles in 2-D blocks", true},
    {"f", "E3SM F map (atmosphere), unions of hyperslabs, a call a record", true},
    {"amr", "AMR-like: ragged boxes x levels x components, a dataset a level and component", true},
    {"small-independent", "64 to 1000 bytes a call, interleaved, always independent", true},
    {"independent", "strided hyperslabs, interleaved, more than commit mode keeps, always independent", true},
    {"gaps", "small strided hyperslabs with a gap between the ranks that nobody writes", true},
    {"open-close", "one write of 2 KiB a rank, as a program: timed from create to close", false, true, true},
};

}  // namespace

std::span<const RowInfo> hdf5_rows() {
  return rows;
}

}  // namespace forebay::bench
