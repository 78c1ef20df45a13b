/* Each rank puts BYTES bytes in PIECES pieces, which interleave with those of the others, in one collective
 * write; the first looks at the file. usage: interleaved FILE BYTES PIECES */
#include <forebay/file.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int code) {
  if (code == FOREBAY_SUCCESS) return;
  fprintf(stderr, "%s\n", forebay_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static char value(int64_t at, int rank) {
  return (char)(at * 31 + at / 256 * 7 + rank * 13 + 1);
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  const int64_t bytes = atoll(argv[2]), pieces = atoll(argv[3]), piece = bytes / pieces;
  const int64_t shape[2] = {pieces, ranks}, start[2] = {0, rank}, count[2] = {pieces, 1};
  char* data = malloc((size_t)bytes);
  for (int64_t i = 0; i < bytes; ++i) data[i] = value(i, rank);

  forebay_file file;
  check(forebay_open(MPI_COMM_WORLD, argv[1], FOREBAY_CREATE | FOREBAY_TRUNC | FOREBAY_RDWR, MPI_INFO_NULL,
                     &file));
  const forebay_request put = {.size = sizeof put,
                               .element_bytes = piece,
                               .ndims = 2,
                               .shape = shape,
                               .start = start,
                               .count = count,
                               .memory = data};
  check(forebay_put_all(file, &put, 1));
  check(forebay_close(&file));

  int wrong = 0;
  if (rank == 0) {
    FILE* const written = fopen(argv[1], "rb");
    int64_t at = 0;
    for (int c = 0; written != NULL && (c = fgetc(written)) != EOF; ++at)
      wrong |= (char)c != value(at / (piece * ranks) * piece + at % piece, (int)(at / piece % ranks));
    wrong |= at != bytes * ranks;
    if (wrong) fprintf(stderr, "%s is wrong, %lld bytes\n", argv[1], (long long)at);
    if (written != NULL) fclose(written);
  }
  free(data);
  MPI_Finalize();
  return wrong;
}
