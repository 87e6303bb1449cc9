/* The plain loops of the skin, for any processor. */
#include "broad/lanes.h"
#include "broad/skin.h"

bool tl_skin_plain_of_tests = false;

/* ---- how far boxes have moved ---------------------------------------------------------------- */

/* Sides of the box less those of the larger one, inwards. A difference of doubles has the sign of
 * the comparison, so none of this is in doubt. Infinite sides have none. */
static inline double inwards(double difference, double side, double larger, double half) {
  return isinf(side) && side == larger ? half : difference;
}

int tl_skin_check_box(const talus_box *box, const talus_box *grown, double skin, double *far) {
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
  }
  return moved;
}

/* Without a branch for each side. */
static size_t count_steady(const talus_box *boxes, const talus_box *grown, size_t count,
                           double skin, double *far) {
  const double half = 0.5 * skin;
  double most = *far;
  size_t i = 0;
  for (; i < count; ++i) {
    const double *x = &boxes[i].lo.x, *g = &grown[i].lo.x;
    unsigned steady = 1;
    for (int k = 0; k < 6; ++k) {
      const double u = k < 3 ? x[k] - g[k] : g[k] - x[k], d = fabs(u - half);
      steady &= (unsigned)(u >= 0) & (unsigned)(u <= skin);
      most = d > most ? d : most;
    }
    if (!steady)
      break;
    *far = most;
  }
  return i;
}

/* ---- which candidates overlap ---------------------------------------------------------------- */

/* Of the boxes as they were: larger ones reach further by the skin, half of it each. */
uint8_t tl_skin_level_of(const talus_box *a, const talus_box *b, double skin) {
  const double along[6] = {a->lo.x - b->hi.x, b->lo.x - a->hi.x, a->lo.y - b->hi.y,
                           b->lo.y - a->hi.y, a->lo.z - b->hi.z, b->lo.z - a->hi.z};
  double gap = along[0];
  for (int k = 1; k < 6; ++k)
    gap = along[k] > gap ? along[k] : gap;
  gap += skin;
  const double steps = fabs(gap) / skin * TL_SKIN_STEPS;
  const unsigned level = steps >= TL_SKIN_LEVEL ? TL_SKIN_LEVEL : steps > 0 ? (unsigned)steps : 0;
  return (uint8_t)(level | (gap <= 0 ? TL_SKIN_OVERLAP : 0));
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

/* Nobody can predict what is tested and what comes out, so nothing branches on it. */
static size_t decide(const talus_box *boxes, const tl_pair *candidates, const uint8_t *levels,
                     size_t count, unsigned need, uint64_t *bits) {
  uint16_t open[TL_SKIN_BLOCK];
  size_t opens = 0, found = 0;
  const size_t words = (count + 63) / 64;
  for (size_t w = 0; w < words; ++w) {
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
  for (size_t i = 0; i < opens; ++i) {
    const tl_pair next = candidates[open[i + TL_SKIN_AHEAD < opens ? i + TL_SKIN_AHEAD : i]];
    const tl_pair pair = candidates[open[i]];
    tl_skin_fetch(&boxes[next.a]);
    tl_skin_fetch(&boxes[next.b]);
    bits[open[i] / 64] |= (uint64_t)overlap(&boxes[pair.a], &boxes[pair.b]) << (open[i] % 64);
  }
  for (size_t w = 0; w < words; ++w)
    found += count_bits(bits[w]);
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

const tl_skin_lanes tl_skin_plain = {count_steady, decide, put};
