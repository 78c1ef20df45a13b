/* The few C functions behind Forebay's C++ faces, forebay/file.hpp and forebay/kokkos.hpp: boxes of
 * n-dimensional arrays of a file, put and got by all ranks together or by each for itself. Programs in C may
 * use them as they are; docs/cpp.md has the contract. */
#ifndef FOREBAY_CORE_H
#define FOREBAY_CORE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FOREBAY_API __attribute__((visibility("default")))
#else
#define FOREBAY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** An open file. One thread at a time uses it. With MPI_THREAD_MULTIPLE other threads may use other files at
 * the same time, of any communicators. Between nodes, open each file, and flush it once, before
 * another thread does the same with its own: Open MPI 5.0 may hang where two threads make communicators at
 * once. */
typedef struct forebay_file_s* forebay_file;
#define FOREBAY_FILE_NULL ((forebay_file)0)

/** Flags of forebay_open: one of the first three, and any of the others. */
enum {
  FOREBAY_RDONLY = 1,
  FOREBAY_WRONLY = 2,
  FOREBAY_RDWR = 3,
  FOREBAY_CREATE = 4, /**< made where it is not there */
  FOREBAY_EXCL = 8,   /**< with FOREBAY_CREATE: an error where it is there */
  FOREBAY_TRUNC = 16  /**< emptied; not with FOREBAY_RDONLY */
};

/** What every function returns; forebay_last_error says more. The numbers are those of forebay/tcio.h. */
enum {
  FOREBAY_SUCCESS = 0,
  FOREBAY_ERR_ARGUMENT, /**< a selection that does not fit its array, a null pointer, … */
  FOREBAY_ERR_FILE,     /**< not an open file */
  FOREBAY_ERR_MODE,     /**< not opened for this */
  FOREBAY_ERR_HINT,     /**< an unknown hint, or a value that does not fit */
  FOREBAY_ERR_NO_FILE,  /**< no such file */
  FOREBAY_ERR_ACCESS,   /**< permission denied */
  FOREBAY_ERR_SPACE,    /**< no space left, or larger than a file can be */
  FOREBAY_ERR_IO,       /**< any other failure of the file system */
  FOREBAY_ERR_MEMORY,   /**< no memory, or no shared memory */
  FOREBAY_ERR_MPI,      /**< MPI is not running, or a call of it failed */
  FOREBAY_ERR_UNSUPPORTED,
  FOREBAY_ERR_PEER,     /**< another rank failed, for a reason that is not known here, or in a callback */
  FOREBAY_ERR_INTERNAL, /**< a defect in Forebay */
  FOREBAY_ERR_CALLBACK  /**< a callback of this rank's returned something else than 0 */
};

/**
 * How the bytes of a request reach memory that is not contiguous, or not the host's: by pieces, through
 * staging memory that the caller gives. The elements of a request, in file form and row-major order of its
 * box, are its stream; begin() says which bytes of it.
 *
 * Put: begin() starts to fill `to_or_from` with them, finish() returns when they are there. Get: begin()
 * starts to take them out of there, finish() returns when that is done. Between the two of one slot the other
 * slots are used, so that work of an accelerator goes on while bytes move to the file: the next piece is
 * begun as soon as the bytes of the one before are used. Pieces begin and end between elements. They come in
 * ascending order, but a put may ask for a piece again. All that was begun is finished when the call returns.
 * Both return 0, or anything else to give up: then nothing more of this request reaches the file or memory.
 * They may neither throw nor use this file.
 */
typedef struct forebay_stage {
  size_t size; /**< sizeof(forebay_stage) */
  void* context;
  int (*begin)(void* context, int slot, int64_t first, int64_t bytes, void* to_or_from);
  int (*finish)(void* context, int slot);
  void* memory; /**< slots × slot_bytes bytes; not shared between the requests of a call */
  int64_t
      slot_bytes; /**< at least those of one element; aligned elements stay aligned where a slot's begin is */
  int slots;      /**< 2, or 1 where nothing is gained by overlap; at most 64 */
} forebay_stage;

/**
 * A box of an array of `shape` that lies row-major in the file, its first byte at `offset`: `count` elements
 * of each dimension from `start` on, `stride` apart. No dimension at all (ndims 0) is one element.
 */
typedef struct forebay_request {
  size_t size; /**< sizeof(forebay_request); the same of all in a list */
  int64_t offset;
  int64_t element_bytes; /**< in the file */
  int ndims;             /**< at most 32 */
  int swap; /**< 1: each element (of 1, 2, 4 or 8 bytes) is turned round between memory and file */
  const int64_t* shape;
  const int64_t* start;  /**< NULL: the beginning */
  const int64_t* count;  /**< NULL: shape */
  const int64_t* stride; /**< NULL: 1; at least 1 */
  void* memory;          /**< the stream itself (before swap); not written by a put. Or NULL, and: */
  const forebay_stage* stage;
  const char*
      refused; /**< NULL; or why the caller cannot make this request, which all ranks are to be told */
} forebay_request;

/* "Collective" functions are called by all ranks of the file's communicator, in the same order, each with as
 * many requests as it has (none is fine); what one of them cannot do, all of them return. All other functions
 * need no other rank, and a failure is this rank's. */

/** Collective. The same path and flags on all ranks. `*file` is FOREBAY_FILE_NULL on failure. */
FOREBAY_API int forebay_open(MPI_Comm comm, const char* path, int flags, MPI_Info info, forebay_file* file);

/** Collective. Writes what is kept, and closes, also where that fails. `*file` becomes FOREBAY_FILE_NULL. */
FOREBAY_API int forebay_close(forebay_file* file);

/**
 * Writes the boxes; memory may be used again at once. In the file after flush, sync or close; in strict mode
 * when the call returns. Where a keeper process runs (docs/tcio.md), written whatever ends this rank. Where
 * boxes of one rank's call overlap, later ones win. Requests that are wrong put nothing, the others do.
 */
FOREBAY_API int forebay_put_all(forebay_file file, const forebay_request* requests,
                                int64_t count); /* collective */
FOREBAY_API int forebay_put(forebay_file file, const forebay_request* requests, int64_t count);

/** Reads the boxes; zeros past the end of the file. forebay_get_all sees what any rank put before,
 * forebay_get what this rank put, and what others put before a flush. */
FOREBAY_API int forebay_get_all(forebay_file file, const forebay_request* requests,
                                int64_t count); /* collective */
FOREBAY_API int forebay_get(forebay_file file, const forebay_request* requests, int64_t count);

/** Collective: what any rank put is in the file, seen by all. What could not be written is kept for the next
 * try. */
FOREBAY_API int forebay_flush(forebay_file file);
/** Collective: the same, and on stable storage as far as MPI_File_sync says. */
FOREBAY_API int forebay_sync(forebay_file file);

/** Size in bytes of the file with what this rank put; what others put counts after a flush. */
FOREBAY_API int forebay_size(forebay_file file, int64_t* bytes);
/** Collective: cuts the file there, or extends it with zeros. The same size on all ranks. */
FOREBAY_API int forebay_set_size(forebay_file file, int64_t bytes);

/** What a code means; never NULL. */
FOREBAY_API const char* forebay_strerror(int code);
/** What went wrong in the last call that failed in this thread. Valid until the next failure. */
FOREBAY_API const char* forebay_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* FOREBAY_CORE_H */
