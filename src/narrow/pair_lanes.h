/* Pairs of triangles in lanes: types, and loading of sixteen pairs, for the loops of triangles.h
 * and iterative.h. Included once by each file of loops. */
#include "narrow/triangles.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define BYTES 64
#elif defined(__AVX2__)
#define BYTES 32
#else
#define BYTES 16
#endif

typedef float floats __attribute__((vector_size(BYTES)));
typedef int32_t float_truth __attribute__((vector_size(BYTES)));
typedef double doubles __attribute__((vector_size(BYTES)));
typedef int64_t double_truth __attribute__((vector_size(BYTES)));

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
#undef NUMBER
#undef TRUTH
#undef ALL
#undef TRI_FAR
#undef TRI_TINY
#undef SELECT
#undef TRI

static inline floats load_floats(const float *from) {
  floats r;
  memcpy(&r, from, sizeof r);
  return r;
}

static inline unsigned bits_of(float_truth test) {
#if BYTES == 64
  return _mm512_movepi32_mask((__m512i)test);
#elif BYTES == 32
  return (unsigned)_mm256_movemask_ps((__m256)test);
#else
  unsigned bits = 0;
  for (int i = 0; i < BYTES / 4; ++i)
    bits |= (unsigned)(test[i] != 0) << i;
  return bits;
#endif
}

static inline void load_corners(const tl_triangle_block *block, int lane, float_vec p[3]) {
  for (int k = 0; k < 3; ++k) {
    p[k].x = load_floats(&block->corner[k][0][lane]);
    p[k].y = load_floats(&block->corner[k][1][lane]);
    p[k].z = load_floats(&block->corner[k][2][lane]);
  }
}

static inline floats pick_floats(float_truth test, floats a, floats b) {
  return (floats)((test & (float_truth)a) | (~test & (float_truth)b));
}
static inline floats lesser(floats a, floats b) { return pick_floats(a < b, a, b); }
static inline floats greater(floats a, floats b) { return pick_floats(a > b, a, b); }

/* True if the projections on a line are farther apart than the root of `most`. */
static inline float_truth apart_along(const float_vec a[3], const float_vec b[3], float_vec n,
                                      floats most) {
  const floats a0 = float_dot(n, a[0]), a1 = float_dot(n, a[1]), a2 = float_dot(n, a[2]);
  const floats b0 = float_dot(n, b[0]), b1 = float_dot(n, b[1]), b2 = float_dot(n, b[2]);
  const floats above = lesser(b0, lesser(b1, b2)) - greater(a0, greater(a1, a2));
  const floats below = lesser(a0, lesser(a1, a2)) - greater(b0, greater(b1, b2));
  const floats gap = greater(above, below);
  return (gap > (floats){0}) & (gap * gap > most * float_dot(n, n));
}

/* Three times the vector from the centre of a to that of b. */
static inline float_vec between_centres(const float_vec a[3], const float_vec b[3]) {
  float_vec n;
  n.x = b[0].x + b[1].x + b[2].x - a[0].x - a[1].x - a[2].x;
  n.y = b[0].y + b[1].y + b[2].y - a[0].y - a[1].y - a[2].y;
  n.z = b[0].z + b[1].z + b[2].z - a[0].z - a[1].z - a[2].z;
  return n;
}

static inline doubles load_doubles(const double *from) {
  doubles r;
  memcpy(&r, from, sizeof r);
  return r;
}

/* Corners relative to the first corner of a: [corner and axis][lane]. */
typedef struct differences {
  double a[9][TL_TRIANGLE_BLOCK], b[9][TL_TRIANGLE_BLOCK];
} differences;

#if defined(__clang__)
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (double_truth){__VA_ARGS__})
#endif

/* Transposes rows of as many doubles as a register holds, as many as there are in one. */
#if BYTES == 64
static inline void transpose(doubles m[8]) {
  for (int i = 0; i < 8; i += 2) {
    const doubles x = m[i], y = m[i + 1];
    m[i] = SHUFFLE(x, y, 0, 8, 2, 10, 4, 12, 6, 14);
    m[i + 1] = SHUFFLE(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int k = i; k < i + 2; ++k) {
      const doubles x = m[k], y = m[k + 2];
      m[k] = SHUFFLE(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
      m[k + 2] = SHUFFLE(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int k = 0; k < 4; ++k) {
    const doubles x = m[k], y = m[k + 4];
    m[k] = SHUFFLE(x, y, 0, 1, 2, 3, 8, 9, 10, 11);
    m[k + 4] = SHUFFLE(x, y, 4, 5, 6, 7, 12, 13, 14, 15);
  }
}
#elif BYTES == 32
static inline void transpose(doubles m[4]) {
  for (int i = 0; i < 4; i += 2) {
    const doubles x = m[i], y = m[i + 1];
    m[i] = SHUFFLE(x, y, 0, 4, 2, 6);
    m[i + 1] = SHUFFLE(x, y, 1, 5, 3, 7);
  }
  for (int k = 0; k < 2; ++k) {
    const doubles x = m[k], y = m[k + 2];
    m[k] = SHUFFLE(x, y, 0, 1, 4, 5);
    m[k + 2] = SHUFFLE(x, y, 2, 3, 6, 7);
  }
}
#else
static inline void transpose(doubles m[2]) {
  const doubles x = m[0], y = m[1];
  m[0] = SHUFFLE(x, y, 0, 2);
  m[1] = SHUFFLE(x, y, 1, 3);
}
#endif

/* The first corner of a triangle as often as its nine numbers need it: numbers `from` and on. */
static inline doubles repeat_corner(const double *p, int from) {
  doubles r;
  for (int k = 0; k < BYTES / 8; ++k)
    r[k] = p[(from + k) % 3];
  return r;
}

static inline void load_differences(const tl_triangle_corners *a, const tl_triangle_corners *b,
                                    const tl_triangle_pair *pairs, int n, differences *d) {
  enum { WIDE = BYTES / 8 };
  for (int lane = 0; lane < TL_TRIANGLE_BLOCK; lane += WIDE)
    for (int from = 0; from < 8; from += WIDE) {
      doubles of_a[WIDE], of_b[WIDE];
      for (int i = 0; i < WIDE; ++i) {
        const tl_triangle_pair pair = pairs[lane + i < n ? lane + i : 0];
        const double *p = &a[pair.a].p[0].x, *q = &b[pair.b].p[0].x;
        const doubles origin = repeat_corner(p, from);
        of_a[i] = load_doubles(p + from) - origin;
        of_b[i] = load_doubles(q + from) - origin;
        if (from == 0)
          d->a[8][lane + i] = p[8] - p[2], d->b[8][lane + i] = q[8] - p[2];
      }
      transpose(of_a);
      transpose(of_b);
      for (int k = 0; k < WIDE; ++k) {
        memcpy(&d->a[from + k][lane], &of_a[k], sizeof of_a[k]);
        memcpy(&d->b[from + k][lane], &of_b[k], sizeof of_b[k]);
      }
    }
}

static inline doubles pick_doubles(double_truth test, doubles a, doubles b) {
  return (doubles)((test & (double_truth)a) | (~test & (double_truth)b));
}
static inline doubles larger(doubles a, doubles b) { return pick_doubles(a > b, a, b); }

typedef float half_floats __attribute__((vector_size(BYTES / 2)));

static inline void store_as_floats(float *to, doubles x) {
  const half_floats f = __builtin_convertvector(x, half_floats);
  memcpy(to, &f, sizeof f);
}

/* Loads pairs relative to the first corner of a, in units of their largest coordinate; near: the
 * reach in these units. */
static inline void load_pairs(const tl_triangle_corners *a, const tl_triangle_corners *b,
                              const tl_triangle_pair *pairs, int n, double reach,
                              tl_triangle_block *to_a, tl_triangle_block *to_b,
                              double near[TL_TRIANGLE_BLOCK]) {
  differences d;
  load_differences(a, b, pairs, n, &d);
  for (int lane = 0; lane < TL_TRIANGLE_BLOCK; lane += BYTES / 8) {
    doubles extent = (doubles){0} + DBL_MIN;
    for (int k = 0; k < 9; ++k) {
      const doubles x = load_doubles(&d.a[k][lane]), y = load_doubles(&d.b[k][lane]);
      extent = larger(extent, larger(larger(x, -x), larger(y, -y)));
    }
    const doubles per = 1 / extent;
    for (int k = 0; k < 9; ++k) {
      store_as_floats(&to_a->corner[k / 3][k % 3][lane], load_doubles(&d.a[k][lane]) * per);
      store_as_floats(&to_b->corner[k / 3][k % 3][lane], load_doubles(&d.b[k][lane]) * per);
    }
    const doubles limit = reach * per;
    memcpy(&near[lane], &limit, sizeof limit);
  }
}

/* What squares of distances in float are compared with; includes rounding. */
static inline void square_reaches(const double near[TL_TRIANGLE_BLOCK],
                                  float most[TL_TRIANGLE_BLOCK]) {
  for (int lane = 0; lane < TL_TRIANGLE_BLOCK; lane += BYTES / 8) {
    const doubles limit = load_doubles(&near[lane]) + (double)TL_TRIANGLE_LANE_ERROR;
    const doubles above = limit * limit * (1 + 1e-6), far = (doubles){0} + 1e30;
    store_as_floats(&most[lane], pick_doubles(above < far, above, far));
  }
}
