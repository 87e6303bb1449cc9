/* How functions in headers are declared that run on the host and on a device. */
#ifndef TL_BASE_FN_H
#define TL_BASE_FN_H

/* TL_BIG_FN is for functions with loops that call each other: a device compiler that inlined all of
 * them into each other would take minutes. */
#ifdef __CUDACC__
#define TL_FN     static __host__ __device__ inline
#define TL_BIG_FN static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define TL_FN     static inline
#define TL_BIG_FN static inline
#endif

/* Before the first member of a struct: a device reads what is aligned in one go. */
#ifdef __cplusplus
#define TL_ALIGNED(bytes) alignas(bytes)
#else
#define TL_ALIGNED(bytes) _Alignas(bytes)
#endif

#endif
