/* Preloaded into the command by test_faults.py: at the n-th call that changes a file the process is
 * killed (KILL_AT=n), or from then on the disk is full (FULL_AT=n). COUNT_TO names a file for the
 * number of such calls. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long calls, kill_at, full_at;

__attribute__((constructor)) static void begin(void) {
  const char *at = getenv("KILL_AT"), *full = getenv("FULL_AT");
  kill_at = at ? atol(at) : 0;
  full_at = full ? atol(full) : 0;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("COUNT_TO");
  const long counted = calls;
  FILE *file = path ? fopen(path, "w") : NULL;
  if (file) {
    fprintf(file, "%ld", counted);
    fclose(file);
  }
}

/* Whether this call finds the disk full. `grows`: it needs room on the disk. */
static int is_refused(int grows) {
  calls++;
  if (calls == kill_at)
    kill(getpid(), SIGKILL);
  if (!grows || full_at == 0 || calls < full_at)
    return 0;
  errno = ENOSPC;
  return 1;
}

#define WRAP(type, name, grows, parameters, arguments)                                             \
  type name parameters {                                                                           \
    static type(*real) parameters;                                                                 \
    if (!real)                                                                                     \
      *(void **)&real = dlsym(RTLD_NEXT, #name);                                                   \
    return is_refused(grows) ? -1 : real arguments;                                                \
  }

WRAP(ssize_t, write, 1, (int fd, const void *data, size_t n), (fd, data, n))
WRAP(ssize_t, pwrite, 1, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
WRAP(ssize_t, pwrite64, 1, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
WRAP(int, fsync, 1, (int fd), (fd))
WRAP(int, rename, 1, (const char *from, const char *to), (from, to))
WRAP(int, mkdir, 1, (const char *path, mode_t mode), (path, mode))
WRAP(int, unlink, 0, (const char *path), (path))
WRAP(int, unlinkat, 0, (int folder, const char *path, int flags), (folder, path, flags))
WRAP(int, ftruncate, 0, (int fd, off_t size), (fd, size))
WRAP(int, ftruncate64, 0, (int fd, off_t size), (fd, size))
