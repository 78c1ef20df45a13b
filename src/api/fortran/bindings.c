/* What the Fortran module calls: handles of MPI and array descriptors become what C's functions take. */
#include <ISO_Fortran_binding.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forebay/file.h"
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

/* ---- boxes and lists ---- */

enum { MOST_DIMS = 32, NATIVE = 0, BIG = 1, LITTLE = 2 };

/* The module's type forebay_box: the first dimension is the fastest, and start counts from 1. */
struct box {
  int64_t offset, shape[MOST_DIMS], start[MOST_DIMS], count[MOST_DIMS], stride[MOST_DIMS];
  int ndims, counted, mismatch, order;
};

/* A request, and what it refers to. */
struct request {
  forebay_request r;
  int64_t shape[MOST_DIMS], start[MOST_DIMS], count[MOST_DIMS], stride[MOST_DIMS];
  void *copy, *offsets, *lengths;
};

typedef int (*function)(forebay_file, const forebay_request*, int64_t);

static int64_t elements_of(const CFI_cdesc_t* array) {
  int64_t elements = 1;
  for (int i = 0; i < array->rank; ++i) elements *= array->dim[i].extent;
  return elements;
}

/* `packs`: a section may be copied, since the call has done with it when it returns. */
static void start_request(struct request* q, const CFI_cdesc_t* data, int order, int packs) {
  memset(q, 0, sizeof *q);
  const uint16_t one = 1;
  const int little = *(const unsigned char*)&one == 1;
  q->r.size = sizeof q->r;
  q->r.element_bytes = (int64_t)data->elem_len;
  q->r.swap = data->elem_len > 1 && order == (little ? BIG : LITTLE);
  if (order < NATIVE || order > LITTLE) q->r.refused = "an unknown order of bytes";
  if (contiguous(data)) {
    q->r.memory = data->base_addr;
  } else if (packs) {
    q->r.memory = (void*)packed(data, &q->copy);
    if (q->r.memory == NULL) q->r.refused = "no memory for a copy of a section";
  } else {
    q->r.refused = "a section of an array that is not contiguous";
  }
}

static int finish_request(struct request* q, forebay_file file, function call) {
  const int code = call(file, &q->r, 1);
  free(q->copy);
  free(q->offsets);
  free(q->lengths);
  return code;
}

static void put_in_box(struct request* q, const struct box* box, const CFI_cdesc_t* data) {
  const int whole = box->ndims < 0, n = whole ? data->rank : box->ndims;
  q->r.offset = box->offset;
  q->r.ndims = n;
  q->r.shape = q->shape, q->r.start = q->start, q->r.count = q->count, q->r.stride = q->stride;
  if (n > MOST_DIMS) return; /* refused */
  if (box->mismatch)
    q->r.refused = "shape, start, count and stride are not of one length";
  else if (!whole && !box->counted && n != data->rank)
    q->r.refused = "the data are not of as many dimensions as the box";
  if (q->r.refused != NULL) return;
  int64_t elements = 1;
  for (int i = 0; i < n; ++i) {
    const int to = n - 1 - i;
    q->count[to] = box->counted ? box->count[i] : data->dim[i].extent;
    q->shape[to] = whole ? q->count[to] : box->shape[i];
    q->start[to] = box->start[i] - 1;
    q->stride[to] = box->stride[i];
    /* A product that would run over is no number of elements in memory. */
    if (q->count[to] < 0 || (elements > 0 && q->count[to] > INT64_MAX / elements))
      q->r.refused = "the box has not as many elements as the data";
    else
      elements *= q->count[to];
  }
  if (elements != elements_of(data)) q->r.refused = "the box has not as many elements as the data";
}

static void by_box(function call, int packs, forebay_file file, const struct box* box,
                   const CFI_cdesc_t* data, int* ierror) {
  struct request q;
  start_request(&q, data, box->order, packs);
  put_in_box(&q, box, data);
  done(finish_request(&q, file, call), ierror);
}

static void by_list(function call, int packs, forebay_file file, const CFI_cdesc_t* offsets,
                    const CFI_cdesc_t* lengths, const CFI_cdesc_t* data, const int64_t* offset,
                    const int* order, int* ierror) {
  struct request q;
  start_request(&q, data, order != NULL ? *order : NATIVE, packs);
  q.r.ndims = FOREBAY_PIECES;
  q.r.offset = offset != NULL ? *offset : 0;
  q.r.pieces = elements_of(offsets);
  q.r.offsets = packed(offsets, &q.offsets);
  q.r.lengths = packed(lengths, &q.lengths);
  if (elements_of(lengths) != q.r.pieces) {
    q.r.refused = "offsets and lengths are not of one length";
  } else if (q.r.pieces > 0 && (q.r.offsets == NULL || q.r.lengths == NULL)) {
    q.r.refused = "no memory for a copy of the list";
  } else {
    uint64_t elements = 0; /* it may run over; the library checks each length */
    for (int64_t i = 0; i < q.r.pieces; ++i) elements += (uint64_t)q.r.lengths[i];
    if (elements != (uint64_t)elements_of(data))
      q.r.refused = "the list has not as many elements as the data";
  }
  done(finish_request(&q, file, call), ierror);
}

/* Both ways to say where. */
#define MOVES(name, call, packs)                                                                             \
  FOREBAY_API void forebay_f_##name##_box(forebay_file file, const struct box* box, const CFI_cdesc_t* data, \
                                          int* ierror) {                                                     \
    by_box(call, packs, file, box, data, ierror);                                                            \
  }                                                                                                          \
  FOREBAY_API void forebay_f_##name##_list(forebay_file file, const CFI_cdesc_t* offsets,                    \
                                           const CFI_cdesc_t* lengths, const CFI_cdesc_t* data,              \
                                           const int64_t* offset, const int* order, int* ierror) {           \
    by_list(call, packs, file, offsets, lengths, data, offset, order, ierror);                               \
  }
MOVES(put, forebay_put, 1)
MOVES(put_all, forebay_put_all, 1)
MOVES(iput, forebay_iput, 0)
MOVES(get, forebay_get, 0)
MOVES(get_all, forebay_get_all, 0)
MOVES(iget, forebay_iget, 0)

FOREBAY_API void forebay_f_open(MPI_Fint comm, const char* path, int flags, MPI_Fint info, forebay_file* file,
                                int* ierror) {
  done(forebay_open(MPI_Comm_f2c(comm), path, flags, MPI_Info_f2c(info), file), ierror);
}
FOREBAY_API void forebay_f_close(forebay_file* file, int* ierror) {
  done(forebay_close(file), ierror);
}
FOREBAY_API void forebay_f_wait(forebay_file file, int* ierror) {
  done(forebay_wait(file), ierror);
}
FOREBAY_API void forebay_f_wait_all(forebay_file file, int* ierror) {
  done(forebay_wait_all(file), ierror);
}
FOREBAY_API void forebay_f_flush(forebay_file file, int* ierror) {
  done(forebay_flush(file), ierror);
}
FOREBAY_API void forebay_f_sync(forebay_file file, int* ierror) {
  done(forebay_sync(file), ierror);
}
FOREBAY_API void forebay_f_size(forebay_file file, int64_t* bytes, int* ierror) {
  done(forebay_size(file, bytes), ierror);
}
FOREBAY_API void forebay_f_set_size(forebay_file file, int64_t bytes, int* ierror) {
  done(forebay_set_size(file, bytes), ierror);
}
