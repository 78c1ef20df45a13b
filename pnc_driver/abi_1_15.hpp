// The driver interface inside PnetCDF 1.15.0 and 1.15.1: the table of 1.12.3 to 1.14 without get_vard and
// put_vard, and with two more arguments of create and open. No header installs it.
#pragma once

#include <mpi.h>

namespace forebay::pnc {

/// Who shares a node, as the library found out for the communicator; create and open take it by value. This
/// driver hands it on and looks at nothing in it, but its size and kinds decide how it is passed.
struct CommunicatorAttributes {
  int references;
  int nodes;
  int* node_of_rank;
  MPI_Comm node;
  int aggregators_per_node;
  int aggregators;
  int is_aggregator;
  int* aggregator_ranks;
  MPI_Comm aggregators_between_nodes;
  MPI_Comm group_within_node;
};

struct DriverTable115 {
  using Entry = void (*)();

  /// `environment`: bits for what PNETCDF_SAFE_MODE and the like say, the same on all ranks.
  int (*create)(MPI_Comm, const char* path, int cmode, int ncid, int environment, MPI_Info,
                CommunicatorAttributes, void** file);
  int (*open)(MPI_Comm, const char* path, int omode, int ncid, int environment, MPI_Info,
              CommunicatorAttributes, void** file);
  Entry close_to_put_varn[35];   ///< as in the other table, from close to put_varn
  Entry iget_var_to_cancel[10];  ///< and from iget_var to the end
};

static_assert(sizeof(DriverTable115) == 47 * sizeof(void (*)()), "the table of PnetCDF 1.15 has 47 entries");

}  // namespace forebay::pnc
