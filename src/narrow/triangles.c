#include "narrow/triangles.h"

#include "base/isa.h"

const tl_triangle_loops *tl_triangle_loops_now(void) {
  switch (tl_isa_now()) {
  case TL_ISA_AVX512:
    return &tl_triangle_avx512;
  case TL_ISA_AVX2:
    return &tl_triangle_avx2;
  default:
    return &tl_triangle_generic;
  }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

void tl_triangle_block_put(tl_triangle_block *block, int lane, const tl_triangle_corners *t,
                           talus_dvec3 origin, double scale) {
  for (int k = 0; k < 3; ++k) {
    const talus_dvec3 p = tl_dscale(tl_dsub(t->p[k], origin), scale);
    block->corner[k][0][lane] = (float)p.x;
    block->corner[k][1][lane] = (float)p.y;
    block->corner[k][2][lane] = (float)p.z;
  }
}

float tl_triangle_block_most(double reach) {
  const double most = reach + (double)TL_TRIANGLE_LANE_ERROR;
  return (float)fmin(most * most * (1 + 1e-6), 1e30);
}

/* ---- in double ------------------------------------------------------------------------------- */

static void put_wide(tl_triangle_wide *wide, int lane, const tl_triangle_corners *t) {
  for (int k = 0; k < 3; ++k) {
    wide->corner[k][0][lane] = t->p[k].x;
    wide->corner[k][1][lane] = t->p[k].y;
    wide->corner[k][2][lane] = t->p[k].z;
  }
}

static tl_triangle_near near_of(const tl_triangle_wide_near *wide, int i) {
  tl_triangle_near r;
  r.on_a = tl_dvec3(wide->on_a[0][i], wide->on_a[1][i], wide->on_a[2][i]);
  r.on_b = tl_dvec3(wide->on_b[0][i], wide->on_b[1][i], wide->on_b[2][i]);
  r.square = wide->square[i];
  r.feature = (int)wide->feature[i];
  return r;
}

/* Pairs that wait until there are enough for a pass. */
typedef struct queue {
  uint32_t pair[TL_TRIANGLE_BLOCK];
  int count;
} queue;

typedef struct search {
  const tl_triangle_loops *loops;
  const tl_triangle_corners *a, *b;
  const tl_triangle_pair *pairs;
  double reach;
  tl_triangle_near *found;
  uint32_t *which;
  size_t count;
  uint64_t compared; /* in double */
  queue for_screen, for_double;
} search;

static void compare(search *s) {
  tl_triangle_wide wide_a, wide_b;
  tl_triangle_wide_near near;
  queue *q = &s->for_double;
  for (int i = 0; i < TL_TRIANGLE_WIDE; ++i) {
    const tl_triangle_pair pair = s->pairs[q->pair[i < q->count ? i : 0]];
    put_wide(&wide_a, i, &s->a[pair.a]);
    put_wide(&wide_b, i, &s->b[pair.b]);
  }
  s->loops->compare(&wide_a, &wide_b, &near);
  for (int i = 0; i < q->count; ++i)
    if (near.square[i] <= s->reach * s->reach) {
      s->found[s->count] = near_of(&near, i);
      s->which[s->count++] = q->pair[i];
    }
  s->compared += (uint64_t)q->count;
  q->count = 0;
}

static void screen(search *s) {
  tl_triangle_pair pairs[TL_TRIANGLE_BLOCK];
  queue *q = &s->for_screen;
  for (int i = 0; i < q->count; ++i)
    pairs[i] = s->pairs[q->pair[i]];
  unsigned bits = s->loops->screen_pairs(s->a, s->b, pairs, q->count, s->reach);
  for (; bits; bits &= bits - 1) {
    s->for_double.pair[s->for_double.count++] = q->pair[__builtin_ctz(bits)];
    if (s->for_double.count == TL_TRIANGLE_WIDE)
      compare(s);
  }
  q->count = 0;
}

static void add_for_screen(search *s, size_t pair) {
  s->for_screen.pair[s->for_screen.count++] = (uint32_t)pair;
  if (s->for_screen.count == TL_TRIANGLE_BLOCK)
    screen(s);
}

static void finish(search *s) {
  if (s->for_screen.count > 0)
    screen(s);
  if (s->for_double.count > 0)
    compare(s);
}

size_t tl_triangles_find_shadowed(const tl_triangle_corners *a, const tl_triangle_corners *b,
                                  const tl_triangle_pair *pairs, size_t n, double reach,
                                  tl_triangle_near *found, uint32_t *which) {
  search s = {.loops = tl_triangle_loops_now(),
              .a = a,
              .b = b,
              .pairs = pairs,
              .reach = reach,
              .found = found,
              .which = which};
  for (size_t i = 0; i < n; ++i)
    add_for_screen(&s, i);
  finish(&s);
  return s.count;
}

size_t tl_triangles_find(const tl_triangle_corners *a, const tl_triangle_corners *b,
                         const tl_triangle_pair *pairs, size_t n, double reach,
                         tl_triangle_near *found, uint32_t *which, uint64_t *decided) {
  search s = {.loops = tl_triangle_loops_now(),
              .a = a,
              .b = b,
              .pairs = pairs,
              .reach = reach,
              .found = found,
              .which = which};
  for (size_t begin = 0; begin < n; begin += TL_TRIANGLE_BLOCK) {
    const int some = n - begin < TL_TRIANGLE_BLOCK ? (int)(n - begin) : TL_TRIANGLE_BLOCK;
    unsigned bits = s.loops->shadow_pairs(a, b, pairs + begin, some, reach);
    for (; bits; bits &= bits - 1)
      add_for_screen(&s, begin + (size_t)__builtin_ctz(bits));
  }
  finish(&s);
  if (decided)
    *decided = n - s.compared;
  return s.count;
}
