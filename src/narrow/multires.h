/* Fronts of pairs of meshes that are widened by one level in each look (Noble, Algorithm 10, with
 * erratum D7: lists of pairs of nodes; docs/theory/implicit.md), for implicit steps that look again
 * and again at nearly the same places.
 *
 * A step begins with the roots of all pairs. Each look compares the rows of a front once; near ones
 * that are not triangles are replaced by their children. A group of sisters that were all apart in
 * two looks one after the other goes back to the row above them, once: where that is widened again
 * its children stay. A front always covers the root, so that a look in which nothing was widened
 * has found all near triangles: those of every other search, to the bit.
 *
 * In a look that widened something, surrogates have contacts only if springs have a reach (a halo
 * of their own). Those of level k push with eps_0/eps_k of the law; eps_0 is half the reach. */
#ifndef TL_NARROW_MULTIRES_H
#define TL_NARROW_MULTIRES_H

#include "base/memory.h"

/* Fronts of all pairs of meshes (narrow/multires_pair.h). */
typedef struct tl_multires {
  double reach;                            /* m, of springs */
  TL_ARRAY(struct tl_multires_pair) pairs; /* ascending; their rows keep memory from step to step */
  size_t count;                            /* number of pairs in use */
  size_t widened;                          /* rows widened in the last look, over all pairs */
  /* comparisons as printed, all active nodes of one body with all of the other: sum over pairs and
   * looks since the world was made */
  uint64_t product;
  TL_ARRAY(uint64_t) looks; /* comparisons of each look of a step, over all pairs */
} tl_multires;

/* Goes back to the roots of all pairs, and forgets the pairs. */
void tl_multires_begin(tl_multires *m, double reach);
/* Begins a look: nothing is widened yet, and nothing compared. */
talus_status tl_multires_begin_look(tl_multires *m);
void tl_multires_release(tl_multires *m);

#endif
