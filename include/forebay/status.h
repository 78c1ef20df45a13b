/** @file
 * What all of Forebay's C interfaces share: flags to open a file with, the codes that functions return, and
 * the sentence behind the last failure. */
#ifndef FOREBAY_STATUS_H
#define FOREBAY_STATUS_H

/** Marks what the shared libraries show. */
#if defined(__GNUC__)
#define FOREBAY_API __attribute__((visibility("default")))
#else
#define FOREBAY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** How a file is opened: one of the first three, and any of the others. Ranks of one file give the same. */
enum forebay_flag {
  FOREBAY_RDONLY = 1, /**< only read */
  FOREBAY_WRONLY = 2, /**< only written */
  FOREBAY_RDWR = 3,   /**< read and written */
  FOREBAY_CREATE = 4, /**< made if it does not exist; not with FOREBAY_RDONLY */
  FOREBAY_EXCL = 8,   /**< with FOREBAY_CREATE: an error if it exists */
  FOREBAY_TRUNC = 16  /**< emptied; not with FOREBAY_RDONLY */
};

/** What every function returns. forebay_strerror() says what a code means, forebay_last_error() what
 * happened. */
enum forebay_code {
  FOREBAY_SUCCESS = 0,
  FOREBAY_ERR_ARGUMENT = 1,     /**< a null pointer, a negative length, a selection that does not fit, … */
  FOREBAY_ERR_FILE = 2,         /**< not an open file */
  FOREBAY_ERR_MODE = 3,         /**< not opened for this */
  FOREBAY_ERR_HINT = 4,         /**< an unknown hint, or a value that does not fit */
  FOREBAY_ERR_NO_FILE = 5,      /**< no such file */
  FOREBAY_ERR_ACCESS = 6,       /**< permission denied */
  FOREBAY_ERR_SPACE = 7,        /**< no space left, or larger than a file can be */
  FOREBAY_ERR_IO = 8,           /**< any other failure of the file system */
  FOREBAY_ERR_MEMORY = 9,       /**< no memory, or no shared memory */
  FOREBAY_ERR_MPI = 10,         /**< MPI is not running, or a call of it failed */
  FOREBAY_ERR_UNSUPPORTED = 11, /**< the file system or MPI cannot do this */
  FOREBAY_ERR_PEER = 12, /**< another rank failed, for a reason that is not known here, or in a callback */
  FOREBAY_ERR_INTERNAL = 13, /**< a defect in Forebay */
  FOREBAY_ERR_CALLBACK = 14  /**< a callback of this rank returned something else than 0 */
};

/** What a code means: a static string, never NULL. */
FOREBAY_API const char* forebay_strerror(int code);

/** What went wrong in the last call that failed in this thread: call, file, range, cause. Never NULL; valid
 * until the next failure. */
FOREBAY_API const char* forebay_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* FOREBAY_STATUS_H */
