/* Kicks, drifts and sums of eight balls at a time, with AVX-512: operation by operation what
 * verlet_balls.c does for one, so the bits are the same. This file is compiled for AVX-512; it runs
 * only where the processor has it. External forces, and domains that stop, are left to the other.
 */
#include "step/verlet_balls.h"

#include "kernels/quat.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)

#include "solve/penalty_lanes.h"

typedef double four_sums __attribute__((vector_size(4 * sizeof(double))));

typedef struct vec {
  lanes x, y, z;
} vec;

INLINE vec load_vec(const talus_real from[3][W]) {
  return (vec){load(from[0]), load(from[1]), load(from[2])};
}

INLINE void store_vec(talus_real to[3][W], vec a) {
  store(to[0], a.x), store(to[1], a.y), store(to[2], a.z);
}

/* The first six; what is behind them stays. */
INLINE void store_six(talus_real *to, lanes x) {
#if TALUS_SINGLE
  _mm256_mask_storeu_ps(to, 0x3f, (__m256)x);
#else
  _mm512_mask_storeu_pd(to, 0x3f, (__m512d)x);
#endif
}

INLINE wide load_wide(const double *from) {
  wide r;
  memcpy(&r, from, sizeof r);
  return r;
}

INLINE void store_wide(double *to, wide x) { memcpy(to, &x, sizeof x); }

/* Past the caches, where what is written is not looked at before other balls would have driven it
 * out of them. */
INLINE void put_wide(double *to, wide x, bool past) {
  if (past)
    _mm512_stream_pd(to, (__m512d)x);
  else
    store_wide(to, x);
}

INLINE void put_vec(talus_real to[3][W], vec a, bool past) {
  if (!past) {
    store_vec(to, a);
    return;
  }
#if TALUS_SINGLE
  _mm256_stream_ps(to[0], (__m256)a.x);
  _mm256_stream_ps(to[1], (__m256)a.y);
  _mm256_stream_ps(to[2], (__m256)a.z);
#else
  _mm512_stream_pd(to[0], (__m512d)a.x);
  _mm512_stream_pd(to[1], (__m512d)a.y);
  _mm512_stream_pd(to[2], (__m512d)a.z);
#endif
}

void tl_balls_fence_avx512(void) { _mm_sfence(); }

INLINE wide widen(lanes x) { return __builtin_convertvector(x, wide); }

INLINE vec add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }

INLINE vec times(vec a, lanes s) { return (vec){a.x * s, a.y * s, a.z * s}; }

INLINE wide dot_wide(vec a, vec b) {
  return widen(a.x) * widen(b.x) + widen(a.y) * widen(b.y) + widen(a.z) * widen(b.z);
}

INLINE vec select_vec(lane_mask test, vec a, vec b) {
  return (vec){lanes_select(test, a.x, b.x), lanes_select(test, a.y, b.y),
               lanes_select(test, a.z, b.z)};
}

typedef struct kick {
  vec velocity, spin;
} kick;

INLINE kick find_kick(const tl_ball_step *job, const tl_ball_kept *kept, vec push, vec twist) {
  const lanes zero = {0}, inv_mass = load(kept->inv_mass);
  const talus_real half = (talus_real)(0.5 * job->scope->dt);
  const talus_vec3 g = job->model->gravity;
  const vec rate = {g.x + inv_mass * push.x, g.y + inv_mass * push.y, g.z + inv_mass * push.z};
  return (kick){times(rate, zero + half), times(twist, half * load(kept->inv_inertia))};
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

/* What the next contacts need of eight balls that are kicked and then move on from x: false where
 * one leaves its place in the list. v and w are before the kick, and zero where nothing moves. */
INLINE bool move_on(const tl_ball_step *job, size_t eight, const wide x0[3], vec v0, vec w0,
                    const kick *k, vec push, vec twist) {
  const tl_ball_list *list = job->list;
  const tl_ball_kept *kept = &list->kept.data[eight];
  tl_ball *balls = &list->ball.data[eight * W];
  tl_ball_place *places = &list->place.data[eight * W];
  const lanes zero = {0}, inv_mass = load(kept->inv_mass);
  const lane_mask moves = inv_mass > zero;
  const vec none = {zero, zero, zero};
  const vec lead = select_vec(moves, k->velocity, none), swing = select_vec(moves, k->spin, none);
  const vec v = select_vec(moves, add(v0, lead), none), w = select_vec(moves, add(w0, swing), none);
  const double dt = job->scope->dt;
  const wide x = x0[0] + dt * widen(v.x), y = x0[1] + dt * widen(v.y), z = x0[2] + dt * widen(v.z);
  const wide dx = x - load_wide(kept->from[0]), dy = y - load_wide(kept->from[1]),
             dz = z - load_wide(kept->from[2]);
  const wide way = dx * dx + dy * dy + dz * dz;
  const __mmask8 stays =
      _mm512_cmp_pd_mask((__m512d)way, (__m512d)load_wide(kept->limit), _CMP_LE_OQ);
  store_wide(&list->first_work.data[eight * W],
             0.25 * dt * (dot_wide(push, add(v0, v)) + dot_wide(twist, add(w0, w))));

  lanes m[W] = {v.x, v.y, v.z, w.x, w.y, w.z, load(kept->radius), inv_mass};
  lanes n[W] = {lead.x, lead.y, lead.z, swing.x, swing.y, swing.z, zero, zero};
  transpose(m);
  transpose(n);
  store_places(places, x, y, z);
  for (int i = 0; i < W; ++i) {
    store(balls[i].v, m[i]);
    store_six(balls[i].lead, n[i]);
  }
  return stays == 0xff;
}

bool tl_balls_start_avx512(const tl_ball_step *job, size_t eight) {
  const tl_ball_rows *now = &job->list->now.data[eight];
  const vec push = load_vec(now->push), twist = load_vec(now->twist);
  const kick k = find_kick(job, &job->list->kept.data[eight], push, twist);
  const wide x[3] = {load_wide(now->x[0]), load_wide(now->x[1]), load_wide(now->x[2])};
  return move_on(job, eight, x, load_vec(now->v), load_vec(now->w), &k, push, twist);
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

INLINE four_sums load_energy(const tl_ball_energy *energy) {
  talus_real of __attribute__((vector_size(4 * sizeof(talus_real))));
  memcpy(&of, energy, sizeof of);
  return __builtin_convertvector(of, four_sums);
}

/* Forces and turns of one ball: force in the first three, turn in the next. */
INLINE lanes add_contacts(const tl_ball_list *list, size_t rank, talus_real ball_radius,
                          four_sums *energy) {
  const lanes zero = {0}, radius = zero + ball_radius;
  const uint32_t *at = list->at.data, *entry = list->entry.data;
  const tl_ball_effect *effects = list->effect.data;
  const uint32_t mid = list->entry_mid.data[rank], end = list->entry_start.data[rank + 1];
  lanes sum = zero;
  four_sums total = {0};
  for (uint32_t k = list->entry_start.data[rank]; k < mid; ++k)
    sum = add_effect(sum, &effects[at[entry[k] / 2]], entry[k], radius);
  for (uint32_t k = mid; k < end; ++k) {
    const uint32_t e = at[entry[k] / 2];
    sum = add_effect(sum, &effects[e], entry[k], radius);
    total = total + load_energy(&list->energy.data[e]);
  }
  *energy = total;
  return sum;
}

/* Effects of other blocks are anywhere in memory: those of the next eight balls are asked for. */
INLINE void fetch_effects(const tl_ball_list *list, size_t rank) {
  if (rank + W > list->count)
    return;
  for (uint32_t k = list->entry_start.data[rank]; k < list->entry_start.data[rank + W]; ++k)
    __builtin_prefetch(&list->effect.data[list->at.data[list->entry.data[k] / 2]]);
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
INLINE void turn_by(const tl_ball_rows *now, vec r, lane_mask moves, tl_ball_rows *next) {
  lanes aw, s;
  find_turn(r.x * r.x + r.y * r.y + r.z * r.z, &aw, &s);
  const lanes ax = s * r.x, ay = s * r.y, az = s * r.z;
  const lanes bw = load(now->q[0]), bx = load(now->q[1]), by = load(now->q[2]),
              bz = load(now->q[3]);
  const lanes qw = aw * bw - ax * bx - ay * by - az * bz,
              qx = aw * bx + ax * bw + ay * bz - az * by,
              qy = aw * by - ax * bz + ay * bw + az * bx,
              qz = aw * bz + ax * by - ay * bx + az * bw;
  const lanes k = TL_R(0.5) * ((((1 - qw * qw) - qx * qx) - qy * qy) - qz * qz);
  store(next->q[0], lanes_select(moves, qw + k * qw, bw));
  store(next->q[1], lanes_select(moves, qx + k * qx, bx));
  store(next->q[2], lanes_select(moves, qy + k * qy, by));
  store(next->q[3], lanes_select(moves, qz + k * qz, bz));
}

/* Forces of walls where there are any. */
INLINE void add_walls(const tl_ball_step *job, size_t first, vec *force, vec *twist) {
  const tl_ball_list *list = job->list;
  uint64_t any;
  memcpy(&any, &list->has_wall.data[first], sizeof any);
  if (any == 0)
    return;
  for (int i = 0; i < W; ++i)
    if (list->has_wall.data[first + (size_t)i]) {
      const talus_vec3 push = job->push[list->slot.data[first + (size_t)i]];
      const talus_vec3 turn = job->twist[list->slot.data[first + (size_t)i]];
      force->x[i] += push.x, force->y[i] += push.y, force->z[i] += push.z;
      twist->x[i] = turn.x, twist->y[i] = turn.y, twist->z[i] = turn.z;
    }
}

unsigned tl_balls_finish_avx512(const tl_ball_step *job, size_t eight, bool next_is_ready) {
  const tl_ball_list *list = job->list;
  const tl_ball_rows *now = &list->now.data[eight];
  const tl_ball_kept *kept = &list->kept.data[eight];
  tl_ball_rows *next = &list->next.data[eight];
  const size_t rank = eight * W;
  const lanes zero = {0};
  lanes m[W];
  four_sums energy[W];
  if (next_is_ready)
    fetch_effects(list, rank + W);
  for (size_t i = 0; i < W; ++i)
    m[i] = add_contacts(list, rank + i, kept->radius[i], &energy[i]);
  transpose(m);
  vec push = {m[0], m[1], m[2]}, twist = {zero, zero, zero};
  add_walls(job, rank, &push, &twist);
  twist = (vec){twist.x - m[3], twist.y - m[4], twist.z - m[5]};

  for (size_t i = 0; i < W; ++i)
    m[i] = load(list->ball.data[rank + i].v);
  transpose(m);
  const lane_mask moves = load(kept->inv_mass) > zero;
  const vec v = {m[0], m[1], m[2]}, w = {m[3], m[4], m[5]};
  const kick k = find_kick(job, kept, push, twist);
  const vec v1 = select_vec(moves, add(v, k.velocity), v);
  const vec w1 = select_vec(moves, add(w, k.spin), w);
  wide x[3];
  load_places(&list->place.data[rank], x);
  const bool past = job->is_large;
  for (int i = 0; i < 3; ++i)
    put_wide(next->x[i], x[i], past);
  const double dt = job->scope->dt;
  turn_by(now, times(w, zero + (talus_real)dt), moves, next);
  put_vec(next->v, v1, past), put_vec(next->w, w1, past);
  put_vec(next->push, push, past), put_vec(next->twist, twist, past);

  const wide work = load_wide(&list->first_work.data[rank]) +
                    0.25 * dt * (dot_wide(push, add(v, v1)) + dot_wide(twist, add(w, w1)));
  for (size_t i = 0; i < W; ++i) {
    const four_sums others = {moves[i] ? work[i] : 0, 0, 0, 0};
    memcpy(&job->sums[rank + i][0], &energy[i], sizeof energy[i]);
    memcpy(&job->sums[rank + i][TL_BALL_CONTACT_WORK], &others, sizeof others);
  }
  const lanes size = (v1.x * v1.x + v1.y * v1.y + v1.z * v1.z) * zero +
                     (w1.x * w1.x + w1.y * w1.y + w1.z * w1.z) * zero;
  unsigned fate = lanes_mask(size == zero) == 0xff ? 0 : TL_BALL_BROKEN;
  if (job->goes_on && !move_on(job, eight, x, v1, w1, &k, push, twist))
    fate |= TL_BALL_LEFT;
  return fate;
}

#else

bool tl_balls_start_avx512(const tl_ball_step *job, size_t eight) {
  return job->list->count > eight;
}

void tl_balls_fence_avx512(void) {}

unsigned tl_balls_finish_avx512(const tl_ball_step *job, size_t eight, bool next_is_ready) {
  return job->list->count > eight && next_is_ready ? 0 : TL_BALL_BROKEN;
}

#endif
