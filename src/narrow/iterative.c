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
  const double most = reach / batch->unit[lane];
  const double gap = sqrt((double)guesses->gap[lane]), far = sqrt((double)guesses->square[lane]);
  if (gap > most * (1 + 1e-6) + OFF)
    return TL_GUESS_APART;
  return gap > OFF && far <= most * (1 - 1e-6) - OFF ? TL_GUESS_NEAR : TL_GUESS_OPEN;
}

bool tl_guess_is_near(const tl_triangle_batch *batch, const tl_guesses *guesses, int lane,
                      double reach) {
  return sqrt((double)guesses->square[lane]) * batch->unit[lane] <= reach;
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

size_t tl_triangles_iterate(const tl_triangle_corners *a, const tl_triangle_corners *b,
                            const tl_triangle_pair *pairs, size_t n, double reach, bool is_hybrid,
                            tl_triangle_near *found, uint32_t *which, uint64_t *asked) {
  const tl_iterative_loops *loops = tl_iterative_loops_now();
  tl_triangle_batch batch;
  tl_guesses guesses;
  size_t count = 0;
  for (size_t begin = 0; begin < n; begin += (size_t)batch.count) {
    batch.count = 0;
    for (size_t i = begin; i < n && batch.count < TL_TRIANGLE_BLOCK; ++i)
      tl_triangle_batch_add(&batch, &a[pairs[i].a], &b[pairs[i].b]);
    tl_triangle_batch_close(&batch);
    loops->iterate(&batch.a, &batch.b, &guesses);
    for (int k = 0; k < batch.count; ++k) {
      const tl_triangle_pair pair = pairs[begin + (size_t)k];
      const tl_guess_verdict v = tl_guess_prove(&batch, &guesses, k, reach);
      if (v == TL_GUESS_APART || (!is_hybrid && !tl_guess_is_near(&batch, &guesses, k, reach)))
        continue;
      tl_triangle_near near = tl_triangle_found(tl_triangle_nothing());
      near.feature = -1;
      if (v == TL_GUESS_OPEN) {
        ++*asked;
        near = tl_triangle_triangle(&a[pair.a], &b[pair.b]);
        if (is_hybrid && !(near.square <= reach * reach))
          continue;
      }
      found[count] = near;
      which[count++] = (uint32_t)begin + (uint32_t)k;
    }
  }
  return count;
}
