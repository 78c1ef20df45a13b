// PnetCDF's C++ bindings: files, dimensions, variables and attributes as objects; collective, strided,
// nonblocking and buffered puts. The file is closed by its object's end.
#include <mpi.h>

#include <pnetcdf>

#include <cstdio>
#include <string>
#include <vector>

#include "client_log.hpp"

namespace {

using forebay::test::ClientLog;
using PnetCDF::NcmpiDim;
using PnetCDF::NcmpiFile;
using PnetCDF::NcmpiVar;
using Places = std::vector<MPI_Offset>;

constexpr MPI_Offset rows_each = 4, columns = 10, steps = 3;

std::vector<double> field_of(MPI_Offset step, MPI_Offset first_row) {
  std::vector<double> values;
  for (MPI_Offset row = first_row; row < first_row + rows_each; ++row) {
    for (MPI_Offset column = 0; column < columns; ++column)
      values.push_back(static_cast<double>(step * 1000 + row * 20 + column) * 0.5);
  }
  return values;
}

void write(const std::string& path, NcmpiFile::FileFormat format, int rank, int ranks) {
  NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, format);
  const NcmpiDim time = file.addDim("time");
  const NcmpiDim y = file.addDim("y", rows_each * ranks), x = file.addDim("x", columns);
  const std::vector<NcmpiDim> plane{y, x}, history{time, y, x};
  const NcmpiVar field = file.addVar("field", PnetCDF::ncmpiDouble, history);
  const NcmpiVar halves = file.addVar("halves", PnetCDF::ncmpiFloat, plane);
  const NcmpiVar pieces = file.addVar("pieces", PnetCDF::ncmpiShort, plane);
  const NcmpiVar number = file.addVar("number", PnetCDF::ncmpiInt, history);
  file.putAtt("title", "C++ bindings");
  field.putAtt("scale", PnetCDF::ncmpiFloat, 0.5f);
  file.enddef();
  const MPI_Offset first = rows_each * rank;
  for (MPI_Offset step = 0; step < steps; ++step)
    field.putVar_all(Places{step, first, 0}, Places{1, rows_each, columns}, field_of(step, first).data());
  // every second column, as another type, twice
  for (MPI_Offset half = 0; half < 2; ++half) {
    std::vector<double> values;
    for (MPI_Offset i = 0; i < rows_each * columns / 2; ++i)
      values.push_back(static_cast<double>(half * 100 + i + 10 * rank));
    halves.putVar_all(Places{first, half}, Places{rows_each, columns / 2}, Places{1, 2}, values.data());
  }
  // nonblocking: a list of pieces, the last row first, and buffered puts of a temporary
  file.Buffer_attach(4096);
  std::vector<int> requests, statuses;
  std::vector<short> shorts(static_cast<std::size_t>(rows_each * columns), static_cast<short>(rank + 1));
  std::vector<Places> starts, counts;
  for (MPI_Offset row = rows_each; row-- > 0;) {
    starts.push_back({first + row, 0});
    counts.push_back({1, columns});
  }
  std::vector<MPI_Offset*> start_list, count_list;
  for (Places& start : starts) start_list.push_back(start.data());
  for (Places& count : counts) count_list.push_back(count.data());
  requests.push_back(NC_REQ_NULL);
  pieces.iputVarn(static_cast<int>(rows_each), start_list.data(), count_list.data(), shorts.data(),
                  &requests.back());
  for (MPI_Offset step = 0; step < steps && (rank == 0 || rank % 2 == 1); ++step) {  // not every rank
    std::vector<int> numbers(static_cast<std::size_t>(rows_each * columns),
                             static_cast<int>(7 * step + rank));
    requests.push_back(NC_REQ_NULL);
    number.bputVar(Places{step, first, 0}, Places{1, rows_each, columns}, numbers.data(), &requests.back());
    numbers.assign(numbers.size(), -1);
  }
  statuses.resize(requests.size());
  file.Wait_all(static_cast<int>(requests.size()), requests.data(), statuses.data());
  file.Buffer_detach();
}

void read(ClientLog& log, const std::string& path) {
  const NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::read);
  const MPI_Offset other = (log.rank() + 1) % log.ranks();
  const auto size = static_cast<std::size_t>(rows_each * columns);
  const Places plane{rows_each * other, 0}, whole{rows_each, columns};
  log.line("records " + std::to_string(file.getDim("time").getSize()));
  for (MPI_Offset step = 0; step < steps; ++step) {
    std::vector<double> values(size);
    file.getVar("field").getVar_all(Places{step, rows_each * other, 0}, Places{1, rows_each, columns},
                                    values.data());
    log.values("field", values, field_of(step, rows_each * other));
  }
  std::vector<double> halves(size), expected(size);
  file.getVar("halves").getVar_all(plane, whole, halves.data());
  for (std::size_t i = 0; i < size; ++i)
    expected[i] = static_cast<double>((i % 2) * 100 + i / 2) + 10.0 * static_cast<double>(other);
  log.values("halves", halves, expected);
  std::vector<int> pieces(size);
  file.getVar("pieces").getVar_all(plane, whole, pieces.data());
  log.values("pieces", pieces, std::vector<int>(size, static_cast<int>(other) + 1));
  if (other == 0 || other % 2 == 1) {
    std::vector<int> numbers(size);
    file.getVar("number").getVar_all(Places{2, rows_each * other, 0}, Places{1, rows_each, columns},
                                     numbers.data());
    log.values("number", numbers, std::vector<int>(size, 14 + static_cast<int>(other)));
  } else {
    int none = 0;
    file.getVar("number").getVar_all(Places{0, 0, 0}, Places{0, 0, 0}, &none);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 1;
  try {
    ClientLog log(MPI_COMM_WORLD);
    write("cdf5.nc", NcmpiFile::classic5, log.rank(), log.ranks());
    write("cdf2.nc", NcmpiFile::classic2, log.rank(), log.ranks());
    read(log, "cdf5.nc");
    read(log, "cdf2.nc");
    status = log.finish();
  } catch (PnetCDF::exceptions::NcmpiException& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return status;
}
