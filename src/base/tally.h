/* Sums whose last bit does not depend on the order in which numbers are added, nor on who added
 * them: many threads, in an order that may be another one after a restart.
 *
 * A number is cut into two parts, multiples of a unit and of 2^-40 units, and the parts are added
 * without rounding. The unit is a power of 2^40, the least one that the largest number allows, so
 * it depends on the numbers and not on their order (binned sums: Demmel and Nguyen 2015). Sums are
 * not exact: of each number up to half of a finer unit is lost, the same in any order. That is up
 * to 2^-40 of the largest number, which may be as small as half a unit. */
#ifndef TL_BASE_TALLY_H
#define TL_BASE_TALLY_H

#include <math.h>
#include <stdint.h>

#define TL_TALLY_LANES 8
#define TL_TALLY_FINER 0x1p40 /* units of the second part in one of the first */
/* Additions into a lane that are exact for sure: each is below 2^39 + 1 units, and a double counts
 * up to 2^53. */
#define TL_TALLY_MOST 4096

typedef struct tl_tally {
  /* Lanes, so that a vector can be added at a time; in units, and in finer ones. */
  _Alignas(64) double high[TL_TALLY_LANES];
  double low[TL_TALLY_LANES];
  double per_unit; /* numbers times this are in units */
  double limit;    /* what is added must be smaller: otherwise tl_tally_raise */
  /* What lanes had when they were emptied: sum + 2^40 carry, 0 <= sum < 2^40. */
  int64_t sum[2], carry[2];
  int32_t level; /* the unit is 2^(40 level) */
  uint32_t adds; /* into lanes since they were emptied */
} tl_tally;

void tl_tally_clear(tl_tally *tally);
/* Chooses a unit for which x is small enough. Where there is none (not a number, or 2^999 and more)
 * the sum is not a number any more. */
void tl_tally_raise(tl_tally *tally, double x);
/* Lanes have had TL_TALLY_MOST additions. */
void tl_tally_empty(tl_tally *tally);
/* *tally with all that was added to *other, which stays what it is. */
void tl_tally_merge(tl_tally *tally, const tl_tally *other);
double tl_tally_value(const tl_tally *tally);

/* To the nearest integer, for |x| < 2^51. */
static inline double tl_tally_round(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

static inline void tl_tally_add(tl_tally *tally, double x) {
  if (!(fabs(x) < tally->limit))
    tl_tally_raise(tally, x);
  const double units = x * tally->per_unit, whole = tl_tally_round(units);
  tally->high[0] += whole;
  tally->low[0] += tl_tally_round((units - whole) * TL_TALLY_FINER);
  if (++tally->adds >= TL_TALLY_MOST)
    tl_tally_empty(tally);
}

#endif
