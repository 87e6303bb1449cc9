/* Atomic operations of several threads on one number. */
#ifndef TL_THREAD_ATOMIC_H
#define TL_THREAD_ATOMIC_H

#include <stdint.h>

#include "base/fn.h"

/* Adds, and returns the old value. */
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

/* Raises a number to `value` if that is greater; usually it is not. */
TL_FN void tl_thread_raise(uint32_t *in, uint32_t value) {
#ifdef __CUDA_ARCH__
  if (*(volatile uint32_t *)in < value)
    atomicMax(in, value);
#else
  uint32_t old = __atomic_load_n(in, __ATOMIC_RELAXED);
  while (old < value &&
         !__atomic_compare_exchange_n(in, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

TL_FN void tl_thread_raise_wide(uint64_t *in, uint64_t value) {
#ifdef __CUDA_ARCH__
  if (*(volatile unsigned long long *)in < value)
    atomicMax((unsigned long long *)in, (unsigned long long)value);
#else
  uint64_t old = __atomic_load_n(in, __ATOMIC_RELAXED);
  while (old < value &&
         !__atomic_compare_exchange_n(in, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#endif
}

/* The same for numbers that are not negative, which are ordered like their bits. */
TL_FN void tl_thread_raise_real(double *in, double value) {
  union {
    double number;
    uint64_t bits;
  } as;
  as.number = value > 0 ? value : 0;
  tl_thread_raise_wide((uint64_t *)(void *)in, as.bits);
}

/* A number that other threads may change. */
TL_FN uint32_t tl_thread_load(const uint32_t *from) {
#ifdef __CUDA_ARCH__
  return *(const volatile uint32_t *)from;
#else
  return __atomic_load_n(from, __ATOMIC_RELAXED);
#endif
}

/* Writes, and returns the old value. */
TL_FN uint32_t tl_thread_swap(uint32_t *in, uint32_t value) {
#ifdef __CUDA_ARCH__
  return atomicExch(in, value);
#else
  return __atomic_exchange_n(in, value, __ATOMIC_RELAXED);
#endif
}

/* Replaces `old` by `value`; false where another value is there. */
TL_FN bool tl_thread_replace(uint32_t *in, uint32_t old, uint32_t value) {
#ifdef __CUDA_ARCH__
  return atomicCAS(in, old, value) == old;
#else
  return __atomic_compare_exchange_n(in, &old, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

/* Sets bits; usually they are set already. */
TL_FN void tl_thread_set(uint32_t *in, uint32_t bits) {
#ifdef __CUDA_ARCH__
  if ((*(volatile uint32_t *)in & bits) != bits)
    atomicOr(in, bits);
#else
  __atomic_fetch_or(in, bits, __ATOMIC_RELAXED);
#endif
}

#endif
