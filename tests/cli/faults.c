/* Preloaded into the command by test_faults.py and test_power.py. Calls on files in the folder
 * FAULTS_IN (of all, where it is not set) are counted, and
 *   KILL_AT=n        at the n-th that changes a file the process is killed;
 *   FULL_AT=n        from the n-th that changes a file on, the disk is full;
 *   FAIL_AT=n        the n-th of all calls fails, once, with FAIL_WITH (a number; EIO);
 *   COUNT_TO=FILE    gets "changes all syncs bytes": the numbers of calls that change a file, of
 *                    all, of flushes, and of bytes written;
 *   RECORD_TO=FILE   gets each change as a line, for test_power.py, with what was written in hex.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static long changes, all, syncs, bytes, kill_at, full_at, fail_at;
static int fail_with = EIO, record = -1, busy;
static const char *folder;

static long number_of(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

__attribute__((constructor)) static void begin(void) {
  kill_at = number_of("KILL_AT");
  full_at = number_of("FULL_AT");
  fail_at = number_of("FAIL_AT");
  if (getenv("FAIL_WITH"))
    fail_with = (int)number_of("FAIL_WITH");
  folder = getenv("FAULTS_IN");
  const char *to = getenv("RECORD_TO");
  if (to)
    record = (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
}

static void put(int fd, const char *text, size_t n) {
  while (n > 0) {
    const long done = syscall(SYS_write, fd, text, n);
    if (done <= 0)
      abort();
    text += done;
    n -= (size_t)done;
  }
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("COUNT_TO");
  char line[128];
  if (!path)
    return;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const int n = snprintf(line, sizeof line, "%ld %ld %ld %ld", changes, all, syncs, bytes);
  put(fd, line, (size_t)n);
  syscall(SYS_close, fd);
}

/* ---- which file ------------------------------------------------------------------------------ */

/* The path of an open file, or of a name from an open folder on; "" where it has none. */
static void path_of(int at, const char *name, char *path) {
  char link[64];
  path[0] = '\0';
  if (!name || name[0] != '/') {
    snprintf(link, sizeof link, at == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", at);
    const long n = syscall(SYS_readlink, link, path, PATH_MAX);
    path[n > 0 ? n : 0] = '\0';
    if (name && n > 0)
      strcpy(path + n, "/");
  }
  if (name)
    strncat(path, name, PATH_MAX);
}

static int is_ours(const char *path) {
  const size_t n = folder ? strlen(folder) : 0;
  return !folder || (strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0'));
}

/* ---- what happens ---------------------------------------------------------------------------- */

enum { LOOKS = 0, CHANGES = 1, GROWS = 2, FLUSHES = 4 };

/* Whether this call fails; errno is set. */
static int is_refused(int kind, int at, const char *name) {
  char path[2 * PATH_MAX + 2] = "";
  if (busy)
    return 0;
  const int before = errno;
  if (folder)
    path_of(at, name, path);
  errno = before;
  if (!is_ours(path))
    return 0;
  all++;
  if (kind & FLUSHES)
    syncs++;
  if (kind & (CHANGES | FLUSHES)) {
    changes++;
    if (changes == kill_at)
      kill(getpid(), SIGKILL);
    if ((kind & GROWS) && full_at > 0 && changes >= full_at) {
      errno = ENOSPC;
      return 1;
    }
  }
  if (all == fail_at) {
    errno = fail_with;
    return 1;
  }
  return 0;
}

/* "what inode path [path]" and, of writes, "offset hex". */
static void note(const char *what, int fd, int at, const char *name, const char *to,
                 const void *data, long offset, long n) {
  static const char digits[] = "0123456789abcdef";
  char path[2 * PATH_MAX + 2], other[2 * PATH_MAX + 2] = "-", head[4 * PATH_MAX + 100];
  const int before = errno;
  path_of(at, name, path);
  if (to)
    path_of(at, to, other);
  if (record >= 0 && is_ours(path)) {
    struct stat info = {0};
    busy++;
    if (fd >= 0)
      fstat(fd, &info);
    busy--;
    put(record, head,
        (size_t)snprintf(head, sizeof head, "%s %lu %s %s %ld ", what, (unsigned long)info.st_ino,
                         path, other, offset));
    for (long i = 0; data && i < n; ++i) {
      const unsigned char c = ((const unsigned char *)data)[i];
      put(record, (char[]){digits[c >> 4], digits[c & 15]}, 2);
    }
    put(record, "\n", 1);
  }
  errno = before;
}

#define REAL(type, name, ...)                                                                      \
  static type (*real)(__VA_ARGS__);                                                                \
  if (!real)                                                                                       \
  *(void **)&real = dlsym(RTLD_NEXT, #name)

/* ---- writing --------------------------------------------------------------------------------- */

ssize_t write(int fd, const void *data, size_t n) {
  REAL(ssize_t, write, int, const void *, size_t);
  if (is_refused(CHANGES | GROWS, fd, NULL))
    return -1;
  const long at = record >= 0 ? (long)syscall(SYS_lseek, fd, 0, SEEK_CUR) : 0;
  struct stat info = {0};
  const int flags = record >= 0 ? (int)syscall(SYS_fcntl, fd, F_GETFL) : 0;
  if (flags & O_APPEND)
    busy++, fstat(fd, &info), busy--;
  const ssize_t done = real(fd, data, n);
  if (done > 0) {
    bytes += done;
    note("write", fd, fd, NULL, NULL, data, flags & O_APPEND ? (long)info.st_size : at, done);
  }
  return done;
}

#define PWRITE(name, offset)                                                                       \
  ssize_t name(int fd, const void *data, size_t n, offset at) {                                    \
    REAL(ssize_t, name, int, const void *, size_t, offset);                                        \
    if (is_refused(CHANGES | GROWS, fd, NULL))                                                     \
      return -1;                                                                                   \
    const ssize_t done = real(fd, data, n, at);                                                    \
    if (done > 0) {                                                                                \
      bytes += done;                                                                               \
      note("write", fd, fd, NULL, NULL, data, (long)at, done);                                     \
    }                                                                                              \
    return done;                                                                                   \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define TRUNCATE(name, offset)                                                                     \
  int name(int fd, offset size) {                                                                  \
    REAL(int, name, int, offset);                                                                  \
    if (is_refused(CHANGES, fd, NULL))                                                             \
      return -1;                                                                                   \
    const int done = real(fd, size);                                                               \
    if (done == 0)                                                                                 \
      note("truncate", fd, fd, NULL, NULL, NULL, (long)size, 0);                                   \
    return done;                                                                                   \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define FLUSH(name)                                                                                \
  int name(int fd) {                                                                               \
    REAL(int, name, int);                                                                          \
    if (is_refused(GROWS | FLUSHES, fd, NULL))                                                     \
      return -1;                                                                                   \
    const int done = real(fd);                                                                     \
    if (done == 0)                                                                                 \
      note(#name, fd, fd, NULL, NULL, NULL, 0, 0);                                                 \
    return done;                                                                                   \
  }
FLUSH(fsync)
FLUSH(fdatasync)
FLUSH(syncfs)

/* ---- names ----------------------------------------------------------------------------------- */

static int is_new(int at, const char *path) {
  struct stat info;
  busy++;
  const int there = fstatat(at, path, &info, AT_SYMLINK_NOFOLLOW) == 0;
  busy--;
  return !there;
}

static int open_at(int (*real)(int, const char *, int, ...), int at, const char *path, int flags,
                   mode_t mode) {
  const int made = (flags & O_CREAT) && is_new(at, path);
  if (is_refused(made ? CHANGES | GROWS : LOOKS, at, path))
    return -1;
  const int fd = real(at, path, flags, mode);
  if (fd >= 0 && made)
    note("make", fd, at, path, NULL, NULL, 0, 0);
  return fd;
}

#define MODE(last)                                                                                 \
  mode_t mode = 0;                                                                                 \
  if (flags & O_CREAT) {                                                                           \
    va_list more;                                                                                  \
    va_start(more, last);                                                                          \
    mode = va_arg(more, mode_t);                                                                   \
    va_end(more);                                                                                  \
  }
#define OPEN(name, name_at)                                                                        \
  int name(const char *path, int flags, ...) {                                                     \
    MODE(flags)                                                                                    \
    REAL(int, name_at, int, const char *, int, ...);                                               \
    return open_at(real, AT_FDCWD, path, flags, mode);                                             \
  }                                                                                                \
  int name_at(int at, const char *path, int flags, ...) {                                          \
    MODE(flags)                                                                                    \
    REAL(int, name_at, int, const char *, int, ...);                                               \
    return open_at(real, at, path, flags, mode);                                                   \
  }
OPEN(open, openat)
OPEN(open64, openat64)

int renameat(int from_at, const char *from, int to_at, const char *to) {
  REAL(int, renameat, int, const char *, int, const char *);
  if (is_refused(CHANGES | GROWS, from_at, from))
    return -1;
  const int done = real(from_at, from, to_at, to);
  if (done == 0)
    note("rename", -1, from_at, from, to, NULL, 0, 0);
  return done;
}

int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int mkdirat(int at, const char *path, mode_t mode) {
  REAL(int, mkdirat, int, const char *, mode_t);
  if (is_refused(CHANGES | GROWS, at, path))
    return -1;
  const int done = real(at, path, mode);
  if (done == 0)
    note("mkdir", -1, at, path, NULL, NULL, 0, 0);
  return done;
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int unlinkat(int at, const char *path, int flags) {
  REAL(int, unlinkat, int, const char *, int);
  if (is_refused(CHANGES, at, path))
    return -1;
  const int done = real(at, path, flags);
  if (done == 0)
    note("unlink", -1, at, path, NULL, NULL, 0, 0);
  return done;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

/* ---- looking --------------------------------------------------------------------------------- */

#define LOOK(type, name, failed, at, path, parameters, arguments, ...)                             \
  type name parameters {                                                                           \
    REAL(type, name, __VA_ARGS__);                                                                 \
    return is_refused(LOOKS, at, path) ? failed : real arguments;                                  \
  }
LOOK(ssize_t, read, -1, fd, NULL, (int fd, void *data, size_t n), (fd, data, n), int, void *,
     size_t)
LOOK(ssize_t, pread, -1, fd, NULL, (int fd, void *data, size_t n, off_t at), (fd, data, n, at), int,
     void *, size_t, off_t)
LOOK(ssize_t, pread64, -1, fd, NULL, (int fd, void *data, size_t n, off64_t at), (fd, data, n, at),
     int, void *, size_t, off64_t)
LOOK(int, access, -1, AT_FDCWD, path, (const char *path, int mode), (path, mode), const char *, int)
LOOK(int, stat, -1, AT_FDCWD, path, (const char *path, struct stat *to), (path, to), const char *,
     struct stat *)
LOOK(int, lstat, -1, AT_FDCWD, path, (const char *path, struct stat *to), (path, to), const char *,
     struct stat *)
LOOK(int, fstat, -1, fd, NULL, (int fd, struct stat *to), (fd, to), int, struct stat *)
LOOK(int, fstatat, -1, at, path, (int at, const char *path, struct stat *to, int flags),
     (at, path, to, flags), int, const char *, struct stat *, int)
LOOK(int, flock, -1, fd, NULL, (int fd, int how), (fd, how), int, int)
LOOK(DIR *, opendir, NULL, AT_FDCWD, path, (const char *path), (path), const char *)
LOOK(DIR *, fdopendir, NULL, fd, NULL, (int fd), (fd), int)
LOOK(struct dirent *, readdir, NULL, dirfd(from), NULL, (DIR * from), (from), DIR *)
LOOK(struct dirent64 *, readdir64, NULL, dirfd(from), NULL, (DIR * from), (from), DIR *)
LOOK(FILE *, fopen, NULL, AT_FDCWD, path, (const char *path, const char *how), (path, how),
     const char *, const char *)
LOOK(FILE *, fopen64, NULL, AT_FDCWD, path, (const char *path, const char *how), (path, how),
     const char *, const char *)
