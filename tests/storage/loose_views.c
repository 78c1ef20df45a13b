// A file system that shows processes different views of a file, as FUSE clients show their nodes: preloaded
// into programs whose ranks are nodes of their own (forebay_ranks_per_node=1), for files below one folder:
//
//   LOOSE_VIEWS          the folder, as an absolute path without links; without it nothing is changed
//   LOOSE_VIEWS_KEEPS    1: reads go on to see old bytes until the process allocates some (fallocate), as
//                        GlusterFS's clients do with small files; else until it drops pages or opens the file
//
// What a process writes is held back until it syncs or closes the file, by a descriptor through which it has
// written: a sync of another one does nothing, as in MooseFS's client. What it has read it does not ask for
// again. Files are to be written and read by pwrite and pread, as ROMIO does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { kFuse = 0x65735546, kMostDescriptors = 4096 };

struct held {
  struct held* next;
  off_t at;
  size_t length;
  char bytes[];
};
struct file {
  struct file* next;
  dev_t device;
  ino_t inode;
  char* view;  // NULL: it asks with the next read
  off_t viewed;
  struct held *first, *last;
};
static struct file* files;
static char wrote[kMostDescriptors];  // descriptors
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))next(#name))
static void* next(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}
static int keeps(void) {
  const char* text = getenv("LOOSE_VIEWS_KEEPS");
  return text != NULL && *text == '1';
}

// The folder itself, too.
static int below(int fd) {
  const char* folder = getenv("LOOSE_VIEWS");
  if (folder == NULL || fd < 0 || fd >= kMostDescriptors) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = '\0';
  const size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

// With the lock held; NULL: it is not ours.
static struct file* file_of(int fd) {
  struct stat info;
  if (!below(fd) || REAL(fstat)(fd, &info) != 0 || !S_ISREG(info.st_mode)) return NULL;
  struct file* file = files;
  while (file != NULL && (file->device != info.st_dev || file->inode != info.st_ino)) file = file->next;
  if (file != NULL) return file;
  file = calloc(1, sizeof *file);
  if (file == NULL) abort();
  file->device = info.st_dev;
  file->inode = info.st_ino;
  file->next = files;
  return files = file;
}

static void look_anew(struct file* file) {
  free(file->view);
  file->view = NULL;
}

static off_t size_of(int fd, const struct file* file) {
  struct stat info;
  off_t size = REAL(fstat)(fd, &info) == 0 ? info.st_size : 0;
  for (const struct held* held = file->first; held != NULL; held = held->next)
    if (held->at + (off_t)held->length > size) size = held->at + (off_t)held->length;
  return size;
}

static void put_into(char* view, off_t size, off_t at, const char* bytes, size_t length) {
  if (at >= size) return;
  memcpy(view + at, bytes, (off_t)length < size - at ? length : (size_t)(size - at));
}

static void look(int fd, struct file* file) {
  if (file->view != NULL) return;
  file->viewed = size_of(fd, file);
  file->view = calloc((size_t)file->viewed + 1, 1);
  if (file->view == NULL) abort();
  for (off_t at = 0; at < file->viewed;) {
    const ssize_t n = REAL(pread)(fd, file->view + at, (size_t)(file->viewed - at), at);
    if (n <= 0) break;
    at += n;
  }
  for (const struct held* held = file->first; held != NULL; held = held->next)
    put_into(file->view, file->viewed, held->at, held->bytes, held->length);
}

static int write_out(int fd, struct file* file) {
  int result = 0;
  while (file->first != NULL) {
    struct held* const held = file->first;
    for (size_t done = 0; done < held->length && result == 0;) {
      const ssize_t n = REAL(pwrite)(fd, held->bytes + done, held->length - done, held->at + (off_t)done);
      if (n > 0)
        done += (size_t)n;
      else
        result = -1;
    }
    file->first = held->next;
    free(held);
  }
  file->last = NULL;
  return result;
}

// ---- instead of the C library's ----

ssize_t pwrite(int fd, const void* bytes, size_t length, off_t at) {
  pthread_mutex_lock(&changing);
  struct file* const file = length > 0 ? file_of(fd) : NULL;
  if (file != NULL) {
    struct held* const held = malloc(sizeof *held + length);
    if (held == NULL) abort();
    held->next = NULL;
    held->at = at;
    held->length = length;
    memcpy(held->bytes, bytes, length);
    if (file->last != NULL)
      file->last->next = held;
    else
      file->first = held;
    file->last = held;
    wrote[fd] = 1;
    if (file->view != NULL && at + (off_t)length > file->viewed) {
      file->view = realloc(file->view, (size_t)at + length + 1);
      if (file->view == NULL) abort();
      memset(file->view + file->viewed, 0, (size_t)(at + (off_t)length - file->viewed));
      file->viewed = at + (off_t)length;
    }
    if (file->view != NULL) put_into(file->view, file->viewed, at, bytes, length);
  }
  pthread_mutex_unlock(&changing);
  return file != NULL ? (ssize_t)length : REAL(pwrite)(fd, bytes, length, at);
}
ssize_t pwrite64(int fd, const void* bytes, size_t length, off64_t at) {
  return pwrite(fd, bytes, length, at);
}

ssize_t pread(int fd, void* bytes, size_t length, off_t at) {
  ssize_t n = -1;
  pthread_mutex_lock(&changing);
  struct file* const file = file_of(fd);
  if (file != NULL) {
    look(fd, file);
    n = at >= file->viewed                  ? 0
        : (off_t)length < file->viewed - at ? (ssize_t)length
                                            : (ssize_t)(file->viewed - at);
    memcpy(bytes, file->view + at, (size_t)n);
  }
  pthread_mutex_unlock(&changing);
  return file != NULL ? n : REAL(pread)(fd, bytes, length, at);
}
ssize_t pread64(int fd, void* bytes, size_t length, off64_t at) {
  return pread(fd, bytes, length, at);
}

static int synced(int fd) {
  pthread_mutex_lock(&changing);
  struct file* const file = file_of(fd);
  const int result = file != NULL && wrote[fd] ? write_out(fd, file) : 0;
  pthread_mutex_unlock(&changing);
  return result;
}
int fdatasync(int fd) {
  return synced(fd) != 0 ? -1 : REAL(fdatasync)(fd);
}
int fsync(int fd) {
  return synced(fd) != 0 ? -1 : REAL(fsync)(fd);
}
int close(int fd) {
  (void)synced(fd);
  if (fd >= 0 && fd < kMostDescriptors) wrote[fd] = 0;
  return REAL(close)(fd);
}

int ftruncate(int fd, off_t size) {
  pthread_mutex_lock(&changing);
  struct file* const file = file_of(fd);
  if (file != NULL) {
    (void)write_out(fd, file);
    look_anew(file);
  }
  pthread_mutex_unlock(&changing);
  return REAL(ftruncate)(fd, size);
}
int ftruncate64(int fd, off64_t size) {
  return ftruncate(fd, size);
}

off_t lseek(int fd, off_t offset, int whence) {
  if (whence != SEEK_END) return REAL(lseek)(fd, offset, whence);
  pthread_mutex_lock(&changing);
  struct file* const file = file_of(fd);
  const off_t size = file != NULL ? size_of(fd, file) : 0;
  pthread_mutex_unlock(&changing);
  return file != NULL ? REAL(lseek)(fd, size + offset, SEEK_SET) : REAL(lseek)(fd, offset, whence);
}
off64_t lseek64(int fd, off64_t offset, int whence) {
  return lseek(fd, offset, whence);
}
int fstat(int fd, struct stat* info) {
  const int result = REAL(fstat)(fd, info);
  pthread_mutex_lock(&changing);
  struct file* const file = result == 0 ? file_of(fd) : NULL;
  if (file != NULL) info->st_size = size_of(fd, file);
  pthread_mutex_unlock(&changing);
  return result;
}

int posix_fadvise(int fd, off_t offset, off_t length, int advice) {
  pthread_mutex_lock(&changing);
  struct file* const file = advice == POSIX_FADV_DONTNEED && !keeps() ? file_of(fd) : NULL;
  if (file != NULL) look_anew(file);
  pthread_mutex_unlock(&changing);
  return REAL(posix_fadvise)(fd, offset, length, advice);
}
int posix_fadvise64(int fd, off64_t offset, off64_t length, int advice) {
  return posix_fadvise(fd, offset, length, advice);
}
int fallocate(int fd, int mode, off_t offset, off_t length) {
  pthread_mutex_lock(&changing);
  struct file* const file = file_of(fd);
  if (file != NULL) look_anew(file);
  pthread_mutex_unlock(&changing);
  return REAL(fallocate)(fd, mode, offset, length);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t length) {
  return fallocate(fd, mode, offset, length);
}

static int opened(int fd) {
  pthread_mutex_lock(&changing);
  struct file* const file = fd >= 0 && !keeps() ? file_of(fd) : NULL;
  if (file != NULL) look_anew(file);
  if (fd >= 0 && fd < kMostDescriptors) wrote[fd] = 0;
  pthread_mutex_unlock(&changing);
  return fd;
}
#define MODE(flags)                                                     \
  mode_t mode = 0;                                                      \
  if (((flags) & O_CREAT) != 0 || ((flags) & O_TMPFILE) == O_TMPFILE) { \
    va_list rest;                                                       \
    va_start(rest, flags);                                              \
    mode = va_arg(rest, mode_t);                                        \
    va_end(rest);                                                       \
  }
int open(const char* path, int flags, ...) {
  MODE(flags)
  return opened(REAL(open)(path, flags, mode));
}
int open64(const char* path, int flags, ...) {
  MODE(flags)
  return opened(REAL(open64)(path, flags, mode));
}

int fstatfs(int fd, struct statfs* info) {
  const int result = REAL(fstatfs)(fd, info);
  if (result == 0 && below(fd)) info->f_type = kFuse;
  return result;
}
int statfs(const char* path, struct statfs* info) {
  const int result = REAL(statfs)(path, info);
  const int fd = result == 0 ? REAL(open)(path, O_PATH | O_CLOEXEC) : -1;
  if (fd < 0) return result;
  if (below(fd)) info->f_type = kFuse;
  REAL(close)(fd);
  return result;
}

// How streams are opened: what mounts there are.
static FILE* mounts(void) {
  struct stat info;
  const char* folder = getenv("LOOSE_VIEWS");
  const int fd = folder != NULL && stat(folder, &info) == 0 ? memfd_create("mounts", MFD_CLOEXEC) : -1;
  if (fd < 0) return NULL;
  char line[4400];
  const int n = snprintf(line, sizeof line, "1 1 %u:%u / %s rw - %s tried rw\n", major(info.st_dev),
                         minor(info.st_dev), folder, keeps() ? "fuse.glusterfs" : "fuse.mfs");
  if (n <= 0 || REAL(pwrite)(fd, line, (size_t)n, 0) != n) abort();
  return fdopen(fd, "r");
}
FILE* fopen(const char* path, const char* how) {
  FILE* const file = strcmp(path, "/proc/self/mountinfo") == 0 ? mounts() : NULL;
  return file != NULL ? file : REAL(fopen)(path, how);
}
FILE* fopen64(const char* path, const char* how) {
  FILE* const file = strcmp(path, "/proc/self/mountinfo") == 0 ? mounts() : NULL;
  return file != NULL ? file : REAL(fopen64)(path, how);
}
