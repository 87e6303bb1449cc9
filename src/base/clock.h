/* The clock that every part measures its times with. */
#ifndef TL_BASE_CLOCK_H
#define TL_BASE_CLOCK_H

#include <time.h>

/* Seconds since some moment; never goes back, whatever happens to the time of day. */
static inline double tl_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
