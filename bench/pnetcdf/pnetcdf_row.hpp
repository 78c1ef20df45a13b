// A row that is written through PnetCDF: its definitions, and its puts.
#pragma once

#include <pnetcdf.h>

#include <memory>
#include <string>
#include <string_view>

#include "pnetcdf_call.hpp"
#include "row.hpp"

namespace forebay::bench {

class PnetcdfRow : public Row {
 public:
  void create(const std::string& path, MPI_Info info) final {
    check(ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, info, &file_),
          "ncmpi_create");
    define(file_);
    check(ncmpi_enddef(file_), "ncmpi_enddef");
  }
  void write() final { put(file_); }
  void close() final { check(ncmpi_close(file_), "ncmpi_close"); }

 private:
  virtual void define(int file) = 0;  // in define mode
  virtual void put(int file) = 0;     // in data mode

  int file_ = -1;
};

// Recorded decompositions, or empty: a generated one.
struct Maps {
  std::string f, g;
};

// Throws std::runtime_error where there is none of that name.
std::unique_ptr<Row> make_pnetcdf_row(std::string_view name, const Setting& setting, const Maps& maps);

// By file.
std::unique_ptr<Row> make_e3sm_row(const Setting& setting, const std::string& map, bool ocean, int waits);
std::unique_ptr<Row> make_s3d_row(const Setting& setting);
std::unique_ptr<Row> make_btio_row(const Setting& setting);
std::unique_ptr<Row> make_wrf_row(const Setting& setting);
std::unique_ptr<Row> make_tiny_row(const Setting& setting, int piece_bytes);
std::unique_ptr<Row> make_small_row(const Setting& setting, bool blocking);

}  // namespace forebay::bench
