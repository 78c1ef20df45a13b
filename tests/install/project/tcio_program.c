/* Writes and reads a file by TCIO: every rank in turn, an element a call. */
#include <forebay/tcio.h>
#include <forebay/version.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1, got = -1, bad = strcmp(forebay_version(), FOREBAY_VERSION) != 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  tcio_file file;
  if (tcio_open(MPI_COMM_WORLD, argv[argc - 1], FOREBAY_CREATE | FOREBAY_RDWR, MPI_INFO_NULL, &file) !=
      FOREBAY_SUCCESS) {
    fprintf(stderr, "%s\n", forebay_last_error());
    return 1;
  }
  for (int i = rank; i < 1000; i += ranks) bad |= tcio_write_at(file, 4 * (int64_t)i, &i, 4);
  bad |= tcio_flush(file);
  for (int i = 0; i < 1000; ++i) {
    bad |= tcio_read(file, &got, 4);
    bad |= tcio_fetch(file);
    bad |= got != i;
  }
  bad |= tcio_close(&file);
  if (bad) fprintf(stderr, "FAIL %s\n", forebay_last_error());
  MPI_Finalize();
  return bad != 0;
}
