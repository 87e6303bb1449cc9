/* Pairs of ellipsoids, eight at a time (sixteen in float), with AVX-512.
 *
 * The arithmetic of a look is that of kernels/ellipsoid_lanes.h with a vector as the number; no
 * operation is fused or reordered, so the bits are those of the scalar code. Pairs lie in tables
 * whose columns are loaded as vectors; decided lanes are closed up after every wave of looks.
 *
 * This file alone of its folder is compiled for AVX-512 (CMakeLists.txt); it runs only where the
 * processor has it. */
#include "narrow/ellipsoid.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include <immintrin.h>

typedef double lanes8 __attribute__((vector_size(64)));
typedef int64_t truth8 __attribute__((vector_size(64)));
typedef float lanes16 __attribute__((vector_size(64)));
typedef int32_t truth16 __attribute__((vector_size(64)));

#define INLINE static inline __attribute__((always_inline))
#undef TL_FN
#define TL_FN INLINE

INLINE lanes8 select8(truth8 test, lanes8 a, lanes8 b) {
  return (lanes8)((test & (truth8)a) | (~test & (truth8)b));
}
INLINE lanes16 select16(truth16 test, lanes16 a, lanes16 b) {
  return (lanes16)((test & (truth16)a) | (~test & (truth16)b));
}

/* ---- yes or no in float ---------------------------------------------------------------------- */

#define INT32      int32_t
#define WAVE_PAIRS 256

#define NUMBER             lanes16
#define TRUTH              truth16
#define NUMBER_SQRT(x)     ((lanes16)_mm512_sqrt_ps((__m512)(x)))
#define SELECT(test, a, b) select16(test, a, b)
#define ANY(test)          (_mm512_movepi32_mask((__m512i)(test)) != 0)
#define ELL(name)          lanes16_##name
#include "kernels/ellipsoid_lanes.h"

#define REAL          float
#define LANES         16
#define BITS          uint16_t
#define TIE           TL_ELLF_TIE
#define STILL         1e-6f
#define MASK(truth)   ((BITS)_mm512_movepi32_mask((__m512i)(truth)))
#define PACK(mask, v) ((lanes16)_mm512_maskz_compress_ps(mask, (__m512)(v)))
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

void tl_ell_overlap_float_avx512(const float *columns, size_t stride, size_t count,
                                 uint8_t *touches) {
  float_run(columns, stride, count, touches);
}

/* ---- yes or no in double --------------------------------------------------------------------- */

#define NUMBER             lanes8
#define TRUTH              truth8
#define NUMBER_SQRT(x)     ((lanes8)_mm512_sqrt_pd((__m512d)(x)))
#define SELECT(test, a, b) select8(test, a, b)
#define ANY(test)          (_mm512_movepi64_mask((__m512i)(test)) != 0)
#define ELL(name)          lanes8_##name
#include "kernels/ellipsoid_lanes.h"

#define REAL          double
#define LANES         8
#define BITS          uint8_t
#define TIE           TL_ELL_TIE
#define STILL         1e-15
#define MASK(truth)   ((BITS)_mm512_movepi64_mask((__m512i)(truth)))
#define PACK(mask, v) ((lanes8)_mm512_maskz_compress_pd(mask, (__m512d)(v)))
#define WAVES(name)   double_##name
#include "narrow/ellipsoid_waves.h"

void tl_ell_overlap_avx512(const double *columns, size_t stride, size_t count, uint8_t *touches) {
  double_run(columns, stride, count, touches);
}

/* ---- contacts -------------------------------------------------------------------------------- */

/* Pairs on their way: M1, M2, d, margin, then xi, or c with the last c that was good and its w. */
#define POOL_COLUMNS 23
typedef struct pool {
  _Alignas(64) double column[POOL_COLUMNS][TL_ELL_ROOM];
  uint8_t id[TL_ELL_ROOM];
  size_t count;
} pool;
enum { XI = 16, C = 16, BEFORE = 19, BASE = 20 };

INLINE lanes8 load(const double *from) {
  lanes8 r;
  memcpy(&r, from, sizeof r);
  return r;
}

/* Three columns of a pool. */
INLINE lanes8_vec load_vec(const double *columns) {
  const lanes8_vec v = {load(columns), load(columns + TL_ELL_ROOM),
                        load(columns + 2 * TL_ELL_ROOM)};
  return v;
}

INLINE uint8_t lanes_left(size_t left) { return (uint8_t)((left >= 8 ? 0u : 1u << left) - 1u); }

/* Appends the lanes of the mask; `extra` are the columns from 16 on. May write where it reads from:
 * what is kept never lies beyond what has been read. */
INLINE void append(pool *to, uint8_t mask, const lanes8_pair *p, lanes8 margin, const lanes8 *extra,
                   int extras, const uint8_t id[8]) {
  const size_t at = to->count;
  double_store_pair(&to->column[0][at], TL_ELL_ROOM, p, mask);
  const lanes8 m = PACK(mask, margin);
  memcpy(&to->column[TL_ELL_MARGIN][at], &m, sizeof m);
  for (int k = 0; k < extras; ++k) {
    const lanes8 packed = PACK(mask, extra[k]);
    memcpy(&to->column[16 + k][at], &packed, sizeof packed);
  }
  size_t next = at;
  for (int k = 0; k < 8; ++k)
    if (mask >> k & 1)
      to->id[next++] = id[k];
  to->count = next;
}

/* Up to two looks at h(xi) of each pair of a wave; `ready` gets those that Newton is to look at. */
INLINE uint8_t look_twice(const lanes8_pair *p, lanes8 margin, lanes8 *xi, uint8_t live, int looks,
                          pool *ready, const uint8_t id[8]) {
  const lanes8 zero = {0}, one = zero + 1;
  for (int i = 0; i < 2 && live; ++i) {
    const lanes8_look look = lanes8_look_at(*p, *xi);
    const uint8_t last = ++looks == TL_ELL_LOOKS ? 0xff : 0;
    const lanes8 change = look.next - *xi, size = SELECT(change < zero, -change, change);
    const uint8_t apart = MASK(look.excess > zero + TL_ELL_TIE);
    const uint8_t common =
        MASK((look.q1 <= one) & (look.q2 <= one) & (size <= TL_ELL_SETTLE * *xi));
    const uint8_t tied = MASK(size <= (zero + STILL) * *xi) | last;
    const uint8_t gone = (uint8_t)(live & apart & ~MASK(margin > zero));
    const uint8_t done = (uint8_t)(live & (apart | common | tied) & ~gone);
    if (done) {
      const lanes8 scale = one / NUMBER_SQRT(lanes8_dot(look.y, look.y));
      const lanes8_vec c = lanes8_times(look.y, scale);
      const lanes8 extra[7] = {c.x, c.y, c.z, zero + HUGE_VAL, c.x, c.y, c.z};
      append(ready, done, p, margin, extra, 7, id);
    }
    live &= (uint8_t) ~(gone | done);
    *xi = look.next;
  }
  return live;
}

static void look_first(const tl_ell_batch *batch, pool *looking, pool *ready) {
  looking->count = 0;
  for (size_t i = 0; i < batch->count; i += 8) {
    const uint8_t all = lanes_left(batch->count - i);
    const lanes8_pair p = double_load_pair(&batch->in[0][i], TL_ELL_ROOM);
    const lanes8 margin = load(&batch->in[TL_ELL_MARGIN][i]), zero = {0}, one = zero + 1;
    const lanes8 start = lanes8_start(p);
    lanes8 xi = SELECT(start > zero, start, one);
    uint8_t id[8];
    for (int k = 0; k < 8; ++k)
      id[k] = (uint8_t)(i + (size_t)k);
    const uint8_t live = look_twice(&p, margin, &xi, all, 0, ready, id);
    if (live)
      append(looking, live, &p, margin, &xi, 1, id);
  }
}

static void look_on(pool *looking, pool *ready, int looks) {
  const size_t count = looking->count;
  looking->count = 0;
  for (size_t i = 0; i < count; i += 8) {
    const lanes8_pair p = double_load_pair(&looking->column[0][i], TL_ELL_ROOM);
    const lanes8 margin = load(&looking->column[TL_ELL_MARGIN][i]);
    lanes8 xi = load(&looking->column[XI][i]);
    uint8_t id[8];
    memcpy(id, &looking->id[i], sizeof id);
    const uint8_t live = look_twice(&p, margin, &xi, lanes_left(count - i), looks, ready, id);
    if (live)
      append(looking, live, &p, margin, &xi, 1, id);
  }
}

INLINE void write_found(tl_ell_batch *batch, uint8_t mask, const uint8_t id[8], const lanes8_vec *c,
                        const lanes8_newton *t) {
  const lanes8 v[TL_ELL_RESULTS] = {c->x,    c->y,    c->z,    t->p1.x, t->p1.y, t->p1.z,
                                    t->p2.x, t->p2.y, t->p2.z, t->w,    t->h1,   t->h2};
  for (unsigned left = mask; left; left &= left - 1) {
    const int k = __builtin_ctz(left);
    for (int column = 0; column < TL_ELL_RESULTS; ++column)
      batch->out[column][id[k]] = v[column][k];
  }
}

/* One look at w(c) of each pair. */
static void newton_wave(tl_ell_batch *batch, pool *ready, bool last) {
  const size_t count = ready->count;
  ready->count = 0;
  const lanes8 zero = {0};
  for (size_t i = 0; i < count; i += 8) {
    const uint8_t all = lanes_left(count - i);
    const lanes8_pair p = double_load_pair(&ready->column[0][i], TL_ELL_ROOM);
    const lanes8 margin = load(&ready->column[TL_ELL_MARGIN][i]);
    const lanes8_vec c = load_vec(&ready->column[C][i]);
    const lanes8 before = load(&ready->column[BEFORE][i]);
    uint8_t id[8];
    memcpy(id, &ready->id[i], sizeof id);
    const lanes8_newton t = lanes8_newton_at(p, c);
    const uint8_t far = MASK(-t.w > margin);
    const truth8 falls = t.w <= before + (zero + TL_ELL_GROWTH) * (t.h1 + t.h2);
    const uint8_t still = (uint8_t)(all & ~far & MASK(falls & (t.step <= zero + TL_ELL_STEP2)));
    const uint8_t found = (uint8_t)(still & MASK(t.convex));
    const uint8_t live = (uint8_t)(last ? 0 : all & ~far & ~still);
    for (int k = 0; k < 8; ++k)
      if ((all & ~live) >> k & 1)
        batch->outcome[id[k]] =
            (uint8_t)(far >> k & 1 ? TL_ELL_FAR : (found >> k & 1 ? TL_ELL_FOUND : TL_ELL_UNSURE));
    write_found(batch, found, id, &c, &t);
    if (live) {
      const lanes8_vec base = load_vec(&ready->column[BASE][i]);
      lanes8 extra[7] = {t.next.x, t.next.y, t.next.z, t.w, c.x, c.y, c.z};
      if ((live & MASK(falls)) != live) {
        const lanes8_vec back = lanes8_retreat(base, c);
        const lanes8 stay[7] = {back.x, back.y, back.z, before, base.x, base.y, base.z};
        for (int k = 0; k < 7; ++k)
          extra[k] = select8(falls, extra[k], stay[k]);
      }
      append(ready, live, &p, margin, extra, 7, id);
    }
  }
}

void tl_ell_batch_run_avx512(tl_ell_batch *batch) {
  pool looking, ready;
  ready.count = 0;
  memset(batch->outcome, TL_ELL_FAR, sizeof batch->outcome);
  look_first(batch, &looking, &ready);
  for (int looks = 2; looking.count > 0; looks += 2)
    look_on(&looking, &ready, looks);
  for (int touches = 1; ready.count > 0; ++touches)
    newton_wave(batch, &ready, touches == TL_ELL_ROUNDS);
}

#else

void tl_ell_batch_run_avx512(tl_ell_batch *batch) { tl_ell_batch_run_scalar(batch); }

void tl_ell_overlap_avx512(const double *columns, size_t stride, size_t count, uint8_t *touches) {
  tl_ell_overlap_scalar(columns, stride, count, touches);
}

void tl_ell_overlap_float_avx512(const float *columns, size_t stride, size_t count,
                                 uint8_t *touches) {
  tl_ell_overlap_float_scalar(columns, stride, count, touches);
}

#endif
