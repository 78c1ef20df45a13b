/** @file
 * TCIO in C: a file that all ranks of a communicator write and read piece by piece, each at any place and in
 * as many calls as it likes, as fast as one collective call. The interface of "A Transparent Collective I/O
 * Implementation" (Yu et al., IPDPS 2013). The C++ interface is forebay/tcio.hpp.
 *
 * "Collective" functions are called by all ranks of the file's communicator in the same order; what one of
 * them cannot do, all of them return. All other functions need no other rank, and a failure is this rank's
 * alone. Functions return an enum forebay_code. Offsets and lengths are bytes.
 *
 * While the file is open, only this open file may write it. Where different ranks access the same bytes and
 * one of them writes, tcio_flush(), tcio_sync() or tcio_fetch_all() must come in between. A barrier alone is
 * not enough: of two writes on different nodes the older one may win. The hint forebay_check=order finds such
 * writes. */
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
 * the same time, of any communicators. Between nodes, open each file, and flush it once, before another
 * thread does the same with its own: Open MPI 5.0 may hang where two threads make communicators at once. */
typedef struct tcio_file_s* tcio_file;
/** No file. */
#define TCIO_FILE_NULL ((tcio_file)0)

/** Opens a file. Collective.
 * @param comm  an intracommunicator; it is duplicated
 * @param path  the same on all ranks; the prefixes of MPI-IO ("ufs:") are allowed
 * @param flags enum forebay_flag, the same on all ranks
 * @param info  hints, or MPI_INFO_NULL
 * @param file  becomes TCIO_FILE_NULL on failure */
FOREBAY_API int tcio_open(MPI_Comm comm, const char* path, int flags, MPI_Info info, tcio_file* file);

/** Fills the reads that are pending, writes what is buffered, and closes, also where that fails: what could
 * not be written is lost then. Collective. `*file` becomes TCIO_FILE_NULL. */
FOREBAY_API int tcio_close(tcio_file* file);

/** Writes `bytes` bytes at `offset`. `data` may be used again at once. The bytes are in the file after
 * tcio_flush(), tcio_sync() or tcio_close(); with a keeper process they are written whatever ends this rank.
 * On failure nothing was taken, except of a piece that reaches over several segments: the first of these may
 * have been. */
FOREBAY_API int tcio_write_at(tcio_file file, int64_t offset, const void* data, int64_t bytes);
/** Writes at the file pointer, which moves behind the bytes, as tcio_write_at() does. */
FOREBAY_API int tcio_write(tcio_file file, const void* data, int64_t bytes);

/** Reads `bytes` bytes from `offset`, lazily: `data` is filled at the latest by the next tcio_fetch(),
 * tcio_fetch_all(), tcio_flush(), tcio_sync(), tcio_set_size() or tcio_close(), and must stay until then. It
 * gets what this rank wrote before this call and nothing that this rank writes after it; zeros past the end
 * of the file. A failure is returned by the call that fills. */
FOREBAY_API int tcio_read_at(tcio_file file, int64_t offset, void* data, int64_t bytes);
/** Reads from the file pointer, which moves behind the bytes, as tcio_read_at() does. */
FOREBAY_API int tcio_read(tcio_file file, void* data, int64_t bytes);

/** Fills the reads that are pending on this rank. */
FOREBAY_API int tcio_fetch(tcio_file file);

/** Fills the reads that are pending on all ranks, in few large reads. Collective. What any rank wrote before
 * is seen, as after tcio_flush(), by every read since this rank's last tcio_fetch() or collective call. In a
 * file that is written, too, each of these reads is noted until then in 56 bytes, a regular series once. */
FOREBAY_API int tcio_fetch_all(tcio_file file);

/** Brings what any rank wrote into the file, where any program sees it, as do reads of any rank after this.
 * Collective. What could not be written is kept for the next try. */
FOREBAY_API int tcio_flush(tcio_file file);
/** Does what tcio_flush() does, and brings it on stable storage as far as MPI_File_sync says. Collective. */
FOREBAY_API int tcio_sync(tcio_file file);

/** Moves the file pointer of this rank; `whence` as for lseek. It may lie behind the end of the file. */
FOREBAY_API int tcio_seek(tcio_file file, int64_t offset, int whence);
/** Tells where the file pointer of this rank is. */
FOREBAY_API int tcio_tell(tcio_file file, int64_t* offset);

/** Tells the size of the file in bytes with what this rank wrote; what others wrote counts after a flush. */
FOREBAY_API int tcio_size(tcio_file file, int64_t* bytes);
/** Cuts the file at `bytes`, the same on all ranks, or extends it with zeros. Collective. */
FOREBAY_API int tcio_set_size(tcio_file file, int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* FOREBAY_TCIO_H */
