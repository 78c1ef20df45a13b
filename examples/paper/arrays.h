/* What both programs write: an array of ints and one of doubles on each rank. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct arrays {
  const char* path;
  int length, size; /* of an array; of a block, which divides it */
  int rank, ranks;
  int* ints;
  double* doubles;
};

static struct arrays make_arrays(int argc, char** argv) {
  struct arrays a = {.path = argc > 1 ? argv[1] : "paper.dat",
                     .length = argc > 2 ? atoi(argv[2]) : 1 << 16,
                     .size = argc > 3 ? atoi(argv[3]) : 1};
  MPI_Comm_rank(MPI_COMM_WORLD, &a.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &a.ranks);
  if (a.size < 1 || a.length < 1 || a.length % a.size != 0) {
    fprintf(stderr, "usage: %s FILE LEN SIZE, SIZE a divisor of LEN\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  a.ints = malloc(sizeof *a.ints * (size_t)a.length);
  a.doubles = malloc(sizeof *a.doubles * (size_t)a.length);
  for (int i = 0; i < a.length; ++i) {
    a.ints[i] = a.rank * a.length + i;
    a.doubles[i] = 0.5 + a.rank * (double)a.length + i;
  }
  return a;
}

static void free_arrays(struct arrays* a) {
  free(a->ints);
  free(a->doubles);
}

#endif
