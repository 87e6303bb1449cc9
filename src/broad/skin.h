/* The loops of the skin (skin.c), for each instruction set: they give the same pairs (private to
 * src/broad). */
#ifndef TL_BROAD_SKIN_H
#define TL_BROAD_SKIN_H

#include "broad/broad.h"
#include "broad/images.h"
#include "kernels/aabb.h"
#include "crowd/crowd.h"

/* Candidates that are decided together: as many bits as 64 words have. */
#define TL_SKIN_BLOCK ((size_t)4096)

/* Data of a candidate from when it was found, in two bytes. Of the six distances from a side of one
 * box to the opposite side of the other, the largest is the gap or, if negative, the depth.
 *
 * level: TL_SKIN_OVERLAP if the boxes overlapped then, and the gap or depth in steps of skin /
 * TL_SKIN_STEPS, rounded down; 127: more than boxes can change within their skin.
 * side: the side of the first body that it belongs to, 0 to 5 (low x, y, z, high x, y, z), and
 * above these three bits a lower bound of the depth of the next largest distance, in units of four
 * steps; TL_SKIN_ALONE: that one never matters. */
#define TL_SKIN_OVERLAP 0x80u
#define TL_SKIN_LEVEL   0x7fu
#define TL_SKIN_STEPS   126.0
#define TL_SKIN_LEAST   1e-290 /* m: a thinner skin has no steps */
#define TL_SKIN_SIDE    0x07u
#define TL_SKIN_ALONE   31u

/* Candidates between prefetching boxes and using them. */
#define TL_SKIN_AHEAD ((size_t)24)
#if defined(__GNUC__)
#define TL_SKIN_PREFETCH(pointer) __builtin_prefetch(pointer)
#else
#define TL_SKIN_PREFETCH(pointer) ((void)(pointer))
#endif

/* A box may cross a cache line. */
static inline void tl_skin_fetch(const talus_box *box) {
  TL_SKIN_PREFETCH(&box->lo.x);
  TL_SKIN_PREFETCH(&box->hi.z);
}

typedef struct tl_skin_lanes {
  /* Number of boxes, from the first on, that are steady: no side has moved by more than half the
   * skin, and all are finite; the caller handles the rest. *far is raised to the largest
   * displacement of a side (m). moves: displacement of each of the six sides, inwards, in steps of
   * skin / TL_SKIN_STEPS, rounded to nearest. */
  size_t (*count_steady)(const talus_box *boxes, const talus_box *grown, size_t count, double skin,
                         double *far, int8_t *moves);
  /* Writes the two bytes of each of these candidates. */
  void (*mark)(const talus_box *grown, const tl_pair *candidates, size_t count, double skin,
               uint8_t *levels, uint8_t *sides);
  /* For up to TL_SKIN_BLOCK candidates: lists those whose level is below `need` in `open`, and
   * returns their number; for the others sets the bits in `bits` of those that overlap. */
  size_t (*list_open)(const uint8_t *levels, size_t count, unsigned need, uint64_t *bits,
                      uint16_t *open);
  /* Writes the candidates whose bit is set; there are `found` of them. */
  void (*put)(const tl_pair *candidates, size_t count, const uint64_t *bits, tl_pair *out,
              size_t found);
} tl_skin_lanes;

extern const tl_skin_lanes tl_skin_generic, tl_skin_avx2, tl_skin_avx512;

const tl_skin_lanes *tl_skin_lanes_now(void);

/* State of a box since candidates were found. STEADY as above; WITHIN: it is inside its enlarged
 * box, but shrank by more than its skin allows; LEFT: it is not inside. */
enum { TL_SKIN_STEADY, TL_SKIN_WITHIN, TL_SKIN_LEFT };

int tl_skin_check_box(const talus_box *box, const talus_box *grown, double skin, double *far,
                      int8_t moves[6]);

/* Levels below this are undecided if sides have moved by `far`. Above TL_SKIN_LEVEL: all are
 * undecided, and moves are meaningless. */
unsigned tl_skin_need(double far, double skin);

typedef struct tl_skin_block {
  const tl_pair *candidates;
  const uint8_t *levels, *sides;
  size_t count; /* at most TL_SKIN_BLOCK */
} tl_skin_block;

/* Sets one bit for each candidate whose boxes overlap; returns their number. */
size_t tl_skin_decide(const tl_skin_lanes *lanes, const talus_box *boxes, const int8_t *moves,
                      const tl_skin_block *block, unsigned need, uint64_t *bits);

/* Most boxes that are no longer STEADY for which candidates are searched one by one
 * (skin_mend.c). */
#define TL_SKIN_STRAYS ((size_t)48)

typedef struct tl_skin_mending {
  const talus_box *boxes; /* present boxes */
  const tl_skin_lanes *lanes;
  uint32_t *strays; /* in any order; sorted by tl_skin_mend */
  size_t count;
} tl_skin_mending;

/* Gives the strays new enlarged boxes and corrects the candidates. *far is raised to the largest
 * displacement of their sides. cache->valid says whether it succeeded; if not, all candidates must
 * be found anew. */
talus_status tl_skin_mend(const tl_model *model, tl_arena *arena, const tl_skin_mending *mending,
                          tl_broad_cache *cache, double *far);

#endif
