/* Visits of packs of contacts between balls, with AVX-512: the arithmetic of
 * kernels/penalty_visit.h with a vector of eight as the number. Balls are loaded row by row and
 * transposed in registers. No operation is fused or reordered, so the bits are those of the scalar
 * code. This file alone is compiled for AVX-512; it runs only where the processor has it. */
#include "solve/penalty_list.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include "solve/penalty_lanes.h"

#undef TL_FN
#define TL_FN              INLINE
#define NUMBER             lanes
#define TRUTH              lane_mask
#define NUMBER_SQRT(x)     lanes_sqrt(x)
#define SELECT(test, a, b) lanes_select(test, a, b)
#define VISIT(name)        lanes_##name
#include "kernels/penalty_visit.h"

_Static_assert(sizeof(tl_ball) == 2 * sizeof(lanes), "a ball is two vectors");
_Static_assert(sizeof(tl_ball_effect) == sizeof(lanes), "an effect is a vector");

INLINE lanes_ball load_balls(const tl_ball *balls, const uint32_t *index) {
  lanes m[W], n[W];
  for (int i = 0; i < W; ++i) {
    m[i] = load(balls[index[i]].v);
    n[i] = load(balls[index[i]].lead);
  }
  transpose(m);
  transpose(n);
  const lanes_ball r = {{m[0], m[1], m[2]}, {m[3], m[4], m[5]}, m[6], m[7],
                        {n[0], n[1], n[2]}, {n[3], n[4], n[5]}};
  return r;
}

/* What the pair's materials give; the same for all where there is one material. */
INLINE void load_law(const tl_ball_job *job, const tl_ball_pack *pack, lanes_touch *t) {
  const lanes zero = {0};
  if (job->materials == 1) {
    t->normal = zero + job->laws->normal, t->tangent = zero + job->laws->tangent;
    t->damping = zero + job->laws->damping, t->friction = zero + job->laws->friction;
    t->cohesion = zero + job->laws->cohesion;
    t->tangent_damping = zero + job->laws->tangent_damping;
    return;
  }
  const tl_ball *balls = job->list->ball.data;
  for (int i = 0; i < W; ++i) {
    const tl_spring_law *law = &job->laws[(size_t)balls[pack->a[i]].material * job->materials +
                                          (size_t)balls[pack->b[i]].material];
    t->normal[i] = law->normal, t->tangent[i] = law->tangent, t->damping[i] = law->damping;
    t->friction[i] = law->friction, t->cohesion[i] = law->cohesion;
    t->tangent_damping[i] = law->tangent_damping;
  }
}

INLINE void visit(const tl_ball_job *job, const tl_ball_pack *pack) {
  tl_ball_list *list = job->list;
  const lanes zero = {0}, one = zero + 1, half = zero + TL_R(0.5);
  const lanes_ball a = load_balls(list->ball.data, pack->a);
  const lanes_ball b = load_balls(list->ball.data, pack->b);
  lanes_touch t; /* member by member: not all of it, which goes through memory */
  t.normal = t.tangent = t.damping = t.tangent_damping = t.friction = t.cohesion = zero;
  load_law(job, pack, &t);
  const lanes_vec d = {load(pack->dx), load(pack->dy), load(pack->dz)};
  lanes_balls(&a, &b, d, &t);

  lanes m[W] = {zero, zero, zero, zero, zero, zero, zero, zero};
  for (int i = 0; i < W; ++i)
    memcpy(&m[i], &list->spring.data[pack->candidate[i]], sizeof(tl_ball_spring));
  transpose(m);
  const lane_mask is_old = load(pack->is_old) > zero;
  lanes_vec slip = {lanes_select(is_old, m[0], zero), lanes_select(is_old, m[1], zero),
                    lanes_select(is_old, m[2], zero)};
  const lanes old = lanes_select(is_old, m[3], zero);
  const lanes_pushed r = job->is_hertz ? lanes_push(&t, 1, zero + job->h, old, &slip)
                                       : lanes_push(&t, 0, zero + job->h, old, &slip);
  const lanes_vec turn = lanes_cross(t.n, r.force);

  lanes s[W] = {slip.x,    slip.y,   slip.z,    r.tangent_stiffness,
                r.elastic, r.stored, r.damping, r.friction};
  lanes e[W] = {r.force.x, r.force.y, r.force.z,        turn.x,
                turn.y,    turn.z,    half * t.overlap, lanes_select(r.slides, one, zero)};
  transpose(s);
  transpose(e);
  const uint32_t at = pack->effect, count = pack->count;
  for (uint32_t i = 0; i < W && i < count; ++i) {
    memcpy(&list->spring.data[pack->candidate[i]], &s[i], sizeof(tl_ball_spring));
    memcpy(&list->energy.data[at + i], (const talus_real *)&s[i] + 4, sizeof(tl_ball_energy));
    memcpy(&list->effect.data[at + i], &e[i], sizeof e[i]);
  }
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* From a to b, and the sum of radii, of eight pairs: rows are subtracted and then transposed. */
INLINE void load_ways(const tl_ball_place *places, const uint32_t *a, const uint32_t *b,
                      wide way[4]) {
  const __m256d signs = _mm256_set_pd(0, -0.0, -0.0, -0.0);
  __m256d row[W];
  for (int i = 0; i < W; ++i)
    row[i] = _mm256_add_pd(_mm256_loadu_pd(&places[b[i]].x),
                           _mm256_xor_pd(signs, _mm256_loadu_pd(&places[a[i]].x)));
  __m512d two[4];
  for (int i = 0; i < 4; ++i)
    two[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(row[i]), row[i + 4], 1);
  const __m512i low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
  const __m512i high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
  const __m512d xz = _mm512_unpacklo_pd(two[0], two[1]), yr = _mm512_unpackhi_pd(two[0], two[1]);
  const __m512d xz2 = _mm512_unpacklo_pd(two[2], two[3]), yr2 = _mm512_unpackhi_pd(two[2], two[3]);
  way[0] = (wide)_mm512_permutex2var_pd(xz, low, xz2);
  way[1] = (wide)_mm512_permutex2var_pd(yr, low, yr2);
  way[2] = (wide)_mm512_permutex2var_pd(xz, high, xz2);
  way[3] = (wide)_mm512_permutex2var_pd(yr, high, yr2);
}

INLINE void squeeze(talus_real *to, __mmask8 which, __m512d x) {
#if TALUS_SINGLE
  _mm256_storeu_ps(to, _mm256_maskz_compress_ps(which, _mm512_cvtpd_ps(x)));
#else
  _mm512_storeu_pd(to, _mm512_maskz_compress_pd(which, x));
#endif
}

INLINE void squeeze_u32(uint32_t *to, __mmask8 which, __m256i x) {
  _mm256_storeu_si256((__m256i *)(void *)to, _mm256_maskz_compress_epi32(which, x));
}

/* What lies beyond the first eight comes to the front. */
INLINE void shift_pack(tl_ball_pack *pack) {
  for (int i = 0; i < TL_BALL_PACK - W; i += W) {
    memcpy(pack->a + i, pack->a + i + W, W * sizeof *pack->a);
    memcpy(pack->b + i, pack->b + i + W, W * sizeof *pack->b);
    memcpy(pack->candidate + i, pack->candidate + i + W, W * sizeof *pack->candidate);
    store(pack->dx + i, load(pack->dx + i + W));
    store(pack->dy + i, load(pack->dy + i + W));
    store(pack->dz + i, load(pack->dz + i + W));
    store(pack->is_old + i, load(pack->is_old + i + W));
  }
}

/* Candidates c to c + 7 (those in `valid`) that overlap go into the pack. */
INLINE void look(tl_ball_list *list, uint32_t c, __mmask8 valid, tl_ball_pack *pack) {
  const __m256i a = _mm256_maskz_loadu_epi32(valid, list->owner.data + c);
  const __m256i b = _mm256_maskz_loadu_epi32(valid, list->other.data + c);
  const __m256i old = _mm256_maskz_loadu_epi32(valid, list->at.data + c);
  uint32_t rows_a[W], rows_b[W];
  memcpy(rows_a, &a, sizeof rows_a);
  memcpy(rows_b, &b, sizeof rows_b);
  for (int i = 0; i < W; ++i) {
    __builtin_prefetch(list->ball.data[rows_b[i]].v);
    __builtin_prefetch(list->ball.data[rows_b[i]].lead);
  }
  wide d[4];
  load_ways(list->place.data, rows_a, rows_b, d);
  const wide square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], most = d[3] * d[3];
  const __mmask8 touch = _mm512_mask_cmp_pd_mask(valid, (__m512d)square, (__m512d)most, _CMP_LT_OQ);
  const __m256i count_up = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const uint32_t n = pack->count;
  const __m256i effects =
      _mm256_add_epi32(_mm256_set1_epi32((int32_t)(pack->effect + n)), count_up);
  _mm256_mask_storeu_epi32(list->at.data + c, valid, _mm256_maskz_expand_epi32(touch, effects));
  squeeze_u32(pack->a + n, touch, a);
  squeeze_u32(pack->b + n, touch, b);
  squeeze_u32(pack->candidate + n, touch,
              _mm256_add_epi32(_mm256_set1_epi32((int32_t)c), count_up));
  squeeze(pack->dx + n, touch, (__m512d)d[0]);
  squeeze(pack->dy + n, touch, (__m512d)d[1]);
  squeeze(pack->dz + n, touch, (__m512d)d[2]);
  const __mmask8 is_old = _mm256_test_epi32_mask(old, old);
  squeeze(pack->is_old + n, touch, _mm512_maskz_mov_pd(is_old, _mm512_set1_pd(1)));
  pack->count += (uint32_t)__builtin_popcount(touch);
}

static void visit_first(const tl_ball_job *job, tl_ball_pack *pack) {
  const uint32_t more = pack->count > W ? pack->count - W : 0;
  pack->count -= more;
  visit(job, pack);
  shift_pack(pack);
  pack->effect += W;
  pack->count = more;
}

void tl_ball_push_block_avx512(const tl_ball_job *job, size_t block) {
  tl_ball_list *list = job->list;
  const size_t first = block * TL_BALL_BLOCK;
  const size_t last = first + TL_BALL_BLOCK < list->count ? first + TL_BALL_BLOCK : list->count;
  const uint32_t end = list->start.data[last];
  tl_ball_pack pack = {.effect = list->block_start.data[block]};
  for (uint32_t c = list->start.data[first]; c < end; c += W) {
    const uint32_t left = end - c;
    look(list, c, (__mmask8)(left < W ? (1u << left) - 1 : 0xffu), &pack);
    if (pack.count >= 2 * W)
      visit_first(job, &pack);
  }
  while (pack.count > 0) {
    tl_ball_fill_pack(&pack);
    visit_first(job, &pack);
  }
}

bool tl_ball_has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

#else

bool tl_ball_has_avx512(void) { return false; }

void tl_ball_push_block_avx512(const tl_ball_job *job, size_t block) { (void)job, (void)block; }

#endif
