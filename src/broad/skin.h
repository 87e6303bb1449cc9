/* The loops of the skin (skin.c): a plain one of each for any processor, and one with AVX-512 that
 * gives the same bits (private to src/broad). */
#ifndef TL_BROAD_SKIN_H
#define TL_BROAD_SKIN_H

#include "broad/images.h"
#include "kernels/aabb.h"
#include "scope.h"

/* Candidates that are decided on together: as many bits as 64 words have. */
#define TL_SKIN_BLOCK ((size_t)4096)

/* What is known of a candidate since it was found, in one byte: TL_SKIN_OVERLAP if the boxes of
 * then overlap, and how far from changing that was: the gap or depth along the axis that decides
 * in steps of skin / TL_SKIN_STEPS, rounded down; 127: more than boxes can do in their skin. */
#define TL_SKIN_OVERLAP 0x80u
#define TL_SKIN_LEVEL   0x7fu
#define TL_SKIN_STEPS   126.0

#define TL_SKIN_AHEAD ((size_t)24) /* boxes are asked for so many candidates before they are used  \
                                    */
#if defined(__GNUC__)
#define TL_SKIN_PREFETCH(pointer) __builtin_prefetch(pointer)
#else
#define TL_SKIN_PREFETCH(pointer) ((void)(pointer))
#endif

/* A box may be on two cache lines. */
static inline void tl_skin_fetch(const talus_box *box) {
  TL_SKIN_PREFETCH(&box->lo.x);
  TL_SKIN_PREFETCH(&box->hi.z);
}

typedef struct tl_skin_lanes {
  /* How many boxes from the first on are steady: no side further than half the skin from where it
   * was, and all finite; the rest is for the caller to look at. *far grows to the furthest that a
   * side has moved [m]. */
  size_t (*count_steady)(const talus_box *boxes, const talus_box *grown, size_t count, double skin,
                         double *far);
  /* Of up to TL_SKIN_BLOCK candidates: one bit for each, whether boxes overlap. Those whose level
   * is `need` or more are as they were found. How many overlap. */
  size_t (*decide)(const talus_box *boxes, const tl_pair *candidates, const uint8_t *levels,
                   size_t count, unsigned need, uint64_t *bits);
  /* The candidates whose bit is set, `found` of them. */
  void (*put)(const tl_pair *candidates, size_t count, const uint64_t *bits, tl_pair *out,
              size_t found);
} tl_skin_lanes;

extern const tl_skin_lanes tl_skin_plain, tl_skin_avx512;

bool tl_skin_has_avx512(void);

/* For tests: the plain loops wherever it runs. */
extern bool tl_skin_plain_of_tests;

/* What has become of a box since the candidates were found. STEADY as above; WITHIN: it is within
 * its larger box, but has become smaller than its skin allows for; LEFT: it is not. */
enum { TL_SKIN_STEADY, TL_SKIN_WITHIN, TL_SKIN_LEFT };

int tl_skin_check_box(const talus_box *box, const talus_box *grown, double skin, double *far);

/* The byte of a candidate. */
uint8_t tl_skin_level_of(const talus_box *grown_a, const talus_box *grown_b, double skin);

#endif
