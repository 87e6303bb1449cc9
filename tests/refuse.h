/* A process in which memory runs out when a test wants that: included once, by the test itself.
 * With REFUSES_MALLOC defined before, malloc and its like too, and blocks that nobody freed are
 * counted. */
#ifndef TESTS_REFUSE_H
#define TESTS_REFUSE_H

#include <stdbool.h>
#include <stdlib.h>

/* While it is true, tl_resize gets nothing. */
__attribute__((unused)) static bool refuses;

/* n > 0: the n-th block that is asked for from now on is refused, and others are not; 0 when that
 * has happened. Negative: none is. */
__attribute__((unused)) static long refuse_at = -1;
__attribute__((unused)) static long blocks_held;

/* Sanitizers have an allocator of their own. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REFUSES_MEMORY 0
#endif
#endif
#if !defined(REFUSES_MEMORY) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) &&            \
    !defined(__SANITIZE_THREAD__)
#define REFUSES_MEMORY 1

static void *held(void *block) {
  blocks_held += block != NULL;
  return block;
}

/* For a debugger to stop at. */
__attribute__((noinline)) static bool refuse_now(void) {
  __asm__ volatile("");
  return true;
}

static bool is_refused(void) {
  return refuses || (refuse_at > 0 && --refuse_at == 0 && refuse_now());
}

extern void *__libc_memalign(size_t, size_t);
void *aligned_alloc(size_t alignment, size_t n) {
  return is_refused() ? NULL : held(__libc_memalign(alignment, n));
}

#ifdef REFUSES_MALLOC
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
void *malloc(size_t n) { return is_refused() ? NULL : held(__libc_malloc(n)); }
void *calloc(size_t n, size_t size) { return is_refused() ? NULL : held(__libc_calloc(n, size)); }
void *realloc(void *block, size_t n) {
  if (is_refused())
    return NULL;
  void *fresh = __libc_realloc(block, n);
  blocks_held += (block == NULL) - (fresh == NULL);
  return fresh;
}
void free(void *block) {
  blocks_held -= block != NULL;
  __libc_free(block);
}
#endif

#endif
#ifndef REFUSES_MEMORY
#define REFUSES_MEMORY 0
#endif

#endif
