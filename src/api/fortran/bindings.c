/* What the Fortran module calls: handles of MPI and array descriptors become what C's functions take. */
#include <ISO_Fortran_binding.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forebay/tcio.h"

/* Without a place for the code nobody would hear of a failure. */
static void done(int code, int* ierror) {
  if (ierror != NULL) {
    *ierror = code;
  } else if (code != FOREBAY_SUCCESS) {
    fprintf(stderr, "forebay: %s\n", forebay_last_error());
    int running = 0;
    MPI_Initialized(&running);
    if (running) MPI_Abort(MPI_COMM_WORLD, code);
    abort();
  }
}

static int64_t bytes_of(const CFI_cdesc_t* array) {
  int64_t bytes = (int64_t)array->elem_len;
  for (int i = 0; i < array->rank; ++i) bytes *= array->dim[i].extent;
  return bytes;
}

static int contiguous(const CFI_cdesc_t* array) {
  return array->rank == 0 || bytes_of(array) == 0 || CFI_is_contiguous(array);
}

/* Copies a section of an array, its first dimension the fastest. */
static char* pack(const CFI_cdesc_t* array, int dim, const char* from, char* to) {
  if (dim < 0) return (char*)memcpy(to, from, array->elem_len) + array->elem_len;
  for (CFI_index_t i = 0; i < array->dim[dim].extent; ++i)
    to = pack(array, dim - 1, from + i * array->dim[dim].sm, to);
  return to;
}

/* The memory to write from: the array's, or a copy, which the caller frees through `copy`. */
static const void* packed(const CFI_cdesc_t* array, void** copy) {
  *copy = NULL;
  if (contiguous(array)) return array->base_addr;
  *copy = malloc((size_t)bytes_of(array));
  if (*copy != NULL) pack(array, array->rank - 1, array->base_addr, *copy);
  return *copy; /* NULL is refused */
}

/* A section would be filled after it was copied: no address is refused, as other mistakes are. */
static void* in_place(const CFI_cdesc_t* array) {
  return contiguous(array) ? array->base_addr : NULL;
}

FOREBAY_API void forebay_tcio_f_open(MPI_Fint comm, const char* path, int flags, MPI_Fint info,
                                     tcio_file* file, int* ierror) {
  done(tcio_open(MPI_Comm_f2c(comm), path, flags, MPI_Info_f2c(info), file), ierror);
}
FOREBAY_API void forebay_tcio_f_close(tcio_file* file, int* ierror) {
  done(tcio_close(file), ierror);
}
FOREBAY_API void forebay_tcio_f_write(tcio_file file, const CFI_cdesc_t* data, int* ierror) {
  void* copy;
  const void* from = packed(data, &copy);
  done(tcio_write(file, from, bytes_of(data)), ierror);
  free(copy);
}
FOREBAY_API void forebay_tcio_f_write_at(tcio_file file, int64_t offset, const CFI_cdesc_t* data,
                                         int* ierror) {
  void* copy;
  const void* from = packed(data, &copy);
  done(tcio_write_at(file, offset, from, bytes_of(data)), ierror);
  free(copy);
}
FOREBAY_API void forebay_tcio_f_read(tcio_file file, const CFI_cdesc_t* data, int* ierror) {
  done(tcio_read(file, in_place(data), bytes_of(data)), ierror);
}
FOREBAY_API void forebay_tcio_f_read_at(tcio_file file, int64_t offset, const CFI_cdesc_t* data,
                                        int* ierror) {
  done(tcio_read_at(file, offset, in_place(data), bytes_of(data)), ierror);
}
FOREBAY_API void forebay_tcio_f_fetch(tcio_file file, int* ierror) {
  done(tcio_fetch(file), ierror);
}
FOREBAY_API void forebay_tcio_f_fetch_all(tcio_file file, int* ierror) {
  done(tcio_fetch_all(file), ierror);
}
FOREBAY_API void forebay_tcio_f_flush(tcio_file file, int* ierror) {
  done(tcio_flush(file), ierror);
}
FOREBAY_API void forebay_tcio_f_sync(tcio_file file, int* ierror) {
  done(tcio_sync(file), ierror);
}
FOREBAY_API void forebay_tcio_f_seek(tcio_file file, int64_t offset, int whence, int* ierror) {
  static const int as_in_c[] = {SEEK_SET, SEEK_CUR, SEEK_END};
  done(tcio_seek(file, offset, whence >= 0 && whence < 3 ? as_in_c[whence] : -1), ierror);
}
FOREBAY_API void forebay_tcio_f_tell(tcio_file file, int64_t* offset, int* ierror) {
  done(tcio_tell(file, offset), ierror);
}
FOREBAY_API void forebay_tcio_f_size(tcio_file file, int64_t* bytes, int* ierror) {
  done(tcio_size(file, bytes), ierror);
}
FOREBAY_API void forebay_tcio_f_set_size(tcio_file file, int64_t bytes, int* ierror) {
  done(tcio_set_size(file, bytes), ierror);
}
