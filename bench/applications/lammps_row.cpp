// LAMMPS: dump netcdf/mpiio of id, type, positions and velocities (src/NETCDF/dump_netcdf_mpiio.cpp): the
// file is opened and closed for each frame. Rank 0 puts time and cell independently; then all put
// collectively, an array or a component a call, doubles as floats. A rank has a block of the atoms.
#include <pnetcdf.h>

#include <cstring>
#include <string>
#include <vector>

#include "application_row.hpp"
#include "pnetcdf_call.hpp"

namespace forebay::bench {
namespace {

class LammpsRow final : public Row {
 public:
  explicit LammpsRow(const Setting& setting)
      : writes_(setting.rank == 0),
        frames_(by_size(setting.size, 2, 5, 21, 50)),
        atoms_(by_size<std::int64_t>(setting.size, 30, 4000, 13500, 32000)) {
    const Range block = part_of(atoms_, setting.rank, setting.ranks);
    first_ = block.begin;
    mine_ = block.length();
    count(2 * frames_, 4 * mine_);
    count(6 * frames_ * mine_, 4);
    if (writes_) count(5, 4);             // the labels
    if (writes_) count(10 * frames_, 4);  // time, origin, lengths, angles
    // Every one of them is a float; none has a zero byte.
    std::vector<float> values(static_cast<std::size_t>(mine_) + shifts + 10);
    fill_values(std::as_writable_bytes(std::span(values)), static_cast<std::uint64_t>(setting.rank) + 1);
    reals_.assign(values.begin(), values.end());
    for (const float value : values) {
      std::int32_t integer = 0;
      std::memcpy(&integer, &value, sizeof integer);
      integers_.push_back(integer);
    }
  }

  void create(const std::string& path, MPI_Info info) override {
    path_ = path;
    info_ = info;
  }

  void write() override {
    for (MPI_Offset frame = 0; frame < frames_; ++frame) {
      if (frame > 0) check(ncmpi_close(file_), "ncmpi_close");
      open_frame(frame);
      put_header(frame);
      put_atoms(frame);
    }
  }

  void close() override { check(ncmpi_close(file_), "ncmpi_close"); }

 private:
  static constexpr int shifts = 512;

  void open_frame(MPI_Offset frame) {
    if (frame == 0) return define();
    check(ncmpi_open(MPI_COMM_WORLD, path_.c_str(), NC_WRITE, info_, &file_), "ncmpi_open");
    int id = -1;
    MPI_Offset frames = 0;
    for (const char* name : {"frame", "atom", "cell_spatial", "cell_angular", "label", "spatial", "Voigt"})
      check(ncmpi_inq_dimid(file_, name, &id), "ncmpi_inq_dimid");
    for (const char* name : {"spatial", "cell_spatial", "cell_angular", "time", "cell_origin", "cell_lengths",
                             "cell_angles", "id", "type", "coordinates", "velocities"})
      check(ncmpi_inq_varid(file_, name, &id), "ncmpi_inq_varid");
    check(ncmpi_inq_dimid(file_, "frame", &id), "ncmpi_inq_dimid");
    check(ncmpi_inq_dimlen(file_, id, &frames), "ncmpi_inq_dimlen");
  }

  int dimension(const char* name, MPI_Offset length) {
    int id = -1;
    check(ncmpi_def_dim(file_, name, length, &id), "ncmpi_def_dim");
    return id;
  }
  int variable(const char* name, nc_type type, const std::vector<int>& over) {
    int id = -1;
    check(ncmpi_def_var(file_, name, type, static_cast<int>(over.size()), over.data(), &id), "ncmpi_def_var");
    return id;
  }
  void attribute(int of, const char* name, const std::string& text) {
    check(ncmpi_put_att_text(file_, of, name, static_cast<MPI_Offset>(text.size()), text.c_str()),
          "ncmpi_put_att_text");
  }

  void define() {
    check(ncmpi_create(MPI_COMM_WORLD, path_.c_str(), NC_CLOBBER | NC_64BIT_DATA, info_, &file_),
          "ncmpi_create");
    const int frame = dimension("frame", NC_UNLIMITED), atom = dimension("atom", atoms_),
              cell_spatial = dimension("cell_spatial", 3), cell_angular = dimension("cell_angular", 3),
              label = dimension("label", 10), spatial = dimension("spatial", 3);
    dimension("Voigt", 6);
    const int axes = variable("spatial", NC_CHAR, {spatial}),
              cell_axes = variable("cell_spatial", NC_CHAR, {spatial}),
              cell_angles = variable("cell_angular", NC_CHAR, {spatial, label});
    time_ = variable("time", NC_FLOAT, {frame});
    cell_[0] = variable("cell_origin", NC_FLOAT, {frame, cell_spatial});
    cell_[1] = variable("cell_lengths", NC_FLOAT, {frame, cell_spatial});
    cell_[2] = variable("cell_angles", NC_FLOAT, {frame, cell_angular});
    integral_[0] = variable("id", NC_INT, {frame, atom});
    integral_[1] = variable("type", NC_INT, {frame, atom});
    vectors_[0] = variable("coordinates", NC_FLOAT, {frame, atom, spatial});
    attribute(vectors_[0], "units", "Angstrom");
    vectors_[1] = variable("velocities", NC_FLOAT, {frame, atom, spatial});
    attribute(vectors_[1], "units", "Angstrom/femtosecond");
    attribute(NC_GLOBAL, "Conventions", "AMBER");
    attribute(NC_GLOBAL, "ConventionVersion", "1.0");
    attribute(NC_GLOBAL, "program", "LAMMPS");
    attribute(NC_GLOBAL, "programVersion", "29 Aug 2024");
    attribute(time_, "units", "femtosecond");
    for (int i = 0; i < 2; ++i) attribute(cell_[i], "units", "Angstrom");
    attribute(cell_[2], "units", "degree");
    const float scale = 1;
    check(ncmpi_put_att_float(file_, time_, "scale_factor", NC_FLOAT, 1, &scale), "ncmpi_put_att_float");
    check(ncmpi_enddef(file_), "ncmpi_enddef");
    check(ncmpi_begin_indep_data(file_), "ncmpi_begin_indep_data");
    if (writes_) {
      check(ncmpi_put_var_text(file_, axes, "xyz"), "ncmpi_put_var_text");
      check(ncmpi_put_var_text(file_, cell_axes, "abc"), "ncmpi_put_var_text");
      MPI_Offset row = 0;
      for (const char* angle : {"alpha", "beta", "gamma"}) {
        const MPI_Offset start[] = {row++, 0}, count[] = {1, static_cast<MPI_Offset>(std::strlen(angle))};
        check(ncmpi_put_vara_text(file_, cell_angles, start, count, angle), "ncmpi_put_vara_text");
      }
    }
    check(ncmpi_end_indep_data(file_), "ncmpi_end_indep_data");
  }

  void put_header(MPI_Offset frame) {
    const MPI_Offset start[] = {frame, 0}, count[] = {1, 3};
    check(ncmpi_begin_indep_data(file_), "ncmpi_begin_indep_data");
    if (writes_) {
      const double* from = reals_.data() + frame % shifts;
      check(ncmpi_put_var1_double(file_, time_, start, from++), "ncmpi_put_var1_double");
      for (const int id : cell_) {
        check(ncmpi_put_vara_double(file_, id, start, count, from), "ncmpi_put_vara_double");
        from += 3;
      }
    }
    check(ncmpi_end_indep_data(file_), "ncmpi_end_indep_data");
  }

  void put_atoms(MPI_Offset frame) {
    MPI_Offset start[] = {frame, mine_ == 0 ? 0 : first_, 0};
    const MPI_Offset count[] = {1, mine_, 1}, stride[] = {1, 1, 3};
    MPI_Offset shift = 8 * frame;
    for (const int id : integral_)
      check(ncmpi_put_vara_long_all(file_, id, start, count, integers_.data() + shift++ % shifts),
            "ncmpi_put_vara_long_all");
    for (const int id : vectors_) {
      for (start[2] = 0; start[2] < 3; ++start[2])
        check(ncmpi_put_vars_double_all(file_, id, start, count, stride, reals_.data() + shift++ % shifts),
              "ncmpi_put_vars_double_all");
    }
  }

  bool writes_;  // labels and headers
  std::int64_t frames_, atoms_, first_ = 0, mine_ = 0;
  std::vector<double> reals_;
  std::vector<long> integers_;
  std::string path_;
  MPI_Info info_ = MPI_INFO_NULL;
  int file_ = -1, time_ = -1, cell_[3] = {}, integral_[2] = {}, vectors_[2] = {};
};

}  // namespace

std::unique_ptr<Row> make_lammps_row(const Setting& setting) {
  return std::make_unique<LammpsRow>(setting);
}

}  // namespace forebay::bench
