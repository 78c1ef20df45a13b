// A row that is written through PnetCDF: its definitions, and its puts.
#pragma once

#include <pnetcdf.h>

#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decomposition.hpp"
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
  void write() final { transfer(file_, Way::Put); }
  void close() final { check(ncmpi_close(file_), "ncmpi_close"); }

  void open(const std::string& path, MPI_Info info) final {
    const std::span<std::byte> values = memory();
    if (values.empty() && bytes() > 0) return Row::open(path, info);
    written_ = values;
    got_ = unread(values);
    check(ncmpi_open(MPI_COMM_WORLD, path.c_str(), NC_NOWRITE, info, &file_), "ncmpi_open");
    int variables = 0;
    check(ncmpi_inq_nvars(file_, &variables), "ncmpi_inq_nvars");
    std::vector<int> ids(static_cast<std::size_t>(variables));
    std::iota(ids.begin(), ids.end(), 0);
    found(ids);
  }
  void read() final { transfer(file_, Way::Get); }
  bool same() const final { return all_read(written_, got_, bytes()); }

 protected:
  enum class Way { Put, Get };
  // Where the bytes at `at` of memory() are to be put from, or got to.
  std::byte* place(Way way, std::byte* at) {
    return way == Way::Put ? at : got_.data() + (at - written_.data());
  }

 private:
  virtual void define(int file) = 0;             // in define mode
  virtual void transfer(int file, Way way) = 0;  // in data mode
  // For rows that are read back: all that is put, and the variables of a file, in the order of their
  // definition.
  virtual std::span<std::byte> memory() { return {}; }
  virtual void found(const std::vector<int>&) {}

  std::span<std::byte> written_;
  std::vector<std::byte> got_;

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
// All of a history file; its values are those of make_values.
std::unique_ptr<Row> make_history_row(const Setting& setting, std::vector<Decomposition> over,
                                      std::int64_t records);
std::unique_ptr<Row> make_s3d_row(const Setting& setting);
std::unique_ptr<Row> make_btio_row(const Setting& setting);
std::unique_ptr<Row> make_wrf_row(const Setting& setting);
std::unique_ptr<Row> make_tiny_row(const Setting& setting, int piece_bytes);
enum class SmallCalls { puts, late, waits };
std::unique_ptr<Row> make_small_row(const Setting& setting, SmallCalls calls);
std::unique_ptr<Row> make_stride_row(const Setting& setting, bool independent);
std::unique_ptr<Row> make_open_close_row(const Setting& setting);
std::unique_ptr<Row> make_reopen_row(const Setting& setting, bool cyclic);

}  // namespace forebay::bench
