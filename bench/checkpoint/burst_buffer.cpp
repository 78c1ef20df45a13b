// Asks an open file whether it has one.
#include "burst_buffer.hpp"

#include <mpi.h>

#include <stdexcept>

#include "pnetcdf_call.hpp"

namespace forebay::bench {

void require_burst_buffer(const std::string& folder) {
  const std::string path = folder + "/burst_buffer_probe.nc";
  MPI_Info asked = MPI_INFO_NULL, told = MPI_INFO_NULL;
  MPI_Info_create(&asked);
  MPI_Info_set(asked, "nc_burst_buf", "enable");
  MPI_Info_set(asked, "nc_burst_buf_dirname", folder.c_str());
  int file = -1, found = 0;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  check(ncmpi_create(MPI_COMM_WORLD, path.c_str(), NC_CLOBBER, asked, &file), "ncmpi_create");
  check(ncmpi_inq_file_info(file, &told), "ncmpi_inq_file_info");
  MPI_Info_get(told, "nc_burst_buf", MPI_MAX_INFO_VAL, value, &found);
  MPI_Info_free(&told);
  MPI_Info_free(&asked);
  check(ncmpi_close(file), "ncmpi_close");
  ncmpi_delete(path.c_str(), MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (found == 0 || std::string(value) != "enable")
    throw std::runtime_error("this PnetCDF was built without a burst buffer (--enable-burst-buffering)");
}

}  // namespace forebay::bench
