/* The plain loops of the skin, for any processor, and what both kinds share. */
#include "broad/lanes.h"
#include "broad/skin.h"

bool tl_skin_plain_of_tests = false;

/* ---- how far boxes have moved ---------------------------------------------------------------- */

/* Sides of the box less those of the larger one, inwards. A difference of doubles has the sign of
 * the comparison, so none of this is in doubt. Infinite sides have none. */
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
    if (!(u[k] >= 0)) /* what is not a number is within nothing */
      return TL_SKIN_LEFT;
    if (u[k] > skin)
      moved = TL_SKIN_WITHIN;
    *far = fabs(u[k] - half) > *far ? fabs(u[k] - half) : *far;
    moves[k] = steps_of(u[k] - half, skin);
  }
  return moved;
}

/* Without a branch for each side. */
static size_t count_steady(const talus_box *boxes, const talus_box *grown, size_t count,
                           double skin, double *far, int8_t *moves) {
  const double half = 0.5 * skin, scale = skin < TL_SKIN_LEAST ? 0 : TL_SKIN_STEPS / skin;
  double most = *far;
  size_t i = 0;
  for (; i < count; ++i) {
    const double *x = &boxes[i].lo.x, *g = &grown[i].lo.x;
    double u[6];
    unsigned steady = 1;
    for (int k = 0; k < 6; ++k) {
      u[k] = k < 3 ? x[k] - g[k] : g[k] - x[k];
      steady &= (unsigned)(u[k] >= 0) & (unsigned)(u[k] <= skin);
    }
    if (!steady)
      break;
    for (int k = 0; k < 6; ++k) {
      const double move = u[k] - half;
      most = fabs(move) > most ? fabs(move) : most;
      moves[6 * i + (size_t)k] = (int8_t)(int)(move * scale + (move < 0 ? -0.5 : 0.5));
    }
  }
  *far = most;
  return i;
}

/* ---- which candidates overlap ---------------------------------------------------------------- */

static inline unsigned steps_down(double distance, double scale) {
  const double steps = fabs(distance) * scale;
  return steps >= TL_SKIN_LEVEL ? TL_SKIN_LEVEL : steps > 0 ? (unsigned)steps : 0;
}

/* Of the boxes as they were: larger ones reach further by the skin, half of it each. */
static inline void mark_one(const talus_box *a, const talus_box *b, double skin, uint8_t *level,
                            uint8_t *mark) {
  const double along[6] = {a->lo.x - b->hi.x, a->lo.y - b->hi.y, a->lo.z - b->hi.z,
                           b->lo.x - a->hi.x, b->lo.y - a->hi.y, b->lo.z - a->hi.z};
  const double scale = TL_SKIN_STEPS / skin;
  double gap = along[0], next = -HUGE_VAL;
  unsigned side = 0;
  for (unsigned k = 1; k < 6; ++k) {
    const bool larger = along[k] > gap;
    const double lesser = larger ? gap : along[k];
    next = lesser > next ? lesser : next;
    gap = larger ? along[k] : gap;
    side = larger ? k : side;
  }
  gap += skin;
  next += skin;
  const unsigned down = next < 0 ? steps_down(next, scale) : 0;
  const unsigned quarter = down == TL_SKIN_LEVEL ? TL_SKIN_ALONE : down < 124 ? down / 4 : 30;
  *level = (uint8_t)(steps_down(gap, scale) | (gap <= 0 ? TL_SKIN_OVERLAP : 0));
  *mark = (uint8_t)(side | quarter << 3);
}

static void mark(const talus_box *grown, const tl_pair *candidates, size_t count, double skin,
                 uint8_t *levels, uint8_t *sides) {
  for (size_t i = 0; i < count; ++i) {
    tl_skin_fetch(&grown[candidates[i + TL_SKIN_AHEAD < count ? i + TL_SKIN_AHEAD : i].b]);
    mark_one(&grown[candidates[i].a], &grown[candidates[i].b], skin, &levels[i], &sides[i]);
  }
}

/* Two sides that moved by `far` are nearer or further by twice that at most. Two levels are for
 * rounding. Of a skin next to nothing, steps are not numbers. */
unsigned tl_skin_need(double far, double skin) {
  if (!(far <= 0.5 * skin) || skin < TL_SKIN_LEAST)
    return TL_SKIN_LEVEL + 1; /* a box became smaller than levels know of */
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

static size_t list_open(const uint8_t *levels, size_t count, unsigned need, uint64_t *bits,
                        uint16_t *open) {
  size_t opens = 0;
  for (size_t w = 0; 64 * w < count; ++w) {
    const size_t end = count - 64 * w < 64 ? count - 64 * w : 64;
    uint64_t word = 0;
    for (size_t k = 0; k < end; ++k) {
      const unsigned level = levels[64 * w + k];
      const unsigned is_open = (level & TL_SKIN_LEVEL) < need;
      open[opens] = (uint16_t)(64 * w + k);
      opens += is_open;
      word |= (uint64_t)(level >> 7 & (is_open ^ 1u)) << k;
    }
    bits[w] = word;
  }
  return opens;
}

/* Decides, of the open ones, those of which one distance alone matters and is not near nought now:
 * where that was and how far its two sides have moved is known to half a step each, so that three
 * halves decide. In half steps that is 2 * 1.5, and 5 is the next odd number but one. Moves of all
 * bodies fit into a cache that boxes do not. The others stay in the list; their number. */
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

/* Nobody can predict what is tested and what comes out, so nothing branches on it. */
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

static void put(const tl_pair *candidates, size_t count, const uint64_t *bits, tl_pair *out,
                size_t found) {
  size_t n = 0;
  (void)found;
  for (size_t i = 0; i < count; i += 32)
    for (unsigned word = (unsigned)(bits[i / 64] >> (i % 64) & 0xffffffffu); word; word &= word - 1)
      out[n++] = candidates[i + (size_t)tl_lowest_bit(word)];
}

const tl_skin_lanes tl_skin_plain = {count_steady, mark, list_open, put};
