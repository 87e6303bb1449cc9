/* Kicks, drifts and sums of eight balls at a time, with AVX-512: operation by operation what
 * step/balls/balls.c does for one, so the bits are the same. This file is compiled for AVX-512; it
 * runs only where the processor has it. External forces, and domains that stop, are left to the
 * other.
 */
#include "step/balls/balls.h"

#include "kernels/quat.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include "step/balls/lanes.h"

typedef struct vec {
  lanes x, y, z;
} vec;

INLINE wide load_wide(const double *from) {
  wide r;
  memcpy(&r, from, sizeof r);
  return r;
}

INLINE void store_wide(double *to, wide x) { memcpy(to, &x, sizeof x); }

INLINE vec add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }

INLINE vec times(vec a, lanes s) { return (vec){a.x * s, a.y * s, a.z * s}; }

INLINE lanes dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

INLINE wide dot_wide(vec a, vec b) {
  return widen(a.x) * widen(b.x) + widen(a.y) * widen(b.y) + widen(a.z) * widen(b.z);
}

INLINE vec select_vec(lane_mask test, vec a, vec b) {
  return (vec){lanes_select(test, a.x, b.x), lanes_select(test, a.y, b.y),
               lanes_select(test, a.z, b.z)};
}

/* Numbers of those that move, zero of others. */
INLINE wide keep_if(lane_mask moves, wide x) {
  return (wide)_mm512_maskz_mov_pd((__mmask8)lanes_mask(moves), (__m512d)x);
}

typedef struct kick {
  vec velocity, spin;
} kick;

/* Eight balls as contacts have them: v, w, radius, 1/m, and force, torque, curvature, 1/inertia. */
typedef struct eight_balls {
  lanes m[W], n[W];
} eight_balls;

INLINE void load_eight(const tl_ball *balls, eight_balls *to) {
  for (int i = 0; i < W; ++i) {
    to->m[i] = load(balls[i].v);
    to->n[i] = load(balls[i].spring_force);
  }
  transpose(to->m);
  transpose(to->n);
}

/* tl_ball_kick. */
INLINE kick find_kick(const tl_ball_step *job, const eight_balls *of, vec spring_force,
                      vec spring_torque) {
  const lanes zero = {0}, inv_mass = of->m[7];
  const lanes half = lanes_select(inv_mass > zero, zero + job->forces.half, zero);
  const talus_vec3 g = job->forces.gravity;
  const vec rate = {g.x + inv_mass * spring_force.x, g.y + inv_mass * spring_force.y,
                    g.z + inv_mass * spring_force.z};
  return (kick){times(rate, half), times(spring_torque, half * of->n[7])};
}

/* ---- kick and drift -------------------------------------------------------------------------- */

/* Where eight balls are: rows of four numbers, transposed. */
INLINE void load_places(const tl_ball_place *places, wide x[3]) {
  wide two[4];
  for (int i = 0; i < 4; ++i)
    two[i] = (wide)_mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(&places[i].x)),
                                      _mm256_loadu_pd(&places[i + 4].x), 1);
  const __m512i low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
  const __m512i high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
  const __m512d xz = _mm512_unpacklo_pd((__m512d)two[0], (__m512d)two[1]),
                xz2 = _mm512_unpacklo_pd((__m512d)two[2], (__m512d)two[3]);
  x[0] = (wide)_mm512_permutex2var_pd(xz, low, xz2);
  x[1] = (wide)_mm512_permutex2var_pd(_mm512_unpackhi_pd((__m512d)two[0], (__m512d)two[1]), low,
                                      _mm512_unpackhi_pd((__m512d)two[2], (__m512d)two[3]));
  x[2] = (wide)_mm512_permutex2var_pd(xz, high, xz2);
}

/* The other way round; radii stay. */
INLINE void store_places(tl_ball_place *places, wide x, wide y, wide z) {
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
  for (int i = 0; i < 4; ++i) { /* each has a ball of an even pair and the one two further on */
    const int first = i / 2 * 4 + i % 2;
    _mm256_mask_storeu_pd(&places[first].x, 7, _mm512_castpd512_pd256(row[i]));
    _mm256_mask_storeu_pd(&places[first + 2].x, 7, _mm512_extractf64x4_pd(row[i], 1));
  }
}

/* Where the next contacts look for eight balls that are kicked and then move on from x: false where
 * one leaves its place in the list, or spins beyond all sense. v and w are before the kick. */
INLINE bool move_on(const tl_ball_step *job, size_t eight, const wide x0[3], vec v0, vec w0,
                    const kick *k, vec spring_force, vec spring_torque, lane_mask moves,
                    tl_ball_sums *sums) {
  const tl_ball_list *list = job->list;
  const tl_ball_kept *kept = &list->kept.data[eight];
  const lanes zero = {0};
  const vec none = {zero, zero, zero};
  const vec v = select_vec(moves, add(v0, k->velocity), none);
  const vec w = select_vec(moves, add(w0, k->spin), none);
  const double dt = job->crowd->dt;
  const wide x = x0[0] + dt * widen(v.x), y = x0[1] + dt * widen(v.y), z = x0[2] + dt * widen(v.z);
  const wide dx = x - load_wide(kept->from[0]), dy = y - load_wide(kept->from[1]),
             dz = z - load_wide(kept->from[2]);
  const wide way = dx * dx + dy * dy + dz * dz;
  const __mmask8 stays =
      _mm512_cmp_pd_mask((__m512d)way, (__m512d)load_wide(kept->limit), _CMP_LE_OQ);
  const wide work =
      0.25 * dt * (dot_wide(spring_force, add(v0, v)) + dot_wide(spring_torque, add(w0, w)));
  add_wide(&sums->of[TL_BALL_FIRST_WORK], keep_if(moves, work), 0);
  store_places(&list->place.data[eight * W], x, y, z);
  return stays == 0xff && lanes_mask(dot(w, w) <= zero + job->most_spin2) == 0xff;
}

bool tl_balls_start_avx512(const tl_ball_step *job, size_t eight, tl_ball_sums *sums) {
  const tl_ball_rows *rows = &job->list->rows.data[eight];
  const lanes zero = {0};
  eight_balls b;
  load_eight(&job->list->ball.data[eight * W], &b);
  const vec v = {b.m[0], b.m[1], b.m[2]}, w = {b.m[3], b.m[4], b.m[5]};
  const vec spring_force = {b.n[0], b.n[1], b.n[2]}, spring_torque = {b.n[3], b.n[4], b.n[5]};
  const kick k = find_kick(job, &b, spring_force, spring_torque);
  const wide x[3] = {load_wide(rows->x[0]), load_wide(rows->x[1]), load_wide(rows->x[2])};
  return move_on(job, eight, x, v, w, &k, spring_force, spring_torque, b.m[7] > zero, sums);
}

/* ---- sums and the last kick ------------------------------------------------------------------ */

/* What an effect is multiplied by before the arm comes in: on owner and on other. */
static const talus_real signs[2][W] = {{-1, -1, -1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 1, 1, 0, 0}};

/* An effect times its sign (force) or the arm (turn), added to what there is. No branch on who owns
 * it: half of them would be guessed wrong. */
INLINE lanes add_effect(lanes sum, const tl_ball_effect *effect, uint32_t entry, lanes radius) {
  const lane_mask turn = {0, 0, 0, -1, -1, -1, 0, 0};
  const lanes e = load(effect->force);
  const lanes arm = radius - SHUFFLE(e, e, 6, 6, 6, 6, 6, 6, 6, 6);
  return sum + lanes_select(turn, arm, load(signs[entry % 2])) * e;
}

/* Forces and turns of one ball: force in the first three, turn in the next. */
INLINE lanes add_contacts(const tl_ball_list *list, size_t rank) {
  const lanes zero = {0}, radius = zero + list->ball.data[rank].radius;
  const uint32_t *at = list->at.data, *entry = list->entry.data;
  const tl_ball_effect *effects = list->effect.data;
  const uint32_t end = list->entry_start.data[rank + 1];
  lanes sum = zero;
  for (uint32_t k = list->entry_start.data[rank]; k < end; k += TL_BALL_FOUR)
    for (uint32_t i = 0; i < TL_BALL_FOUR; ++i)
      sum = add_effect(sum, &effects[at[entry[k + i] / 2]], entry[k + i], radius);
  return sum;
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
  const lane_mask small = square < zero + TL_R(0.04);
  for (int i = 0; i < W; ++i)
    if (__builtin_expect(!small[i], 0)) {
      talus_real ci, si;
      tl_half_angle(square[i], &ci, &si);
      (*c)[i] = ci, (*s)[i] = si;
    }
}

/* tl_quat_renormalize(tl_quat_mul(turn, q)), turn by the rotation vector r. */
INLINE void turn_by(tl_ball_rows *rows, vec r, lane_mask moves) {
  lanes aw, s;
  find_turn(r.x * r.x + r.y * r.y + r.z * r.z, &aw, &s);
  const lanes ax = s * r.x, ay = s * r.y, az = s * r.z;
  const lanes bw = load(rows->q[0]), bx = load(rows->q[1]), by = load(rows->q[2]),
              bz = load(rows->q[3]);
  const lanes qw = aw * bw - ax * bx - ay * by - az * bz,
              qx = aw * bx + ax * bw + ay * bz - az * by,
              qy = aw * by - ax * bz + ay * bw + az * bx,
              qz = aw * bz + ax * by - ay * bx + az * bw;
  const lanes k = TL_R(0.5) * ((((1 - qw * qw) - qx * qx) - qy * qy) - qz * qz);
  store(rows->q[0], lanes_select(moves, qw + k * qw, bw));
  store(rows->q[1], lanes_select(moves, qx + k * qx, bx));
  store(rows->q[2], lanes_select(moves, qy + k * qy, by));
  store(rows->q[3], lanes_select(moves, qz + k * qz, bz));
}

/* Forces of walls where there are any. */
INLINE void add_walls(const tl_ball_step *job, size_t first, vec *force, vec *spring_torque) {
  const tl_ball_list *list = job->list;
  uint64_t any;
  memcpy(&any, &list->has_wall.data[first], sizeof any);
  if (any == 0)
    return;
  for (int i = 0; i < W; ++i)
    if (list->has_wall.data[first + (size_t)i]) {
      const talus_vec3 spring_force = job->spring_force[list->slot.data[first + (size_t)i]];
      const talus_vec3 turn = job->spring_torque[list->slot.data[first + (size_t)i]];
      force->x[i] += spring_force.x, force->y[i] += spring_force.y, force->z[i] += spring_force.z;
      spring_torque->x[i] = turn.x, spring_torque->y[i] = turn.y, spring_torque->z[i] = turn.z;
    }
}

/* find_fate of eight, of which those that do not move have none. */
static __attribute__((noinline)) unsigned judge(const vec *v, const vec *w, lane_mask moves) {
  const lanes zero = {0};
  const lanes size = dot(*v, *v) * zero + dot(*w, *w) * zero;
  const unsigned finite = lanes_mask(size == zero), moving = lanes_mask(moves);
  return (finite & moving) == moving ? TL_BALL_TOO_FAST : TL_BALL_BROKEN;
}

INLINE unsigned find_fate(vec v, vec w, const kick *k, lane_mask moves) {
  const lanes zero = {0}, most = zero + TL_BALL_FASTEST_SQUARE;
  const lane_mask slow_enough = (dot(v, v) < most) & (dot(w, w) < most) &
                                (dot(k->velocity, k->velocity) < most) &
                                (dot(k->spin, k->spin) < most);
  if (__builtin_expect(lanes_mask(slow_enough | ~moves) == 0xff, 1))
    return 0;
  return judge(&v, &w, moves);
}

unsigned tl_balls_finish_avx512(const tl_ball_step *job, size_t eight, tl_ball_sums *sums) {
  const tl_ball_list *list = job->list;
  tl_ball_rows *rows = &list->rows.data[eight];
  const size_t rank = eight * W;
  tl_ball *balls = &list->ball.data[rank];
  const lanes zero = {0};
  lanes m[W];
  for (size_t i = 0; i < W; ++i)
    m[i] = add_contacts(list, rank + i);
  transpose(m);
  vec spring_force = {m[0], m[1], m[2]}, spring_torque = {zero, zero, zero};
  add_walls(job, rank, &spring_force, &spring_torque);
  spring_torque = (vec){spring_torque.x - m[3], spring_torque.y - m[4], spring_torque.z - m[5]};

  eight_balls b;
  load_eight(balls, &b);
  const lane_mask moves = b.m[7] > zero;
  const kick first =
      find_kick(job, &b, (vec){b.n[0], b.n[1], b.n[2]}, (vec){b.n[3], b.n[4], b.n[5]});
  const vec v = add((vec){b.m[0], b.m[1], b.m[2]}, first.velocity);
  const vec w = add((vec){b.m[3], b.m[4], b.m[5]}, first.spin);
  const kick k = find_kick(job, &b, spring_force, spring_torque);
  const vec v1 = select_vec(moves, add(v, k.velocity), v);
  const vec w1 = select_vec(moves, add(w, k.spin), w);
  lanes n[W] = {spring_force.x,  spring_force.y,  spring_force.z, spring_torque.x,
                spring_torque.y, spring_torque.z, b.n[6],         b.n[7]};
  lanes l[W] = {v1.x, v1.y, v1.z, w1.x, w1.y, w1.z, b.m[6], b.m[7]};
  transpose(n);
  transpose(l);
  for (int i = 0; i < W; ++i) {
    store(balls[i].v, l[i]);
    store(balls[i].spring_force, n[i]);
  }
  wide x[3];
  load_places(&list->place.data[rank], x);
  for (int i = 0; i < 3; ++i)
    store_wide(rows->x[i], x[i]);
  const double dt = job->crowd->dt;
  turn_by(rows, times(w, zero + (talus_real)dt), moves);
  const wide work =
      0.25 * dt * (dot_wide(spring_force, add(v, v1)) + dot_wide(spring_torque, add(w, w1)));
  add_wide(&sums->of[TL_BALL_CONTACT_WORK], keep_if(moves, work), 0);
  unsigned fate = find_fate(v1, w1, &k, moves);
  if (job->goes_on && !move_on(job, eight, x, v1, w1, &k, spring_force, spring_torque, moves, sums))
    fate |= TL_BALL_LEFT;
  return fate;
}

#else

bool tl_balls_start_avx512(const tl_ball_step *job, size_t eight, tl_ball_sums *sums) {
  (void)sums;
  return job->list->count > eight;
}

unsigned tl_balls_finish_avx512(const tl_ball_step *job, size_t eight, tl_ball_sums *sums) {
  (void)sums;
  return job->list->count > eight ? 0 : TL_BALL_BROKEN;
}

#endif
