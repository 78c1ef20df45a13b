// Faults below a program: preloaded, it lets the calls that reach a file fail, fall short or take long, as
// control.h says at that moment. MPI-IO's calls are among them. Without FAULTS_CONTROL nothing is changed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "control.h"

_Static_assert(sizeof(struct fault_shared) <= kFaultControlBytes, "the file is too small");

static struct fault_control* control;
static int my_rank = -1, is_keeper = 0;

__attribute__((constructor)) static void begin(void) {
  const char* path = getenv("FAULTS_CONTROL");
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("PMI_RANK");
  const char* keeper = getenv("FAULTS_KEEPER");
  if (path == NULL || (rank == NULL && keeper == NULL)) return;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return;
  void* const at = mmap(NULL, kFaultControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  is_keeper = keeper != NULL;
  my_rank = is_keeper ? kFaultKeeperSlot : atoi(rank);
  if (at != MAP_FAILED) control = &((struct fault_shared*)at)->control;
}

// ---- whether a call is the one ----

static int armed(int call) {
  if (control == NULL || __atomic_load_n(&control->armed, __ATOMIC_ACQUIRE) == 0) return 0;
  if ((control->calls & call) == 0) return 0;
  if (control->rank == kFaultKeeper) return is_keeper;
  return control->rank < 0 || (control->rank == my_rank && !is_keeper);
}

static int is_place(const char* path) {
  const size_t length = strlen(control->place);
  if (length == 0) return 0;
  if (control->place[length - 1] == '*') return strncmp(path, control->place, length - 1) == 0;
  return strcmp(path, control->place) == 0;
}

static int is_there(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return 0;
  path[n] = '\0';
  return is_place(path);
}

static int is_named(const char* path) {
  char target[4096];
  if (strncmp(path, "/proc/self/fd/", 14) != 0) return is_place(path);
  const ssize_t n = readlink(path, target, sizeof target - 1);
  if (n <= 0) return 0;
  target[n] = '\0';
  return is_place(target);
}

// Counts the call, and says what befalls it: one of fault_kind, 0 for nothing.
static int struck(void) {
  const int slot = my_rank >= 0 && my_rank < kFaultRanks ? my_rank : kFaultRanks - 1;
  int number;
  if (control->rank == kFaultOwner) {
    const int owner = __atomic_load_n(&control->owner, __ATOMIC_RELAXED);
    if (owner != 0 && owner != my_rank + 1) return 0;
    number = __atomic_add_fetch(&control->any_number, 1, __ATOMIC_RELAXED);
    int nobody = 0;
    if (number >= control->number &&
        !__atomic_compare_exchange_n(&control->owner, &nobody, my_rank + 1, 0, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED) &&
        nobody != my_rank + 1)
      return 0;
  } else {
    number = __atomic_add_fetch(&control->numbers[slot], 1, __ATOMIC_RELAXED);
  }
  const int past = number - control->number;
  if (past < 0 || (past > 0 && (control->again == 0 || past % control->again != 0))) return 0;
  __atomic_add_fetch(&control->struck_by[slot], 1, __ATOMIC_RELAXED);
  __atomic_add_fetch(&control->struck, 1, __ATOMIC_RELAXED);
  if (control->kind == kFaultSlow) usleep(20000);
  return control->kind;
}

static int strikes(int call, int fd) {
  const int before = errno;
  const int what = armed(call) && is_there(fd) ? struck() : 0;
  errno = what == kFaultError ? control->error : before;
  return what;
}
static int strikes_name(const char* path) {
  const int before = errno;
  const int what = armed(kFaultOpen) && is_named(path) ? struck() : 0;
  errno = what == kFaultError ? control->error : before;
  return what;
}

static size_t part_of(int what, size_t size) {
  return what == kFaultShort && size > 1 ? size / 2 : size;
}

// ---- instead of the C library's ----

#define REAL(name) ((__typeof__(&name))next(#name))
static void* next(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

#define AT(name, call, buffer, offset_type)                            \
  ssize_t name(int fd, buffer data, size_t size, offset_type offset) { \
    const int what = strikes(call, fd);                                \
    if (what == kFaultError) return -1;                                \
    return REAL(name)(fd, data, part_of(what, size), offset);          \
  }
AT(pwrite, kFaultWrite, const void*, off_t)
AT(pwrite64, kFaultWrite, const void*, off64_t)
AT(pread, kFaultRead, void*, off_t)
AT(pread64, kFaultRead, void*, off64_t)

#define HERE(name, call, buffer)                      \
  ssize_t name(int fd, buffer data, size_t size) {    \
    const int what = strikes(call, fd);               \
    if (what == kFaultError) return -1;               \
    return REAL(name)(fd, data, part_of(what, size)); \
  }
HERE(write, kFaultWrite, const void*)
HERE(read, kFaultRead, void*)

// The first part alone where there are several, half of it where there is one.
struct cut {
  struct iovec one;
  int count;  // 0: nothing is cut
};
static struct cut cut_short(int what, const struct iovec* parts, int count) {
  struct cut cut = {{NULL, 0}, 0};
  if (what != kFaultShort || count < 1) return cut;
  cut.one = parts[0];
  if (count == 1) cut.one.iov_len = part_of(what, parts[0].iov_len);
  cut.count = 1;
  return cut;
}
#define PARTS(name, call, types, ...)                                  \
  ssize_t name types {                                                 \
    const int what = strikes(call, fd);                                \
    if (what == kFaultError) return -1;                                \
    const struct cut cut = cut_short(what, parts, count);              \
    return REAL(name)(fd, cut.count != 0 ? &cut.one : parts,           \
                      cut.count != 0 ? cut.count : count __VA_ARGS__); \
  }
#define COMMA ,
PARTS(writev, kFaultWrite, (int fd, const struct iovec* parts, int count))
PARTS(readv, kFaultRead, (int fd, const struct iovec* parts, int count))
PARTS(pwritev, kFaultWrite, (int fd, const struct iovec* parts, int count, off_t offset), COMMA offset)
PARTS(preadv, kFaultRead, (int fd, const struct iovec* parts, int count, off_t offset), COMMA offset)
PARTS(pwritev64, kFaultWrite, (int fd, const struct iovec* parts, int count, off64_t offset), COMMA offset)
PARTS(preadv64, kFaultRead, (int fd, const struct iovec* parts, int count, off64_t offset), COMMA offset)

int fsync(int fd) {
  return strikes(kFaultSync, fd) == kFaultError ? -1 : REAL(fsync)(fd);
}
int fdatasync(int fd) {
  return strikes(kFaultSync, fd) == kFaultError ? -1 : REAL(fdatasync)(fd);
}
int ftruncate(int fd, off_t size) {
  return strikes(kFaultSize, fd) == kFaultError ? -1 : REAL(ftruncate)(fd, size);
}
int ftruncate64(int fd, off64_t size) {
  return strikes(kFaultSize, fd) == kFaultError ? -1 : REAL(ftruncate64)(fd, size);
}
int fallocate(int fd, int mode, off_t offset, off_t size) {
  return strikes(kFaultSize, fd) == kFaultError ? -1 : REAL(fallocate)(fd, mode, offset, size);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t size) {
  return strikes(kFaultSize, fd) == kFaultError ? -1 : REAL(fallocate64)(fd, mode, offset, size);
}
int posix_fallocate(int fd, off_t offset, off_t size) {
  return strikes(kFaultSize, fd) == kFaultError ? errno : REAL(posix_fallocate)(fd, offset, size);
}
int posix_fallocate64(int fd, off64_t offset, off64_t size) {
  return strikes(kFaultSize, fd) == kFaultError ? errno : REAL(posix_fallocate64)(fd, offset, size);
}
// As on Linux, the descriptor is gone whatever close says.
int close(int fd) {
  if (strikes(kFaultClose, fd) != kFaultError) return REAL(close)(fd);
  REAL(close)(fd);
  errno = control->error;
  return -1;
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
  return strikes_name(path) == kFaultError ? -1 : REAL(open)(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE(flags)
  return strikes_name(path) == kFaultError ? -1 : REAL(open64)(path, flags, mode);
}
int openat(int at, const char* path, int flags, ...) {
  MODE(flags)
  return strikes_name(path) == kFaultError ? -1 : REAL(openat)(at, path, flags, mode);
}
int openat64(int at, const char* path, int flags, ...) {
  MODE(flags)
  return strikes_name(path) == kFaultError ? -1 : REAL(openat64)(at, path, flags, mode);
}
// What a library that was compiled with _FORTIFY_SOURCE calls.
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __open_2(const char* path, int flags) {
  return strikes_name(path) == kFaultError ? -1 : REAL(open)(path, flags);
}
int __open64_2(const char* path, int flags) {
  return strikes_name(path) == kFaultError ? -1 : REAL(open64)(path, flags);
}
ssize_t __pread_chk(int fd, void* data, size_t size, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void* data, size_t size, off64_t offset, size_t room);
ssize_t __read_chk(int fd, void* data, size_t size, size_t room);
ssize_t __pread_chk(int fd, void* data, size_t size, off_t offset, size_t room) {
  if (size > room) abort();
  return pread(fd, data, size, offset);
}
ssize_t __pread64_chk(int fd, void* data, size_t size, off64_t offset, size_t room) {
  if (size > room) abort();
  return pread64(fd, data, size, offset);
}
ssize_t __read_chk(int fd, void* data, size_t size, size_t room) {
  if (size > room) abort();
  return read(fd, data, size);
}
int shm_open(const char* name, int flags, mode_t mode) {
  char path[4096];
  snprintf(path, sizeof path, "/dev/shm/%s", name + strspn(name, "/"));
  return strikes_name(path) == kFaultError ? -1 : REAL(shm_open)(name, flags, mode);
}
