// One reduction.
#include "agree.hpp"

#include "mpi/communicator.hpp"
#include "open_file.hpp"

namespace forebay::pnc {

int spread_error(const OpenFile& file, int err) {
  int least = err;  // the codes are negative
  if (MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, mpi::comm_of(file.core->comm())) !=
      MPI_SUCCESS)
    return NC_EMPI;
  return err != NC_NOERR ? err : least;
}

}  // namespace forebay::pnc
