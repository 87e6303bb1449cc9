/* Visits of packs of contacts between balls, with AVX-512: the arithmetic of
 * kernels/penalty_visit.h with a vector of eight as the number. Balls are loaded row by row and
 * transposed in registers. No operation is fused or reordered, so the bits are those of the scalar
 * code. This file alone is compiled for AVX-512; it runs only where the processor has it. */
#include "solve/penalty_list.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include <immintrin.h>

#define W TL_BALL_LANES

typedef talus_real lanes __attribute__((vector_size(W * sizeof(talus_real))));
#if TALUS_SINGLE
typedef int32_t lane_mask __attribute__((vector_size(W * sizeof(int32_t))));
#else
typedef int64_t lane_mask __attribute__((vector_size(W * sizeof(int64_t))));
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE lanes lanes_sqrt(lanes x) {
#if TALUS_SINGLE
  return (lanes)_mm256_sqrt_ps((__m256)x);
#else
  return (lanes)_mm512_sqrt_pd((__m512d)x);
#endif
}

INLINE lanes lanes_select(lane_mask test, lanes a, lanes b) {
  return (lanes)((test & (lane_mask)a) | (~test & (lane_mask)b));
}

#undef TL_FN
#define TL_FN              INLINE
#define NUMBER             lanes
#define TRUTH              lane_mask
#define NUMBER_SQRT(x)     lanes_sqrt(x)
#define SELECT(test, a, b) lanes_select(test, a, b)
#define VISIT(name)        lanes_##name
#include "kernels/penalty_visit.h"

#if defined(__clang__)
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define SHUFFLE(x, y, ...) __builtin_shuffle(x, y, (lane_mask){__VA_ARGS__})
#endif

/* Transposes an 8 x 8 matrix of rows: three rounds of exchanging ever larger squares. */
INLINE void transpose(lanes m[W]) {
  for (int i = 0; i < W; i += 2) {
    const lanes x = m[i], y = m[i + 1];
    m[i] = SHUFFLE(x, y, 0, 8, 2, 10, 4, 12, 6, 14);
    m[i + 1] = SHUFFLE(x, y, 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < W; i += 4)
    for (int k = i; k < i + 2; ++k) {
      const lanes x = m[k], y = m[k + 2];
      m[k] = SHUFFLE(x, y, 0, 1, 8, 9, 4, 5, 12, 13);
      m[k + 2] = SHUFFLE(x, y, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int k = 0; k < 4; ++k) {
    const lanes x = m[k], y = m[k + 4];
    m[k] = SHUFFLE(x, y, 0, 1, 2, 3, 8, 9, 10, 11);
    m[k + 4] = SHUFFLE(x, y, 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

INLINE lanes load(const talus_real *from) {
  lanes r;
  memcpy(&r, from, sizeof r);
  return r;
}

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
    return;
  }
  const tl_ball *balls = job->list->ball.data;
  for (int i = 0; i < W; ++i) {
    const tl_spring_law *law = &job->laws[(size_t)balls[pack->a[i]].material * job->materials +
                                          (size_t)balls[pack->b[i]].material];
    t->normal[i] = law->normal, t->tangent[i] = law->tangent, t->damping[i] = law->damping;
    t->friction[i] = law->friction, t->cohesion[i] = law->cohesion;
  }
}

void tl_ball_visit_avx512(const tl_ball_job *job, const tl_ball_pack *pack) {
  tl_ball_list *list = job->list;
  const lanes zero = {0}, one = zero + 1, half = zero + TL_R(0.5);
  const lanes_ball a = load_balls(list->ball.data, pack->a);
  const lanes_ball b = load_balls(list->ball.data, pack->b);
  lanes_touch t;
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

  lanes s[W] = {slip.x, slip.y, slip.z, r.tangent_stiffness, zero, zero, zero, zero};
  lanes e[W] = {r.force.x, r.force.y, r.force.z,        turn.x,
                turn.y,    turn.z,    half * t.overlap, lanes_select(r.slides, one, zero)};
  transpose(s);
  transpose(e);
  const uint32_t at = pack->effect, count = pack->count;
  for (uint32_t i = 0; i < W && i < count; ++i) {
    memcpy(&list->spring.data[pack->candidate[i]], &s[i], sizeof(tl_ball_spring));
    memcpy(&list->effect.data[at + i], &e[i], sizeof e[i]);
  }
  /* Blocks of effects are whole packs: lanes beyond the count are nobody else's. */
  memcpy(&list->energy[TL_BALL_ELASTIC].data[at], &r.elastic, sizeof r.elastic);
  memcpy(&list->energy[TL_BALL_STORED].data[at], &r.stored, sizeof r.stored);
  memcpy(&list->energy[TL_BALL_DAMPING].data[at], &r.damping, sizeof r.damping);
  memcpy(&list->energy[TL_BALL_FRICTION].data[at], &r.friction, sizeof r.friction);
}

bool tl_ball_has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

#else

bool tl_ball_has_avx512(void) { return false; }

void tl_ball_visit_avx512(const tl_ball_job *job, const tl_ball_pack *pack) {
  tl_ball_visit_scalar(job, pack);
}

#endif
