/* Sums whose last bit depends neither on the order in which numbers are added nor on the thread
 * that adds them; both may differ after a restart.
 *
 * A number is cut into four parts, multiples of a unit and of 2^-40, 2^-80 and 2^-120 units, and
 * the parts are added without rounding. The unit is a power of 2^40, the least one that the largest
 * number allows, so it depends on the numbers and not on their order (binned sums: Demmel and
 * Nguyen 2015). Of each number up to half of a finest unit is lost, the same in any order, and the
 * sum is rounded once, when it is asked for. So the sum of n numbers is off by at most
 *
 *   n 2^-120 of the largest of them, and half a last bit of the sum.
 *
 * Where the sum is not below 1e-13 of the largest, that is less than 0.51 last bits for up to 10^5
 * numbers, and below one last bit for 10^7. */
#ifndef TL_BASE_TALLY_H
#define TL_BASE_TALLY_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define TL_TALLY_LANES 8
#define TL_TALLY_PARTS 4
#define TL_TALLY_FINER 0x1p40 /* units of a part in one of the next coarser part */
/* Additions into a lane that are exact for sure: each is below 2^39 + 1 units, and a double counts
 * up to 2^53. */
#define TL_TALLY_MOST 4096

typedef struct tl_tally {
  /* Lanes, so that a vector can be added at a time; the finest part first. */
  _Alignas(64) double part[TL_TALLY_PARTS][TL_TALLY_LANES];
  double per_unit; /* numbers times this are in units of the coarsest part */
  double limit;    /* what is added must be smaller: otherwise tl_tally_raise */
  /* What lanes had when they were emptied: sum + 2^40 carry, 0 <= sum < 2^40. */
  int64_t sum[TL_TALLY_PARTS], carry[TL_TALLY_PARTS];
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
/* The sum of all that is in numbers[0 .. count). */
double tl_tally_sum(const double *numbers, size_t count);

/* To the nearest integer, for |x| < 2^51. */
static inline double tl_tally_round(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

static inline void tl_tally_add(tl_tally *tally, double x) {
  if (!(fabs(x) < tally->limit))
    tl_tally_raise(tally, x);
  double rest = x * tally->per_unit;
  for (int k = TL_TALLY_PARTS - 1; k > 0; --k) {
    const double whole = tl_tally_round(rest);
    tally->part[k][0] += whole;
    rest = (rest - whole) * TL_TALLY_FINER;
  }
  if (rest != 0) /* only what is far below a unit has that many digits */
    tally->part[0][0] += tl_tally_round(rest);
  if (++tally->adds >= TL_TALLY_MOST)
    tl_tally_empty(tally);
}

/* Eight numbers at once, in lanes that a compiler may make vectors of. */
static inline void tl_tally_add_lanes(tl_tally *tally, const double x[TL_TALLY_LANES]) {
  double rest[TL_TALLY_LANES], left = 0;
  for (int i = 0; i < TL_TALLY_LANES; ++i)
    if (!(fabs(x[i]) < tally->limit))
      tl_tally_raise(tally, x[i]);
  for (int i = 0; i < TL_TALLY_LANES; ++i)
    rest[i] = x[i] * tally->per_unit;
  for (int k = TL_TALLY_PARTS - 1; k > 0; --k)
    for (int i = 0; i < TL_TALLY_LANES; ++i) {
      const double whole = tl_tally_round(rest[i]);
      tally->part[k][i] += whole;
      rest[i] = (rest[i] - whole) * TL_TALLY_FINER;
    }
  for (int i = 0; i < TL_TALLY_LANES; ++i)
    left += fabs(rest[i]);
  for (int i = 0; i < TL_TALLY_LANES && left != 0; ++i)
    tally->part[0][i] += tl_tally_round(rest[i]);
  if (++tally->adds >= TL_TALLY_MOST)
    tl_tally_empty(tally);
}

#endif
