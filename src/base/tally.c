#include "base/tally.h"

#include <stdbool.h>
#include <string.h>

#define BITS      40
#define LOWEST    (-24) /* units of 2^-960, the finest of 2^-1080: below any number but 0 */
#define HIGHEST   24
#define UNBOUNDED (HIGHEST + 1) /* a number was too large or not finite */

static void set_level(tl_tally *tally, int32_t level) {
  tally->level = level;
  if (level == UNBOUNDED) { /* nothing is small enough: every number comes to tl_tally_raise */
    tally->per_unit = 0;
    tally->limit = 0;
    return;
  }
  tally->per_unit = ldexp(1, -BITS * level);
  tally->limit = ldexp(1, BITS * level + BITS - 1);
}

void tl_tally_clear(tl_tally *tally) {
  static const tl_tally empty = {.per_unit = 0x1p960, .limit = 0x1p-921, .level = LOWEST};
  *tally = empty;
}

/* What *all has of the next coarser part; the rest is left there, from 0 to 2^40. */
static int64_t floor_of(int64_t *all) {
  const int64_t whole = (int64_t)1 << BITS;
  int64_t over = *all / whole;
  *all -= over * whole;
  if (*all < 0)
    *all += whole, over--;
  return over;
}

static void add_part(tl_tally *tally, int part, int64_t sum, int64_t carry) {
  tally->sum[part] += sum;
  tally->carry[part] += carry + floor_of(&tally->sum[part]);
}

void tl_tally_empty(tl_tally *tally) {
  tally->adds = 0;
  if (tally->level == UNBOUNDED)
    return;
  for (int k = 0; k < TL_TALLY_PARTS; ++k) {
    int64_t sum = 0;
    for (int i = 0; i < TL_TALLY_LANES; ++i) {
      sum += (int64_t)tally->part[k][i];
      tally->part[k][i] = 0;
    }
    add_part(tally, k, sum, 0);
  }
}

/* Numbers so far are less than half a unit of the next level: they have nothing in its coarsest
 * part, and each of their parts is the next finer one there. */
static void raise_to(tl_tally *tally, int32_t level) {
  const int32_t by = level - tally->level;
  if (by <= 0)
    return;
  for (int32_t k = 0; k < TL_TALLY_PARTS; ++k) {
    const bool stays = by < TL_TALLY_PARTS - k;
    tally->sum[k] = stays ? tally->sum[k + by] : 0;
    tally->carry[k] = stays ? tally->carry[k + by] : 0;
  }
  set_level(tally, level);
}

void tl_tally_raise(tl_tally *tally, double x) {
  int exponent = 0; /* |x| < 2^exponent */
  tl_tally_empty(tally);
  if (isfinite(x))
    (void)frexp(x, &exponent);
  const int over = exponent - (BITS - 1), low = LOWEST * BITS; /* no quotient below 0 */
  const int32_t level = LOWEST + (over <= low ? 0 : (over - low + BITS - 1) / BITS);
  raise_to(tally, isfinite(x) && level <= HIGHEST ? level : UNBOUNDED);
}

void tl_tally_merge(tl_tally *tally, const tl_tally *other) {
  tl_tally more = *other;
  tl_tally_empty(tally);
  tl_tally_empty(&more);
  const int32_t level = tally->level > more.level ? tally->level : more.level;
  raise_to(tally, level);
  raise_to(&more, level);
  for (int k = 0; k < TL_TALLY_PARTS; ++k)
    add_part(tally, k, more.sum[k], more.carry[k]);
}

/* The digits of a sum that is 0 or more, the coarsest last, times 2^(40 level - 120). */
static double round_digits(uint64_t digit[TL_TALLY_PARTS + 1], int32_t level) {
  const uint64_t whole = (uint64_t)1 << BITS;
  uint64_t m = digit[TL_TALLY_PARTS], below = 0;
  int k = TL_TALLY_PARTS, at = BITS * (level + 1); /* of the last bit of m */
  for (; k > 0 && m < (uint64_t)1 << (64 - BITS); at -= BITS)
    m = m << BITS | digit[--k];
  if (k > 0) { /* 64 bits are enough, if the last one knows whether more come */
    const int room = m >> 63 ? 0 : __builtin_clzll(m);
    const uint64_t next = digit[--k];
    m = m << room | (room > 0 ? next >> (BITS - room) : 0);
    below = room > 0 ? next & ((whole >> room) - 1) : next;
    at -= room;
  }
  while (k > 0)
    below |= digit[--k];
  return ldexp((double)(m | (below != 0)), at);
}

double tl_tally_value(const tl_tally *tally) {
  const int64_t whole = (int64_t)1 << BITS;
  int64_t sum[TL_TALLY_PARTS + 1], over = 0;
  uint64_t digit[TL_TALLY_PARTS + 1];
  if (tally->level == UNBOUNDED)
    return NAN;
  for (int k = 0; k < TL_TALLY_PARTS; ++k) {
    sum[k] = tally->sum[k] + over;
    for (int i = 0; i < TL_TALLY_LANES && tally->adds > 0; ++i)
      sum[k] += (int64_t)tally->part[k][i];
    over = tally->carry[k] + floor_of(&sum[k]);
  }
  sum[TL_TALLY_PARTS] = over;
  const bool is_negative = over < 0;
  int64_t borrow = 0;
  for (int k = 0; k <= TL_TALLY_PARTS; ++k) {
    const int64_t turned = is_negative ? -sum[k] - borrow : sum[k];
    borrow = turned < 0;
    digit[k] = (uint64_t)(borrow ? turned + whole : turned);
  }
  const double size = round_digits(digit, tally->level);
  return is_negative ? -size : size;
}

double tl_tally_sum(const double *numbers, size_t count) {
  if (count == 1)
    return numbers[0];
  tl_tally tally;
  tl_tally_clear(&tally);
  size_t i = 0;
  for (; i + TL_TALLY_LANES <= count; i += TL_TALLY_LANES)
    tl_tally_add_lanes(&tally, numbers + i);
  for (; i < count; ++i)
    tl_tally_add(&tally, numbers[i]);
  return tl_tally_value(&tally);
}
