// netCDF-C on parallel HDF5: a model's output by nc_* calls alone. Fixed and record variables, chunked,
// compressed, filled and not, in independent and collective access; a second definition in between;
// everything is read back, also by other ranks and after opening the file again.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include <array>
#include <string>
#include <vector>

#include "client_log.hpp"

namespace {

using forebay::test::ClientLog;
using std::size_t;

constexpr size_t columns = 12, rows_each = 5, records = 4;

float temperature(size_t record, size_t row, size_t column) {
  return static_cast<float>(record * 10000 + row * 100 + column) * 0.5f;
}
int level(size_t row, size_t column) {
  return static_cast<int>(row * 1000 + column * column);
}

class History {
 public:
  explicit History(ClientLog& log, MPI_Comm comm)
      : log_(log), comm_(comm), rows_(rows_each * static_cast<size_t>(log.ranks())) {}

  void write(const std::string& path) {
    must("create",
         nc_create_par(path.c_str(), NC_CLOBBER | NC_NETCDF4 | NC_MPIIO, comm_, MPI_INFO_NULL, &file_));
    define();
    write_independent();
    write_collective();
    must("sync", nc_sync(file_));
    MPI_Barrier(comm_);
    read(1);
    must("redef", nc_redef(file_));
    define_more();
    write_more();
    must("close", nc_close(file_));
    must("open", nc_open_par(path.c_str(), NC_WRITE | NC_MPIIO, comm_, MPI_INFO_NULL, &file_));
    write_again();
    must("close", nc_close(file_));
    must("open", nc_open_par(path.c_str(), NC_NOWRITE | NC_MPIIO, comm_, MPI_INFO_NULL, &file_));
    read(0);
    read(1);
    must("close", nc_close(file_));
  }

 private:
  void must(const char* what, int err) { log_.must(what, err, nc_strerror(err)); }
  size_t first_row(int shift = 0) const {
    return rows_each * static_cast<size_t>((log_.rank() + shift) % log_.ranks());
  }
  void access(int variable, int how) { must("access", nc_var_par_access(file_, variable, how)); }

  void define() {
    must("def_dim", nc_def_dim(file_, "time", NC_UNLIMITED, &time_dim_));
    must("def_dim", nc_def_dim(file_, "row", rows_, &row_dim_));
    must("def_dim", nc_def_dim(file_, "column", columns, &column_dim_));
    const std::array<int, 3> dims{time_dim_, row_dim_, column_dim_};
    must("def_var", nc_def_var(file_, "time", NC_DOUBLE, 1, &time_dim_, &time_));
    must("def_var", nc_def_var(file_, "mask", NC_BYTE, 2, &dims[1], &mask_));
    must("def_var", nc_def_var(file_, "temperature", NC_FLOAT, 3, dims.data(), &temperature_));
    must("def_var", nc_def_var(file_, "level", NC_INT, 2, &dims[1], &level_));
    must("def_var", nc_def_var(file_, "sparse", NC_DOUBLE, 2, &dims[1], &sparse_));
    must("def_var", nc_def_var(file_, "packed", NC_SHORT, 2, &dims[1], &packed_));
    const std::array<size_t, 3> record_chunk{1, 3, columns};
    const std::array<size_t, 2> chunk{4, 5};
    must("chunking", nc_def_var_chunking(file_, temperature_, NC_CHUNKED, record_chunk.data()));
    must("chunking", nc_def_var_chunking(file_, level_, NC_CHUNKED, chunk.data()));
    must("deflate", nc_def_var_deflate(file_, level_, 1, 1, 4));
    const double fill = -7.25;
    must("fill", nc_def_var_fill(file_, sparse_, NC_FILL, &fill));
    must("no fill", nc_def_var_fill(file_, packed_, NC_NOFILL, nullptr));
    must("endian", nc_def_var_endian(file_, packed_, NC_ENDIAN_BIG));
    const float range[2] = {-50.5f, 60.25f};
    const std::string units = "days since 2000-01-01";
    must("put_att", nc_put_att_text(file_, time_, "units", units.size(), units.c_str()));
    must("put_att", nc_put_att_float(file_, temperature_, "valid_range", NC_FLOAT, 2, range));
    must("def_grp", nc_def_grp(file_, "diagnostics", &group_));
    must("def_var", nc_def_var(group_, "count", NC_UINT64, 1, &row_dim_, &count_));
    must("enddef", nc_enddef(file_));
  }

  // The ranks do different things, and different numbers of them.
  void write_independent() {
    std::vector<signed char> mask(rows_each * columns, static_cast<signed char>(log_.rank() + 1));
    const size_t start[2] = {first_row(), 0}, count[2] = {rows_each, columns};
    must("put_vara_schar", nc_put_vara_schar(file_, mask_, start, count, mask.data()));
    for (size_t row = first_row(); row < first_row() + rows_each; ++row) {
      const auto value = static_cast<unsigned long long>(row) * 7;
      must("put_var1_ulonglong", nc_put_var1_ulonglong(group_, count_, &row, &value));
    }
    const size_t point[2] = {first_row() + 1, 3};
    const double value = 0.25 + log_.rank();
    if (log_.rank() % 2 == 0) must("put_var1_double", nc_put_var1_double(file_, sparse_, point, &value));
    // a value that its type cannot hold: the code comes back, the rest is written
    std::vector<int> wide(rows_each * columns, 12);
    if (log_.rank() == 0) wide[1] = 100000;
    log_.code("out of range", nc_put_vara_int(file_, packed_, start, count, wide.data()));
    log_.code("independent access to what is compressed", nc_var_par_access(file_, level_, NC_INDEPENDENT));
  }

  void write_collective() {
    access(temperature_, NC_COLLECTIVE);
    access(time_, NC_COLLECTIVE);
    write_records(0, 2);
    std::vector<int> levels(rows_each * columns);
    for (size_t i = 0; i < levels.size(); ++i) levels[i] = level(first_row() + i / columns, i % columns);
    const size_t start[2] = {first_row(), 0}, count[2] = {rows_each, columns};
    access(level_, NC_COLLECTIVE);
    must("put_vara_int", nc_put_vara_int(file_, level_, start, count, levels.data()));
    // the last rank alone has the times
    const bool mine = log_.rank() == log_.ranks() - 1;
    const size_t start_time[1] = {0}, count_time[1] = {mine ? size_t{2} : size_t{0}};
    const double days[2] = {0.5, 1.5};
    must("put_vara_double", nc_put_vara_double(file_, time_, start_time, count_time, days));
    // strided columns, from doubles
    std::vector<double> doubles(rows_each * columns / 2);
    for (size_t half = 0; half < 2; ++half) {
      for (size_t i = 0; i < doubles.size(); ++i)
        doubles[i] = static_cast<double>(
            temperature(2, first_row() + i / (columns / 2), i % (columns / 2) * 2 + half));
      const size_t start_half[3] = {2, first_row(), half}, count_half[3] = {1, rows_each, columns / 2};
      const std::ptrdiff_t stride[3] = {1, 1, 2};
      must("put_vars_double",
           nc_put_vars_double(file_, temperature_, start_half, count_half, stride, doubles.data()));
    }
  }

  void write_records(size_t first, size_t n) {
    std::vector<float> values(n * rows_each * columns);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] =
          temperature(first + i / (rows_each * columns), first_row() + i / columns % rows_each, i % columns);
    const size_t start[3] = {first, first_row(), 0}, count[3] = {n, rows_each, columns};
    must("put_vara_float", nc_put_vara_float(file_, temperature_, start, count, values.data()));
  }

  void define_more() {
    const std::array<int, 2> dims{time_dim_, column_dim_};
    must("def_var", nc_def_var(file_, "zonal_mean", NC_DOUBLE, 2, dims.data(), &mean_));
    for (int i = 0; i < 40; ++i)
      must("put_att",
           nc_put_att_int(file_, NC_GLOBAL, ("setting" + std::to_string(i)).c_str(), NC_INT, 1, &i));
    must("enddef", nc_enddef(file_));
  }

  void write_more() {
    access(mean_, NC_COLLECTIVE);
    // each rank some columns, the last takes the rest
    const size_t share = columns / static_cast<size_t>(log_.ranks());
    const size_t first = share * static_cast<size_t>(log_.rank());
    const size_t start[2] = {0, first};
    const size_t count[2] = {3, log_.rank() == log_.ranks() - 1 ? columns - first : share};
    std::vector<double> mean(count[0] * count[1]);
    for (size_t i = 0; i < mean.size(); ++i)
      mean[i] = static_cast<double>(i / count[1] * 100 + first + i % count[1]) / 4;
    must("put_vara_double", nc_put_vara_double(file_, mean_, start, count, mean.data()));
  }

  // The file was opened again.
  void write_again() {
    must("inq_varid", nc_inq_varid(file_, "temperature", &temperature_));
    must("inq_varid", nc_inq_varid(file_, "mask", &mask_));
    access(temperature_, NC_COLLECTIVE);
    write_records(records - 1, 1);
    const size_t start[2] = {first_row(1), 2}, count[2] = {1, 3};
    const signed char values[3] = {11, 12, 13};
    must("put_vara_schar", nc_put_vara_schar(file_, mask_, start, count, values));
  }

  // What the rank `shift` further wrote.
  void read(int shift) {
    size_t length = 0;
    must("inq_dimlen", nc_inq_dimlen(file_, time_dim_, &length));
    log_.line("records " + std::to_string(length));
    std::vector<float> values(length * rows_each * columns), expected(values.size());
    for (size_t i = 0; i < values.size(); ++i)
      expected[i] =
          temperature(i / (rows_each * columns), first_row(shift) + i / columns % rows_each, i % columns);
    const size_t start[3] = {0, first_row(shift), 0}, count[3] = {length, rows_each, columns};
    access(temperature_, shift == 0 ? NC_COLLECTIVE : NC_INDEPENDENT);
    must("get_vara_float", nc_get_vara_float(file_, temperature_, start, count, values.data()));
    log_.values("temperature", values, expected);
    std::vector<int> levels(rows_each * columns), expected_levels(levels.size());
    for (size_t i = 0; i < levels.size(); ++i)
      expected_levels[i] = level(first_row(shift) + i / columns, i % columns);
    access(level_, NC_COLLECTIVE);
    must("get_vara_int", nc_get_vara_int(file_, level_, &start[1], &count[1], levels.data()));
    log_.values("level", levels, expected_levels);
    std::vector<double> sparse(rows_each * columns), expected_sparse(sparse.size(), -7.25);
    const int writer = (log_.rank() + shift) % log_.ranks();
    if (writer % 2 == 0) expected_sparse[columns + 3] = 0.25 + writer;
    must("get_vara_double", nc_get_vara_double(file_, sparse_, &start[1], &count[1], sparse.data()));
    log_.values("sparse", sparse, expected_sparse);
    // several ranks have put some of these
    std::vector<short> packed(rows_each * columns);
    must("get_vara_short", nc_get_vara_short(file_, packed_, &start[1], &count[1], packed.data()));
    log_.values("packed", packed, packed);
    std::vector<signed char> mask(rows_each * columns);
    must("get_vara_schar", nc_get_vara_schar(file_, mask_, &start[1], &count[1], mask.data()));
    log_.values("mask", mask, mask);
  }

  ClientLog& log_;
  MPI_Comm comm_;
  size_t rows_;
  int file_ = -1, group_ = -1;
  int time_dim_ = -1, row_dim_ = -1, column_dim_ = -1;
  int time_ = -1, mask_ = -1, temperature_ = -1, level_ = -1, sparse_ = -1, packed_ = -1, count_ = -1,
      mean_ = -1;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ClientLog log(MPI_COMM_WORLD);
  History(log, MPI_COMM_WORLD).write("history.nc");
  const int result = log.finish();
  MPI_Finalize();
  return result;
}
