/* TCIO: a file that all ranks of a communicator write and read piece by piece, each at any place and in as
 * many calls as it likes, as fast as one collective call. The interface of "A Transparent Collective I/O
 * Implementation" (Yu et al., IPDPS 2013); docs/tcio.md has the contract and an example. */
#ifndef FOREBAY_TCIO_H
#define FOREBAY_TCIO_H

#include <forebay/status.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h> /* SEEK_SET, SEEK_CUR, SEEK_END */

#ifdef __cplusplus
extern "C" {
#endif

/** An open file. One thread at a time uses it. With MPI_THREAD_MULTIPLE other threads may use other files at
 * the same time, of any communicators. Between nodes, open each file, and flush it once, before
 * another thread does the same with its own: Open MPI 5.0 may hang where two threads make communicators at
 * once. */
typedef struct tcio_file_s* tcio_file;
#define TCIO_FILE_NULL ((tcio_file)0)

/* "Collective" functions are called by all ranks of the file's communicator, in the same order; what one of
 * them cannot do, all of them return. All other functions need no other rank, and a failure is this rank's.
 */

/**
 * Collective. The same path and flags on all ranks. `info` (or MPI_INFO_NULL) may hold hints. `*file` is
 * TCIO_FILE_NULL on failure.
 */
FOREBAY_API int tcio_open(MPI_Comm comm, const char* path, int flags, MPI_Info info, tcio_file* file);

/**
 * Collective. Fills the reads that are pending, writes what is buffered, and closes, also where that fails:
 * what could not be written is lost then. `*file` becomes TCIO_FILE_NULL.
 */
FOREBAY_API int tcio_close(tcio_file* file);

/**
 * Writes `bytes` bytes at `offset`, or at the file pointer, which moves behind them. `data` may be used again
 * at once. In the file after tcio_flush, tcio_sync or tcio_close; where a keeper process runs (docs/tcio.md),
 * written whatever ends this rank. On failure nothing of it was taken, but
 * where it reaches over several segments: those at its beginning may have been.
 */
FOREBAY_API int tcio_write_at(tcio_file file, int64_t offset, const void* data, int64_t bytes);
FOREBAY_API int tcio_write(tcio_file file, const void* data, int64_t bytes);

/**
 * Reads `bytes` bytes from `offset`, or from the file pointer, which moves behind them: lazily. `data` is
 * filled at the latest by the next tcio_fetch, tcio_fetch_all, tcio_flush, tcio_sync, tcio_set_size or
 * tcio_close, and must stay until then. It gets what this rank wrote before this call and nothing that it
 * writes after it; zeros past the end of the file. A failure is returned by the call that fills.
 */
FOREBAY_API int tcio_read_at(tcio_file file, int64_t offset, void* data, int64_t bytes);
FOREBAY_API int tcio_read(tcio_file file, void* data, int64_t bytes);

/** Fills the reads that are pending on this rank. */
FOREBAY_API int tcio_fetch(tcio_file file);

/** Collective: the same together, so that what the ranks read comes in few large reads; and what any rank
 * wrote before it is seen, as after tcio_flush, by every read since this rank's last tcio_fetch or collective
 * call. (In a file that is written, too, each of them is noted until then in 56 bytes, regular series once.)
 */
FOREBAY_API int tcio_fetch_all(tcio_file file);

/**
 * Collective. What any rank wrote is in the file, where any program sees it, and reads of any rank after this
 * see it. Accesses of different ranks to the same bytes, one of them a write, need this in between: a barrier
 * alone is not enough, and of two writes on different nodes the older one may win (forebay_check=order finds
 * such). After a failure what could not be written is kept for the next try.
 */
FOREBAY_API int tcio_flush(tcio_file file);

/** Collective: tcio_flush, and on stable storage as far as MPI_File_sync says. */
FOREBAY_API int tcio_sync(tcio_file file);

/** Moves the file pointer of this rank; `whence` as for lseek. It may lie behind the end of the file. */
FOREBAY_API int tcio_seek(tcio_file file, int64_t offset, int whence);
FOREBAY_API int tcio_tell(tcio_file file, int64_t* offset);

/** Size in bytes of the file with what this rank wrote; what others wrote counts after a flush. */
FOREBAY_API int tcio_size(tcio_file file, int64_t* bytes);

/** Collective: cuts the file there, or extends it with zeros. The same size on all ranks. */
FOREBAY_API int tcio_set_size(tcio_file file, int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* FOREBAY_TCIO_H */
