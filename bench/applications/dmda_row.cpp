// PETSc: vectors on a structured grid, or steps of one (VecView_MPI_HDF5_DA and VecGetHDF5ChunkSize in
// src/dm/impls/da/gr2.c). Ranks cut the last dimension, unevenly: chunks are as large as the largest part, so
// that all but the first ones write across two of them.
#include <fmt/format.h>

#include <algorithm>

#include "application_row.hpp"
#include "petsc_viewer.hpp"

namespace forebay::bench {
namespace {

class DmdaRow final : public PetscViewer {
 public:
  DmdaRow(const Setting& setting, bool collective_metadata, Dmda dmda)
      : PetscViewer(setting, collective_metadata), steps_(dmda == Dmda::steps) {
    const auto ranks = static_cast<hsize_t>(setting.ranks), rank = static_cast<hsize_t>(setting.rank);
    const bool tiny = setting.size == Size::Tiny;
    const hsize_t width = dmda == Dmda::long_pieces ? 2432 : 10, wider = (ranks + 1) / 2, chunk = width + 1;
    shape_ = dmda == Dmda::long_pieces ? Dims{tiny ? 2u : 32u} : tiny ? Dims{4, 4} : Dims{64, 64};
    start_.assign(shape_.size(), 0);
    count_ = shape_;
    shape_.push_back(width * ranks + wider);
    start_.push_back(width * rank + std::min(rank, wider));
    count_.push_back(width + (rank < wider ? 1 : 0));
    chunk_ = shape_;
    hsize_t bytes = 8;
    for (const hsize_t length : shape_) bytes *= length;
    if (bytes > hsize_t{1} << 20) chunk_.back() = chunk;
    vectors_ =
        dmda == Dmda::long_pieces ? by_size(setting.size, 2, 2, 8, 12) : by_size(setting.size, 2, 4, 12, 20);
    const std::vector<hsize_t> cut = pieces_of(start_.back(), count_.back(), chunk_.back());
    for (const hsize_t part : cut) {
      Dims count = count_;
      count.back() = part;
      expect(chunk_, count, H5T_NATIVE_DOUBLE, vectors_);
    }
    reserve(count_, H5T_NATIVE_DOUBLE);
    fill();
  }

  void write() override {
    const int yes = 1;
    for (int vector = 0; vector < vectors_; ++vector) {
      const auto step = static_cast<hsize_t>(vector);
      if (!steps_) {
        view({"/", fmt::format("u{}", vector), H5T_NATIVE_DOUBLE, shape_, start_, count_, shape_, chunk_});
        continue;
      }
      view({"/", "u", H5T_NATIVE_DOUBLE, with(step + 1, shape_), with(step, start_), with(1, count_),
            with(H5S_UNLIMITED, shape_), with(1, chunk_)});
      write_attribute("/u", "timestepping", H5T_NATIVE_INT, &yes);
    }
    end();
  }

 private:
  static Dims with(hsize_t first, Dims others) {
    others.insert(others.begin(), first);
    return others;
  }
  // How chunks cut a part.
  static std::vector<hsize_t> pieces_of(hsize_t begin, hsize_t length, hsize_t chunk) {
    std::vector<hsize_t> pieces;
    for (const hsize_t end = begin + length; begin < end; begin += pieces.back())
      pieces.push_back(std::min(end, (begin / chunk + 1) * chunk) - begin);
    return pieces;
  }

  bool steps_;
  int vectors_ = 0;
  Dims shape_, start_, count_, chunk_;
};

}  // namespace

std::unique_ptr<Row> make_dmda_row(const Setting& setting, bool collective_metadata, Dmda dmda) {
  return std::make_unique<DmdaRow>(setting, collective_metadata, dmda);
}

}  // namespace forebay::bench
