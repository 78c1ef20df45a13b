// PETSc: steps of a vector on a structured grid (VecView_MPI_HDF5_DA in src/dm/impls/da/gr2.c), a dataset
// that grows by a step. Chunks are of its choice (VecGetHDF5ChunkSize there): a step below 1 MiB is one.
#include <algorithm>

#include "application_row.hpp"
#include "petsc_viewer.hpp"

namespace forebay::bench {
namespace {

hsize_t up(hsize_t length, int parts) {
  const auto of = static_cast<hsize_t>(parts);
  return (length + of - 1) / of;
}

class DmdaRow final : public PetscViewer {
 public:
  // Ranks cut all dimensions and have 10 doubles of the last one, or cut the second one alone and have 60
  // rows of 40 doubles of it.
  DmdaRow(const Setting& setting, bool collective_metadata, bool long_pieces)
      : PetscViewer(setting, collective_metadata), steps_(by_size(setting.size, 2, 5, 20, 50)) {
    std::vector<int> grid = {1, setting.ranks, 1};
    if (!long_pieces) {
      grid = factors(setting.ranks, 3);
      std::reverse(grid.begin(), grid.end());
      const hsize_t edge = setting.size == Size::Tiny ? 8 : 80;
      shape_ = {edge, edge, 10 * static_cast<hsize_t>(grid[2])};
    } else {
      const auto ranks = static_cast<hsize_t>(setting.ranks);
      shape_ = {setting.size == Size::Tiny ? 2 : std::max<hsize_t>(1, 54 / ranks), 60 * ranks, 40};
    }
    int rest = setting.rank;
    for (std::size_t d = 3; d-- > 0; rest /= grid[d]) {
      const Slab slab(static_cast<std::int64_t>(shape_[d]), rest % grid[d], grid[d]);
      start_.insert(start_.begin(), slab.begin);
      count_.insert(count_.begin(), slab.length);
    }
    const hsize_t bytes = 8 * shape_[0] * shape_[1] * shape_[2],
                  target = std::min(
                      bytes, std::max({up(bytes, setting.ranks), up(bytes, 64 << 10), hsize_t{1} << 20}));
    chunk_ = shape_;
    if (target < bytes) {
      const bool planes = target >= bytes / static_cast<hsize_t>(grid[0]);
      for (std::size_t d = 0; d < (planes ? 1 : 3); ++d) chunk_[d] = up(shape_[d], grid[d]);
    }
    expect(chunk_, count_, H5T_NATIVE_DOUBLE, steps_);
    fill();
  }

  void write() override {
    const hbool_t yes = true;
    for (int step = 0; step < steps_; ++step) {
      const auto at = static_cast<hsize_t>(step);
      view({"/", "solution", H5T_NATIVE_DOUBLE, with(at + 1, shape_), with(at, start_), with(1, count_),
            with(H5S_UNLIMITED, shape_), with(1, chunk_)});
      write_attribute("/solution", "timestepping", H5T_NATIVE_HBOOL, &yes);
    }
  }

 private:
  static Dims with(hsize_t first, Dims others) {
    others.insert(others.begin(), first);
    return others;
  }

  int steps_;
  Dims shape_, start_, count_, chunk_;
};

}  // namespace

std::unique_ptr<Row> make_dmda_row(const Setting& setting, bool collective_metadata, bool long_pieces) {
  return std::make_unique<DmdaRow>(setting, collective_metadata, long_pieces);
}

}  // namespace forebay::bench
