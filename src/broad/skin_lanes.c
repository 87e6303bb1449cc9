/* Functions of the skin that all instruction sets share. */
#include "broad/skin.h"

#include "base/isa.h"

const tl_skin_lanes *tl_skin_lanes_now(void) {
  static const tl_skin_lanes *const all[TL_ISA_COUNT] = {[TL_ISA_GENERIC] = &tl_skin_generic,
                                                         [TL_ISA_AVX2] = &tl_skin_avx2,
                                                         [TL_ISA_AVX512] = &tl_skin_avx512};
  return all[tl_isa_now()];
}

/* ---- displacements of boxes ------------------------------------------------------------------ */

/* Displacement of a side inwards, relative to the enlarged box. A difference of doubles has the
 * sign of the comparison, so rounding does not matter. Infinite sides have none. */
static inline double inwards(double difference, double side, double larger, double half) {
  return isinf(side) && side == larger ? half : difference;
}

static inline int8_t steps_of(double move, double skin) {
  const double steps = move * (TL_SKIN_STEPS / skin);
  return (int8_t)(steps > -127 ? steps < 127 ? lrint(steps) : 127 : -127);
}

int tl_skin_check_box(const talus_box *box, const talus_box *grown, double skin, double *far,
                      int8_t moves[6]) {
  const double half = 0.5 * skin;
  const double u[6] = {
      inwards(box->lo.x - grown->lo.x, box->lo.x, grown->lo.x, half),
      inwards(box->lo.y - grown->lo.y, box->lo.y, grown->lo.y, half),
      inwards(box->lo.z - grown->lo.z, box->lo.z, grown->lo.z, half),
      inwards(grown->hi.x - box->hi.x, box->hi.x, grown->hi.x, half),
      inwards(grown->hi.y - box->hi.y, box->hi.y, grown->hi.y, half),
      inwards(grown->hi.z - box->hi.z, box->hi.z, grown->hi.z, half),
  };
  int moved = TL_SKIN_STEADY;
  for (int k = 0; k < 6; ++k) {
    if (!(u[k] >= 0)) /* also true for NaN */
      return TL_SKIN_LEFT;
    if (u[k] > skin)
      moved = TL_SKIN_WITHIN;
    *far = fabs(u[k] - half) > *far ? fabs(u[k] - half) : *far;
    moves[k] = steps_of(u[k] - half, skin);
  }
  return moved;
}

/* ---- which candidates overlap ---------------------------------------------------------------- */

/* If two sides moved by `far`, their distance changed by at most twice that. Two levels are added
 * for rounding. With an extremely thin skin steps are not numbers. */
unsigned tl_skin_need(double far, double skin) {
  if (!(far <= 0.5 * skin) || skin < TL_SKIN_LEAST)
    return TL_SKIN_LEVEL + 1; /* a box shrank by more than levels cover */
  const unsigned need = (unsigned)(far / (0.5 * skin) * TL_SKIN_STEPS) + 2;
  return need < TL_SKIN_LEVEL ? need : TL_SKIN_LEVEL;
}

static inline bool overlap(const talus_box *a, const talus_box *b) {
  const tl_span3 p = {{a->lo.x, a->lo.y, a->lo.z}, {a->hi.x, a->hi.y, a->hi.z}};
  const tl_span3 q = {{b->lo.x, b->lo.y, b->lo.z}, {b->hi.x, b->hi.y, b->hi.z}};
  return tl_span3_overlap(&p, &q);
}

static inline size_t count_bits(uint64_t x) {
  x -= x >> 1 & UINT64_C(0x5555555555555555);
  x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
  return (
      size_t)((((x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * UINT64_C(0x0101010101010101)) >>
              56);
}

/* Decides those of the open candidates for which only one distance matters and is not near 0 now:
 * its old value and the displacements of its two sides are known to half a step each, so three
 * halves decide. In half steps that is 2 * 1.5, and 5 is the next odd number but one. Moves of all
 * bodies fit into a cache, boxes do not. The others stay in the list; returns their number. */
static size_t settle(const int8_t *moves, const tl_skin_block *block, unsigned need, uint64_t *bits,
                     uint16_t *open, size_t opens) {
  static const uint8_t opposite[8] = {3, 4, 5, 0, 1, 2, 0, 0};
  size_t left = 0;
  for (size_t i = 0; i < opens; ++i) {
    const uint16_t k = open[i];
    const tl_pair pair = block->candidates[k];
    const size_t ahead = i + TL_SKIN_AHEAD < opens ? i + TL_SKIN_AHEAD : i;
    TL_SKIN_PREFETCH(&moves[6 * (size_t)block->candidates[open[ahead]].b]);
    const unsigned level = block->levels[k], side = block->sides[k] & TL_SKIN_SIDE;
    const unsigned next = block->sides[k] >> 3;
    const int steps = 2 * (int)(level & TL_SKIN_LEVEL) + 1;
    const int gap =
        ((level & TL_SKIN_OVERLAP) != 0 ? -steps : steps) +
        2 * (moves[6 * (size_t)pair.a + side] + moves[6 * (size_t)pair.b + opposite[side]]);
    const unsigned sure = ((unsigned)(gap >= 5) | (unsigned)(gap <= -5)) &
                          ((unsigned)(next == TL_SKIN_ALONE) | (unsigned)(4 * next >= need));
    bits[k / 64] |= (uint64_t)(sure & (unsigned)(gap < 0)) << (k % 64);
    open[left] = k;
    left += sure ^ 1u;
  }
  return left;
}

/* Neither tests nor results are predictable, so nothing branches on them. */
size_t tl_skin_decide(const tl_skin_lanes *lanes, const talus_box *boxes, const int8_t *moves,
                      const tl_skin_block *block, unsigned need, uint64_t *bits) {
  uint16_t open[TL_SKIN_BLOCK + 1];
  size_t opens = lanes->list_open(block->levels, block->count, need, bits, open), found = 0;
  if (need <= TL_SKIN_LEVEL)
    opens = settle(moves, block, need, bits, open, opens);
  for (size_t i = 0; i < opens; ++i) {
    const size_t ahead = i + TL_SKIN_AHEAD < opens ? i + TL_SKIN_AHEAD : i;
    const tl_pair next = block->candidates[open[ahead]], pair = block->candidates[open[i]];
    tl_skin_fetch(&boxes[next.a]);
    tl_skin_fetch(&boxes[next.b]);
    bits[open[i] / 64] |= (uint64_t)overlap(&boxes[pair.a], &boxes[pair.b]) << (open[i] % 64);
  }
  for (size_t i = 0; i < block->count; i += 64)
    found += count_bits(bits[i / 64]);
  return found;
}
