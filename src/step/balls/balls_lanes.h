/* Kicks, drifts and sums of W balls at a time: operation by operation the arithmetic of
 * step/balls/balls.c, so the bits are the same. Included by the files that are compiled for an
 * instruction set. External forces, and domains with `stop`, are left to the scalar code. */
#ifndef TL_STEP_BALLS_BALLS_LANES_H
#define TL_STEP_BALLS_BALLS_LANES_H

#include "base/simd.h"
#include "kernels/quat.h"
#include "kernels/real.h"
#include "step/balls/balls.h"

#define BALL_REALS (2 * TL_SIMD_GROUP)
_Static_assert(sizeof(tl_ball) == BALL_REALS * sizeof(talus_real), "a ball is two rows");
_Static_assert(sizeof(tl_ball_effect) == TL_SIMD_GROUP * sizeof(talus_real), "an effect is a row");
_Static_assert(TL_BALL_LANES == TL_SIMD_GROUP, "balls lie in groups of lanes");

typedef struct vec {
  lanes x, y, z;
} vec;

INLINE vec add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }

INLINE vec times(vec a, lanes s) { return (vec){a.x * s, a.y * s, a.z * s}; }

INLINE lanes dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

INLINE wide dot_wide(vec a, vec b, int part) {
  return widen(a.x, part) * widen(b.x, part) + widen(a.y, part) * widen(b.y, part) +
         widen(a.z, part) * widen(b.z, part);
}

INLINE vec select_vec(lane_mask test, vec a, vec b) {
  return (vec){lanes_select(test, a.x, b.x), lanes_select(test, a.y, b.y),
               lanes_select(test, a.z, b.z)};
}

typedef struct kick {
  vec velocity, spin;
} kick;

/* W balls in the layout of contacts: v, w, radius, 1/m, and force, torque, curvature, 1/inertia. */
typedef struct some_balls {
  lanes m[TL_SIMD_GROUP], n[TL_SIMD_GROUP];
} some_balls;

static const uint32_t in_turn[TL_SIMD_GROUP] = {0, 1, 2, 3, 4, 5, 6, 7};

INLINE talus_real *second_row(tl_ball *balls) {
  return (talus_real *)(void *)balls + TL_SIMD_GROUP;
}

INLINE void load_some(tl_ball *balls, some_balls *to) {
  load_rows(balls, BALL_REALS, in_turn, to->m);
  load_rows(second_row(balls), BALL_REALS, in_turn, to->n);
}

/* tl_ball_kick for W balls. */
INLINE kick find_kick(const tl_ball_step *job, const some_balls *of, vec spring_force,
                      vec spring_torque) {
  const lanes zero = {0}, inv_mass = of->m[7];
  const lanes half = lanes_select(inv_mass > zero, zero + job->forces.half, zero);
  const talus_vec3 g = job->forces.gravity;
  const vec rate = {g.x + inv_mass * spring_force.x, g.y + inv_mass * spring_force.y,
                    g.z + inv_mass * spring_force.z};
  return (kick){times(rate, half), times(spring_torque, half * of->n[7])};
}

/* Adds the work of half a step's kick on balls that move; v and w are twice the mean. */
INLINE void add_work(tl_tally *tally, double dt, vec spring_force, vec spring_torque, vec v, vec w,
                     lanes inv_mass, int part) {
  const wide work =
      0.25 * dt * (dot_wide(spring_force, v, part) + dot_wide(spring_torque, w, part));
  const wide zero = {0};
  const wide_mask moves = widen(inv_mass, part) > zero;
  add_wide(tally, (wide)(moves & (wide_mask)work), part * WIDE);
}

/* ---- kick and drift -------------------------------------------------------------------------- */

/* Positions of WIDE balls. */
typedef struct places {
  wide x[3];
} places;

/* Transposes rows of four numbers. */
INLINE places load_places(const tl_ball_place *from) {
  places to;
#if TL_SIMD_AVX512
  __m512d two[4];
  for (int i = 0; i < 4; ++i)
    two[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(&from[i].x)),
                                _mm256_loadu_pd(&from[i + 4].x), 1);
  const __m512i low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
  const __m512i high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
  const __m512d xz = _mm512_unpacklo_pd(two[0], two[1]), xz2 = _mm512_unpacklo_pd(two[2], two[3]);
  to.x[0] = (wide)_mm512_permutex2var_pd(xz, low, xz2);
  to.x[1] = (wide)_mm512_permutex2var_pd(_mm512_unpackhi_pd(two[0], two[1]), low,
                                         _mm512_unpackhi_pd(two[2], two[3]));
  to.x[2] = (wide)_mm512_permutex2var_pd(xz, high, xz2);
#else
  double each[3][WIDE];
  for (int i = 0; i < WIDE; ++i)
    each[0][i] = from[i].x, each[1][i] = from[i].y, each[2][i] = from[i].z;
  for (int i = 0; i < 3; ++i)
    to.x[i] = load_wide(each[i]);
#endif
  return to;
}

/* Transposes back and stores; radii are unchanged. */
INLINE void store_places(tl_ball_place *to, wide x, wide y, wide z) {
#if TL_SIMD_AVX512
  const wide none = {0};
  const __m512d xy = _mm512_unpacklo_pd((__m512d)x, (__m512d)y),
                xy2 = _mm512_unpackhi_pd((__m512d)x, (__m512d)y);
  const __m512d zr = _mm512_unpacklo_pd((__m512d)z, (__m512d)none),
                zr2 = _mm512_unpackhi_pd((__m512d)z, (__m512d)none);
  const __m512i low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
  const __m512i high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
  const __m512d row[4] = {
      _mm512_permutex2var_pd(xy, low, zr), _mm512_permutex2var_pd(xy2, low, zr2),
      _mm512_permutex2var_pd(xy, high, zr), _mm512_permutex2var_pd(xy2, high, zr2)};
  for (int i = 0; i < 4; ++i) { /* m[i] has a ball of an even pair and the ball two further on */
    const int first = i / 2 * 4 + i % 2;
    _mm256_mask_storeu_pd(&to[first].x, 7, _mm512_castpd512_pd256(row[i]));
    _mm256_mask_storeu_pd(&to[first + 2].x, 7, _mm512_extractf64x4_pd(row[i], 1));
  }
#else
  for (int i = 0; i < WIDE; ++i)
    to[i].x = x[i], to[i].y = y[i], to[i].z = z[i];
#endif
}

/* Moves W balls, beginning at `rank`; false if one left its place since the list was made. rank % 8
 * is the first of W in a group of eight. */
INLINE bool drift(const tl_ball_step *job, size_t rank, const places *from, vec v, int part) {
  const tl_ball_list *list = job->list;
  const tl_ball_kept *kept = &list->kept.data[rank / TL_SIMD_GROUP];
  const size_t at = rank % TL_SIMD_GROUP + (size_t)(part * WIDE);
  const double dt = job->crowd->dt;
  const wide x = from->x[0] + dt * widen(v.x, part), y = from->x[1] + dt * widen(v.y, part),
             z = from->x[2] + dt * widen(v.z, part);
  const wide dx = x - load_wide(kept->from[0] + at), dy = y - load_wide(kept->from[1] + at),
             dz = z - load_wide(kept->from[2] + at);
  const wide way = dx * dx + dy * dy + dz * dz;
  store_places(&list->place.data[rank + (size_t)(part * WIDE)], x, y, z);
  return wide_bits(way <= load_wide(kept->limit + at)) == ALL_WIDE;
}

/* Kicks W balls and moves them from x to where contacts are found next; false if one leaves its
 * place in the list or spins absurdly fast. v and w are velocities before the kick. */
INLINE bool move_on(const tl_ball_step *job, size_t rank, const places x[WIDES], vec v0, vec w0,
                    const kick *k, vec spring_force, vec spring_torque, lanes inv_mass,
                    tl_ball_sums *sums) {
  const lanes zero = {0};
  const vec none = {zero, zero, zero};
  const vec v = select_vec(inv_mass > zero, add(v0, k->velocity), none);
  const vec w = select_vec(inv_mass > zero, add(w0, k->spin), none);
  bool stays = lanes_mask(dot(w, w) <= zero + job->most_spin2) == ALL_LANES;
  for (int part = 0; part < WIDES; ++part) {
    stays &= drift(job, rank, &x[part], v, part);
    add_work(&sums->of[TL_BALL_FIRST_WORK], job->crowd->dt, spring_force, spring_torque, add(v0, v),
             add(w0, w), inv_mass, part);
  }
  return stays;
}

INLINE bool start_some(const tl_ball_step *job, size_t rank, tl_ball_sums *sums) {
  const tl_ball_rows *rows = &job->list->rows.data[rank / TL_SIMD_GROUP];
  some_balls b;
  load_some(&job->list->ball.data[rank], &b);
  const vec v = {b.m[0], b.m[1], b.m[2]}, w = {b.m[3], b.m[4], b.m[5]};
  const vec spring_force = {b.n[0], b.n[1], b.n[2]}, spring_torque = {b.n[3], b.n[4], b.n[5]};
  const kick k = find_kick(job, &b, spring_force, spring_torque);
  places x[WIDES];
  for (int part = 0; part < WIDES; ++part)
    for (int i = 0; i < 3; ++i)
      x[part].x[i] = load_wide(rows->x[i] + rank % TL_SIMD_GROUP + (size_t)(part * WIDE));
  return move_on(job, rank, x, v, w, &k, spring_force, spring_torque, b.m[7], sums);
}

static bool start_eight(const tl_ball_step *job, size_t eight, tl_ball_sums *sums) {
  bool stays = true;
  for (size_t i = 0; i < TL_SIMD_GROUP; i += W)
    stays &= start_some(job, eight * TL_SIMD_GROUP + i, sums);
  return stays;
}

/* ---- sums and the last kick ------------------------------------------------------------------ */

/* Factors of the numbers of an effect, for the ball that owns the candidate and for the other
 * one. */
static const talus_real signs[2][TL_SIMD_GROUP] = {{-1, -1, -1, 1, 1, 1, 0, 0},
                                                   {1, 1, 1, 1, 1, 1, 0, 0}};
static const lane_int turns[TL_SIMD_GROUP] = {0, 0, 0, -1, -1, -1, 0, 0};
#define SUMS 6 /* numbers of an effect that are summed */

/* Adds an effect times its sign (force) or arm (torque) to the sums. There is no branch on which
 * ball owns the candidate: half of its predictions would be wrong. */
INLINE void add_effect(lanes sum[TL_SIMD_GROUP / W], const tl_ball_effect *effect, uint32_t entry,
                       lanes radius) {
#if LANES_8
  const lanes whole = load(effect->force);
  const lanes arm = radius - SHUFFLE(whole, whole, 6, 6, 6, 6, 6, 6, 6, 6);
#else
  const lanes arm = radius - effect->half_overlap;
#endif
  for (int k = 0; k < SUMS; k += W) {
    const lanes e = load((const talus_real *)(const void *)effect + k);
    lane_mask turn;
    memcpy(&turn, turns + k, sizeof turn);
    sum[k / W] += lanes_select(turn, arm, load(signs[entry % 2] + k)) * e;
  }
}

/* Forces and torques of one ball: force in the first three numbers, torque in the next three. */
INLINE void add_contacts(const tl_ball_list *list, size_t rank, lanes sum[TL_SIMD_GROUP / W]) {
  const lanes zero = {0}, radius = zero + list->ball.data[rank].radius;
  const uint32_t *at = list->at.data, *entry = list->entry.data;
  const tl_ball_effect *effects = list->effect.data;
  const uint32_t end = list->entry_start.data[rank + 1];
  for (int k = 0; k < TL_SIMD_GROUP / W; ++k)
    sum[k] = zero;
  for (uint32_t k = list->entry_start.data[rank]; k < end; k += TL_BALL_FOUR)
    for (uint32_t i = 0; i < TL_BALL_FOUR; ++i)
      add_effect(sum, &effects[at[entry[k + i] / 2]], entry[k + i], radius);
}

/* Those of W balls, transposed. */
INLINE void add_all_contacts(const tl_ball_list *list, size_t rank, lanes m[TL_SIMD_GROUP]) {
  for (int i = 0; i < W; ++i) {
    lanes sum[TL_SIMD_GROUP / W];
    add_contacts(list, rank + (size_t)i, sum);
    for (int k = 0; k < TL_SIMD_GROUP / W; ++k)
      m[k * W + i] = sum[k];
  }
  for (int k = 0; k < TL_SIMD_GROUP; k += W)
    transpose(m + k);
}

INLINE void find_turn(lanes square, lanes *c, lanes *s) {
  const lanes zero = {0};
  *c = 1 + square * (TL_R(-1.0 / 8) +
                     square * (TL_R(1.0 / 384) +
                               square * (TL_R(-1.0 / 46080) + square * TL_R(1.0 / 10321920))));
  *s = TL_R(0.5) +
       square * (TL_R(-1.0 / 48) +
                 square * (TL_R(1.0 / 3840) +
                           square * (TL_R(-1.0 / 645120) + square * TL_R(1.0 / 185794560))));
  const unsigned small = lanes_mask(square < zero + TL_R(0.04));
  for (int i = 0; __builtin_expect(small != ALL_LANES, 0) && i < W; ++i)
    if (!(small >> i & 1)) {
      talus_real ci, si;
      tl_half_angle(square[i], &ci, &si);
      (*c)[i] = ci, (*s)[i] = si;
    }
}

/* tl_quat_renormalize(tl_quat_mul(turn, q)), turn by the rotation vector r, of the lanes from `at`
 * on. */
INLINE void turn_by(tl_ball_rows *rows, size_t at, vec r, lane_mask moves) {
  lanes aw, s;
  find_turn(r.x * r.x + r.y * r.y + r.z * r.z, &aw, &s);
  const lanes ax = s * r.x, ay = s * r.y, az = s * r.z;
  const lanes bw = load(rows->q[0] + at), bx = load(rows->q[1] + at), by = load(rows->q[2] + at),
              bz = load(rows->q[3] + at);
  const lanes qw = aw * bw - ax * bx - ay * by - az * bz,
              qx = aw * bx + ax * bw + ay * bz - az * by,
              qy = aw * by - ax * bz + ay * bw + az * bx,
              qz = aw * bz + ax * by - ay * bx + az * bw;
  const lanes k = TL_R(0.5) * ((((1 - qw * qw) - qx * qx) - qy * qy) - qz * qz);
  store(rows->q[0] + at, lanes_select(moves, qw + k * qw, bw));
  store(rows->q[1] + at, lanes_select(moves, qx + k * qx, bx));
  store(rows->q[2] + at, lanes_select(moves, qy + k * qy, by));
  store(rows->q[3] + at, lanes_select(moves, qz + k * qz, bz));
}

/* Forces of walls where there are any. */
INLINE void add_walls(const tl_ball_step *job, size_t first, vec *force, vec *spring_torque) {
  const tl_ball_list *list = job->list;
  const uint8_t *has_wall = &list->has_wall.data[first];
  static const uint8_t none[W] = {0};
  if (memcmp(has_wall, none, W) == 0)
    return;
  for (int i = 0; i < W; ++i)
    if (has_wall[i]) {
      const talus_vec3 spring_force = job->spring_force[list->slot.data[first + (size_t)i]];
      const talus_vec3 turn = job->spring_torque[list->slot.data[first + (size_t)i]];
      force->x[i] += spring_force.x, force->y[i] += spring_force.y, force->z[i] += spring_force.z;
      spring_torque->x[i] = turn.x, spring_torque->y[i] = turn.y, spring_torque->z[i] = turn.z;
    }
}

/* find_fate of W balls, of which those that do not move have none. */
static __attribute__((noinline)) unsigned judge(const vec *v, const vec *w, unsigned moving) {
  const lanes zero = {0};
  const lanes size = dot(*v, *v) * zero + dot(*w, *w) * zero;
  const unsigned finite = lanes_mask(size == zero);
  return (finite & moving) == moving ? TL_BALL_TOO_FAST : TL_BALL_BROKEN;
}

INLINE unsigned find_fate(vec v, vec w, const kick *k, lane_mask moves) {
  const lanes zero = {0}, most = zero + TL_BALL_FASTEST_SQUARE;
  const lane_mask slow_enough = (dot(v, v) < most) & (dot(w, w) < most) &
                                (dot(k->velocity, k->velocity) < most) &
                                (dot(k->spin, k->spin) < most);
  if (__builtin_expect(lanes_mask(slow_enough | ~moves) == ALL_LANES, 1))
    return 0;
  const vec velocity = v, spin = w; /* those in use need not go through memory */
  return judge(&velocity, &spin, lanes_mask(moves));
}

INLINE unsigned finish_some(const tl_ball_step *job, size_t rank, tl_ball_sums *sums) {
  const tl_ball_list *list = job->list;
  const size_t at = rank % TL_SIMD_GROUP;
  tl_ball_rows *rows = &list->rows.data[rank / TL_SIMD_GROUP];
  tl_ball *balls = &list->ball.data[rank];
  const lanes zero = {0};
  lanes m[TL_SIMD_GROUP];
  add_all_contacts(list, rank, m);
  vec spring_force = {m[0], m[1], m[2]}, spring_torque = {zero, zero, zero};
  add_walls(job, rank, &spring_force, &spring_torque);
  spring_torque = (vec){spring_torque.x - m[3], spring_torque.y - m[4], spring_torque.z - m[5]};

  some_balls b;
  load_some(balls, &b);
  const lane_mask moves = b.m[7] > zero;
  const kick first =
      find_kick(job, &b, (vec){b.n[0], b.n[1], b.n[2]}, (vec){b.n[3], b.n[4], b.n[5]});
  const vec v = add((vec){b.m[0], b.m[1], b.m[2]}, first.velocity);
  const vec w = add((vec){b.m[3], b.m[4], b.m[5]}, first.spin);
  const kick k = find_kick(job, &b, spring_force, spring_torque);
  const vec v1 = select_vec(moves, add(v, k.velocity), v);
  const vec w1 = select_vec(moves, add(w, k.spin), w);
  lanes n[] = {spring_force.x,  spring_force.y,  spring_force.z, spring_torque.x,
               spring_torque.y, spring_torque.z, b.n[6],         b.n[7]};
  lanes l[] = {v1.x, v1.y, v1.z, w1.x, w1.y, w1.z, b.m[6], b.m[7]};
  store_rows(second_row(balls), BALL_REALS, in_turn, n, ALL_LANES);
  store_rows(balls, BALL_REALS, in_turn, l, ALL_LANES);
  const double dt = job->crowd->dt;
  places x[WIDES];
  for (int part = 0; part < WIDES; ++part) {
    x[part] = load_places(&list->place.data[rank + (size_t)(part * WIDE)]);
    for (int i = 0; i < 3; ++i)
      store_wide(rows->x[i] + at + (size_t)(part * WIDE), x[part].x[i]);
    add_work(&sums->of[TL_BALL_CONTACT_WORK], dt, spring_force, spring_torque, add(v, v1),
             add(w, w1), b.m[7], part);
  }
  turn_by(rows, at, times(w, zero + (talus_real)dt), moves);
  unsigned fate = find_fate(v1, w1, &k, moves);
  if (job->goes_on && !move_on(job, rank, x, v1, w1, &k, spring_force, spring_torque, b.m[7], sums))
    fate |= TL_BALL_LEFT;
  return fate;
}

static unsigned finish_eight(const tl_ball_step *job, size_t eight, tl_ball_sums *sums) {
  unsigned fate = 0;
  for (size_t i = 0; i < TL_SIMD_GROUP; i += W)
    fate |= finish_some(job, eight * TL_SIMD_GROUP + i, sums);
  return fate;
}

#endif
