/* Preloaded into the command by test_memory.py and scripts/storm. From main on, blocks that are
 * asked for (malloc and its like, in all threads and in processes that it forks) are counted, and
 *   REFUSE_AT=n          the n-th is refused, once;
 *   REFUSE_FROM=n        the n-th and all that follow are;
 *   BLOCKS_TO=FILE       gets their number when the process ends. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_long blocks;
static long refuse_at, refuse_from;
static atomic_int counts;

static int is_refused(void) {
  if (!atomic_load(&counts))
    return 0;
  const long n = atomic_fetch_add(&blocks, 1) + 1;
  if (n != refuse_at && (refuse_from == 0 || n < refuse_from))
    return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t n) { return is_refused() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return is_refused() ? NULL : __libc_calloc(n, size); }
void *realloc(void *block, size_t n) {
  return n > 0 && is_refused() ? NULL : __libc_realloc(block, n);
}
void *aligned_alloc(size_t alignment, size_t n) {
  return is_refused() ? NULL : __libc_memalign(alignment, n);
}
void *memalign(size_t alignment, size_t n) { return aligned_alloc(alignment, n); }
int posix_memalign(void **block, size_t alignment, size_t n) {
  *block = aligned_alloc(alignment, n);
  return *block ? 0 : ENOMEM;
}

/* ---- main ------------------------------------------------------------------------------------ */

static int (*real_main)(int, char **, char **);

static long number_of(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

static int counted_main(int argc, char **argv, char **environment) {
  refuse_at = number_of("REFUSE_AT");
  refuse_from = number_of("REFUSE_FROM");
  atomic_store(&counts, 1);
  const int code = real_main(argc, argv, environment);
  atomic_store(&counts, 0);
  return code;
}

int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void), void (*end)(void), void *stack) {
  int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
              void (*)(void), void *);
  *(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = program;
  return real(counted_main, argc, argv, init, fini, end, stack);
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("BLOCKS_TO");
  char line[32];
  atomic_store(&counts, 0);
  if (!path)
    return;
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const int n = snprintf(line, sizeof line, "%ld", atomic_load(&blocks));
  if (syscall(SYS_write, fd, line, (size_t)n) != n)
    abort();
  syscall(SYS_close, fd);
}
