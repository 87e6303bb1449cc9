/* The front of one pair of meshes (private to src/narrow). */
#ifndef TL_NARROW_MULTIRES_PAIR_H
#define TL_NARROW_MULTIRES_PAIR_H

#include "narrow/multires.h"
#include "narrow/surrogate.h"

/* A row, its parent, and the number of consecutive looks in which it was apart. */
typedef struct tl_multires_row {
  tl_row row, parent;
  uint32_t misses;
  double apart; /* the pair's `moved` up to which it is apart without a comparison; 0: not known */
} tl_multires_row;

typedef struct tl_multires_pair {
  uint32_t a, b; /* slots */
  TL_ARRAY(tl_multires_row) rows, next;
  TL_ARRAY(tl_row) back; /* rows to which sisters were narrowed (U of the thesis) */
  TL_ARRAY(tl_row_near) near;
  TL_ARRAY(tl_row) asked;      /* rows that are compared, */
  TL_ARRAY(uint32_t) which;    /* their numbers, */
  TL_ARRAY(bool) may;          /* whether they may be near, */
  TL_ARRAY(tl_row_near) found; /* and the results of those that may */
  TL_ARRAY(tl_point) coarse;   /* contacts of surrogates */
  size_t leaves;               /* near leaves, at the begin of `rows` */
  size_t widened;              /* rows widened in the last look */
  uint64_t product;  /* comparisons of all active nodes of one body with all of the other */
  uint64_t compared; /* rows compared since they were added up: in a look, and where rows were
                        narrowed after the one before */
  tl_mesh_move move; /* of the last look */
  double size;       /* farthest corner of a or its surrogates from its centre; a's frame */
  double moved;      /* since the step began, at most, by any of these; frame of b */
  talus_status status;
} tl_multires_pair;

/* The front of a pair, or NULL. */
const tl_multires_pair *tl_multires_of(const tl_multires *m, uint32_t a, uint32_t b);

/* The near triangles of all pairs, as far as fronts have reached, like tl_surrogates_find. bodies:
 * slots of each pair. */
talus_status tl_multires_find(tl_multires *m, const tl_fronts *fronts, const tl_pair *bodies,
                              tl_front_list *list);

#endif
