/* The loops over lanes of triangles.h; included once for each instruction set, by a file whose name
 * ends in it. */
#include "narrow/triangles.h"

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

/* Vectors stay in registers only where everything is in one function. */
#undef TL_FN
#define TL_FN static inline __attribute__((always_inline))

#define NUMBER             floats
#define TRUTH              float_truth
#define ALL(x)             ((floats){0} + (float)(x))
#define TRI_FAR            1e30
#define SELECT(test, a, b) ((floats)(((test) & (float_truth)(a)) | (~(test) & (float_truth)(b))))
#define TRI(name)          float_##name
#include "kernels/triangle_lanes.h"
#undef NUMBER
#undef TRUTH
#undef ALL
#undef TRI_FAR
#undef SELECT
#undef TRI

#define NUMBER             doubles
#define TRUTH              double_truth
#define ALL(x)             ((doubles){0} + (double)(x))
#define TRI_FAR            DBL_MAX
#define SELECT(test, a, b) ((doubles)(((test) & (double_truth)(a)) | (~(test) & (double_truth)(b))))
#define TRI(name)          double_##name
#include "kernels/triangle_lanes.h"
#undef NUMBER
#undef TRUTH
#undef ALL
#undef TRI_FAR
#undef SELECT
#undef TRI

static inline floats load_floats(const float *from) {
  floats r;
  memcpy(&r, from, sizeof r);
  return r;
}

static inline float_face load_float_face(const tl_triangle_block *block, int lane) {
  float_vec p[3];
  for (int k = 0; k < 3; ++k) {
    p[k].x = load_floats(&block->corner[k][0][lane]);
    p[k].y = load_floats(&block->corner[k][1][lane]);
    p[k].z = load_floats(&block->corner[k][2][lane]);
  }
  return float_face_of(p[0], p[1], p[2]);
}

static unsigned screen(const tl_triangle_block *a, const tl_triangle_block *b,
                       const float most[TL_TRIANGLE_BLOCK], float square[TL_TRIANGLE_BLOCK]) {
  unsigned bits = 0;
  for (int lane = 0; lane < TL_TRIANGLE_BLOCK; lane += BYTES / 4) {
    const float_face f = load_float_face(a, lane), g = load_float_face(b, lane);
    const float_near best = float_compare(&f, &g);
    memcpy(square + lane, &best.square, sizeof best.square);
  }
  for (int i = 0; i < TL_TRIANGLE_BLOCK; ++i)
    bits |= (unsigned)!(square[i] > most[i]) << i; /* what is no number is left to double */
  return bits;
}

static inline doubles load_doubles(const double *from) {
  doubles r;
  memcpy(&r, from, sizeof r);
  return r;
}

static inline double_face load_double_face(const tl_triangle_wide *wide, int lane) {
  double_vec p[3];
  for (int k = 0; k < 3; ++k) {
    p[k].x = load_doubles(&wide->corner[k][0][lane]);
    p[k].y = load_doubles(&wide->corner[k][1][lane]);
    p[k].z = load_doubles(&wide->corner[k][2][lane]);
  }
  return double_face_of(p[0], p[1], p[2]);
}

static inline void store_doubles(double *to, doubles x) { memcpy(to, &x, sizeof x); }

static void compare(const tl_triangle_wide *a, const tl_triangle_wide *b,
                    tl_triangle_wide_near *out) {
  for (int lane = 0; lane < TL_TRIANGLE_WIDE; lane += BYTES / 8) {
    const double_face f = load_double_face(a, lane), g = load_double_face(b, lane);
    const double_near best = double_compare(&f, &g);
    store_doubles(&out->on_a[0][lane], best.on_a.x);
    store_doubles(&out->on_a[1][lane], best.on_a.y);
    store_doubles(&out->on_a[2][lane], best.on_a.z);
    store_doubles(&out->on_b[0][lane], best.on_b.x);
    store_doubles(&out->on_b[1][lane], best.on_b.y);
    store_doubles(&out->on_b[2][lane], best.on_b.z);
    store_doubles(&out->square[lane], best.square);
    store_doubles(&out->feature[lane], best.feature);
  }
}
