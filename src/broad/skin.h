/* The loops of the skin (skin.c), for each instruction set: they give the same pairs (private to
 * src/broad). */
#ifndef TL_BROAD_SKIN_H
#define TL_BROAD_SKIN_H

#include "broad/broad.h"
#include "broad/images.h"
#include "kernels/aabb.h"
#include "crowd/crowd.h"

/* Candidates that are decided on together: as many bits as 64 words have. */
#define TL_SKIN_BLOCK ((size_t)4096)

/* What is known of a candidate since it was found, in two bytes. Of the six distances from a side
 * of one box to the opposite side of the other the largest is the gap, or, negative, the depth.
 *
 * level: TL_SKIN_OVERLAP if the boxes of then overlap, and the gap or depth in steps of
 * skin / TL_SKIN_STEPS, rounded down; 127: more than boxes can change in their skin.
 * side: which side of the first body it is from, 0 to 5 (low x, y, z, high x, y, z), and above
 * these three bits a lower bound on how deep the next largest distance is, in four steps each;
 * TL_SKIN_ALONE: that one never matters. */
#define TL_SKIN_OVERLAP 0x80u
#define TL_SKIN_LEVEL   0x7fu
#define TL_SKIN_STEPS   126.0
#define TL_SKIN_LEAST   1e-290 /* m: a thinner one has no steps */
#define TL_SKIN_SIDE    0x07u
#define TL_SKIN_ALONE   31u

#define TL_SKIN_AHEAD                                                                              \
  ((size_t)24) /* boxes are asked for so many candidates before they are used                      \
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
   * side has moved [m]; moves: how far each of the six sides has, inwards, in steps of
   * skin / TL_SKIN_STEPS, rounded to the nearest. */
  size_t (*count_steady)(const talus_box *boxes, const talus_box *grown, size_t count, double skin,
                         double *far, int8_t *moves);
  /* The two bytes of each of these candidates. */
  void (*mark)(const talus_box *grown, const tl_pair *candidates, size_t count, double skin,
               uint8_t *levels, uint8_t *sides);
  /* Of up to TL_SKIN_BLOCK candidates: those whose level is below `need` are listed in `open`, how
   * many is returned; of the others a bit of `bits` says whether they overlap. */
  size_t (*list_open)(const uint8_t *levels, size_t count, unsigned need, uint64_t *bits,
                      uint16_t *open);
  /* The candidates whose bit is set, `found` of them. */
  void (*put)(const tl_pair *candidates, size_t count, const uint64_t *bits, tl_pair *out,
              size_t found);
} tl_skin_lanes;

extern const tl_skin_lanes tl_skin_generic, tl_skin_avx2, tl_skin_avx512;

const tl_skin_lanes *tl_skin_lanes_now(void);

/* What has become of a box since the candidates were found. STEADY as above; WITHIN: it is within
 * its larger box, but has become smaller than its skin allows for; LEFT: it is not. */
enum { TL_SKIN_STEADY, TL_SKIN_WITHIN, TL_SKIN_LEFT };

int tl_skin_check_box(const talus_box *box, const talus_box *grown, double skin, double *far,
                      int8_t moves[6]);

/* Levels below this are in doubt when sides have moved by `far`. Beyond TL_SKIN_LEVEL: all are, and
 * moves say nothing. */
unsigned tl_skin_need(double far, double skin);

typedef struct tl_skin_block {
  const tl_pair *candidates;
  const uint8_t *levels, *sides;
  size_t count; /* TL_SKIN_BLOCK at most */
} tl_skin_block;

/* One bit for each candidate: whether boxes overlap. How many do. */
size_t tl_skin_decide(const tl_skin_lanes *lanes, const talus_box *boxes, const int8_t *moves,
                      const tl_skin_block *block, unsigned need, uint64_t *bits);

/* Boxes that are not STEADY any more, few enough for their candidates to be looked for one by one
 * (skin_mend.c). */
#define TL_SKIN_STRAYS ((size_t)48)

typedef struct tl_skin_mending {
  const talus_box *boxes; /* as they are now */
  const tl_skin_lanes *lanes;
  uint32_t *strays; /* in any order; they are sorted */
  size_t count;
} tl_skin_mending;

/* Gives the strays new larger boxes and mends the candidates. *far grows to the furthest that one
 * of their sides is from where it was. cache->valid: whether it worked; else all is to be found
 * anew. */
talus_status tl_skin_mend(const tl_model *model, tl_arena *arena, const tl_skin_mending *mending,
                          tl_broad_cache *cache, double *far);

#endif
