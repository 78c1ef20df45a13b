// By PnetCDF.
#include <mpi.h>
#include <pnetcdf.h>

#include <array>
#include <cstdio>

#include "library.hpp"

namespace faults {
namespace {

bool well(int err, const char* call) {
  if (err != NC_NOERR) std::fprintf(stderr, "%s: %s\n", call, ncmpi_strerror(err));
  return err == NC_NOERR;
}

class PnetCDF final : public Library {
 public:
  bool create(const std::string& path) override {
    if (!well(ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file_),
              "ncmpi_create"))
      return false;
    int dims[2] = {};
    bool good = well(ncmpi_def_dim(file_, "row", kRows, &dims[0]), "ncmpi_def_dim");
    good = well(ncmpi_def_dim(file_, "x", kColumns, &dims[1]), "ncmpi_def_dim") && good;
    const std::array<const char*, kArrays> names{"u", "v"};
    for (std::size_t a = 0; a < kArrays; ++a)
      good = well(ncmpi_def_var(file_, names[a], NC_INT, 2, dims, &variables_[a]), "ncmpi_def_var") && good;
    good = well(ncmpi_enddef(file_), "ncmpi_enddef") && good;
    if (good) locate();
    if (!good) (void)ncmpi_close(file_);
    return good;
  }

  bool open(const std::string& path) override {
    if (!well(ncmpi_open(MPI_COMM_WORLD, path.c_str(), NC_WRITE, MPI_INFO_NULL, &file_), "ncmpi_open"))
      return false;
    alone_ = false;
    locate();
    return true;
  }

  bool be_alone(bool alone) override {
    if (alone == alone_) return true;
    const bool good = alone ? well(ncmpi_begin_indep_data(file_), "ncmpi_begin_indep_data")
                            : well(ncmpi_end_indep_data(file_), "ncmpi_end_indep_data");
    if (good) alone_ = alone;
    return good;
  }

  bool write(Way way, const Part& part) override {
    const MPI_Offset start[] = {part.first_row, part.first_column};
    const MPI_Offset count[] = {part.rows, part.columns};
    const MPI_Offset stride[] = {part.row_step, part.column_step};
    bool good = true;
    std::array<int, kArrays> requests{}, statuses{};
    std::array<std::vector<std::int32_t>, kArrays> values;
    for (std::size_t a = 0; a < kArrays; ++a) {
      values[a] = values_of(part, static_cast<int>(a));
      const int v = variables_[a];
      const std::int32_t* const data = values[a].data();
      if (way == Way::together)
        good = well(ncmpi_put_vars_int_all(file_, v, start, count, stride, data), "ncmpi_put_vars_int_all") &&
               good;
      else if (way == Way::alone)
        good = well(ncmpi_put_vars_int(file_, v, start, count, stride, data), "ncmpi_put_vars_int") && good;
      else
        good = well(ncmpi_iput_vars_int(file_, v, start, count, stride, data, &requests[a]), "ncmpi_iput") &&
               good;
    }
    if (way == Way::pending)
      good = well(ncmpi_wait_all(file_, kArrays, requests.data(), statuses.data()), "ncmpi_wait_all") && good;
    return good;
  }

  bool read(Way way, std::vector<std::int32_t>& values) override {
    bool good = true;
    for (std::size_t a = 0; a < kArrays; ++a) {
      std::int32_t* const data = values.data() + a * kRows * kColumns;
      good = (way == Way::alone
                  ? well(ncmpi_get_var_int(file_, variables_[a], data), "ncmpi_get_var_int")
                  : well(ncmpi_get_var_int_all(file_, variables_[a], data), "ncmpi_get_var_int_all")) &&
             good;
    }
    return good;
  }

  bool sync() override { return well(ncmpi_sync(file_), "ncmpi_sync"); }

  bool redefine() override {
    if (!well(ncmpi_redef(file_), "ncmpi_redef")) return false;
    alone_ = false;
    int dim = 0;
    const std::string text(3000, 'x');
    bool good = well(ncmpi_def_dim(file_, "z", kRows, &dim), "ncmpi_def_dim");
    good = well(ncmpi_def_var(file_, "later", NC_INT, 1, &dim, &later_), "ncmpi_def_var") && good;
    return well(ncmpi_put_att_text(file_, NC_GLOBAL, "more", 3000, text.c_str()), "ncmpi_put_att_text") &&
           good;
  }
  // Data move, since the header grows.
  bool end_definition() override {
    ended_ = well(ncmpi_enddef(file_), "ncmpi_enddef");
    if (ended_) locate();
    return ended_;
  }
  bool fill_new() override {
    const std::vector<std::int32_t> values(kRows, 7);
    return well(ncmpi_put_var_int_all(file_, later_, values.data()), "ncmpi_put_var_int_all");
  }

  // A failed enddef has moved an unknown part of the data, and each rank knows something else of it.
  bool goes_on() override {
    int ended = ended_ ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &ended, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return ended != 0;
  }

  bool close() override { return well(ncmpi_close(file_), "ncmpi_close"); }
  bool swaps() const override { return true; }

 private:
  void locate() {
    for (std::size_t a = 0; a < kArrays; ++a) {
      MPI_Offset offset = 0;
      (void)ncmpi_inq_varid(file_, a == 0 ? "u" : "v", &variables_[a]);
      if (ncmpi_inq_varoffset(file_, variables_[a], &offset) == NC_NOERR) offsets_[a] = offset;
    }
  }

  int file_ = -1, later_ = -1;
  bool alone_ = false, ended_ = true;
  std::array<int, kArrays> variables_{};
};

}  // namespace

std::unique_ptr<Library> make_pnetcdf() {
  return std::make_unique<PnetCDF>();
}

}  // namespace faults
