/* Signs of determinants, exact for the numbers as they are given (Shewchuk 1997): in double
 * precision where a bound of the rounding shows that the sign is right, and in sums of doubles that
 * lose nothing otherwise. Products of three differences must neither overflow nor underflow:
 * lengths between 1e-90 and 1e90. */
#ifndef TL_BASE_EXACT_H
#define TL_BASE_EXACT_H

#include <talus/types.h>

typedef struct tl_way {
  talus_dvec3 from, to;
} tl_way;

/* -1, 0 or 1: the sign of u . (v x w), of the ways from one place to another. */
int tl_exact_turn(tl_way u, tl_way v, tl_way w);

#endif
