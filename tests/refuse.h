/* A process in which memory runs out when a test wants that: included once, by the test itself. */
#ifndef TESTS_REFUSE_H
#define TESTS_REFUSE_H

#include <stdbool.h>
#include <stdlib.h>

/* While it is true, tl_resize gets nothing. */
static bool refuses;

/* Sanitizers have an allocator of their own. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REFUSES_MEMORY 0
#endif
#endif
#if !defined(REFUSES_MEMORY) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) &&            \
    !defined(__SANITIZE_THREAD__)
#define REFUSES_MEMORY 1
extern void *__libc_memalign(size_t, size_t);
void *aligned_alloc(size_t alignment, size_t n) {
  return refuses ? NULL : __libc_memalign(alignment, n);
}
#endif
#ifndef REFUSES_MEMORY
#define REFUSES_MEMORY 0
#endif

#endif
