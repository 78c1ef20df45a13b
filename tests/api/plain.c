/* Forebay's own file in C: a box, a list, staging, and what is pending, and the file by fread. */
#include <forebay/file.h>
#include <forebay/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, failures;

static void check(int good, int line) {
  if (good) return;
  fprintf(stderr, "rank %d line %d: %s\n", rank, line, forebay_last_error());
  ++failures;
}
#define CHECK(x) check(x, __LINE__)

/* Elements in reverse order. */
static int begin(void* context, int slot, int64_t first, int64_t bytes, void* to) {
  (void)slot;
  const int32_t* from = context;
  for (int64_t i = 0; i < bytes / 4; ++i) ((int32_t*)to)[i] = from[9 - (first / 4 + i)];
  return 0;
}
static int finish(void* context, int slot) {
  (void)context, (void)slot;
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(strcmp(forebay_version(), FOREBAY_VERSION) == 0);
  forebay_file file = FOREBAY_FILE_NULL;
  CHECK(forebay_open(MPI_COMM_WORLD, "plain.dat", FOREBAY_RDWR | FOREBAY_CREATE | FOREBAY_TRUNC,
                     MPI_INFO_NULL, &file) == FOREBAY_SUCCESS);

  /* A column of a matrix; a list behind it; both in one call. */
  int32_t column[10], list[10], staged[10], got[10];
  for (int i = 0; i < 10; ++i) column[i] = 1000 * rank + i, list[i] = -column[i], staged[i] = 7 * column[i];
  const int64_t shape[] = {10, ranks}, start[] = {0, rank}, count[] = {10, 1};
  int64_t offsets[] = {12 * rank + 3, 12 * rank, 12 * rank + 10}, lengths[] = {7, 2, 1};
  int64_t one_each[10];
  for (int i = 0; i < 10; ++i) one_each[i] = (int64_t)i * ranks + rank;
  int32_t slots[6];
  const forebay_stage stage = {.size = sizeof stage,
                               .context = staged,
                               .begin = begin,
                               .finish = finish,
                               .memory = slots,
                               .slot_bytes = 12,
                               .slots = 2};
  const int64_t behind = 40 * ranks, far = behind + 48 * ranks;
  forebay_request puts[3] = {{.size = sizeof *puts,
                              .element_bytes = 4,
                              .ndims = 2,
                              .shape = shape,
                              .start = start,
                              .count = count,
                              .memory = column},
                             {.size = sizeof *puts,
                              .offset = behind,
                              .element_bytes = 4,
                              .ndims = FOREBAY_PIECES,
                              .swap = 1,
                              .pieces = 3,
                              .offsets = offsets,
                              .lengths = lengths,
                              .memory = list},
                             {.size = sizeof *puts,
                              .offset = far,
                              .element_bytes = 4,
                              .ndims = FOREBAY_PIECES,
                              .pieces = 10,
                              .offsets = one_each,
                              .stage = &stage}};
  CHECK(forebay_put_all(file, puts, 2) == FOREBAY_SUCCESS);
  CHECK(forebay_iput(file, puts + 2, 1) == FOREBAY_SUCCESS);
  forebay_request get = puts[1];
  get.memory = got;
  CHECK(forebay_iget(file, &get, 1) == FOREBAY_SUCCESS);
  memset(offsets, 0, sizeof offsets); /* they were taken */
  memset(one_each, 0, sizeof one_each);
  CHECK(forebay_wait_all(file) == FOREBAY_SUCCESS);
  CHECK(memcmp(got, list, sizeof got) == 0);
  puts[1].lengths = offsets;
  puts[1].pieces = -1;
  CHECK(forebay_put(file, puts, 2) == FOREBAY_ERR_ARGUMENT &&
        strstr(forebay_last_error(), "-1 pieces") != NULL);
  CHECK(forebay_put_all(file, NULL, 2) == FOREBAY_ERR_ARGUMENT &&
        strstr(forebay_last_error(), "no list of requests") != NULL);
  puts[1].pieces = 1, puts[1].offsets = NULL;
  CHECK(forebay_iput(file, puts, 2) == FOREBAY_ERR_ARGUMENT &&
        strstr(forebay_last_error(), "request 1") != NULL);
  CHECK(forebay_wait(file) == FOREBAY_ERR_ARGUMENT && forebay_wait(file) == FOREBAY_SUCCESS);
  int64_t bytes = 0;
  CHECK(forebay_flush(file) == FOREBAY_SUCCESS && forebay_size(file, &bytes) == FOREBAY_SUCCESS);
  CHECK(bytes == far + 40 * ranks);
  CHECK(forebay_close(&file) == FOREBAY_SUCCESS && file == FOREBAY_FILE_NULL);

  if (rank == 0) {
    FILE* in = fopen("plain.dat", "rb");
    const int n = 32 * ranks;
    int32_t* all = malloc(sizeof *all * (size_t)n);
    CHECK(in != NULL && fread(all, 4, (size_t)n, in) == (size_t)n && fgetc(in) == EOF);
    for (int r = 0; r < ranks; ++r) {
      for (int i = 0; i < 10; ++i) {
        const int place[] = {3, 4, 5, 6, 7, 8, 9, 0, 1, 10};
        CHECK(all[i * ranks + r] == 1000 * r + i);
        CHECK((int32_t)__builtin_bswap32((uint32_t)all[10 * ranks + 12 * r + place[i]]) == -(1000 * r + i));
        CHECK(all[22 * ranks + i * ranks + r] == 7 * (1000 * r + 9 - i));
      }
    }
    free(all);
    if (in != NULL) fclose(in);
  }
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures != 0;
}
