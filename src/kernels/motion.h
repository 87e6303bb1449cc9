/* Scripted motion of a kinematic body: pose and velocity as functions of time, never integrated.
 *
 * A motion is a row of terms. Each is a rigid displacement of space that depends on time, and they
 * are applied one after the other to the pose at time 0: a later term carries along the axes of
 * those before it. Within a term the turns come first (spin, swing, table), the shifts after them.
 *
 * Everything is worked out in double, in both builds: a float would lose the angle after many
 * turns, and the velocity of a step is a difference of two poses. */
#ifndef TL_KERNELS_MOTION_H
#define TL_KERNELS_MOTION_H

#include "kernels/quat.h"
#include "kernels/vec3.h"
#include <talus/types.h>

#define TL_MOTION_SURFACE 2u

typedef struct tl_motion_term {
  talus_vec3 velocity, spin, amplitude, swing;
  double frequency, phase; /* Hz, rad: of amplitude and swing */
  talus_dvec3 through;     /* a place on the axes of all turns, where is_through */
  talus_dvec3 axis;        /* of a table along or about it; unit */
  double from, until;      /* s; until may be infinite */
  uint64_t table;          /* first number of its table in the values */
  uint32_t rows;
  uint32_t table_kind; /* talus_motion_table */
  uint32_t is_through; /* 0: turns are about the body's own centre and leave it where it is;
                          TL_MOTION_SURFACE: velocity and spin are of the surface alone */
  uint32_t is_smooth;
} tl_motion_term;

typedef struct tl_dquat {
  double w, x, y, z;
} tl_dquat;

/* Pose and velocity at one time; spin in world axes. */
typedef struct tl_moving {
  talus_dvec3 position, velocity, spin;
  tl_dquat rotation;
} tl_moving;

/* ---- time --------------------------------------------------------------------------------------
 */

/* The time of a clock that is ahead of the world's. If both are whole numbers of steps it is that
 * number times dt, to the bit: a run that continues another then has the same times. */
TL_FN double tl_clock_at(double ahead, double dt, double time) {
  if (ahead == 0)
    return time;
  const double first = nearbyint(ahead / dt), steps = nearbyint(time / dt);
  return first * dt == ahead && steps * dt == time ? (first + steps) * dt : time + ahead;
}

/* ---- quaternions in double, as in quat.h ----------------------------------------------------- */

TL_FN tl_dquat tl_dquat_make(double w, double x, double y, double z) {
  tl_dquat q;
  q.w = w, q.x = x, q.y = y, q.z = z;
  return q;
}

TL_FN tl_dquat tl_dquat_widen(talus_quat q) {
  return tl_dquat_make((double)q.w, (double)q.x, (double)q.y, (double)q.z);
}

TL_FN talus_quat tl_dquat_narrow(tl_dquat q) {
  return tl_quat((talus_real)q.w, (talus_real)q.x, (talus_real)q.y, (talus_real)q.z);
}

TL_FN tl_dquat tl_dquat_mul(tl_dquat a, tl_dquat b) {
  return tl_dquat_make(
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}

TL_FN tl_dquat tl_dquat_normalize(tl_dquat q) {
  const double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  return tl_dquat_make(q.w / length, q.x / length, q.y / length, q.z / length);
}

TL_FN talus_dvec3 tl_dquat_rotate(tl_dquat q, talus_dvec3 v) {
  const double tx = 2 * (q.y * v.z - q.z * v.y), ty = 2 * (q.z * v.x - q.x * v.z),
               tz = 2 * (q.x * v.y - q.y * v.x);
  return tl_dvec3(v.x + q.w * tx + (q.y * tz - q.z * ty), v.y + q.w * ty + (q.z * tx - q.x * tz),
                  v.z + q.w * tz + (q.x * ty - q.y * tx));
}

/* exp(angle * v), v of any length: turn by angle * |v|. Reduced first, for many turns. */
TL_FN tl_dquat tl_dquat_turn(talus_dvec3 v, double angle) {
  const double length = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
  if (length == 0)
    return tl_dquat_make(1, 0, 0, 0);
  const double half = 0.5 * fmod(length * angle, 4 * 3.14159265358979323846);
  const double s = tl_sin_d(half) / length;
  return tl_dquat_make(tl_cos_d(half), s * v.x, s * v.y, s * v.z);
}

/* The rotation vector of the shorter turn from a to b, world axes: exp(result) a = +-b. */
TL_FN talus_dvec3 tl_dquat_between(tl_dquat a, tl_dquat b) {
  tl_dquat d = tl_dquat_mul(b, tl_dquat_make(a.w, -a.x, -a.y, -a.z));
  if (d.w < 0)
    d = tl_dquat_make(-d.w, -d.x, -d.y, -d.z);
  const double s = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
  const double k = s > 0 ? 2 * tl_atan2_d(s, d.w) / s : 2;
  return tl_dvec3(k * d.x, k * d.y, k * d.z);
}

/* ---- tables ---------------------------------------------------------------------------------- */

TL_FN uint32_t tl_motion_columns(uint32_t table_kind) {
  return table_kind == TALUS_TABLE_POSES ? 8 : table_kind == TALUS_TABLE_PLACES ? 4 : 2;
}

/* Slope at row i of column k: of the parabola through it and its neighbours (Catmull and Rom 1974
 * for unequal intervals); at an end, of the parabola through the three rows nearest to it. */
TL_FN double tl_motion_slope(const double *row, uint32_t rows, uint32_t columns, uint32_t i,
                             uint32_t k) {
  const uint32_t first = rows < 3 ? 0 : i == 0 ? 0 : i == rows - 1 ? rows - 3 : i - 1;
  const double *a = row + (size_t)first * columns, *b = a + columns;
  const double h0 = b[0] - a[0], d0 = (b[k] - a[k]) / h0;
  if (rows < 3)
    return d0;
  const double *c = b + columns;
  const double h1 = c[0] - b[0], d1 = (c[k] - b[k]) / h1, bend = (d1 - d0) / (h0 + h1);
  return i == first ? d0 - h0 * bend : i == first + 1 ? d0 + h0 * bend : d1 + h1 * bend;
}

/* Column k at `t` within the interval [i, i + 1], and its derivative. */
TL_FN void tl_motion_column(const double *row, uint32_t rows, uint32_t columns, uint32_t i,
                            uint32_t k, bool is_smooth, double t, double *value, double *rate) {
  const double *a = row + (size_t)i * columns, *b = a + columns;
  const double h = b[0] - a[0], s = (t - a[0]) / h, d = (b[k] - a[k]) / h;
  if (!is_smooth) {
    *value = a[k] + (t - a[0]) * d;
    *rate = d;
    return;
  }
  /* Cubic of Hermite: from a[k] with the slopes' excess over the mean slope d. */
  const double u = tl_motion_slope(row, rows, columns, i, k) - d,
               v = tl_motion_slope(row, rows, columns, i + 1, k) - d;
  *value = a[k] + (t - a[0]) * d + h * s * (1 - s) * (u * (1 - s) - v * s);
  *rate = d + u * (1 - s) * (1 - 3 * s) + v * s * (3 * s - 2);
}

/* The last row whose time is not after t; at most rows - 2. */
TL_FN uint32_t tl_motion_row(const double *row, uint32_t rows, uint32_t columns, double t) {
  uint32_t low = 0, high = rows - 1;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (row[(size_t)middle * columns] <= t)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* All columns except the time, at t, and their rates. Before its first row and after its last a
 * table is constant. */
TL_FN void tl_motion_look_up(const tl_motion_term *term, const double *values, double t,
                             double value[7], double rate[7]) {
  const double *row = values + term->table;
  const uint32_t columns = tl_motion_columns(term->table_kind), last = term->rows - 1;
  const bool before = t < row[0], after = t >= row[(size_t)last * columns];
  if (before || after) {
    const double *held = row + (after ? (size_t)last * columns : 0);
    for (uint32_t k = 1; k < columns; ++k)
      value[k - 1] = held[k], rate[k - 1] = 0;
    return;
  }
  const uint32_t i = tl_motion_row(row, term->rows, columns, t);
  for (uint32_t k = 1; k < columns; ++k)
    tl_motion_column(row, term->rows, columns, i, k, term->is_smooth != 0, t, &value[k - 1],
                     &rate[k - 1]);
}

/* The quaternion of a table of poses: smooth, the cubic of its four numbers put back to unit
 * length; linear, at constant rate about one axis from row to row. */
TL_FN tl_dquat tl_motion_look_up_turn(const tl_motion_term *term, const double *values, double t,
                                      const double value[7], const double rate[7],
                                      talus_dvec3 *spin) {
  const double *row = values + term->table;
  const tl_dquat q = tl_dquat_make(value[3], value[4], value[5], value[6]);
  const size_t last = (size_t)(term->rows - 1) * 8;
  *spin = tl_dvec3(0, 0, 0);
  if (t < row[0] || t >= row[last])
    return q;
  if (!term->is_smooth) {
    const double *a = row + (size_t)tl_motion_row(row, term->rows, 8, t) * 8, *b = a + 8;
    const tl_dquat from = tl_dquat_make(a[4], a[5], a[6], a[7]);
    const talus_dvec3 way = tl_dquat_between(from, tl_dquat_make(b[4], b[5], b[6], b[7]));
    *spin = tl_dscale(way, 1 / (b[0] - a[0]));
    return tl_dquat_mul(tl_dquat_turn(way, (t - a[0]) / (b[0] - a[0])), from);
  }
  /* spin = 2 q' q*, of which the part of q' along q drops out. */
  const double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  const tl_dquat unit = tl_dquat_make(q.w / length, q.x / length, q.y / length, q.z / length);
  const tl_dquat w = tl_dquat_mul(tl_dquat_make(rate[3], rate[4], rate[5], rate[6]),
                                  tl_dquat_make(unit.w, -unit.x, -unit.y, -unit.z));
  *spin = tl_dscale(tl_dvec3(w.x, w.y, w.z), 2 / length);
  return unit;
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* Turns the pose and velocity reached so far, about the body's own centre or about `through`. */
TL_FN void tl_motion_turn(tl_moving *m, const tl_motion_term *term, tl_dquat turn,
                          talus_dvec3 spin) {
  m->rotation = tl_dquat_mul(turn, m->rotation);
  m->spin = tl_dadd(tl_dquat_rotate(turn, m->spin), spin);
  if (!term->is_through)
    return;
  const talus_dvec3 arm = tl_dquat_rotate(turn, tl_dsub(m->position, term->through));
  const talus_dvec3 v = tl_dquat_rotate(turn, m->velocity);
  m->position = tl_dadd(term->through, arm);
  m->velocity =
      tl_dvec3(v.x + (spin.y * arm.z - spin.z * arm.y), v.y + (spin.z * arm.x - spin.x * arm.z),
               v.z + (spin.x * arm.y - spin.y * arm.x));
}

TL_FN bool tl_motion_is_zero(talus_vec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }

/* t is the term's own time; `live` is 0 where it has not begun or has ended. */
TL_FN void tl_motion_apply_table(tl_moving *m, const tl_motion_term *term, const double *values,
                                 double t, double live) {
  double value[7], rate[7];
  talus_dvec3 spin;
  tl_motion_look_up(term, values, t, value, rate);
  if (term->table_kind == TALUS_TABLE_ALONG) {
    m->position = tl_dadd(m->position, tl_dscale(term->axis, value[0]));
    m->velocity = tl_dadd(m->velocity, tl_dscale(term->axis, live * rate[0]));
    return;
  }
  if (term->table_kind == TALUS_TABLE_ABOUT) {
    tl_motion_turn(m, term, tl_dquat_turn(term->axis, value[0]),
                   tl_dscale(term->axis, live * rate[0]));
    return;
  }
  if (term->table_kind == TALUS_TABLE_POSES) {
    const tl_dquat turn = tl_motion_look_up_turn(term, values, t, value, rate, &spin);
    tl_motion_turn(m, term, turn, tl_dscale(spin, live));
  }
  m->position = tl_dadd(m->position, tl_dvec3(value[0], value[1], value[2]));
  m->velocity = tl_dadd(m->velocity, tl_dscale(tl_dvec3(rate[0], rate[1], rate[2]), live));
}

TL_FN void tl_motion_apply(tl_moving *m, const tl_motion_term *term, const double *values,
                           double time) {
  const double t = (time < term->from    ? term->from
                    : time > term->until ? term->until
                                         : time) -
                   term->from;
  const double live = time >= term->from && time < term->until ? 1 : 0;
  const double rate = 6.283185307179586476925 * term->frequency, angle = rate * t + term->phase;
  const double wave = tl_sin_d(angle) - tl_sin_d(term->phase),
               wave_rate = live * rate * tl_cos_d(angle);
  if (!tl_motion_is_zero(term->spin))
    tl_motion_turn(m, term, tl_dquat_turn(tl_widen(term->spin), t),
                   tl_dscale(tl_widen(term->spin), live));
  if (!tl_motion_is_zero(term->swing))
    tl_motion_turn(m, term, tl_dquat_turn(tl_widen(term->swing), wave),
                   tl_dscale(tl_widen(term->swing), wave_rate));
  if (term->table_kind != TALUS_TABLE_NONE)
    tl_motion_apply_table(m, term, values, t, live);
  m->position = tl_dmadd(tl_dmadd(m->position, t, term->velocity), wave, term->amplitude);
  m->velocity = tl_dmadd(tl_dmadd(m->velocity, live, term->velocity), wave_rate, term->amplitude);
}

TL_FN bool tl_motion_is_surface(const tl_motion_term *term) {
  return term->is_through == TL_MOTION_SURFACE;
}

/* A belt: its surface moves, and the body stays where it is. */
TL_FN void tl_motion_add_surface(const tl_motion_term *terms, uint32_t count, double time,
                                 talus_vec3 *velocity, talus_vec3 *spin) {
  for (uint32_t i = 0; i < count; ++i)
    if (tl_motion_is_surface(&terms[i]) && time >= terms[i].from && time < terms[i].until) {
      *velocity = tl_add(*velocity, terms[i].velocity);
      *spin = tl_add(*spin, terms[i].spin);
    }
}

/* Pose and velocity at `time` from the pose at time 0. */
TL_FN tl_moving tl_motion_at(talus_dvec3 x0, talus_quat q0, const tl_motion_term *terms,
                             uint32_t count, const double *values, double time) {
  tl_moving m;
  m.position = x0;
  m.rotation = tl_dquat_widen(q0);
  m.velocity = m.spin = tl_dvec3(0, 0, 0);
  for (uint32_t i = 0; i < count; ++i)
    if (!tl_motion_is_surface(&terms[i]))
      tl_motion_apply(&m, &terms[i], values, time);
  m.rotation = tl_dquat_normalize(m.rotation);
  talus_vec3 velocity = tl_vec3(0, 0, 0), spin = velocity;
  tl_motion_add_surface(terms, count, time, &velocity, &spin);
  m.velocity = tl_dadd(m.velocity, tl_widen(velocity));
  m.spin = tl_dadd(m.spin, tl_widen(spin));
  return m;
}

/* Whether the body turns at a constant rate from t0 to t1 (its centre may move in any way). */
TL_FN bool tl_motion_spins_evenly(const tl_motion_term *terms, uint32_t count, double t0,
                                  double t1) {
  return count == 1 && !tl_motion_is_surface(terms) && tl_motion_is_zero(terms->swing) &&
         t0 >= terms->from && t1 <= terms->until &&
         (terms->table_kind == TALUS_TABLE_NONE || terms->table_kind == TALUS_TABLE_ALONG ||
          terms->table_kind == TALUS_TABLE_PLACES);
}

/* The constant velocity and spin that lead from the pose at t0 to the pose at t1 = t0 + h: what a
 * step solves with. A spin that is constant is taken as it is, so that it may be more than half a
 * turn per step. */
TL_FN void tl_motion_way(talus_dvec3 x0, talus_quat q0, const tl_motion_term *terms, uint32_t count,
                         const double *values, double t0, double t1, double h, talus_vec3 *velocity,
                         talus_vec3 *spin) {
  uint32_t moving = count; /* surfaces come last */
  while (moving > 0 && tl_motion_is_surface(&terms[moving - 1]))
    moving--;
  if (moving == 0) {
    *velocity = *spin = tl_vec3(0, 0, 0);
    tl_motion_add_surface(terms, count, t0, velocity, spin);
    return;
  }
  const tl_moving from = tl_motion_at(x0, q0, terms, moving, values, t0),
                  to = tl_motion_at(x0, q0, terms, moving, values, t1);
  *velocity = tl_scale(tl_narrow(tl_dsub(to.position, from.position)), (talus_real)(1 / h));
  if (tl_motion_spins_evenly(terms, moving, t0, t1))
    *spin = terms->spin;
  else
    *spin = tl_narrow(tl_dscale(tl_dquat_between(from.rotation, to.rotation), 1 / h));
  tl_motion_add_surface(terms, count, t0, velocity, spin);
}

#endif
