/* Two fields on an unstructured mesh: each rank has cells from all over it, as a partitioner leaves them.
 * Usage: file_mesh FILE */
#include <forebay/file.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int code) {
  if (code == FOREBAY_SUCCESS) return;
  fprintf(stderr, "%s\n", forebay_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* path = argc > 1 ? argv[1] : "mesh.dat";

  enum { CELLS = 1000 };
  const int64_t all_cells = (int64_t)CELLS * ranks;
  int64_t cell[CELLS]; /* numbers in the whole mesh */
  double pressure[CELLS], again[CELLS];
  float density[CELLS];
  for (int i = 0; i < CELLS; ++i) {
    cell[i] = (int64_t)i * ranks + rank;
    pressure[i] = 1e5 + (double)cell[i];
    density[i] = 1.0f + (float)rank;
  }

  /* [put] */
  forebay_file file;
  check(forebay_open(MPI_COMM_WORLD, path, FOREBAY_RDWR | FOREBAY_CREATE, MPI_INFO_NULL, &file));

  /* An element each at cell[i] of an array of doubles, and of an array of floats behind it. */
  forebay_request put[2] = {{.size = sizeof put[0],
                             .element_bytes = 8,
                             .ndims = FOREBAY_PIECES,
                             .pieces = CELLS,
                             .offsets = cell,
                             .memory = pressure},
                            {.size = sizeof put[0],
                             .element_bytes = 4,
                             .ndims = FOREBAY_PIECES,
                             .pieces = CELLS,
                             .offsets = cell,
                             .offset = 8 * all_cells,
                             .memory = density}};
  check(forebay_put_all(file, put, 2)); /* both fields of all ranks, together */
  /* [put] */

  /* [later] */
  forebay_request get = put[0];
  get.memory = again;
  check(forebay_iput(file, put, 1)); /* `pressure` must stay until the wait */
  check(forebay_iget(file, &get, 1));
  check(forebay_wait_all(file)); /* all puts of all ranks, then all gets, which see them */
  check(forebay_close(&file));
  /* [later] */

  for (int i = 0; i < CELLS; ++i) wrong += again[i] < pressure[i] || again[i] > pressure[i];
  MPI_Finalize();
  return wrong != 0;
}
