/* The loops of the skin (skin.h). Included once for each instruction set, by a file whose name ends
 * in it; AVX-512 has its own (skin_avx512.c), which find the same pairs. */
#include "base/simd.h"
#include "broad/lanes.h"
#include "broad/skin.h"

_Static_assert(sizeof(talus_box) == 6 * sizeof(double), "a box is six numbers");

/* ---- displacements of boxes: four boxes are 24 numbers --------------------------------------- */

#define FOUR 24

/* Mask of low sides: x, y, z of every six. */
static const int64_t low_sides[FOUR] = {-1, -1, -1, 0, 0, 0, -1, -1, -1, 0, 0, 0,
                                        -1, -1, -1, 0, 0, 0, -1, -1, -1, 0, 0, 0};

/* Rounds WIDE numbers to the nearest whole ones. */
INLINE void store_steps(int8_t *to, wide x) {
#if REGISTER == 32
  const __m128i four = _mm256_cvtpd_epi32((__m256d)x);
  const __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(four, four), _mm_setzero_si128());
  const int all = _mm_cvtsi128_si32(bytes);
  memcpy(to, &all, WIDE);
#else
  for (int i = 0; i < WIDE; ++i) /* values beyond a byte occur only where they do not count */
    to[i] = (int8_t)(x[i] > -127 ? x[i] < 127 ? (int)(x[i] + (x[i] < 0 ? -0.5 : 0.5)) : 127 : -127);
#endif
}

static size_t count_steady(const talus_box *boxes, const talus_box *grown, size_t count,
                           double skin, double *far, int8_t *moves) {
  const wide zero = {0}, most_move = zero + skin, half = zero + 0.5 * skin;
  const double scale = skin < TL_SKIN_LEAST ? 0 : TL_SKIN_STEPS / skin;
  wide most = zero;
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const double *x = &boxes[i].lo.x, *g = &grown[i].lo.x;
    wide here = most;
    wide_mask steady = zero == zero;
    for (int k = 0; k < FOUR; k += WIDE) {
      wide_mask is_low;
      memcpy(&is_low, low_sides + k, sizeof is_low);
      const wide inwards = load_wide(x + k) - load_wide(g + k);
      const wide u = wide_select(is_low, inwards, -inwards), move = u - half;
      const wide size = wide_select(move < zero, -move, move);
      steady &= (u >= zero) & (u <= most_move);
      here = wide_select(size > here, size, here);
      store_steps(moves + 6 * i + (size_t)k, move * scale);
    }
    if (wide_bits(steady) != ALL_WIDE)
      break;
    most = here;
  }
  for (int k = 0; k < WIDE; ++k)
    *far = most[k] > *far ? most[k] : *far;
  return i;
}

/* ---- which candidates overlap ---------------------------------------------------------------- */

static inline unsigned steps_down(double distance, double scale) {
  const double steps = fabs(distance) * scale;
  return steps >= TL_SKIN_LEVEL ? TL_SKIN_LEVEL : steps > 0 ? (unsigned)steps : 0;
}

/* Uses the boxes as they were: enlarged ones reach further by half the skin each. */
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

#if defined(__x86_64__)

#if defined(__AVX2__)
#define OPEN_BYTES 32
#else
#define OPEN_BYTES 16
#endif

/* Bits of those of OPEN_BYTES bytes that are below `need`; *high: bits of those whose highest bit
 * is set. */
INLINE uint64_t find_open(const uint8_t *levels, unsigned need, uint64_t *high) {
#if defined(__AVX2__)
  const __m256i level = _mm256_loadu_si256((const __m256i *)(const void *)levels);
  const __m256i steps = _mm256_and_si256(level, _mm256_set1_epi8(TL_SKIN_LEVEL));
  const __m256i larger = _mm256_max_epu8(steps, _mm256_set1_epi8((char)need));
  *high = (uint32_t)_mm256_movemask_epi8(level);
  return (uint32_t)~_mm256_movemask_epi8(_mm256_cmpeq_epi8(steps, larger));
#else
  const __m128i level = _mm_loadu_si128((const __m128i *)(const void *)levels);
  const __m128i steps = _mm_and_si128(level, _mm_set1_epi8(TL_SKIN_LEVEL));
  const __m128i larger = _mm_max_epu8(steps, _mm_set1_epi8((char)need));
  *high = (uint16_t)_mm_movemask_epi8(level);
  return (uint16_t)~_mm_movemask_epi8(_mm_cmpeq_epi8(steps, larger));
#endif
}

static size_t list_open(const uint8_t *levels, size_t count, unsigned need, uint64_t *bits,
                        uint16_t *open) {
  size_t opens = 0;
  for (size_t i = 0; i < count; i += 64) {
    const size_t left = count - i < 64 ? count - i : 64;
    const uint64_t there = left < 64 ? (UINT64_C(1) << left) - 1 : ~UINT64_C(0);
    uint8_t last[64];
    const uint8_t *from = levels + i;
    if (left < 64) {
      memcpy(last, from, left);
      memset(last + left, 0, 64 - left);
      from = last;
    }
    uint64_t is_open = 0, overlaps = 0, high;
    for (size_t k = 0; k < 64; k += OPEN_BYTES) {
      is_open |= find_open(from + k, need, &high) << k;
      overlaps |= high << k;
    }
    is_open &= there;
    bits[i / 64] = overlaps & there & ~is_open;
    for (; is_open; is_open &= is_open - 1)
      open[opens++] = (uint16_t)(i + (size_t)__builtin_ctzll(is_open));
  }
  return opens;
}

#else

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

#endif

#if defined(__AVX2__)

/* Writes four at a time; the surplus is overwritten by the next, except at the end, where another
 * block begins. */
static void put(const tl_pair *candidates, size_t count, const uint64_t *bits, tl_pair *out,
                size_t found) {
  size_t n = 0;
  for (size_t i = 0; i < count; i += WIDE) {
    const unsigned here = (unsigned)(bits[i / 64] >> (i % 64)) & ALL_WIDE;
    wide four = {0};
    memcpy(&four, candidates + i, (count - i < WIDE ? count - i : WIDE) * sizeof *candidates);
    const wide first = wide_pack(four, here);
    const size_t some = (size_t)__builtin_popcount(here);
    memcpy(out + n, &first, (n + WIDE <= found ? WIDE : some) * sizeof *out);
    n += some;
  }
}

#else

static void put(const tl_pair *candidates, size_t count, const uint64_t *bits, tl_pair *out,
                size_t found) {
  size_t n = 0;
  (void)found;
  for (size_t i = 0; i < count; i += 32)
    for (unsigned word = (unsigned)(bits[i / 64] >> (i % 64) & 0xffffffffu); word; word &= word - 1)
      out[n++] = candidates[i + (size_t)tl_lowest_bit(word)];
}

#endif
