// netCDF-C on PnetCDF: a model's output by nc_* calls alone. It starts in independent mode, as netCDF-C does,
// and changes to collective access and back; records grow in both; a sync and a second definition in between;
// everything is read back.
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

constexpr size_t columns = 12, rows_each = 3, records = 4;

float temperature(size_t record, size_t row, size_t column) {
  return static_cast<float>(record * 10000 + row * 100 + column) * 0.5f;
}

class History {
 public:
  History(ClientLog& log, MPI_Comm comm)
      : log_(log), comm_(comm), mine_(rows_each * static_cast<size_t>(log.rank())) {
    rows_ = rows_each * static_cast<size_t>(log.ranks());
  }

  void write(const std::string& path, int format) {
    must("create",
         nc_create_par(path.c_str(), NC_CLOBBER | NC_PNETCDF | format, comm_, MPI_INFO_NULL, &file_));
    define(format == NC_64BIT_DATA);
    write_independent();
    must("sync", nc_sync(file_));
    must("access", nc_var_par_access(file_, temperature_, NC_COLLECTIVE));
    write_collective();
    must("redef", nc_redef(file_));
    define_more();
    write_more();
    must("access", nc_var_par_access(file_, temperature_, NC_INDEPENDENT));
    write_last();
    must("sync", nc_sync(file_));
    read(true);
    must("close", nc_close(file_));
    must("open", nc_open_par(path.c_str(), NC_NOWRITE | NC_PNETCDF, comm_, MPI_INFO_NULL, &file_));
    read(false);
    must("close", nc_close(file_));
  }

 private:
  void must(const char* what, int err) { log_.must(what, err, nc_strerror(err)); }

  void log_records(const char* what) {
    size_t length = 0;
    must("inq_dimlen", nc_inq_dimlen(file_, time_dim_, &length));
    log_.line(std::string(what) + " records " + std::to_string(length));
  }

  void define(bool large) {
    must("def_dim", nc_def_dim(file_, "time", NC_UNLIMITED, &time_dim_));
    must("def_dim", nc_def_dim(file_, "row", rows_, &row_dim_));
    must("def_dim", nc_def_dim(file_, "column", columns, &column_dim_));
    const std::array<int, 3> dims{time_dim_, row_dim_, column_dim_};
    must("def_var", nc_def_var(file_, "time", NC_DOUBLE, 1, &time_dim_, &time_));
    must("def_var", nc_def_var(file_, "mask", NC_BYTE, 2, &dims[1], &mask_));
    must("def_var", nc_def_var(file_, "count", large ? NC_UINT64 : NC_INT, 1, &row_dim_, &count_));
    must("def_var", nc_def_var(file_, "temperature", NC_FLOAT, 3, dims.data(), &temperature_));
    must("def_var", nc_def_var(file_, "packed", NC_SHORT, 3, dims.data(), &packed_));
    const float range[2] = {-50.5f, 60.25f};
    const std::string units = "days since 2000-01-01";
    must("put_att", nc_put_att_text(file_, time_, "units", units.size(), units.c_str()));
    must("put_att", nc_put_att_float(file_, temperature_, "valid_range", NC_FLOAT, 2, range));
    must("enddef", nc_enddef(file_));
  }

  // Independent access: the ranks do different things, and one alone makes the first record.
  void write_independent() {
    std::vector<signed char> mask(rows_each * columns, static_cast<signed char>(log_.rank() + 1));
    const size_t start[2] = {mine_, 0}, count[2] = {rows_each, columns};
    must("put_vara_schar", nc_put_vara_schar(file_, mask_, start, count, mask.data()));
    for (size_t row = mine_; row < mine_ + rows_each; ++row) {
      const long long value = static_cast<long long>(row) * 7;
      must("put_var1_longlong", nc_put_var1_longlong(file_, count_, &row, &value));
    }
    if (log_.rank() == 0) {
      const size_t first = 0;
      const double day = 0.5;
      must("put_var1_double", nc_put_var1_double(file_, time_, &first, &day));
    }
  }

  // Collective access: whole rows in two records, then strided columns from doubles, then some ranks with
  // nothing.
  void write_collective() {
    std::vector<float> values(2 * rows_each * columns);
    fill(values, 0, 2);
    const size_t start[3] = {0, mine_, 0}, count[3] = {2, rows_each, columns};
    must("put_vara_float", nc_put_vara_float(file_, temperature_, start, count, values.data()));
    std::vector<double> doubles(rows_each * columns / 2);
    for (size_t half = 0; half < 2; ++half) {
      for (size_t i = 0; i < doubles.size(); ++i) {
        const size_t row = i / (columns / 2), column = i % (columns / 2) * 2 + half;
        doubles[i] = static_cast<double>(temperature(2, mine_ + row, column));
      }
      const size_t start_half[3] = {2, mine_, half}, count_half[3] = {1, rows_each, columns / 2};
      const std::ptrdiff_t stride[3] = {1, 1, 2};
      must("put_vars_double",
           nc_put_vars_double(file_, temperature_, start_half, count_half, stride, doubles.data()));
    }
    log_records("collective");
    // a value that its type cannot hold: the code comes back, the rest is written
    std::vector<int> wide(rows_each * columns, 12);
    if (log_.rank() == 0) wide[1] = 100000;
    const size_t start_packed[3] = {1, mine_, 0}, count_packed[3] = {1, rows_each, columns};
    log_.code("out of range", nc_put_vara_int(file_, packed_, start_packed, count_packed, wide.data()));
    const size_t start_time[1] = {1},
                 count_time[1] = {log_.rank() == log_.ranks() - 1 ? size_t{2} : size_t{0}};
    const double days[2] = {1.5, 2.5};
    must("put_vara_double", nc_put_vara_double(file_, time_, start_time, count_time, days));
  }

  void define_more() {
    const std::array<int, 2> dims{time_dim_, column_dim_};
    must("def_var", nc_def_var(file_, "zonal_mean", NC_DOUBLE, 2, dims.data(), &mean_));
    const std::string history(2000, 'h');  // moves all data
    must("put_att", nc_put_att_text(file_, NC_GLOBAL, "history", history.size(), history.c_str()));
    must("enddef", nc_enddef(file_));
    log_records("defined again");
  }

  void write_more() {
    must("access", nc_var_par_access(file_, mean_, NC_COLLECTIVE));
    std::vector<double> mean(columns);
    for (size_t record = 0; record < records; ++record) {
      for (size_t i = 0; i < columns; ++i) mean[i] = static_cast<double>(record * 100 + i) / 3;
      // each rank some columns, the last takes the rest
      const size_t share = columns / static_cast<size_t>(log_.ranks());
      const size_t first = share * static_cast<size_t>(log_.rank());
      const size_t start[2] = {record, first};
      const size_t count[2] = {1, log_.rank() == log_.ranks() - 1 ? columns - first : share};
      must("put_vara_double", nc_put_vara_double(file_, mean_, start, count, mean.data() + first));
    }
    // transposed in memory
    std::vector<float> values(rows_each * columns);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = temperature(3, mine_ + i % rows_each, i / rows_each);
    const size_t start[3] = {3, mine_, 0}, count[3] = {1, rows_each, columns};
    const std::ptrdiff_t imap[3] = {1, 1, rows_each};
    must("put_varm_float",
         nc_put_varm_float(file_, temperature_, start, count, nullptr, imap, values.data()));
  }

  // Back in independent mode: ranks one after the other write over a part of what is there, in the order that
  // MPI-IO keeps: with a sync in between.
  void write_last() {
    for (int turn = 0; turn < log_.ranks(); ++turn) {
      if (turn == log_.rank()) {
        const size_t start[3] = {0, rows_ - 1, 0}, count[3] = {1, 1, columns};
        std::vector<short> values(columns, static_cast<short>(turn));
        must("put_vara_short", nc_put_vara_short(file_, packed_, start, count, values.data()));
      }
      must("sync", nc_sync(file_));
    }
  }

  void fill(std::vector<float>& values, size_t first, size_t count) const {
    for (size_t r = 0, i = 0; r < count; ++r) {
      for (size_t row = 0; row < rows_each; ++row) {
        for (size_t column = 0; column < columns; ++column)
          values[i++] = temperature(first + r, mine_ + row, column);
      }
    }
  }

  void read(bool writable) {
    log_records("read");
    // independent, as it is, then collective
    for (int access : {NC_INDEPENDENT, NC_COLLECTIVE}) {
      must("access", nc_var_par_access(file_, temperature_, access));
      std::vector<float> values(records * rows_each * columns), expected(values.size());
      const size_t start[3] = {0, mine_, 0}, count[3] = {records, rows_each, columns};
      must("get_vara_float", nc_get_vara_float(file_, temperature_, start, count, values.data()));
      fill(expected, 0, records);
      log_.values("temperature", values, expected);
    }
    std::vector<signed char> mask(rows_each * columns), mask_expected(mask.size());
    const size_t other = static_cast<size_t>((log_.rank() + 1) % log_.ranks());  // what another rank wrote
    const size_t start[2] = {rows_each * other, 0}, count[2] = {rows_each, columns};
    must("get_vara_schar", nc_get_vara_schar(file_, mask_, start, count, mask.data()));
    mask_expected.assign(mask.size(), static_cast<signed char>(other + 1));
    log_.values("mask", mask, mask_expected);
    std::vector<double> days(3);
    const size_t first = 0, three = 3;
    must("get_vara_double", nc_get_vara_double(file_, time_, &first, &three, days.data()));
    log_.values("time", days, {0.5, 1.5, 2.5});
    std::vector<short> packed(columns);
    const size_t last[3] = {0, rows_ - 1, 0}, row[3] = {1, 1, columns};
    must("get_vara_short", nc_get_vara_short(file_, packed_, last, row, packed.data()));
    log_.values("packed", packed, std::vector<short>(columns, static_cast<short>(log_.ranks() - 1)));
    if (writable) must("access", nc_var_par_access(file_, temperature_, NC_INDEPENDENT));
  }

  ClientLog& log_;
  MPI_Comm comm_;
  size_t mine_ = 0, rows_ = 0;
  int file_ = -1, time_dim_ = -1, row_dim_ = -1, column_dim_ = -1;
  int time_ = -1, mask_ = -1, count_ = -1, temperature_ = -1, packed_ = -1, mean_ = -1;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  {
    ClientLog log(MPI_COMM_WORLD);
    History(log, MPI_COMM_WORLD).write("cdf5.nc", NC_64BIT_DATA);
    History(log, MPI_COMM_WORLD).write("cdf2.nc", NC_64BIT_OFFSET);
    History(log, MPI_COMM_WORLD).write("cdf1.nc", 0);
    status = log.finish();
  }
  MPI_Finalize();
  return status;
}
