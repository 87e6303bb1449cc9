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

/* Raises bits where many threads come at once: those of a warp first find their greatest, and one
 * of them raises it. */
TL_FN void tl_thread_raise_together(uint64_t *in, uint64_t bits) {
#ifdef __CUDA_ARCH__
  const unsigned here = __activemask();
  const uint32_t high = (uint32_t)(bits >> 32), most = __reduce_max_sync(here, high);
  const uint32_t low = __reduce_max_sync(here, high == most ? (uint32_t)bits : 0u);
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  if (lane == (unsigned)__ffs((int)here) - 1)
    tl_thread_raise_wide(in, (uint64_t)most << 32 | low);
#else
  tl_thread_raise_wide(in, bits);
#endif
}

/* Adds where many threads come at once: a whole warp adds up its own first. */
TL_FN void tl_thread_add_together(uint64_t *to, uint64_t by) {
#ifdef __CUDA_ARCH__
  if (__activemask() != 0xffffffffu) {
    tl_thread_add_wide(to, by);
    return;
  }
  unsigned long long sum = by;
  for (int way = 16; way > 0; way /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, way);
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  if (lane == 0)
    tl_thread_add_wide(to, sum);
#else
  tl_thread_add_wide(to, by);
#endif
}

/* A number without its sign; what is not a number is greater than any. */
TL_FN void tl_thread_raise_bits(double *in, double value) {
  union {
    double number;
    uint64_t bits;
  } as;
  as.number = value;
  tl_thread_raise_together((uint64_t *)(void *)in, as.bits & ~((uint64_t)1 << 63));
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
