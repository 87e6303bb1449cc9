#include "narrow/iterative.h"

#include "base/isa.h"

const tl_iterative_loops *tl_iterative_loops_now(void) {
  switch (tl_isa_now()) {
  case TL_ISA_AVX512:
    return &tl_iterative_avx512;
  case TL_ISA_AVX2:
    return &tl_iterative_avx2;
  default:
    return &tl_iterative_generic;
  }
}

/* ---- batches --------------------------------------------------------------------------------- */

void tl_triangle_batch_add(tl_triangle_batch *batch, const tl_triangle_corners *a,
                           const tl_triangle_corners *b) {
  const talus_dvec3 origin = a->p[0];
  double unit = DBL_MIN;
  for (int k = 0; k < 6; ++k) {
    const talus_dvec3 d = tl_dsub(k < 3 ? a->p[k] : b->p[k - 3], origin);
    unit = fmax(unit, fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z))));
  }
  tl_triangle_block_put(&batch->a, batch->count, a, origin, 1 / unit);
  tl_triangle_block_put(&batch->b, batch->count, b, origin, 1 / unit);
  batch->unit[batch->count++] = unit;
}

void tl_triangle_batch_close(tl_triangle_batch *batch) {
  for (int i = batch->count; i < TL_TRIANGLE_BLOCK; ++i)
    for (int k = 0; k < 9; ++k) {
      batch->a.corner[k / 3][k % 3][i] = batch->a.corner[k / 3][k % 3][0];
      batch->b.corner[k / 3][k % 3][i] = batch->b.corner[k / 3][k % 3][0];
    }
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* Bound of rounding errors in float, in units of the block. */
#define OFF ((double)TL_TRIANGLE_LANE_ERROR)

tl_guess_verdict tl_guess_prove(const tl_triangle_batch *batch, const tl_guesses *guesses, int lane,
                                double reach) {
  const double most = reach * (1 / batch->unit[lane]);
  const double gap = (double)guesses->gap[lane], far = (double)guesses->square[lane];
  const double above = most * (1 + 1e-6) + OFF, below = most * (1 - 1e-6) - OFF;
  if (gap > above * above)
    return TL_GUESS_APART;
  return gap > OFF * OFF && below > 0 && far <= below * below ? TL_GUESS_NEAR : TL_GUESS_OPEN;
}

bool tl_guess_is_near(const tl_triangle_batch *batch, const tl_guesses *guesses, int lane,
                      double reach) {
  const double most = reach * (1 / batch->unit[lane]);
  return (double)guesses->square[lane] <= most * most;
}

tl_guess_verdict tl_guess_publish(const tl_triangle_batch *batch, const tl_guesses *guesses,
                                  int lane, double reach) {
  if (!(sqrt((double)guesses->moved[lane]) * batch->unit[lane] <= 0.5 * reach))
    return TL_GUESS_OPEN;
  return tl_guess_is_near(batch, guesses, lane, reach) ? TL_GUESS_NEAR : TL_GUESS_APART;
}

tl_guess_verdict tl_guess_print(const tl_triangle_batch *batch, const tl_guesses *guesses, int lane,
                                double reach, double size) {
  const double unit = batch->unit[lane] / size;
  if (!((double)guesses->fell[lane] * unit * unit <= 0.5 * reach / size))
    return TL_GUESS_OPEN;
  return tl_guess_is_near(batch, guesses, lane, reach) ? TL_GUESS_NEAR : TL_GUESS_APART;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Pairs that wait until there are enough for a block. */
typedef struct search {
  const tl_iterative_loops *loops;
  const tl_triangle_corners *a, *b;
  double reach;
  bool is_hybrid;
  tl_triangle_near *found;
  uint32_t *which;
  size_t count;
  uint64_t asked;
  tl_triangle_pair waiting[TL_TRIANGLE_BLOCK];
  uint32_t of[TL_TRIANGLE_BLOCK]; /* where they are in `pairs` */
  int waits;
} search;

static void iterate(search *s) {
  tl_proofs proofs;
  s->loops->prove_pairs(s->a, s->b, s->waiting, s->waits, s->reach, &proofs);
  unsigned left = ((1u << s->waits) - 1) & ~proofs.apart;
  if (!s->is_hybrid)
    left &= proofs.near;
  for (; left; left &= left - 1) {
    const int k = __builtin_ctz(left);
    tl_triangle_near near = tl_triangle_found(tl_triangle_nothing());
    near.feature = -1;
    if (!(proofs.proven >> k & 1)) {
      s->asked++;
      near = tl_triangle_triangle(&s->a[s->waiting[k].a], &s->b[s->waiting[k].b]);
      if (s->is_hybrid && !(near.square <= s->reach * s->reach))
        continue;
    }
    s->found[s->count] = near;
    s->which[s->count++] = s->of[k];
  }
  s->waits = 0;
}

size_t tl_triangles_iterate(const tl_triangle_corners *a, const tl_triangle_corners *b,
                            const tl_triangle_pair *pairs, size_t n, double reach, bool is_hybrid,
                            tl_triangle_near *found, uint32_t *which, uint64_t *asked) {
  search s = {.loops = tl_iterative_loops_now(),
              .a = a,
              .b = b,
              .reach = reach,
              .is_hybrid = is_hybrid,
              .found = found,
              .which = which};
  for (size_t begin = 0; begin < n; begin += TL_TRIANGLE_BLOCK) {
    const int some = n - begin < TL_TRIANGLE_BLOCK ? (int)(n - begin) : TL_TRIANGLE_BLOCK;
    unsigned bits = s.loops->begin_pairs(a, b, pairs + begin, some, reach);
    for (; bits; bits &= bits - 1) {
      const size_t i = begin + (size_t)__builtin_ctz(bits);
      s.waiting[s.waits] = pairs[i], s.of[s.waits++] = (uint32_t)i;
      if (s.waits == TL_TRIANGLE_BLOCK)
        iterate(&s);
    }
  }
  if (s.waits > 0)
    iterate(&s);
  *asked += s.asked;
  return s.count;
}
