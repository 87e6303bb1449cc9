#include "base/tally.h"

#include <string.h>

#define BITS    40
#define LOWEST  (-24) /* units of 2^-960, finer ones of 2^-1000: both far from underflow */
#define HIGHEST 24
#define WILD    (HIGHEST + 1)

static void set_level(tl_tally *tally, int32_t level) {
  tally->level = level;
  if (level == WILD) { /* nothing is small enough: every number comes to tl_tally_raise */
    tally->per_unit = 0;
    tally->limit = 0;
    return;
  }
  tally->per_unit = ldexp(1, -BITS * level);
  tally->limit = ldexp(1, BITS * level + BITS - 1);
}

void tl_tally_clear(tl_tally *tally) {
  memset(tally, 0, sizeof *tally);
  set_level(tally, LOWEST);
}

static void add_part(tl_tally *tally, int part, int64_t sum, int64_t carry) {
  const int64_t whole = (int64_t)1 << BITS;
  int64_t all = tally->sum[part] + sum, over = all / whole;
  all -= over * whole;
  if (all < 0)
    all += whole, over--;
  tally->sum[part] = all;
  tally->carry[part] += carry + over;
}

void tl_tally_empty(tl_tally *tally) {
  tally->adds = 0;
  if (tally->level == WILD)
    return;
  for (int i = 0; i < TL_TALLY_LANES; ++i) {
    add_part(tally, 0, (int64_t)tally->low[i], 0);
    add_part(tally, 1, (int64_t)tally->high[i], 0);
    tally->high[i] = tally->low[i] = 0;
  }
}

/* Numbers so far are less than half a unit of the next level: they have nothing in its first part,
 * and what was their first is its second. */
static void raise_to(tl_tally *tally, int32_t level) {
  for (; tally->level < level; set_level(tally, tally->level + 1)) {
    tally->sum[0] = tally->sum[1], tally->carry[0] = tally->carry[1];
    tally->sum[1] = tally->carry[1] = 0;
  }
}

void tl_tally_raise(tl_tally *tally, double x) {
  tl_tally_empty(tally);
  int32_t level = tally->level;
  while (level < WILD && !(fabs(x) < ldexp(1, BITS * level + BITS - 1)))
    level++;
  raise_to(tally, level);
}

void tl_tally_merge(tl_tally *tally, const tl_tally *other) {
  tl_tally more = *other;
  tl_tally_empty(tally);
  tl_tally_empty(&more);
  const int32_t level = tally->level > more.level ? tally->level : more.level;
  raise_to(tally, level);
  raise_to(&more, level);
  for (int part = 0; part < 2; ++part)
    add_part(tally, part, more.sum[part], more.carry[part]);
}

double tl_tally_value(const tl_tally *tally) {
  tl_tally all = *tally;
  tl_tally_empty(&all);
  if (all.level == WILD)
    return NAN;
  const double high = (double)all.carry[1] * TL_TALLY_FINER + (double)all.sum[1];
  const double low = (double)all.carry[0] * TL_TALLY_FINER + (double)all.sum[0];
  return ldexp(high * TL_TALLY_FINER + low, BITS * (all.level - 1));
}
