/* Visits of packs of contacts between balls, W at a time: the arithmetic of kernels/penalty_visit.h
 * with a vector as the number. Candidates are looked at one by one. No operation is fused or
 * reordered, so the bits are those of the scalar code (forces.c). For the files that are compiled
 * for AVX2 and for what every processor has; forces_avx512.c does the same by hand, with
 * candidates by eights. */
#ifndef TL_STEP_BALLS_FORCES_LANES_H
#define TL_STEP_BALLS_FORCES_LANES_H

#include "base/simd.h"
#include "kernels/real.h"
#include "step/balls/forces.h"

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

/* What the pair's materials give; the same for all where there is one material. */
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

/* Slips of W springs and their stiffness. */
INLINE void load_springs(const tl_ball_spring *springs, const uint32_t *index, lanes m[4]) {
#if LANES_8
  talus_real each[4][W];
  for (int i = 0; i < W; ++i) {
    const tl_ball_spring *s = &springs[index[i]];
    each[0][i] = s->slip[0], each[1][i] = s->slip[1], each[2][i] = s->slip[2];
    each[3][i] = s->stiffness;
  }
  for (int k = 0; k < 4; ++k)
    m[k] = load(each[k]);
#else
  for (int k = 0; k < 4; k += W) {
    for (int i = 0; i < W; ++i)
      m[k + i] = load((const talus_real *)(const void *)&springs[index[i]] + k);
    transpose(m + k);
  }
#endif
}

/* Of the first `count`. */
INLINE void store_springs(tl_ball_spring *springs, const uint32_t *index, lanes m[4],
                          uint32_t count) {
#if LANES_8
  for (uint32_t i = 0; i < W; ++i)
    if (i < count)
      springs[index[i]] = (tl_ball_spring){{m[0][i], m[1][i], m[2][i]}, m[3][i]};
#else
  for (int k = 0; k < 4; k += W)
    transpose(m + k);
  for (uint32_t i = 0; i < W; ++i)
    if (i < count)
      for (uint32_t k = 0; k < 4; k += W)
        store((talus_real *)(void *)&springs[index[i]] + k, m[k + i]);
#endif
}

INLINE void add_energies(tl_ball_sums *sums, const lanes_pushed *r, lane_mask counts) {
  const lanes zero = {0};
  add_to_tally(&sums->of[TL_BALL_ELASTIC], lanes_select(counts, r->elastic, zero));
  add_to_tally(&sums->of[TL_BALL_STORED], lanes_select(counts, r->stored, zero));
  add_to_tally(&sums->of[TL_BALL_DAMPING], lanes_select(counts, r->damping, zero));
  add_to_tally(&sums->of[TL_BALL_FRICTION], lanes_select(counts, r->friction, zero));
}

/* Records are few: one in a million contacts or so. Lanes beyond the count repeat others. */
static __attribute__((noinline)) void note_overlaps(tl_ball_sums *sums, const lanes *overlap,
                                                    const lanes *radius) {
  for (int i = 0; i < W; ++i)
    tl_ball_note_overlap(sums, (*overlap)[i], (*radius)[i]);
}

INLINE void look_for_records(tl_ball_sums *sums, lanes overlap, lanes radius) {
  const lanes zero = {0}, nearly = zero + TL_BALL_NEARLY * (talus_real)sums->share;
  const lane_mask record = (overlap > zero + sums->deepest) | (overlap > nearly * radius);
  if (__builtin_expect(lanes_mask(record) != 0, 0)) {
    const lanes deep = overlap, size = radius; /* those in use need not go through memory */
    note_overlaps(sums, &deep, &size);
  }
}

static const talus_real first[TL_SIMD_GROUP] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Forces of W contacts of the pack, or of its last `count`. */
INLINE void press(const tl_ball_job *job, const tl_ball_pack *pack, uint32_t from, uint32_t count,
                  tl_ball_sums *sums) {
  tl_ball_list *list = job->list;
  const lanes zero = {0}, one = zero + 1, half = zero + TL_R(0.5);
  const uint32_t *candidate = pack->candidate + from;
  const lanes_ball a = load_balls(job, pack->a + from), b = load_balls(job, pack->b + from);
  const lanes_vec d = {load(pack->dx + from), load(pack->dy + from), load(pack->dz + from)};
  lanes_contact t;
  load_law(job, pack, from, &t);
  lanes_balls(&a, &b, d, &t);
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
  lanes e[TL_SIMD_GROUP] = {
      r.force.x, r.force.y, r.force.z,        turn.x,
      turn.y,    turn.z,    half * t.overlap, lanes_select(r.slides, one, zero)};
  uint32_t at[W];
  for (uint32_t i = 0; i < W; ++i)
    at[i] = pack->effect + from + i;
  store_rows(list->effect.data, TL_SIMD_GROUP, at, e, count < W ? (1u << count) - 1 : ALL_LANES);
  add_energies(sums, &r, load(first) < zero + (talus_real)count);
  look_for_records(sums, t.overlap, lanes_select(a.radius < b.radius, a.radius, b.radius));
}

/* Whole vectors of the pack; what is left comes to the front. */
static void visit_whole(const tl_ball_job *job, tl_ball_pack *pack, tl_ball_sums *sums) {
  const uint32_t whole = pack->count / W * W, rest = pack->count - whole;
  for (uint32_t from = 0; from < whole; from += W)
    press(job, pack, from, W, sums);
  for (uint32_t i = 0; i < rest && whole > 0; ++i) {
    pack->a[i] = pack->a[whole + i], pack->b[i] = pack->b[whole + i];
    pack->candidate[i] = pack->candidate[whole + i];
    pack->dx[i] = pack->dx[whole + i], pack->dy[i] = pack->dy[whole + i];
    pack->dz[i] = pack->dz[whole + i], pack->is_old[i] = pack->is_old[whole + i];
  }
  pack->effect += whole;
  pack->count = rest;
}

static void visit_remaining(const tl_ball_job *job, tl_ball_pack *pack, tl_ball_sums *sums) {
  for (uint32_t i = pack->count; i < W; ++i) {
    pack->a[i] = pack->a[0], pack->b[i] = pack->b[0];
    pack->candidate[i] = pack->candidate[0];
    pack->dx[i] = pack->dx[0], pack->dy[i] = pack->dy[0], pack->dz[i] = pack->dz[0];
    pack->is_old[i] = pack->is_old[0];
  }
  press(job, pack, 0, pack->count, sums);
}

/* A candidate that overlaps goes into the pack. No branch on that: half of them would be guessed
 * wrong. */
INLINE void look(tl_ball_list *list, uint32_t c, tl_ball_pack *pack) {
  const uint32_t owner = list->owner.data[c], other = list->other.data[c], n = pack->count;
  const tl_ball_place *a = &list->place.data[owner], *b = &list->place.data[other];
  const double dx = b->x - a->x, dy = b->y - a->y, dz = b->z - a->z, sum = a->radius + b->radius;
  const double square = dx * dx + dy * dy + dz * dz;
  const bool touch = square < sum * sum;
  pack->a[n] = owner, pack->b[n] = other, pack->candidate[n] = c;
  pack->dx[n] = (talus_real)dx, pack->dy[n] = (talus_real)dy, pack->dz[n] = (talus_real)dz;
  pack->is_old[n] = list->at.data[c] != 0 ? TL_R(1) : TL_R(0);
  list->at.data[c] = touch ? pack->effect + n : 0;
  pack->count += touch;
  if (__builtin_expect(square < TL_BALL_SAME_PLACE, 0)) {
    pack->dx[n] = pack->dy[n] = 0;
    pack->dz[n] = tl_ball_tiny_way(list, owner, other);
  }
}

/* Candidates from which on places are asked for. */
#define AHEAD 16

INLINE void push_lanes(const tl_ball_job *job, size_t block, tl_ball_sums *sums) {
  tl_ball_list *list = job->list;
  const size_t begin = block * TL_BALL_BLOCK;
  const size_t last = begin + TL_BALL_BLOCK < list->count ? begin + TL_BALL_BLOCK : list->count;
  const uint32_t end = list->start.data[last];
  tl_ball_pack pack;
  pack.effect = list->block_start.data[block];
  pack.count = 0;
  for (uint32_t c = list->start.data[begin]; c < end; ++c) {
    if (end - c > AHEAD)
      __builtin_prefetch(&list->place.data[list->other.data[c + AHEAD]]);
    look(list, c, &pack);
    if (pack.count > TL_BALL_PACK - W)
      visit_whole(job, &pack, sums);
  }
  visit_whole(job, &pack, sums);
  if (pack.count > 0)
    visit_remaining(job, &pack, sums);
  sums->contacts += pack.effect + pack.count - list->block_start.data[block];
}

#endif
