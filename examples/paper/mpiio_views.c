/* Program 2 of the TCIO paper: two arrays of each rank, dealt in blocks of SIZE elements in turn, as one
 * collective write. MPI-IO takes one buffer a call, so that the arrays are combined first; and a view says
 * where the parts of it belong. Usage: mpiio_views FILE LEN SIZE */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct arrays a = make_arrays(argc, argv);
  const int block = (int)((sizeof *a.ints + sizeof *a.doubles) * (size_t)a.size);

  char* buffer = malloc((size_t)block * (size_t)(a.length / a.size));
  char* to = buffer;
  for (int i = 0; i < a.length; i += a.size) {
    to = (char*)memcpy(to, &a.ints[i], sizeof *a.ints * (size_t)a.size) + sizeof *a.ints * (size_t)a.size;
    to = (char*)memcpy(to, &a.doubles[i], sizeof *a.doubles * (size_t)a.size) +
         sizeof *a.doubles * (size_t)a.size;
  }

  MPI_Datatype element, blocks;
  MPI_Type_contiguous(block, MPI_BYTE, &element);
  MPI_Type_commit(&element);
  MPI_Type_vector(a.length / a.size, 1, a.ranks, element, &blocks);
  MPI_Type_commit(&blocks);

  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, a.path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, (MPI_Offset)a.rank * block, element, blocks, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, buffer, a.length / a.size, element, MPI_STATUS_IGNORE);
  MPI_File_close(&file);

  MPI_Type_free(&blocks);
  MPI_Type_free(&element);
  free(buffer);
  free_arrays(&a);
  MPI_Finalize();
  return 0;
}
