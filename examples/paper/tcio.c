/* Program 3 of the TCIO paper: the same file as mpiio_views.c writes, by saying of each block where it
 * belongs. Usage: tcio FILE LEN SIZE */
#include <forebay/tcio.h>

#include "arrays.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct arrays a = make_arrays(argc, argv);
  const int64_t ints = (int64_t)sizeof *a.ints * a.size, doubles = (int64_t)sizeof *a.doubles * a.size;

  tcio_file file;
  tcio_open(MPI_COMM_WORLD, a.path, FOREBAY_CREATE | FOREBAY_WRONLY, MPI_INFO_NULL, &file);
  for (int i = 0; i < a.length; i += a.size) {
    const int64_t at = (i / a.size * (int64_t)a.ranks + a.rank) * (ints + doubles);
    tcio_write_at(file, at, &a.ints[i], ints);
    tcio_write_at(file, at + ints, &a.doubles[i], doubles);
  }
  const int result = tcio_close(&file);

  free_arrays(&a);
  MPI_Finalize();
  return result;
}
