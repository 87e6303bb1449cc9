/* Kernels: Morton codes (Morton 1966): the bits of three cell numbers interleaved, x in bit 0,
 * y in bit 1, z in bit 2 and so on. Sorting by the code walks space along a Z-shaped curve; a
 * common prefix of two codes is the smallest octree cell that holds both. Bits above those named
 * are ignored. */
#ifndef TL_KERNELS_MORTON_H
#define TL_KERNELS_MORTON_H

#include "kernels/real.h"

/* The lowest 21 bits of x, two zeros between neighbours: each step halves the blocks that still
 * lie together and moves them apart. */
TL_FN uint64_t tl_morton_spread21(uint32_t x) {
  uint64_t v = x & 0x1fffffu;
  v = (v | (v << 32)) & UINT64_C(0x001f00000000ffff);
  v = (v | (v << 16)) & UINT64_C(0x001f0000ff0000ff);
  v = (v | (v << 8)) & UINT64_C(0x100f00f00f00f00f);
  v = (v | (v << 4)) & UINT64_C(0x10c30c30c30c30c3);
  v = (v | (v << 2)) & UINT64_C(0x1249249249249249);
  return v;
}

/* Every third bit of the code, from bit 0: undoes tl_morton_spread21. */
TL_FN uint32_t tl_morton_compact21(uint64_t code) {
  uint64_t v = code & UINT64_C(0x1249249249249249);
  v = (v | (v >> 2)) & UINT64_C(0x10c30c30c30c30c3);
  v = (v | (v >> 4)) & UINT64_C(0x100f00f00f00f00f);
  v = (v | (v >> 8)) & UINT64_C(0x001f0000ff0000ff);
  v = (v | (v >> 16)) & UINT64_C(0x001f00000000ffff);
  v = (v | (v >> 32)) & UINT64_C(0x00000000001fffff);
  return (uint32_t)v;
}

/* 3 x 21 bits in 63. */
TL_FN uint64_t tl_morton3(uint32_t x, uint32_t y, uint32_t z) {
  return tl_morton_spread21(x) | (tl_morton_spread21(y) << 1) | (tl_morton_spread21(z) << 2);
}

TL_FN void tl_morton_decode3(uint64_t code, uint32_t *x, uint32_t *y, uint32_t *z) {
  *x = tl_morton_compact21(code);
  *y = tl_morton_compact21(code >> 1);
  *z = tl_morton_compact21(code >> 2);
}

TL_FN uint32_t tl_morton_spread10(uint32_t x) {
  uint32_t v = x & 0x3ffu;
  v = (v | (v << 16)) & 0x030000ffu;
  v = (v | (v << 8)) & 0x0300f00fu;
  v = (v | (v << 4)) & 0x030c30c3u;
  v = (v | (v << 2)) & 0x09249249u;
  return v;
}

TL_FN uint32_t tl_morton_compact10(uint32_t code) {
  uint32_t v = code & 0x09249249u;
  v = (v | (v >> 2)) & 0x030c30c3u;
  v = (v | (v >> 4)) & 0x0300f00fu;
  v = (v | (v >> 8)) & 0x030000ffu;
  v = (v | (v >> 16)) & 0x000003ffu;
  return v;
}

/* 3 x 10 bits in 30. */
TL_FN uint32_t tl_morton3_u32(uint32_t x, uint32_t y, uint32_t z) {
  return tl_morton_spread10(x) | (tl_morton_spread10(y) << 1) | (tl_morton_spread10(z) << 2);
}

TL_FN void tl_morton_decode3_u32(uint32_t code, uint32_t *x, uint32_t *y, uint32_t *z) {
  *x = tl_morton_compact10(code);
  *y = tl_morton_compact10(code >> 1);
  *z = tl_morton_compact10(code >> 2);
}

#endif
