// Meep: outputs of the electric field, a file each (src/h5fields.cpp; create_data and write_chunk of
// src/h5file.cpp): a contiguous dataset a component, and a call a chunk of the grid, with no property list at
// all. Absorbing layers, 5 cells thick at each side, are chunks of their own.
#include <fmt/format.h>

#include <algorithm>

#include "application_row.hpp"
#include "hdf5_program.hpp"

namespace forebay::bench {
namespace {

class MeepRow final : public Hdf5Program {
 public:
  MeepRow(const Setting& setting, bool collective_metadata)
      : Hdf5Program(setting, collective_metadata), outputs_(by_size(setting.size, 2, 3, 12, 30)) {
    std::vector<int> grid = factors(setting.ranks, 2);
    grid.push_back(1);
    for (const int parts : grid) shape_.push_back(16 * static_cast<hsize_t>(parts));
    shape_[2] = 32;
    const int place = setting.ranks - 1 - setting.rank, y = place % grid[1], x = place / grid[1];
    const std::vector<Part> along_x = parts(0, x, grid[0]), along_y = parts(1, y, grid[1]),
                            along_z = parts(2, 0, 1);
    for (const Part& i : along_x)
      for (const Part& j : along_y)
        for (const Part& k : along_z)
          chunks_.push_back({{i.begin, j.begin, k.begin}, {i.length, j.length, k.length}});
    for (const Chunk& chunk : chunks_)
      expect(shape_, chunk.count, H5T_NATIVE_DOUBLE, outputs_ * std::int64_t{3});
    fill();
  }

  void create(const std::string& path, MPI_Info info) override {
    path_ = path;
    info_ = info;
  }

  void write() override {
    for (int output = 0; output < outputs_; ++output) {
      if (output > 0) close();
      Hdf5Program::create(output == 0 ? path_ : fmt::format("{}.{}", path_, output), info_);
      for (const char* name : {"ex", "ey", "ez"}) {
        // Meep asks by opening it whether there is one.
        if (const hid_t found = H5Dopen2(file(), name, H5P_DEFAULT); found >= 0) H5Dclose(found);
        const Hdf5Id space = make_space(shape_, shape_);
        const Hdf5Id dataset(
            H5Dcreate2(file(), name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, dataset_creation(), H5P_DEFAULT),
            "H5Dcreate2");
        for (const Chunk& chunk : chunks_)
          put(dataset, H5T_NATIVE_DOUBLE, chunk.start, chunk.count, H5P_DEFAULT);
      }
    }
  }

 private:
  struct Part {
    hsize_t begin, length;
  };
  struct Chunk {
    Dims start, count;
  };

  // What layers make of a rank's part of a dimension, from its end, as Meep goes.
  std::vector<Part> parts(std::size_t dimension, int part, int of) const {
    const hsize_t length = shape_[dimension],
                  begin = length * static_cast<hsize_t>(part) / static_cast<hsize_t>(of),
                  end = length * static_cast<hsize_t>(part + 1) / static_cast<hsize_t>(of);
    std::vector<Part> all;
    for (const auto& [low, high] :
         {std::pair{length - 5, length}, {hsize_t{0}, hsize_t{5}}, {hsize_t{5}, length - 5}}) {
      const hsize_t from = std::max(begin, low), to = std::min(end, high);
      if (from < to) all.push_back({from, to - from});
    }
    return all;
  }

  int outputs_;
  Dims shape_;
  std::vector<Chunk> chunks_;
  std::string path_;
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace

std::unique_ptr<Row> make_meep_row(const Setting& setting, bool collective_metadata) {
  return std::make_unique<MeepRow>(setting, collective_metadata);
}

}  // namespace forebay::bench
