/* Cancelling long work: a signal handler or another thread sets a number, and long loops check it
 * from time to time.
 *
 * A cancellation that was seen once stays in effect until the next start, even if the number is 0
 * again: a loop that stopped has left its work half done, and the code after it must know. */
#ifndef TL_BASE_CANCEL_H
#define TL_BASE_CANCEL_H

#include <stdatomic.h>

#include "base/status.h"

typedef struct tl_cancel {
  const volatile int *asked; /* not 0: stop; NULL: nobody asks */
  atomic_int seen;
  atomic_long looks_of_tests; /* 0; n: the n-th look from now on finds that somebody asks */
} tl_cancel;

static inline void tl_cancel_begin(tl_cancel *cancel, const volatile int *asked) {
  cancel->asked = asked;
  atomic_store_explicit(&cancel->seen, 0, memory_order_relaxed);
}

/* Whether to stop. Any thread; workers of a team must agree on the answer of one of them. */
static inline bool tl_cancel_look(tl_cancel *cancel) {
  if (!cancel)
    return false;
  if (atomic_load_explicit(&cancel->seen, memory_order_relaxed))
    return true;
  const bool is_due = atomic_load_explicit(&cancel->looks_of_tests, memory_order_relaxed) > 0 &&
                      atomic_fetch_sub(&cancel->looks_of_tests, 1) == 1;
  if (!is_due && (!cancel->asked || !__atomic_load_n(cancel->asked, __ATOMIC_RELAXED)))
    return false;
  atomic_store_explicit(&cancel->seen, 1, memory_order_relaxed);
  return true;
}

/* At a border between two pieces of work. */
#define TL_GO_ON(cancel)                                                                           \
  do {                                                                                             \
    if (tl_cancel_look(cancel))                                                                    \
      return tl_fail(TALUS_INTERRUPTED, "stopped on request");                                     \
  } while (0)

#endif
