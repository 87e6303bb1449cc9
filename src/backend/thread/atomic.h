/* Additions that several threads make to one number at a time. */
#ifndef TL_THREAD_ATOMIC_H
#define TL_THREAD_ATOMIC_H

#include <stdint.h>

#include "base/fn.h"

/* Adds and returns what was there before. */
TL_FN uint32_t tl_thread_add(uint32_t *to, uint32_t by) {
#ifdef __CUDA_ARCH__
  return atomicAdd(to, by);
#else
  return __atomic_fetch_add(to, by, __ATOMIC_RELAXED);
#endif
}

TL_FN uint64_t tl_thread_add_wide(uint64_t *to, uint64_t by) {
#ifdef __CUDA_ARCH__
  return atomicAdd((unsigned long long *)to, (unsigned long long)by);
#else
  return __atomic_fetch_add(to, by, __ATOMIC_RELAXED);
#endif
}

/* Sets bits. Most threads find them set. */
TL_FN void tl_thread_set(uint32_t *in, uint32_t bits) {
#ifdef __CUDA_ARCH__
  if ((*(volatile uint32_t *)in & bits) != bits)
    atomicOr(in, bits);
#else
  __atomic_fetch_or(in, bits, __ATOMIC_RELAXED);
#endif
}

#endif
