/* Visits of packs of contacts between balls, W at a time: the arithmetic of kernels/penalty_visit.h
 * with vectors for numbers. Balls are loaded row by row and transposed in registers. No operation
 * is fused or reordered, so the bits are those of the scalar code (forces.c). Included by the files
 * that are compiled for an instruction set. */
#ifndef TL_STEP_BALLS_FORCES_LANES_H
#define TL_STEP_BALLS_FORCES_LANES_H

#include "base/simd.h"
#include "kernels/real.h"
#include "step/balls/look_lanes.h"

#undef TL_FN
#define TL_FN              INLINE
#define NUMBER             lanes
#define TRUTH              lane_mask
#define NUMBER_SQRT(x)     lanes_sqrt(x)
#define SELECT(test, a, b) lanes_select(test, a, b)
#define VISIT(name)        lanes_##name
#include "kernels/penalty_visit.h"

#define BALL_REALS (2 * TL_SIMD_GROUP)
_Static_assert(sizeof(tl_ball) == BALL_REALS * sizeof(talus_real), "a ball is two rows");
_Static_assert(sizeof(tl_ball_effect) == TL_SIMD_GROUP * sizeof(talus_real), "an effect is a row");
_Static_assert(sizeof(tl_ball_spring) == 4 * sizeof(talus_real), "a spring is half a row");

INLINE lanes_ball load_balls(const tl_ball_job *job, const uint32_t *index) {
  const tl_ball *balls = job->list->ball.data;
  const lanes zero = {0};
  lanes m[TL_SIMD_GROUP], n[TL_SIMD_GROUP];
  load_rows(balls, BALL_REALS, index, m);
  load_rows((const talus_real *)(const void *)balls + TL_SIMD_GROUP, BALL_REALS, index, n);
  const lane_mask moves = m[7] > zero; /* tl_ball_kick */
  const lanes half = lanes_select(moves, zero + job->half, zero), turn = half * n[7];
  const lanes_vec velocity_kick = {half * (job->gravity.x + m[7] * n[0]),
                                   half * (job->gravity.y + m[7] * n[1]),
                                   half * (job->gravity.z + m[7] * n[2])};
  const lanes_vec spin_kick = {turn * n[3], turn * n[4], turn * n[5]};
  const lanes_ball r = {{m[0] + velocity_kick.x, m[1] + velocity_kick.y, m[2] + velocity_kick.z},
                        {m[3] + spin_kick.x, m[4] + spin_kick.y, m[5] + spin_kick.z},
                        m[6],
                        m[7],
                        velocity_kick,
                        spin_kick,
                        n[6]};
  return r;
}

/* Law of the materials of the pairs; one for all if there is only one material. */
INLINE void load_law(const tl_ball_job *job, const tl_ball_pack *pack, uint32_t from,
                     lanes_contact *t) {
  const lanes zero = {0};
  t->normal = zero + job->laws->normal, t->tangent = zero + job->laws->tangent;
  t->damping = zero + job->laws->damping, t->friction = zero + job->laws->friction;
  t->cohesion = zero + job->laws->cohesion;
  t->tangent_damping = zero + job->laws->tangent_damping;
  if (job->materials == 1)
    return;
  const uint32_t *material = job->list->material.data;
  for (uint32_t i = 0; i < W; ++i) {
    const tl_spring_law *law =
        &job->laws[material[pack->a[from + i]] * job->materials + material[pack->b[from + i]]];
    t->normal[i] = law->normal, t->tangent[i] = law->tangent, t->damping[i] = law->damping;
    t->friction[i] = law->friction, t->cohesion[i] = law->cohesion;
    t->tangent_damping[i] = law->tangent_damping;
  }
}

/* ---- springs --------------------------------------------------------------------------------- */

#if LANES_8

#if TALUS_SINGLE
typedef __m128 half_row;
INLINE half_row low_half(lanes x) { return _mm256_castps256_ps128((__m256)x); }
INLINE half_row high_half(lanes x) { return _mm256_extractf128_ps((__m256)x, 1); }
#else
typedef __m256d half_row;
INLINE half_row low_half(lanes x) { return _mm512_castpd512_pd256((__m512d)x); }
INLINE half_row high_half(lanes x) { return _mm512_extractf64x4_pd((__m512d)x, 1); }
#endif

INLINE half_row load_half(const void *from) {
  half_row r;
  memcpy(&r, from, sizeof r);
  return r;
}

/* Turns eight rows of four numbers into four vectors: puts rows 0 to 3 beside rows 4 to 7, then
 * transposes squares of four. */
INLINE void transpose_halves(const half_row row[W], lanes to[4]) {
  lanes two[4];
  for (int i = 0; i < 4; ++i)
#if TALUS_SINGLE
    two[i] = (lanes)_mm256_insertf128_ps(_mm256_castps128_ps256(row[i]), row[i + 4], 1);
#else
    two[i] = (lanes)_mm512_insertf64x4(_mm512_castpd256_pd512(row[i]), row[i + 4], 1);
#endif
  const lanes a = SHUFFLE(two[0], two[1], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes b = SHUFFLE(two[0], two[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const lanes c = SHUFFLE(two[2], two[3], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes d = SHUFFLE(two[2], two[3], 1, 9, 3, 11, 5, 13, 7, 15);
  to[0] = SHUFFLE(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  to[1] = SHUFFLE(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  to[2] = SHUFFLE(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  to[3] = SHUFFLE(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}

/* Turns four vectors into eight rows, the inverse of transpose_halves. */
INLINE void transpose_back(const lanes from[4], half_row row[W]) {
  const lanes a = SHUFFLE(from[0], from[1], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes b = SHUFFLE(from[0], from[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const lanes c = SHUFFLE(from[2], from[3], 0, 8, 2, 10, 4, 12, 6, 14);
  const lanes d = SHUFFLE(from[2], from[3], 1, 9, 3, 11, 5, 13, 7, 15);
  const lanes two[4] = {
      SHUFFLE(a, c, 0, 1, 8, 9, 4, 5, 12, 13), SHUFFLE(b, d, 0, 1, 8, 9, 4, 5, 12, 13),
      SHUFFLE(a, c, 2, 3, 10, 11, 6, 7, 14, 15), SHUFFLE(b, d, 2, 3, 10, 11, 6, 7, 14, 15)};
  for (int i = 0; i < 4; ++i)
    row[i] = low_half(two[i]), row[i + 4] = high_half(two[i]);
}

/* Loads the slips and stiffnesses of W springs. */
INLINE void load_springs(const tl_ball_spring *springs, const uint32_t *index, lanes m[4]) {
  half_row row[W];
  for (int i = 0; i < W; ++i)
    row[i] = load_half(&springs[index[i]]);
  transpose_halves(row, m);
}

/* Stores the first `count` of them. */
INLINE void store_springs(tl_ball_spring *springs, const uint32_t *index, lanes m[4],
                          uint32_t count) {
  half_row row[W];
  transpose_back(m, row);
  for (uint32_t i = 0; i < W; ++i)
    if (i < count)
      memcpy(&springs[index[i]], &row[i], sizeof row[i]);
}

#else

INLINE void load_springs(const tl_ball_spring *springs, const uint32_t *index, lanes m[4]) {
  for (int k = 0; k < 4; k += W) {
    for (int i = 0; i < W; ++i)
      m[k + i] = load((const talus_real *)(const void *)&springs[index[i]] + k);
    transpose(m + k);
  }
}

INLINE void store_springs(tl_ball_spring *springs, const uint32_t *index, lanes m[4],
                          uint32_t count) {
  for (int k = 0; k < 4; k += W)
    transpose(m + k);
  for (uint32_t i = 0; i < W; ++i)
    if (i < count)
      for (uint32_t k = 0; k < 4; k += W)
        store((talus_real *)(void *)&springs[index[i]] + k, m[k + i]);
}

#endif

/* ---- contacts -------------------------------------------------------------------------------- */

INLINE void add_energies(tl_ball_sums *sums, const lanes_pushed *r, lane_mask counts) {
  const lanes zero = {0};
  add_to_tally(&sums->of[TL_BALL_ELASTIC], lanes_select(counts, r->elastic, zero));
  add_to_tally(&sums->of[TL_BALL_STORED], lanes_select(counts, r->stored, zero));
  add_to_tally(&sums->of[TL_BALL_DAMPING], lanes_select(counts, r->damping, zero));
  add_to_tally(&sums->of[TL_BALL_FRICTION], lanes_select(counts, r->friction, zero));
}

/* Geometry of W pairs of balls (the result of lanes_balls), in memory. A contact is computed in two
 * halves, each for a few vectors in turn: meanwhile the springs that the second half needs arrive
 * from memory, and chains of roots and quotients are shorter. This saves 5 % of a step, nothing if
 * all data are in the cache. */
#define FEW 4
typedef struct meeting {
  lanes_vec n, velocity, drift;
  lanes overlap, mass, radius, twirl;
  lanes smaller; /* m: the smaller of the two radii */
} meeting;

INLINE void meet(const tl_ball_job *job, const tl_ball_pack *pack, uint32_t from, meeting *to) {
  const lanes_ball a = load_balls(job, pack->a + from);
  const lanes_ball b = load_balls(job, pack->b + from);
  const lanes_vec d = {load(pack->dx + from), load(pack->dy + from), load(pack->dz + from)};
  lanes_contact t;
  lanes_balls(&a, &b, d, &t);
  for (uint32_t i = 0; i < W; ++i)
    __builtin_prefetch(&job->list->spring.data[pack->candidate[from + i]]);
  to->n = t.n, to->velocity = t.velocity, to->drift = t.drift;
  to->overlap = t.overlap, to->mass = t.mass, to->radius = t.radius, to->twirl = t.twirl;
  to->smaller = lanes_select(a.radius < b.radius, a.radius, b.radius);
}

/* Updates the records. A record is rare, one in about a million contacts. Lanes beyond the count
 * repeat other contacts. */
static __attribute__((noinline)) void note_overlaps(tl_ball_sums *sums, const meeting *met) {
  for (int i = 0; i < W; ++i)
    tl_ball_note_overlap(sums, met->overlap[i], met->smaller[i]);
}

INLINE void look_for_records(tl_ball_sums *sums, const meeting *met) {
  const lanes zero = {0}, nearly = zero + TL_BALL_NEARLY * (talus_real)sums->share;
  const lane_mask record =
      (met->overlap > zero + sums->deepest) | (met->overlap > nearly * met->smaller);
  if (__builtin_expect(lanes_mask(record) != 0, 0))
    note_overlaps(sums, met);
}

static const talus_real lane_number[TL_SIMD_GROUP] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Computes W contacts of the pack, or its last `count`. */
INLINE void press(const tl_ball_job *job, const tl_ball_pack *pack, uint32_t from, uint32_t count,
                  const meeting *met, tl_ball_sums *sums) {
  tl_ball_list *list = job->list;
  const lanes zero = {0}, one = zero + 1, half = zero + TL_R(0.5);
  const uint32_t *candidate = pack->candidate + from;
  lanes_contact t; /* member by member: assigning the whole struct would go through memory */
  load_law(job, pack, from, &t);
  t.n = met->n, t.velocity = met->velocity, t.drift = met->drift;
  t.overlap = met->overlap, t.mass = met->mass, t.radius = met->radius, t.twirl = met->twirl;
  lanes m[4];
  load_springs(list->spring.data, candidate, m);
  const lane_mask is_old = load(pack->is_old + from) > zero;
  lanes_vec slip = {lanes_select(is_old, m[0], zero), lanes_select(is_old, m[1], zero),
                    lanes_select(is_old, m[2], zero)};
  const lanes old = lanes_select(is_old, m[3], zero);
  const lanes_pushed r = job->is_hertz ? lanes_push(&t, 1, zero + job->h, old, &slip)
                                       : lanes_push(&t, 0, zero + job->h, old, &slip);
  const lanes_vec turn = lanes_cross(t.n, r.force);
  m[0] = slip.x, m[1] = slip.y, m[2] = slip.z, m[3] = r.tangent_stiffness;
  store_springs(list->spring.data, candidate, m, count);
  lanes e[] = {r.force.x, r.force.y, r.force.z,        turn.x,
               turn.y,    turn.z,    half * t.overlap, lanes_select(r.slides, one, zero)};
  uint32_t at[W];
  for (uint32_t i = 0; i < W; ++i)
    at[i] = pack->effect + from + i;
  store_rows(list->effect.data, TL_SIMD_GROUP, at, e, count < W ? (1u << count) - 1 : ALL_LANES);
  add_energies(sums, &r, load(lane_number) < zero + (talus_real)count);
  look_for_records(sums, met);
}

/* Computes the contacts of the pack from `from` to `end`; whole vectors only. */
static void visit(const tl_ball_job *job, const tl_ball_pack *pack, uint32_t from, uint32_t end,
                  tl_ball_sums *sums) {
  meeting met[FEW];
  const uint32_t vectors = (end - from + W - 1) / W;
  for (uint32_t i = 0; i < vectors; ++i)
    meet(job, pack, from + i * W, &met[i]);
  for (uint32_t i = 0; i < vectors; ++i) {
    const uint32_t first = from + i * W;
    press(job, pack, first, end - first < W ? end - first : W, &met[i], sums);
  }
}

/* Computes whole vectors of the pack; the rest moves to its front. */
static void visit_whole(const tl_ball_job *job, tl_ball_pack *pack, tl_ball_sums *sums) {
  const uint32_t whole = pack->count / W * W;
  if (whole == 0)
    return;
  for (uint32_t from = 0; from < whole; from += FEW * W)
    visit(job, pack, from, from + FEW * W < whole ? from + FEW * W : whole, sums);
  memcpy(pack->a, pack->a + whole, W * sizeof *pack->a);
  memcpy(pack->b, pack->b + whole, W * sizeof *pack->b);
  memcpy(pack->candidate, pack->candidate + whole, W * sizeof *pack->candidate);
  store(pack->dx, load(pack->dx + whole));
  store(pack->dy, load(pack->dy + whole));
  store(pack->dz, load(pack->dz + whole));
  store(pack->is_old, load(pack->is_old + whole));
  pack->effect += whole;
  pack->count -= whole;
}

static void visit_remaining(const tl_ball_job *job, tl_ball_pack *pack, tl_ball_sums *sums) {
  for (uint32_t i = pack->count; i < W; ++i) {
    pack->a[i] = pack->a[0], pack->b[i] = pack->b[0];
    pack->candidate[i] = pack->candidate[0];
    pack->dx[i] = pack->dx[0], pack->dy[i] = pack->dy[0], pack->dz[i] = pack->dz[0];
    pack->is_old[i] = pack->is_old[0];
  }
  visit(job, pack, 0, pack->count, sums);
}

/* Candidates between prefetching positions and using them. */
#define AHEAD 16

INLINE void push_lanes(const tl_ball_job *job, size_t block, tl_ball_sums *sums) {
  tl_ball_list *list = job->list;
  const size_t begin = block * TL_BALL_BLOCK;
  const size_t last = begin + TL_BALL_BLOCK < list->count ? begin + TL_BALL_BLOCK : list->count;
  const uint32_t end = list->start.data[last];
  tl_ball_pack pack;
  pack.effect = list->block_start.data[block];
  pack.count = 0;
  for (uint32_t c = list->start.data[begin]; c < end; c += LOOK) {
    const uint32_t left = end - c;
    if (left >= AHEAD + LOOK)
      for (uint32_t i = 0; i < LOOK; ++i)
        __builtin_prefetch(&list->place.data[list->other.data[c + AHEAD + i]]);
    look(list, c, left < LOOK ? left : LOOK, &pack);
    if (pack.count > TL_BALL_PACK - 2 * TL_BALL_LANES)
      visit_whole(job, &pack, sums);
  }
  visit_whole(job, &pack, sums);
  if (pack.count > 0)
    visit_remaining(job, &pack, sums);
  sums->contacts += pack.effect + pack.count - list->block_start.data[block];
}

#endif
