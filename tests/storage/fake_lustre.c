// A Lustre that is none: for files below one folder it answers as Lustre would (statfs, the attribute
// lustre.lov), lays files out when they are first opened for writing, and notes who writes what. Linked into
// a test, or preloaded into any program:
//
//   FAKE_LUSTRE          the folder, as an absolute path without links; without it nothing is changed
//   FAKE_LUSTRE_STRIPES  COUNTxBYTES that files get where nobody says otherwise; 1x1048576
//   FAKE_LUSTRE_TARGETS  how many storage targets there are; 8
//   FAKE_LUSTRE_REFUSES  1: no layout can be set
//
// The folder FAKE_LUSTRE.state, which has to be there, holds a file lov.FILE for each layout, and the list
// "log": lines "write RANK FILE OFFSET LENGTH", "set RANK FILE" (a layout was set by its attribute), "kept
// RANK FILE" (an attempt that came too late) and "open RANK FILE" (for writing). FILE is inode number and
// time of birth.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { kMagic = 0x0BD00BD0, kVersion1 = 0x0BD10BD0, kRecord = 32, kObject = 24, kMost = 65536 };

static char folder[4096];  // "": off
static int list = -1;

// The list takes a descriptor far from those that programs count.
void fake_lustre_at(const char* path) {
  char name[4200];
  snprintf(folder, sizeof folder, "%s", path);
  snprintf(name, sizeof name, "%s.state/log", folder);
  if (list >= 0) close(list);
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  list = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 200);
  if (fd >= 0) close(fd);
}

__attribute__((constructor)) static void begin(void) {
  const char* path = getenv("FAKE_LUSTRE");
  if (path != NULL && *path != '\0') fake_lustre_at(path);
}

static int below(int fd) {
  if (*folder == '\0' || fd < 0) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = '\0';
  const size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

// A descriptor that serves to ask about what lies at `path`; -1: it is not ours.
static int peek(const char* path) {
  if (*folder == '\0') return -1;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
  if (fd >= 0 && below(fd)) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

// A file, as long as there is one of that number: MPI-IO makes some files of its own and deletes them.
struct id {
  unsigned long long inode;
  long long seconds;  // when it was made
  unsigned nanoseconds;
  unsigned mode;
};
static struct id id_of(int fd) {
  struct statx info;
  struct id id = {0, 0, 0, 0};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &info) != 0) return id;
  id.inode = (unsigned long long)info.stx_ino;
  id.mode = info.stx_mode;
  if ((info.stx_mask & STATX_BTIME) == 0) return id;
  id.seconds = (long long)info.stx_btime.tv_sec;
  id.nanoseconds = info.stx_btime.tv_nsec;
  return id;
}

static void print_id(struct id id, char* text, size_t size) {
  snprintf(text, size, "%llu.%lld.%u", id.inode, id.seconds, id.nanoseconds);
}
// What the list calls the file at `path`; "" where there is none.
void fake_lustre_id(const char* path, char* text, size_t size) {
  const int fd = peek(path);
  *text = '\0';
  if (fd < 0) return;
  print_id(id_of(fd), text, size);
  close(fd);
}

// `length` < 0: there is no range.
static void note(const char* what, int fd, long long offset, long long length) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("PMI_RANK");
  if (rank == NULL) rank = "0";
  char file[80], line[240];
  print_id(id_of(fd), file, sizeof file);
  const int n = length < 0
                    ? snprintf(line, sizeof line, "%s %s %s\n", what, rank, file)
                    : snprintf(line, sizeof line, "%s %s %s %lld %lld\n", what, rank, file, offset, length);
  if (list >= 0 && n > 0) (void)!syscall(SYS_write, list, line, (size_t)n);
}

// ---- layouts ----

static void layout_name(struct id id, char* name, size_t size) {
  char file[80];
  print_id(id, file, sizeof file);
  snprintf(name, size, "%s.state/lov.%s", folder, file);
}

static ssize_t read_layout(struct id id, void* value, size_t size) {
  char name[4300];
  layout_name(id, name, sizeof name);
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) {
    errno = ENODATA;
    return -1;
  }
  static __thread char all[kMost];
  const ssize_t n = read(fd, all, sizeof all);
  close(fd);
  if (size == 0 || n < 0) return n;
  if ((size_t)n > size) {
    errno = ERANGE;
    return -1;
  }
  memcpy(value, all, (size_t)n);
  return n;
}

// Whole or not at all, also where two ranks do so at once: the first one's stays.
static int keep_layout(struct id id, const void* value, size_t size) {
  char name[4300], mine[4400];
  layout_name(id, name, sizeof name);
  snprintf(mine, sizeof mine, "%s.%d", name, (int)getpid());
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, mine, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return -1;
  const int well = syscall(SYS_write, fd, value, size) == (long)size;
  close(fd);
  const int kept = well && link(mine, name) == 0;
  unlink(mine);
  return kept ? 0 : -1;
}

static long number_in(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text != NULL && *text != '\0' ? atol(text) : otherwise;
}

// A record with its objects, as files have it that are laid out.
static int lay_out(struct id id, uint32_t unit, uint16_t count) {
  long default_count = 1, default_unit = 1 << 20;
  const char* usual = getenv("FAKE_LUSTRE_STRIPES");
  if (usual != NULL) sscanf(usual, "%ldx%ld", &default_count, &default_unit);
  const long targets = number_in("FAKE_LUSTRE_TARGETS", 8);
  if (unit == 0) unit = (uint32_t)default_unit;
  if (count == 0) count = (uint16_t)default_count;
  if (count > targets) count = (uint16_t)targets;
  static __thread unsigned char value[kMost];
  memset(value, 0, sizeof value);
  const uint32_t magic = kVersion1, pattern = 1;
  memcpy(value, &magic, 4);
  memcpy(value + 4, &pattern, 4);
  memcpy(value + 24, &unit, 4);
  memcpy(value + 28, &count, 2);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t target = (uint32_t)((id.inode + i) % (unsigned long)targets);
    memcpy(value + kRecord + i * kObject + 20, &target, 4);
  }
  return keep_layout(id, value, kRecord + (size_t)count * kObject);
}

// At the first open for writing: as the folder says, or as usual.
static void instantiate(int fd) {
  const struct id id = id_of(fd);
  if (id.inode == 0 || !S_ISREG(id.mode) || read_layout(id, NULL, 0) >= 0) return;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return;
  path[n] = '\0';
  char* const slash = strrchr(path, '/');
  unsigned char value[kMost / 2];
  if (slash != NULL && slash != path) *slash = '\0';
  const int above = peek(path);
  const ssize_t size = above >= 0 ? read_layout(id_of(above), value, sizeof value) : -1;
  if (above >= 0) close(above);
  if (size > 0)
    (void)keep_layout(id, value, (size_t)size);
  else
    (void)lay_out(id, 0, 0);
}

static int set_layout(int fd, const void* value, size_t size) {
  const struct id id = id_of(fd);
  uint32_t magic, unit;
  uint16_t count;
  if (size < kRecord) {
    errno = ERANGE;
    return -1;
  }
  if (number_in("FAKE_LUSTRE_REFUSES", 0) != 0) {
    errno = EOPNOTSUPP;
    return -1;
  }
  memcpy(&magic, value, 4);
  memcpy(&unit, (const char*)value + 24, 4);
  memcpy(&count, (const char*)value + 28, 2);
  if (S_ISDIR(id.mode)) return keep_layout(id, value, size);
  if (read_layout(id, NULL, 0) >= 0) {  // Lustre does not say either that it has done nothing
    note("kept", fd, 0, -1);
    return 0;
  }
  if (magic != kVersion1) return keep_layout(id, value, size);
  if (unit % 65536 != 0) {
    errno = EINVAL;
    return -1;
  }
  note("set", fd, 0, -1);
  return lay_out(id, unit, count);
}

// ---- instead of the C library's ----

#define REAL(name) ((__typeof__(&name))next(#name))
static void* next(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

int statfs(const char* path, struct statfs* info) {
  const int result = REAL(statfs)(path, info);
  const int fd = result == 0 ? peek(path) : -1;
  if (fd < 0) return result;
  info->f_type = kMagic;
  close(fd);
  return result;
}
int fstatfs(int fd, struct statfs* info) {
  const int result = REAL(fstatfs)(fd, info);
  if (result == 0 && below(fd)) info->f_type = kMagic;
  return result;
}
int statfs64(const char* path, struct statfs64* info) {
  const int result = REAL(statfs64)(path, info);
  const int fd = result == 0 ? peek(path) : -1;
  if (fd < 0) return result;
  info->f_type = kMagic;
  close(fd);
  return result;
}
int fstatfs64(int fd, struct statfs64* info) {
  const int result = REAL(fstatfs64)(fd, info);
  if (result == 0 && below(fd)) info->f_type = kMagic;
  return result;
}

static int is_layout(const char* name) {
  return strcmp(name, "lustre.lov") == 0;
}
ssize_t fgetxattr(int fd, const char* name, void* value, size_t size) {
  if (!is_layout(name) || !below(fd)) return REAL(fgetxattr)(fd, name, value, size);
  return read_layout(id_of(fd), value, size);
}
ssize_t getxattr(const char* path, const char* name, void* value, size_t size) {
  const int fd = is_layout(name) ? peek(path) : -1;
  if (fd < 0) return REAL(getxattr)(path, name, value, size);
  const ssize_t result = read_layout(id_of(fd), value, size);
  const int error = errno;
  close(fd);
  errno = error;
  return result;
}
int fsetxattr(int fd, const char* name, const void* value, size_t size, int flags) {
  if (!is_layout(name) || !below(fd)) return REAL(fsetxattr)(fd, name, value, size, flags);
  return set_layout(fd, value, size);
}
int setxattr(const char* path, const char* name, const void* value, size_t size, int flags) {
  const int fd = is_layout(name) ? peek(path) : -1;
  if (fd < 0) return REAL(setxattr)(path, name, value, size, flags);
  const int result = set_layout(fd, value, size);
  const int error = errno;
  close(fd);
  errno = error;
  return result;
}

static int opened(int fd, int flags) {
  if (fd >= 0 && (flags & O_ACCMODE) != O_RDONLY && (flags & O_PATH) == 0 && below(fd)) {
    const int error = errno;
    instantiate(fd);
    note("open", fd, 0, -1);
    errno = error;
  }
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
  return opened(REAL(open)(path, flags, mode), flags);
}
int open64(const char* path, int flags, ...) {
  MODE(flags)
  return opened(REAL(open64)(path, flags, mode), flags);
}
int openat(int at, const char* path, int flags, ...) {
  MODE(flags)
  return opened(REAL(openat)(at, path, flags, mode), flags);
}
int openat64(int at, const char* path, int flags, ...) {
  MODE(flags)
  return opened(REAL(openat64)(at, path, flags, mode), flags);
}
// What a library that was compiled with _FORTIFY_SOURCE calls.
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __open_2(const char* path, int flags) {
  return opened(REAL(open)(path, flags), flags);
}
int __open64_2(const char* path, int flags) {
  return opened(REAL(open64)(path, flags), flags);
}

static ssize_t wrote(int fd, ssize_t bytes, long long offset) {
  if (bytes > 0 && fd != list && below(fd)) {
    const int error = errno;
    note("write", fd, offset, bytes);
    errno = error;
  }
  return bytes;
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  return wrote(fd, REAL(pwrite)(fd, data, size, offset), offset);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  return wrote(fd, REAL(pwrite64)(fd, data, size, offset), offset);
}
ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t offset) {
  return wrote(fd, REAL(pwritev)(fd, parts, count, offset), offset);
}
ssize_t pwritev64(int fd, const struct iovec* parts, int count, off64_t offset) {
  return wrote(fd, REAL(pwritev64)(fd, parts, count, offset), offset);
}
ssize_t write(int fd, const void* data, size_t size) {
  const ssize_t bytes = REAL(write)(fd, data, size);
  return bytes > 0 && *folder != '\0' && below(fd) ? wrote(fd, bytes, lseek(fd, 0, SEEK_CUR) - bytes) : bytes;
}
