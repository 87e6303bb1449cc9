/* Pairs of triangles by iteration, sixteen side by side in float (kernels/triangle_iterative.h).
 *
 *   iterative  four steps, and what they say counts: a pair may be missed, none is invented
 *   hybrid     the same where a proof confirms it, comparison elsewhere: the pairs of comparison
 *
 * Noble's own limiter asks how far the last step went (tl_guess_is_settled). That is no proof: it
 * is here for the bench, which counts what it misses (docs/theory/surrogates.md). */
#ifndef TL_NARROW_ITERATIVE_H
#define TL_NARROW_ITERATIVE_H

#include "narrow/triangles.h"

/* Sixteen answers, squares in units of the block. */
typedef struct tl_guesses {
  float square[TL_TRIANGLE_BLOCK]; /* of the distance of two places, one of each triangle */
  float fell[TL_TRIANGLE_BLOCK];   /* half of what it changed by in the last step */
  float moved[TL_TRIANGLE_BLOCK];  /* of how far the last step moved one of them */
  float gap[TL_TRIANGLE_BLOCK];    /* of what parts both, but for rounding */
} tl_guesses;

typedef struct tl_iterative_loops {
  void (*iterate)(const tl_triangle_block *a, const tl_triangle_block *b, tl_guesses *out);
} tl_iterative_loops;

extern const tl_iterative_loops tl_iterative_avx512, tl_iterative_avx2, tl_iterative_generic;
const tl_iterative_loops *tl_iterative_loops_now(void);

/* Up to sixteen pairs of a block, each in units of its own size. */
typedef struct tl_triangle_batch {
  tl_triangle_block a, b;
  double unit[TL_TRIANGLE_BLOCK]; /* m */
  int count;
} tl_triangle_batch;

void tl_triangle_batch_add(tl_triangle_batch *batch, const tl_triangle_corners *a,
                           const tl_triangle_corners *b);

/* The last lanes become copies of the first: nothing is computed with rubbish. */
void tl_triangle_batch_close(tl_triangle_batch *batch);

typedef enum tl_guess_verdict {
  TL_GUESS_APART, /* farther than the reach */
  TL_GUESS_NEAR,
  TL_GUESS_OPEN /* Noble's third value */
} tl_guess_verdict;

/* What a guess proves of the reach (m): apart, or near without touching; else open. */
tl_guess_verdict tl_guess_prove(const tl_triangle_batch *batch, const tl_guesses *guesses, int lane,
                                double reach);

/* As published: near or apart by the places, where the last step was shorter than C eps, with C = 1
 * and eps half the reach. As printed it is J that may change by no more than that, a square beside
 * a length, in units of `size` (m; the thesis: of the diameter). */
tl_guess_verdict tl_guess_publish(const tl_triangle_batch *batch, const tl_guesses *guesses,
                                  int lane, double reach);
tl_guess_verdict tl_guess_print(const tl_triangle_batch *batch, const tl_guesses *guesses, int lane,
                                double reach, double size);

/* By the places alone. */
bool tl_guess_is_near(const tl_triangle_batch *batch, const tl_guesses *guesses, int lane,
                      double reach);

/* As tl_triangles_find, for `iterative` or `hybrid`: what is found is near, its places are those of
 * comparison where that was asked (feature >= 0: it knows who goes through whom), else nothing is
 * known but that they do not touch (feature -1). *asked grows by the pairs that comparison decided.
 */
size_t tl_triangles_iterate(const tl_triangle_corners *a, const tl_triangle_corners *b,
                            const tl_triangle_pair *pairs, size_t n, double reach, bool is_hybrid,
                            tl_triangle_near *found, uint32_t *which, uint64_t *asked);

#endif
