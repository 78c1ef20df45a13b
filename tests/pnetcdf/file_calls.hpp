// What test programs say about files over and over: each call with its code logged.
#pragma once

#include <mpi.h>
#include <pnetcdf.h>

#include <string>
#include <vector>

#include "harness.hpp"

namespace forebay::test {

inline int create_mode(int format) {
  return NC_CLOBBER | (format == 5 ? NC_64BIT_DATA : format == 2 ? NC_64BIT_OFFSET : 0);
}

inline int create(Run& run, int format = 5, MPI_Info info = MPI_INFO_NULL) {
  int file = -1;
  run.code("create", ncmpi_create(run.comm(), run.path().c_str(), create_mode(format), info, &file));
  return file;
}

inline int dim(Run& run, int file, const char* name, MPI_Offset size) {
  int id = -1;
  run.code("def_dim", ncmpi_def_dim(file, name, size, &id));
  return id;
}

inline int var(Run& run, int file, const std::string& name, nc_type type, std::vector<int> dims) {
  int id = -1;
  run.code("def_var " + name,
           ncmpi_def_var(file, name.c_str(), type, static_cast<int>(dims.size()), dims.data(), &id));
  return id;
}

inline void log_records(Run& run, int file, int dimension) {
  MPI_Offset records = -1;
  ncmpi_inq_dimlen(file, dimension, &records);
  run.value("records", records);
}

inline void log_sizes(Run& run, int file, bool with_put_size = true) {
  MPI_Offset put = -1, get = -1;
  int pending = -1;
  ncmpi_inq_put_size(file, &put);
  ncmpi_inq_get_size(file, &get);
  ncmpi_inq_nreqs(file, &pending);
  if (with_put_size && !is_pnetcdf_1_15()) run.value("put_size", put);
  // From 1.15 on some ranks write and read for others.
  if (!is_pnetcdf_1_15()) run.value("get_size", get);
  run.value("nreqs", pending);
}

inline void close(Run& run, int file, bool with_put_size = true) {
  log_sizes(run, file, with_put_size);
  run.code("close", ncmpi_close(file));
}

}  // namespace forebay::test
