/* The loops over lanes of ellipsoid.h: as many pairs at a time as a register has doubles, or
 * floats. Included once for each instruction set, by a file whose name ends in it.
 *
 * The arithmetic of an iteration is that of kernels/ellipsoid_lanes.h with vectors for numbers; no
 * operation is fused or reordered, so the bits are those of the scalar code. Pairs lie in tables
 * whose columns are loaded as vectors; after every wave of iterations decided lanes are removed,
 * and the others are packed together. */
#include "base/simd.h"
#include "narrow/ellipsoid.h"

#define FLOATS (REGISTER / 4)
typedef float floats __attribute__((vector_size(REGISTER)));
typedef int32_t float_mask __attribute__((vector_size(REGISTER)));

_Static_assert(WIDE <= TL_ELL_LANES, "tables have room for a vector behind them");

#undef TL_FN
#define TL_FN INLINE

INLINE floats floats_sqrt(floats x) {
#if TL_SIMD_AVX512
  return (floats)_mm512_sqrt_ps((__m512)x);
#elif defined(__AVX2__)
  return (floats)_mm256_sqrt_ps((__m256)x);
#elif defined(__x86_64__)
  return (floats)_mm_sqrt_ps((__m128)x);
#else
  floats r;
  for (int i = 0; i < FLOATS; ++i)
    r[i] = sqrtf(x[i]);
  return r;
#endif
}

INLINE floats floats_select(float_mask test, floats a, floats b) {
  return (floats)((test & (float_mask)a) | (~test & (float_mask)b));
}

INLINE unsigned floats_bits(float_mask test) {
#if TL_SIMD_AVX512
  return _mm512_movepi32_mask((__m512i)test);
#elif defined(__AVX2__)
  return (unsigned)_mm256_movemask_ps((__m256)test);
#elif defined(__x86_64__)
  return (unsigned)_mm_movemask_ps((__m128)test);
#else
  unsigned bits = 0;
  for (int i = 0; i < FLOATS; ++i)
    bits |= (unsigned)(test[i] != 0) << i;
  return bits;
#endif
}

/* Like wide_pack. */
INLINE floats floats_pack(floats x, unsigned which) {
#if TL_SIMD_AVX512
  return (floats)_mm512_maskz_compress_ps((__mmask16)which, (__m512)x);
#elif defined(__AVX2__) && defined(__BMI2__)
  const uint64_t bytes = _pdep_u64(which, UINT64_C(0x0101010101010101)) * 0xff;
  const uint64_t order = _pext_u64(UINT64_C(0x0706050403020100), bytes);
  return (floats)_mm256_permutevar8x32_ps((__m256)x,
                                          _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)order)));
#else
  float first[FLOATS] = {0};
  for (int i = 0, n = 0; i < FLOATS; ++i) {
    first[n] = x[i];
    n += (int)(which >> i & 1);
  }
  floats r;
  memcpy(&r, first, sizeof r);
  return r;
#endif
}

/* ---- yes or no in float ---------------------------------------------------------------------- */

#define INT32      int32_t
#define WAVE_PAIRS 256

#define NUMBER             floats
#define TRUTH              float_mask
#define NUMBER_SQRT(x)     floats_sqrt(x)
#define SELECT(test, a, b) floats_select(test, a, b)
#define ANY(test)          (floats_bits(test) != 0)
#define ELL(name)          floats_##name
#include "kernels/ellipsoid_lanes.h"

#define REAL          float
#define LANES         FLOATS
#define BITS          uint16_t
#define TIE           TL_ELLF_TIE
#define STILL         1e-6f
#define MASK(truth)   ((BITS)floats_bits(truth))
#define PACK(mask, v) floats_pack(v, mask)
#define WAVES(name)   float_##name
#include "narrow/ellipsoid_waves.h"
#undef NUMBER
#undef TRUTH
#undef NUMBER_SQRT
#undef SELECT
#undef ANY
#undef ELL
#undef REAL
#undef LANES
#undef BITS
#undef TIE
#undef STILL
#undef MASK
#undef PACK
#undef WAVES

/* ---- yes or no in double --------------------------------------------------------------------- */

#define NUMBER             wide
#define TRUTH              wide_mask
#define NUMBER_SQRT(x)     wide_sqrt(x)
#define SELECT(test, a, b) wide_select(test, a, b)
#define ANY(test)          (wide_bits(test) != 0)
#define ELL(name)          wide_##name
#include "kernels/ellipsoid_lanes.h"

#define REAL          double
#define LANES         WIDE
#define BITS          uint8_t
#define TIE           TL_ELL_TIE
#define STILL         1e-15
#define MASK(truth)   ((BITS)wide_bits(truth))
#define PACK(mask, v) wide_pack(v, mask)
#define WAVES(name)   double_##name
#include "narrow/ellipsoid_waves.h"

/* ---- contacts -------------------------------------------------------------------------------- */

/* Columns of pairs in the pool: M1, M2, d, margin, then xi, or c with the last good c and its w. */
#define POOL_COLUMNS 23
typedef struct pool {
  _Alignas(64) double column[POOL_COLUMNS][TL_ELL_ROOM];
  uint8_t id[TL_ELL_ROOM];
  size_t count;
} pool;
enum { XI = 16, C = 16, BEFORE = 19, BASE = 20 };

/* Three columns of a pool. */
INLINE wide_vec load_vec(const double *columns) {
  const wide_vec v = {load_wide(columns), load_wide(columns + TL_ELL_ROOM),
                      load_wide(columns + 2 * TL_ELL_ROOM)};
  return v;
}

INLINE uint8_t lanes_left(size_t left) {
  return (uint8_t)(left >= WIDE ? ALL_WIDE : (1u << left) - 1u);
}

/* Appends the lanes of the mask; `extra` are the columns from 16 on. The destination may be the
 * source: it never lies beyond what has been read. */
INLINE void append(pool *to, uint8_t mask, const wide_pair *p, wide margin, const wide *extra,
                   int extras, const uint8_t id[WIDE]) {
  const size_t at = to->count;
  double_store_pair(&to->column[0][at], TL_ELL_ROOM, p, mask);
  const wide m = PACK(mask, margin);
  memcpy(&to->column[TL_ELL_MARGIN][at], &m, sizeof m);
  for (int k = 0; k < extras; ++k) {
    const wide packed = PACK(mask, extra[k]);
    memcpy(&to->column[16 + k][at], &packed, sizeof packed);
  }
  size_t next = at;
  for (int k = 0; k < WIDE; ++k)
    if (mask >> k & 1)
      to->id[next++] = id[k];
  to->count = next;
}

/* Up to two iterations of h(xi) for each pair of a wave; `ready` gets the pairs for Newton's
 * method. */
INLINE uint8_t look_twice(const wide_pair *p, wide margin, wide *xi, uint8_t live, int looks,
                          pool *ready, const uint8_t id[WIDE]) {
  const wide zero = {0}, one = zero + 1;
  for (int i = 0; i < 2 && live; ++i) {
    const wide_look look = wide_look_at(*p, *xi);
    const uint8_t last = ++looks == TL_ELL_LOOKS ? 0xff : 0;
    const wide change = look.next - *xi, size = SELECT(change < zero, -change, change);
    const uint8_t apart = MASK(look.excess > zero + TL_ELL_TIE);
    const uint8_t common =
        MASK((look.q1 <= one) & (look.q2 <= one) & (size <= TL_ELL_SETTLE * *xi));
    const uint8_t tied = MASK(size <= (zero + STILL) * *xi) | last;
    const uint8_t gone = (uint8_t)(live & apart & ~MASK(margin > zero));
    const uint8_t done = (uint8_t)(live & (apart | common | tied) & ~gone);
    if (done) {
      const wide scale = one / NUMBER_SQRT(wide_dot(look.y, look.y));
      const wide_vec c = wide_times(look.y, scale);
      const wide extra[7] = {c.x, c.y, c.z, zero + HUGE_VAL, c.x, c.y, c.z};
      append(ready, done, p, margin, extra, 7, id);
    }
    live &= (uint8_t) ~(gone | done);
    *xi = look.next;
  }
  return live;
}

static void look_first(const tl_ell_batch *batch, pool *looking, pool *ready) {
  looking->count = 0;
  for (size_t i = 0; i < batch->count; i += WIDE) {
    const uint8_t all = lanes_left(batch->count - i);
    const wide_pair p = double_load_pair(&batch->in[0][i], TL_ELL_ROOM);
    const wide margin = load_wide(&batch->in[TL_ELL_MARGIN][i]), zero = {0}, one = zero + 1;
    const wide start = wide_start(p);
    wide xi = SELECT(start > zero, start, one);
    uint8_t id[WIDE];
    for (int k = 0; k < WIDE; ++k)
      id[k] = (uint8_t)(i + (size_t)k);
    const uint8_t live = look_twice(&p, margin, &xi, all, 0, ready, id);
    if (live)
      append(looking, live, &p, margin, &xi, 1, id);
  }
}

static void look_on(pool *looking, pool *ready, int looks) {
  const size_t count = looking->count;
  looking->count = 0;
  for (size_t i = 0; i < count; i += WIDE) {
    const wide_pair p = double_load_pair(&looking->column[0][i], TL_ELL_ROOM);
    const wide margin = load_wide(&looking->column[TL_ELL_MARGIN][i]);
    wide xi = load_wide(&looking->column[XI][i]);
    uint8_t id[WIDE];
    memcpy(id, &looking->id[i], sizeof id);
    const uint8_t live = look_twice(&p, margin, &xi, lanes_left(count - i), looks, ready, id);
    if (live)
      append(looking, live, &p, margin, &xi, 1, id);
  }
}

INLINE void write_found(tl_ell_batch *batch, uint8_t mask, const uint8_t id[WIDE],
                        const wide_vec *c, const wide_newton *t) {
  const wide v[TL_ELL_RESULTS] = {c->x,    c->y,    c->z,    t->p1.x, t->p1.y, t->p1.z,
                                  t->p2.x, t->p2.y, t->p2.z, t->w,    t->h1,   t->h2};
  for (unsigned left = mask; left; left &= left - 1) {
    const int k = __builtin_ctz(left);
    for (int column = 0; column < TL_ELL_RESULTS; ++column)
      batch->out[column][id[k]] = v[column][k];
  }
}

/* One iteration of w(c) for each pair. */
static void newton_wave(tl_ell_batch *batch, pool *ready, bool last) {
  const size_t count = ready->count;
  ready->count = 0;
  const wide zero = {0};
  for (size_t i = 0; i < count; i += WIDE) {
    const uint8_t all = lanes_left(count - i);
    const wide_pair p = double_load_pair(&ready->column[0][i], TL_ELL_ROOM);
    const wide margin = load_wide(&ready->column[TL_ELL_MARGIN][i]);
    const wide_vec c = load_vec(&ready->column[C][i]);
    const wide before = load_wide(&ready->column[BEFORE][i]);
    uint8_t id[WIDE];
    memcpy(id, &ready->id[i], sizeof id);
    const wide_newton t = wide_newton_at(p, c);
    const uint8_t far = MASK(-t.w > margin);
    const wide_mask falls = t.w <= before + (zero + TL_ELL_GROWTH) * (t.h1 + t.h2);
    const uint8_t still = (uint8_t)(all & ~far & MASK(falls & (t.step <= zero + TL_ELL_STEP2)));
    const uint8_t found = (uint8_t)(still & MASK(t.convex));
    const uint8_t live = (uint8_t)(last ? 0 : all & ~far & ~still);
    for (int k = 0; k < WIDE; ++k)
      if ((all & ~live) >> k & 1)
        batch->outcome[id[k]] =
            (uint8_t)(far >> k & 1 ? TL_ELL_FAR : (found >> k & 1 ? TL_ELL_FOUND : TL_ELL_UNSURE));
    write_found(batch, found, id, &c, &t);
    if (live) {
      const wide_vec base = load_vec(&ready->column[BASE][i]);
      wide extra[7] = {t.next.x, t.next.y, t.next.z, t.w, c.x, c.y, c.z};
      if ((live & MASK(falls)) != live) {
        const wide_vec back = wide_retreat(base, c);
        const wide stay[7] = {back.x, back.y, back.z, before, base.x, base.y, base.z};
        for (int k = 0; k < 7; ++k)
          extra[k] = wide_select(falls, extra[k], stay[k]);
      }
      append(ready, live, &p, margin, extra, 7, id);
    }
  }
}

static void run_batch(tl_ell_batch *batch) {
  pool looking, ready;
  ready.count = 0;
  memset(batch->outcome, TL_ELL_FAR, sizeof batch->outcome);
  look_first(batch, &looking, &ready);
  for (int looks = 2; looking.count > 0; looks += 2)
    look_on(&looking, &ready, looks);
  for (int touches = 1; ready.count > 0; ++touches)
    newton_wave(batch, &ready, touches == TL_ELL_ROUNDS);
}
