/* The loops over lanes of iterative.h; included once for each instruction set, by a file whose name
 * ends in it. */
#include "narrow/iterative.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define BYTES 64
#elif defined(__AVX2__)
#define BYTES 32
#else
#define BYTES 16
#endif

typedef float floats __attribute__((vector_size(BYTES)));
typedef int32_t float_truth __attribute__((vector_size(BYTES)));

/* Vectors stay in registers only if all code is in one function. */
#undef TL_FN
#define TL_FN static inline __attribute__((always_inline))

#define NUMBER             floats
#define TRUTH              float_truth
#define ALL(x)             ((floats){0} + (float)(x))
#define TRI_FAR            1e30
#define TRI_TINY           1e-30
#define SELECT(test, a, b) ((floats)(((test) & (float_truth)(a)) | (~(test) & (float_truth)(b))))
#define TRI(name)          float_##name
#include "kernels/triangle_lanes.h"

#include "kernels/triangle_iterative.h"

static inline floats load_floats(const float *from) {
  floats r;
  memcpy(&r, from, sizeof r);
  return r;
}

static inline void load_corners(const tl_triangle_block *block, int lane, float_vec p[3]) {
  for (int k = 0; k < 3; ++k) {
    p[k].x = load_floats(&block->corner[k][0][lane]);
    p[k].y = load_floats(&block->corner[k][1][lane]);
    p[k].z = load_floats(&block->corner[k][2][lane]);
  }
}

static void iterate(const tl_triangle_block *a, const tl_triangle_block *b, tl_guesses *out) {
  for (int lane = 0; lane < TL_TRIANGLE_BLOCK; lane += BYTES / 4) {
    float_vec p[3], q[3];
    load_corners(a, lane, p);
    load_corners(b, lane, q);
    const float_guess g = float_iterate(p, q, TL_ITERATIVE_STEPS);
    memcpy(out->square + lane, &g.square, sizeof g.square);
    memcpy(out->fell + lane, &g.fell, sizeof g.fell);
    memcpy(out->moved + lane, &g.moved, sizeof g.moved);
    memcpy(out->gap + lane, &g.gap, sizeof g.gap);
  }
}
