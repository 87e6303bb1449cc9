/* Loads and stores of bodies, 16 bytes at a time as devices do: single numbers take four times as
 * many requests. */
#ifndef TL_THREAD_FETCH_H
#define TL_THREAD_FETCH_H

#include "kernels/ccp.h"

TL_FN tl_ccp_body tl_thread_fetch(const tl_ccp_body *from) {
#ifdef __CUDA_ARCH__
  union {
    int4 parts[sizeof(tl_ccp_body) / sizeof(int4)];
    tl_ccp_body body;
  } all;
  for (size_t i = 0; i < sizeof(tl_ccp_body) / sizeof(int4); ++i)
    all.parts[i] = ((const int4 *)from)[i];
  return all.body;
#else
  return *from;
#endif
}

TL_FN void tl_thread_put(tl_ccp_body *to, const tl_ccp_body *body) {
#ifdef __CUDA_ARCH__
  union {
    int4 parts[sizeof(tl_ccp_body) / sizeof(int4)];
    tl_ccp_body body;
  } all;
  all.body = *body;
  for (size_t i = 0; i < sizeof(tl_ccp_body) / sizeof(int4); ++i)
    ((int4 *)to)[i] = all.parts[i];
#else
  *to = *body;
#endif
}

#endif
