/* Pairs of triangles by iteration, sixteen side by side in float (kernels/triangle_iterative.h).
 *
 * iterative  four steps decide: a near pair may be missed, none is invented
 * hybrid     the same if a proof confirms it, exact comparison otherwise: finds what comparison
 *            finds
 *
 * Noble's own limiter checks the length of the last step (tl_guess_is_settled). That is no proof;
 * it is here for the bench, which counts what it misses (docs/theory/surrogates.md). */
#ifndef TL_NARROW_ITERATIVE_H
#define TL_NARROW_ITERATIVE_H

#include "narrow/triangles.h"

/* Sixteen results; squares in units of the block. */
typedef struct tl_guesses {
  float square[TL_TRIANGLE_BLOCK]; /* of the distance of two points, one on each triangle */
  float fell[TL_TRIANGLE_BLOCK];   /* half of its change in the last step */
  float moved[TL_TRIANGLE_BLOCK];  /* of the distance that the last step moved a point */
  float gap[TL_TRIANGLE_BLOCK];    /* of the gap between the triangles, without rounding errors */
} tl_guesses;

/* What sixteen guesses prove; bits: pairs. */
typedef struct tl_proofs {
  unsigned apart, proven; /* farther apart than the reach; near without touching; else open */
  unsigned near;          /* by the points alone */
  tl_guesses guesses;
} tl_proofs;

typedef struct tl_iterative_loops {
  void (*iterate)(const tl_triangle_block *a, const tl_triangle_block *b, tl_guesses *out);
  /* For up to sixteen pairs by row. Bit i: pair i may be at most `reach` apart as far as the line
   * of the centres says, where the iteration begins. */
  unsigned (*begin_pairs)(const tl_triangle_corners *a, const tl_triangle_corners *b,
                          const tl_triangle_pair *pairs, int n, double reach);
  /* Iterates, and proves what tl_guess_prove proves of each pair. */
  void (*prove_pairs)(const tl_triangle_corners *a, const tl_triangle_corners *b,
                      const tl_triangle_pair *pairs, int n, double reach, tl_proofs *out);
} tl_iterative_loops;

extern const tl_iterative_loops tl_iterative_avx512, tl_iterative_avx2, tl_iterative_generic;
const tl_iterative_loops *tl_iterative_loops_now(void);

/* Up to sixteen pairs of a block, each in units of its own size. */
typedef struct tl_triangle_batch {
  tl_triangle_block a, b;
  double unit[TL_TRIANGLE_BLOCK]; /* m: unit of each pair */
  int count;
} tl_triangle_batch;

void tl_triangle_batch_add(tl_triangle_batch *batch, const tl_triangle_corners *a,
                           const tl_triangle_corners *b);

/* Fills the remaining lanes with copies of the first, so that nothing is computed with garbage. */
void tl_triangle_batch_close(tl_triangle_batch *batch);

typedef enum tl_guess_verdict {
  TL_GUESS_APART, /* farther apart than the reach */
  TL_GUESS_NEAR,
  TL_GUESS_OPEN /* Noble's third value */
} tl_guess_verdict;

/* What the iteration proves about the reach (m): apart, or near without touching; else open. */
tl_guess_verdict tl_guess_prove(const tl_triangle_batch *batch, const tl_guesses *guesses, int lane,
                                double reach);

/* As published: near or apart by the points if the last step was shorter than C eps, with C = 1 and
 * eps half the reach. As printed, J must change by no more than that, which compares a square with
 * a length, in units of `size` (m; in the thesis the diameter). */
tl_guess_verdict tl_guess_publish(const tl_triangle_batch *batch, const tl_guesses *guesses,
                                  int lane, double reach);
tl_guess_verdict tl_guess_print(const tl_triangle_batch *batch, const tl_guesses *guesses, int lane,
                                double reach, double size);

/* Near or apart by the points alone. */
bool tl_guess_is_near(const tl_triangle_batch *batch, const tl_guesses *guesses, int lane,
                      double reach);

/* Like tl_triangles_find, for `iterative` or `hybrid`. Pairs found are near. If comparison decided
 * (feature >= 0) the points are exact and it is known whether the triangles cross; otherwise
 * (feature -1) it is known only that they do not touch. *asked grows by the number of pairs that
 * comparison decided. */
size_t tl_triangles_iterate(const tl_triangle_corners *a, const tl_triangle_corners *b,
                            const tl_triangle_pair *pairs, size_t n, double reach, bool is_hybrid,
                            tl_triangle_near *found, uint32_t *which, uint64_t *asked);

#endif
