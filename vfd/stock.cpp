// Opening a file with the driver that would have been used without Forebay.
#include "stock.hpp"

#include <string>

namespace forebay::hdf5 {

Status open_stock(const char* name, unsigned flags, hid_t fapl, haddr_t maxaddr, MPI_Comm comm, MPI_Info info,
                  H5FD_t*& file) {
  const hid_t copy = H5Pcopy(fapl);
  // Not H5Pset_fapl_mpio: under the interposer that leads back here.
  if (copy < 0 || H5Pset_mpi_params(copy, comm, info) < 0 || H5Pset_driver(copy, H5FD_MPIO, nullptr) < 0) {
    if (copy >= 0) H5Pclose(copy);
    return {Code::internal, "cannot select the stock MPI-IO driver"};
  }
  file = H5FDopen(name, flags, copy, maxaddr);
  H5Pclose(copy);
  if (file == nullptr) return {Code::io, std::string("the stock MPI-IO driver cannot open ") + name};
  return {};
}

}  // namespace forebay::hdf5
