/** @file
 * Forebay's own file in C: boxes of n-dimensional arrays and lists of pieces, put and got by all ranks
 * together or by each for itself, at once or later. The C++ interface is forebay/file.hpp.
 *
 * "Collective" functions are called by all ranks of the file's communicator in the same order, each with as
 * many requests as it has; none is fine. What one rank cannot do, all ranks return. All other functions need
 * no other rank, and a failure is this rank's alone. Functions return an enum forebay_code.
 *
 * While the file is open, only this open file may write it. Where ranks access the same bytes and one of them
 * writes, a collective put, get, flush or sync must come in between: a barrier, or a wait_all with nothing
 * pending, is not enough. */
#ifndef FOREBAY_FILE_H
#define FOREBAY_FILE_H

#include <forebay/status.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An open file. One thread at a time uses it. With MPI_THREAD_MULTIPLE other threads may use other files at
 * the same time, of any communicators. Between nodes, open each file, and flush it once, before another
 * thread does the same with its own: Open MPI 5.0 may hang where two threads make communicators at once. */
typedef struct forebay_file_s* forebay_file;
/** No file. */
#define FOREBAY_FILE_NULL ((forebay_file)0)

/** forebay_request.ndims of a list of pieces. */
#define FOREBAY_PIECES (-1)

/**
 * How the bytes of a request reach memory that is not contiguous, or not the host's: by pieces, through
 * staging memory of the caller. The elements of a request, in file form and in the order of the request, are
 * its stream; begin() says which bytes of it.
 *
 * Put: begin() starts to fill `to_or_from` with them, finish() returns when they are there. Get: begin()
 * starts to take them out of there, finish() returns when that is done. Between the two of one slot the other
 * slots are used, so that an accelerator works while bytes move to the file: the next piece is begun as soon
 * as the bytes of the one before are used. Pieces begin and end between elements. They ascend for a box and
 * for an ascending list; a put may ask for a piece again. All that was begun is finished when the call
 * returns. Both return 0, or anything else to give up: then nothing more of this request reaches the file or
 * memory. They may neither throw nor use this file.
 */
typedef struct forebay_stage {
  size_t size;   /**< sizeof(forebay_stage) */
  void* context; /**< given to both callbacks */
  /** Starts to fill, or to empty, bytes [first, first + bytes) of the stream. */
  int (*begin)(void* context, int slot, int64_t first, int64_t bytes, void* to_or_from);
  int (*finish)(void* context, int slot); /**< waits for what was begun in this slot */
  void* memory; /**< slots × slot_bytes bytes; not shared between the requests of a call */
  /** At least the bytes of one element. Aligned elements stay aligned where a slot's begin is. */
  int64_t slot_bytes;
  int slots; /**< 2, or 1 where nothing is gained by overlap; at most 64 */
} forebay_stage;

/**
 * What one put or get moves: a box of an array, or a list of pieces. Both count in elements of element_bytes
 * bytes; only `offset` is in bytes. Set all to zero first: `forebay_request r = {.size = sizeof r, …}`.
 *
 * A box is every stride-th of `count` elements from `start` on, in each dimension of a row-major array of
 * `shape` that begins at byte `offset` of the file. No dimension means one element.
 *
 * A list (ndims = FOREBAY_PIECES) is `pieces` pieces: lengths[i] elements from element offsets[i] on, counted
 * from byte `offset` of the file, as MPI_Type_indexed counts. With element_bytes = 1 it is in bytes. Pieces
 * come in any order, and may overlap: in a put, later ones win. An ascending list is the fastest. The stream
 * in memory follows the list.
 */
typedef struct forebay_request {
  size_t size;           /**< sizeof(forebay_request); the same of all in a call */
  int64_t offset;        /**< of the array's first byte in the file, or of element 0 of a list */
  int64_t element_bytes; /**< in the file; at least 1 */
  int ndims;             /**< of the array, at most 32; or FOREBAY_PIECES */
  int swap; /**< 1: each element, of 1, 2, 4 or 8 bytes, is turned round between memory and file */
  const int64_t* shape;       /**< ndims extents of the array, the slowest first */
  const int64_t* start;       /**< NULL: the beginning */
  const int64_t* count;       /**< NULL: shape */
  const int64_t* stride;      /**< NULL: 1; at least 1 */
  int64_t pieces;             /**< of a list */
  const int64_t* offsets;     /**< of a list: elements, not negative */
  const int64_t* lengths;     /**< of a list: elements, not negative; NULL: one element each */
  void* memory;               /**< the stream itself, before swap; a put does not write it. Or NULL, and: */
  const forebay_stage* stage; /**< how the stream is staged; NULL where there is memory */
  const char* refused; /**< NULL; or why the caller cannot make this request, which all ranks are to hear */
} forebay_request;

/** Opens a file. Collective.
 * @param comm  an intracommunicator; it is duplicated
 * @param path  the same on all ranks; the prefixes of MPI-IO ("ufs:") are allowed
 * @param flags enum forebay_flag, the same on all ranks
 * @param info  hints, or MPI_INFO_NULL
 * @param file  becomes FOREBAY_FILE_NULL on failure */
FOREBAY_API int forebay_open(MPI_Comm comm, const char* path, int flags, MPI_Info info, forebay_file* file);

/** Completes what is pending, writes what is kept, and closes, also where that fails: what could not be
 * written is lost then. Collective. `*file` becomes FOREBAY_FILE_NULL. */
FOREBAY_API int forebay_close(forebay_file* file);

/** Writes the requests of all ranks together. Collective. Memory may be used again when it returns. The bytes
 * are in the file after flush, sync or close; in strict mode when the call returns; with a keeper process
 * they are written whatever ends this rank. Later requests of one rank's call win where they overlap. If a
 * request is wrong, nothing of this rank's call is put; what other ranks put is. */
FOREBAY_API int forebay_put_all(forebay_file file, const forebay_request* requests, int64_t count);
/** Writes this rank's requests, as forebay_put_all() does. */
FOREBAY_API int forebay_put(forebay_file file, const forebay_request* requests, int64_t count);

/** Reads the requests of all ranks together. Collective. It sees what any rank put before. Bytes past the end
 * of the file are zeros. */
FOREBAY_API int forebay_get_all(forebay_file file, const forebay_request* requests, int64_t count);
/** Reads this rank's requests. It sees what this rank put, and what others put before a flush. */
FOREBAY_API int forebay_get(forebay_file file, const forebay_request* requests, int64_t count);

/** Notes requests to be put by the next forebay_wait_all() or forebay_wait(), in the order of such calls.
 * Memory, or staging and its context, must stay as they are until then; the requests, their shapes and lists
 * may be used again at once. flush, sync, set_size and close complete it, too. Requests that are never
 * completed are not written. A wrong request is refused here, with all of this call, and the completing call
 * returns that once more, on all ranks where it is collective. */
FOREBAY_API int forebay_iput(forebay_file file, const forebay_request* requests, int64_t count);
/** Notes requests to be got, as forebay_iput() notes puts. Memory is filled by the completing call. */
FOREBAY_API int forebay_iget(forebay_file file, const forebay_request* requests, int64_t count);

/** Completes what is pending on all ranks: all puts as one forebay_put_all(), then all gets as one
 * forebay_get_all(), which sees these puts. Collective. Nothing is pending afterwards, also where it fails.
 */
FOREBAY_API int forebay_wait_all(forebay_file file);
/** Completes what is pending on this rank: the puts as one forebay_put(), then the gets as one forebay_get().
 * Nothing is pending on this rank afterwards, also where it fails. */
FOREBAY_API int forebay_wait(forebay_file file);

/** Brings what any rank put into the file, where all ranks and other programs see it. Collective. What could
 * not be written is kept for the next try. */
FOREBAY_API int forebay_flush(forebay_file file);
/** Does what forebay_flush() does, and brings it on stable storage as far as MPI_File_sync says. Collective.
 */
FOREBAY_API int forebay_sync(forebay_file file);

/** Tells the size of the file in bytes with what this rank put; what others put counts after a flush. */
FOREBAY_API int forebay_size(forebay_file file, int64_t* bytes);
/** Cuts the file at `bytes`, the same on all ranks, or extends it with zeros. Collective. */
FOREBAY_API int forebay_set_size(forebay_file file, int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* FOREBAY_FILE_H */
