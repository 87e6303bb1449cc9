/* The loops over lanes of triangles.h; included once for each instruction set, by a file whose name
 * ends in it. */
#include "narrow/pair_lanes.h"

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

static unsigned screen(const tl_triangle_block *a, const tl_triangle_block *b,
                       const float most[TL_TRIANGLE_BLOCK], float square[TL_TRIANGLE_BLOCK]) {
  unsigned bits = 0;
  for (int lane = 0; lane < TL_TRIANGLE_BLOCK; lane += BYTES / 4) {
    float_vec p[3], q[3];
    load_corners(a, lane, p);
    load_corners(b, lane, q);
    const float_face f = float_face_of(p[0], p[1], p[2]), g = float_face_of(q[0], q[1], q[2]);
    const floats found = float_compare(&f, &g).square;
    memcpy(square + lane, &found, sizeof found);
  }
  for (int i = 0; i < TL_TRIANGLE_BLOCK; ++i)
    bits |= (unsigned)!(square[i] > most[i]) << i; /* not a number: left to double */
  return bits;
}

/* Most pairs are separated along the line of their centres, or along the normal of one. */
static unsigned shadow(const tl_triangle_block *a, const tl_triangle_block *b,
                       const float most[TL_TRIANGLE_BLOCK]) {
  unsigned bits = 0;
  for (int lane = 0; lane < TL_TRIANGLE_BLOCK; lane += BYTES / 4) {
    float_vec p[3], q[3];
    load_corners(a, lane, p);
    load_corners(b, lane, q);
    const floats limit = load_floats(most + lane);
    const float_vec n = float_cross(float_minus(p[1], p[0]), float_minus(p[2], p[0]));
    const float_vec m = float_cross(float_minus(q[1], q[0]), float_minus(q[2], q[0]));
    const float_truth apart = apart_along(p, q, between_centres(p, q), limit) |
                              apart_along(p, q, n, limit) | apart_along(p, q, m, limit);
    bits |= bits_of(~apart) << lane;
  }
  return bits;
}

static unsigned screen_pairs(const tl_triangle_corners *a, const tl_triangle_corners *b,
                             const tl_triangle_pair *pairs, int n, double reach) {
  tl_triangle_block to_a, to_b;
  double near[TL_TRIANGLE_BLOCK];
  float most[TL_TRIANGLE_BLOCK], square[TL_TRIANGLE_BLOCK];
  load_pairs(a, b, pairs, n, reach, &to_a, &to_b, near);
  square_reaches(near, most);
  return screen(&to_a, &to_b, most, square) & ((1u << n) - 1);
}

static unsigned shadow_pairs(const tl_triangle_corners *a, const tl_triangle_corners *b,
                             const tl_triangle_pair *pairs, int n, double reach) {
  tl_triangle_block to_a, to_b;
  double near[TL_TRIANGLE_BLOCK];
  float most[TL_TRIANGLE_BLOCK];
  load_pairs(a, b, pairs, n, reach, &to_a, &to_b, near);
  square_reaches(near, most);
  return shadow(&to_a, &to_b, most) & ((1u << n) - 1);
}

typedef float four_floats __attribute__((vector_size(16)));

/* Corners of up to four triangles relative to a place (three times over); those that are missing
 * are the first. The largest of their coordinates. */
static inline double subtract_place(const tl_triangle_corners *t, uint32_t n, const double o[9],
                                    double out[TL_TREE_LEAF][9]) {
  double most = DBL_MIN;
  for (uint32_t i = 0; i < TL_TREE_LEAF; ++i) {
    const double *p = &t[i < n ? i : 0].p[0].x;
    for (int k = 0; k < 9; ++k) {
      out[i][k] = p[k] - o[k];
      const double size = out[i][k] < 0 ? -out[i][k] : out[i][k];
      most = most > size ? most : size;
    }
  }
  return most;
}

static unsigned shadow_leaves(const tl_triangle_corners *a, uint32_t count_a,
                              const tl_triangle_corners *b, uint32_t count_b, double reach) {
  double from_a[TL_TREE_LEAF][9], from_b[TL_TREE_LEAF][9], o[9];
  tl_triangle_block to_a, to_b;
  float most[TL_TRIANGLE_BLOCK];
  for (int k = 0; k < 3; ++k) {
    o[3 * k] = a[0].p[0].x;
    o[3 * k + 1] = a[0].p[0].y;
    o[3 * k + 2] = a[0].p[0].z;
  }
  const double size_a = subtract_place(a, count_a, o, from_a);
  const double size_b = subtract_place(b, count_b, o, from_b);
  const double per = 1 / (size_a > size_b ? size_a : size_b);
  const double limit = reach * per + (double)TL_TRIANGLE_LANE_ERROR;
  const double square = limit * limit * (1 + 1e-6);
  for (int k = 0; k < 9; ++k) {
    four_floats all_b;
    for (int j = 0; j < TL_TREE_LEAF; ++j)
      all_b[j] = (float)(from_b[j][k] * per);
    for (int i = 0; i < TL_TREE_LEAF; ++i) {
      const four_floats one_a = (four_floats){0} + (float)(from_a[i][k] * per);
      memcpy(&to_a.corner[k / 3][k % 3][4 * i], &one_a, sizeof one_a);
      memcpy(&to_b.corner[k / 3][k % 3][4 * i], &all_b, sizeof all_b);
    }
  }
  for (int i = 0; i < TL_TRIANGLE_BLOCK; ++i)
    most[i] = (float)(square < 1e30 ? square : 1e30);
  unsigned kept = 0;
  for (uint32_t i = 0; i < count_a; ++i)
    kept |= ((1u << count_b) - 1) << (TL_TREE_LEAF * i);
  return shadow(&to_a, &to_b, most) & kept;
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

/* ---- children of nodes ----------------------------------------------------------------------- */

/* Children in one vector: all eight, or four. */
#define SOME_BYTES (BYTES > 32 ? 32 : BYTES)
#define SOME       (SOME_BYTES / 4)

typedef float some __attribute__((vector_size(SOME_BYTES)));
typedef int32_t some_truth __attribute__((vector_size(SOME_BYTES)));

static inline some load_some(const float *from) {
  some r;
  memcpy(&r, from, sizeof r);
  return r;
}

static inline unsigned bits_of_some(some_truth test) {
#if BYTES >= 32
  return (unsigned)_mm256_movemask_ps((__m256)test);
#elif defined(__x86_64__)
  return (unsigned)_mm_movemask_ps((__m128)test);
#else
  unsigned bits = 0;
  for (int i = 0; i < SOME; ++i)
    bits |= (unsigned)(test[i] != 0) << i;
  return bits;
#endif
}

/* Boxes by axis. */
typedef struct eight_boxes {
  float lo[3][TL_TREE_WIDE], hi[3][TL_TREE_WIDE];
} eight_boxes;

/* Transforms the boxes of all children into the frame of the other body. */
static inline void see_children(const tl_tree_node *n, const tl_children_view *v,
                                eight_boxes *out) {
  for (int lane = 0; lane < TL_TREE_WIDE; lane += SOME) {
    some middle[3], half[3];
    for (int k = 0; k < 3; ++k) {
      const some l = load_some(&n->lo[k][lane]), h = load_some(&n->hi[k][lane]);
      middle[k] = 0.5f * (l + h), half[k] = 0.5f * (h - l);
    }
    for (int k = 0; k < 3; ++k) {
      const some at =
          v->m[k][0] * middle[0] + v->m[k][1] * middle[1] + v->m[k][2] * middle[2] + v->offset[k];
      const some wide = fabsf(v->m[k][0]) * half[0] + fabsf(v->m[k][1]) * half[1] +
                        fabsf(v->m[k][2]) * half[2] + v->more[k];
      const some low = at - wide, high = at + wide;
      memcpy(&out->lo[k][lane], &low, sizeof low);
      memcpy(&out->hi[k][lane], &high, sizeof high);
    }
  }
}

/* Which children of a node overlap box i. */
static inline unsigned meet_children(const tl_tree_node *n, const eight_boxes *boxes, int i) {
  unsigned bits = 0;
  for (int lane = 0; lane < TL_TREE_WIDE; lane += SOME) {
    some_truth met = (some_truth){0} == 0;
    for (int k = 0; k < 3; ++k)
      met &= (load_some(&n->lo[k][lane]) <= (some){0} + boxes->hi[k][i]) &
             (load_some(&n->hi[k][lane]) >= (some){0} + boxes->lo[k][i]);
    bits |= bits_of_some(met) << lane;
  }
  return bits;
}

/* Slabs of all children, in place: middles, unit axes, half extents along these, and greatest
 * extent from the middle in any direction. */
typedef struct eight_slabs {
  float at[3][TL_TREE_WIDE], axis[3][TL_TREE_WIDE];
  float low[TL_TREE_WIDE], high[TL_TREE_WIDE], wide[TL_TREE_WIDE];
} eight_slabs;

static inline some root_of_some(some x) {
#if BYTES >= 32
  return (some)_mm256_sqrt_ps((__m256)x);
#else
  some r;
  for (int i = 0; i < SOME; ++i)
    r[i] = sqrtf(x[i]);
  return r;
#endif
}

typedef int8_t some_bytes __attribute__((vector_size(SOME)));
typedef int16_t some_shorts __attribute__((vector_size(2 * SOME)));

static inline some some_of_bytes(const int8_t *from) {
  some_bytes x;
  memcpy(&x, from, sizeof x);
  return __builtin_convertvector(x, some);
}
static inline some some_of_shorts(const int16_t *from) {
  some_shorts x;
  memcpy(&x, from, sizeof x);
  return __builtin_convertvector(x, some);
}

/* v NULL: in their own frame. */
static inline void see_slabs(const tl_tree_node *n, const tl_children_view *v, eight_slabs *out) {
  static const tl_children_view own = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0}, {0}};
  const tl_children_view *view = v ? v : &own;
  for (int lane = 0; lane < TL_TREE_WIDE; lane += SOME) {
    some middle[3], axis[3], square = {0}, axis_square = {0}, seen_square = {0};
    for (int k = 0; k < 3; ++k) {
      const some l = load_some(&n->lo[k][lane]), h = load_some(&n->hi[k][lane]);
      const some half = 0.5f * (h - l);
      middle[k] = 0.5f * (l + h), square += half * half;
      axis[k] = some_of_bytes(&n->axis[k][lane]), axis_square += axis[k] * axis[k];
    }
    some at[3], seen[3];
    for (int k = 0; k < 3; ++k) {
      at[k] = view->m[k][0] * middle[0] + view->m[k][1] * middle[1] + view->m[k][2] * middle[2] +
              view->offset[k];
      seen[k] = view->m[k][0] * axis[0] + view->m[k][1] * axis[1] + view->m[k][2] * axis[2];
      seen_square += seen[k] * seen[k];
    }
    const some length = root_of_some(seen_square), per = 1 / length;
    const some wide = root_of_some(square) * length / root_of_some(axis_square);
    const some share = wide * (1.0f / TL_TREE_SHARE);
    const some low = some_of_shorts(&n->low[lane]) * share;
    const some high = some_of_shorts(&n->high[lane]) * share;
    for (int k = 0; k < 3; ++k) {
      const some unit = seen[k] * per;
      memcpy(&out->at[k][lane], &at[k], sizeof at[k]);
      memcpy(&out->axis[k][lane], &unit, sizeof unit);
    }
    memcpy(&out->low[lane], &low, sizeof low);
    memcpy(&out->high[lane], &high, sizeof high);
    memcpy(&out->wide[lane], &wide, sizeof wide);
  }
}

static inline some_truth apart_by(some low, some high, some aside, some from, some until,
                                  float more) {
  return (low - aside > until + more) | (high + aside < from - more);
}

/* Bound of the error of a cosine near 1: makes the square of a sine no smaller than it is. */
#define SINE_SLACK 4e-6f

/* Which children of b no slab separates from child i of a by more than `more`: each slab with its
 * greatest possible extent along the other's axis. */
static inline unsigned meet_slabs(const eight_slabs *a, int i, const eight_slabs *b, float more) {
  unsigned bits = 0;
  const some zero = {0};
  for (int lane = 0; lane < TL_TREE_WIDE; lane += SOME) {
    some along_a = zero, along_b = zero, cosine = zero;
    for (int k = 0; k < 3; ++k) {
      const some way = load_some(&b->at[k][lane]) - a->at[k][i];
      const some axis = load_some(&b->axis[k][lane]);
      along_a += way * a->axis[k][i], along_b += way * axis, cosine += axis * a->axis[k][i];
    }
    const some square = 1 - cosine * cosine;
    const some sine = root_of_some((some)((some_truth)square & (square > zero)) + SINE_SLACK);
    const some low = load_some(&b->low[lane]), high = load_some(&b->high[lane]);
    const some one = cosine * low, two = cosine * high;
    const some_truth turned = cosine < zero;
    const some least = (some)((turned & (some_truth)two) | (~turned & (some_truth)one));
    const some most = (some)((turned & (some_truth)one) | (~turned & (some_truth)two));
    const some_truth by_a =
        apart_by(along_a + least, along_a + most, sine * load_some(&b->wide[lane]),
                 zero + a->low[i], zero + a->high[i], more);
    const some three = cosine * a->low[i], four = cosine * a->high[i];
    const some lower = (some)((turned & (some_truth)four) | (~turned & (some_truth)three));
    const some upper = (some)((turned & (some_truth)three) | (~turned & (some_truth)four));
    const some_truth by_b =
        apart_by(lower - along_b, upper - along_b, sine * a->wide[i], low, high, more);
    bits |= bits_of_some(~(by_a | by_b)) << lane;
  }
  return bits;
}

static uint64_t part_by_slabs(const tl_tree_node *a, const tl_tree_node *b,
                              const tl_children_view *b_to_a, uint64_t mask) {
  eight_slabs own, seen;
  uint64_t kept = 0;
  const float more = fmaxf(b_to_a->more[0], fmaxf(b_to_a->more[1], b_to_a->more[2]));
  see_slabs(a, NULL, &own);
  see_slabs(b, b_to_a, &seen);
  for (int i = 0; i < TL_TREE_WIDE; ++i)
    if (mask >> (8 * i) & 0xff)
      kept |= (mask >> (8 * i) & meet_slabs(&own, i, &seen, more)) << (8 * i);
  return kept;
}

static uint64_t near_children(const tl_tree_node *a, unsigned slots_a,
                              const tl_children_view *a_to_b, const tl_tree_node *b,
                              unsigned slots_b, const tl_children_view *b_to_a) {
  eight_boxes seen;
  uint64_t mask = 0;
  see_children(a, a_to_b, &seen);
  for (unsigned left = slots_a; left; left &= left - 1) {
    const int i = __builtin_ctz(left);
    mask |= (uint64_t)(meet_children(b, &seen, i) & slots_b) << (8 * i);
  }
  if (mask == 0)
    return 0;
  see_children(b, b_to_a, &seen);
  for (unsigned left = slots_b; left; left &= left - 1) {
    const int j = __builtin_ctz(left);
    const unsigned met = meet_children(a, &seen, j);
    for (unsigned gone = ~met & slots_a; gone; gone &= gone - 1)
      mask &= ~(UINT64_C(1) << (8 * __builtin_ctz(gone) + j));
  }
  return mask ? part_by_slabs(a, b, b_to_a, mask) : 0;
}
