/* Rows that a plan keeps from substep to substep (ccp.c: plans), refreshed in place: refresh.c one
 * by one, refresh_lanes.h several at a time. */
#ifndef TL_SOLVE_CCP_REFRESH_H
#define TL_SOLVE_CCP_REFRESH_H

#include "solve/ccp/ccp.h"

/* Rows of a pack as they were found: where contacts ride from. Whole lines of a cache in double. */
typedef struct tl_ccp_anchor {
  uint32_t a[TL_CCP_LANES], b[TL_CCP_LANES]; /* slots */
  tl_ccp_lanes point;
  talus_real gap[TL_CCP_LANES];
} tl_ccp_anchor;

/* How a pack is refreshed: in lanes, where every body answers the same in all directions or some do
 * not; one row after the other, where a body is round. */
enum { TL_CCP_PLAIN, TL_CCP_BY_TENSOR, TL_CCP_APART };

typedef struct tl_ccp_kept {
  tl_ccp_pack *packs;
  tl_ccp_arms *arms;
  tl_ccp_numbers *frictions;
  talus_real *gaps;
  tl_ccp_anchor *anchors;
  uint8_t *way; /* TL_CCP_PLAIN, ... */
  bool is_full; /* rows are there, to be refreshed */
} tl_ccp_kept;

/* What a plan keeps, in the arena; NULL where each substep makes its rows anew: in single
 * precision, and where rows hang on more than places and impulses. */
talus_status tl_ccp_keep_rows(const tl_ccp *job, tl_ccp_kept **kept);

/* Rows of all packs: made the first time, by `make`, and refreshed from then on. */
void tl_ccp_refresh(tl_ccp *job, tl_range_fn *make);

/* A pack that lanes leave out: its contacts ride, and its rows are made anew. */
void tl_ccp_refresh_apart(const tl_ccp *job, size_t k);

#endif
