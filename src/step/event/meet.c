/* When a flyer meets a wall, and its position relative to the wall. */
#include "kernels/elastic.h"
#include "step/event/event.h"

#include <float.h>
#include <math.h>

#define CLOSE  0.1  /* radii: gap at which Newton's method begins */
#define BEYOND 1e-9 /* part of a radius: a point farther past the end of a wall is not on it */

static talus_dvec3 at_time(talus_dvec3 d, talus_dvec3 v, talus_dvec3 fall, double t) {
  return tl_dadd(d, tl_dadd(tl_dscale(v, t), tl_dscale(fall, 0.5 * t * t)));
}

/* Vector from the middle of the wall to the flyer's centre, to the nearest image. */
static talus_dvec3 from_wall(const tl_events *events, const tl_event_wall *w, talus_dvec3 x,
                             double tau) {
  talus_dvec3 d = tl_dsub(tl_dsub(x, w->at), tl_dscale(w->velocity, tau));
  if (!tl_event_is_endless(w)) {
    d.x = tl_event_nearest(&events->cells, 0, d.x);
    d.y = tl_event_nearest(&events->cells, 1, d.y);
    d.z = tl_event_nearest(&events->cells, 2, d.z);
  }
  return d;
}

/* ---- positions ------------------------------------------------------------------------------- */

/* The position of a centre relative to a wall. */
typedef struct stand {
  double off; /* m: distance; for faces and cones negative behind */
  /* m: how far the nearest point would be past the end of the wall; <= 0: it is on it */
  double past;
  talus_dvec3 normal; /* unit, from the wall to the centre */
} stand;

static stand stand_on_cone(const tl_event_wall *w, talus_dvec3 d) {
  const double x = tl_ddot(d, w->axis[0]), y = tl_ddot(d, w->axis[1]), z = tl_ddot(d, w->axis[2]);
  const double rho = sqrt(x * x + y * y), inverse = rho > 0 ? 1 / rho : 0;
  const double dr = rho - w->from[0], dz = z - w->from[1];
  double nr = w->normal[0], nz = w->normal[1];
  stand s = {.past = -INFINITY};
  if (w->kind == TL_WALL_RING) {
    s.off = sqrt(dr * dr + dz * dz);
    nr = dr / fmax(s.off, DBL_MIN), nz = dz / fmax(s.off, DBL_MIN);
  } else {
    const double along = dr * w->along[0] + dz * w->along[1];
    s.off = dr * nr + dz * nz;
    s.past = fmax(-along, along - w->half[0]);
  }
  const talus_dvec3 outward =
      tl_dadd(tl_dscale(w->axis[0], rho > 0 ? x * inverse : 1), tl_dscale(w->axis[1], y * inverse));
  s.normal = tl_dadd(tl_dscale(outward, nr), tl_dscale(w->axis[2], nz));
  return s;
}

static stand stand_on(const tl_event_wall *w, talus_dvec3 d) {
  stand s = {.past = -INFINITY};
  if (tl_event_is_revolved(w))
    return stand_on_cone(w, d);
  if (w->kind == TL_WALL_FACE) {
    s.off = tl_ddot(d, w->axis[0]);
    s.normal = w->axis[0];
    for (int k = 1; k < 3 && !w->is_solid; ++k)
      s.past = fmax(s.past, fabs(tl_ddot(d, w->axis[k])) - w->half[k]);
    return s;
  }
  if (w->kind == TL_WALL_EDGE) {
    const double along = tl_ddot(d, w->axis[0]);
    s.past = fabs(along) - w->half[0];
    d = tl_dsub(d, tl_dscale(w->axis[0], along));
  }
  const double far = tl_dlength(d);
  s.off = far - w->radius;
  s.normal = tl_dscale(d, 1 / fmax(far, DBL_MIN));
  return s;
}

/* ---- impacts --------------------------------------------------------------------------------- */

/* A flight relative to a wall, beginning now. */
typedef struct flight {
  talus_dvec3 d, v, fall;
  double radius, most, fall_time;
} flight;

/* True if the flyer would touch the wall at t, given a small gap. A wall that is not solid has a
 * back side: it does not touch flyers behind it. */
static bool is_over(const tl_event_wall *w, const flight *f, double t) {
  return stand_on(w, at_time(f->d, f->v, f->fall, t)).past <= BEYOND * f->radius;
}

static double meet_face(const tl_event_wall *w, const flight *f) {
  const talus_dvec3 n = w->axis[0];
  const double off = tl_ddot(n, f->d);
  if (!w->is_solid && !(off > -w->behind * f->radius))
    return INFINITY;
  const double t =
      tl_elastic_fall(off - f->radius, tl_ddot(n, f->v), tl_ddot(n, f->fall), f->fall_time);
  return t < INFINITY && (w->is_solid || is_over(w, f, t)) ? t : INFINITY;
}

/* Time at which a straight flight meets a cone: the centre is on n_r rho + n_z z = e with rho = A +
 * B t, so x^2 + y^2 = (A + B t)^2, with A + B t > 0. */
static double meet_cone(const tl_event_wall *w, const flight *f) {
  const talus_dvec3 *axis = w->axis;
  double x = tl_ddot(f->d, axis[0]), y = tl_ddot(f->d, axis[1]);
  const double z = tl_ddot(f->d, axis[2]);
  const double vx = tl_ddot(f->v, axis[0]), vy = tl_ddot(f->v, axis[1]);
  const double vz = tl_ddot(f->v, axis[2]), nr = w->normal[0], nz = w->normal[1];
  const double e = nr * w->from[0] + nz * w->from[1] + f->radius;
  if (stand_on_cone(w, f->d).off <= -w->behind * f->radius)
    return INFINITY;
  if (fabs(nr) < 1e-12) {
    const double t = tl_elastic_fall(nz * z - e, nz * vz, 0, 0);
    return t < INFINITY && is_over(w, f, t) ? t : INFINITY;
  }
  const double sign = nr > 0 ? 1 : -1, b = -nz * vz / nr;
  double a = (e - nz * z) / nr, from = 0;
  if (a < 0) { /* before the tip; inside there is no room */
    if (sign < 0 || !(b > 0))
      return INFINITY;
    from = -a / b, a = 0;
    x += from * vx, y += from * vy;
  }
  const double rho = sqrt(x * x + y * y), bend = 2 * sign * (vx * vx + vy * vy - b * b);
  /* A flyer that circles inside a tube touches it all the time, like one that lies on a floor. */
  const double lie =
      fmin(f->fall_time, sqrt(4e-6 * f->radius * fmax(a, f->radius) / fmax(fabs(bend), DBL_MIN)));
  const double t = from + tl_elastic_fall(sign * (rho - a) * (rho + a),
                                          2 * sign * (x * vx + y * vy - a * b), bend, lie);
  return t < INFINITY && a + b * (t - from) >= 0 && is_over(w, f, t) ? t : INFINITY;
}

/* Gap at t, and its rate. */
static double gap_at(const tl_event_wall *w, const flight *f, double t, double *speed) {
  const stand s = stand_on(w, at_time(f->d, f->v, f->fall, t));
  *speed = tl_ddot(s.normal, tl_dadd(f->v, tl_dscale(f->fall, t)));
  return s.off - f->radius;
}

/* Finds the last time between lo, where the gap is open, and hi, where it is closed, at which it is
 * open. */
static double close_in(const tl_event_wall *w, const flight *f, double lo, double hi) {
  double speed;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (lo + hi);
    if (!(middle > lo && middle < hi))
      break;
    if (gap_at(w, f, middle, &speed) > 0)
      lo = middle;
    else
      hi = middle;
  }
  return hi;
}

/* Time at which any flight meets any wall, by a bracketed Newton method. The gap changes no faster
 * than the flyer moves, so steps of gap / speed cannot go too far. Near a wall, which there is
 * curved no more than a sphere of the flyer's radius, Newton steps up to four times as long are
 * taken. If they do not converge (the flyer almost grazes), the result is a time at which to look
 * again. */
static double meet_any(const tl_event_wall *w, const flight *f) {
  const double pull = tl_dlength(f->fall), fastest = tl_dlength(f->v) + pull * f->most;
  const double tiny = 4 * DBL_EPSILON * (tl_dlength(f->d) + f->radius);
  double t = 0;
  for (int turn = 0; turn < 100; ++turn) {
    double speed, there;
    const double gap = gap_at(w, f, t, &speed);
    if (gap <= tiny && gap > -f->radius * (1 + w->behind) && speed < 0 && is_over(w, f, t))
      return t;
    double step = fmax(fabs(gap) / fastest, 1e-12 * f->radius / fastest);
    if (fabs(gap) <= tiny && turn > 0) /* it lies on the wall or slides along it */
      step = fmax(step, f->fall_time);
    if (gap > tiny && gap < CLOSE * f->radius && speed < 0) {
      const double newton = fmin(gap / -speed, 4 * step);
      if (gap_at(w, f, t + newton, &there) <= 0) {
        t = close_in(w, f, t, t + newton);
        if (!(t <= f->most))
          return INFINITY;
        (void)gap_at(w, f, t, &speed);
        if (speed < 0 && is_over(w, f, t))
          return t;
        continue;
      }
      step = fmax(step, newton);
    }
    t += step;
    if (!(t <= f->most))
      return INFINITY;
  }
  return t;
}

double tl_events_meet_wall(const tl_events *events, uint32_t i, uint32_t wall, double tau) {
  const tl_event_wall *w = &events->walls[wall];
  const tl_flyer *flyer = &events->flyers[i];
  const flight f = {.d = from_wall(events, w, flyer->x, tau),
                    .v = tl_dsub(flyer->v, w->velocity),
                    .fall = events->fall,
                    .radius = flyer->radius,
                    .most = events->span - tau,
                    .fall_time = events->fall_time};
  if (w->kind == TL_WALL_FACE)
    return tau + meet_face(w, &f);
  if (events->is_falling || w->kind == TL_WALL_RING)
    return tau + meet_any(w, &f);
  if (w->kind == TL_WALL_CONE)
    return tau + meet_cone(w, &f);
  talus_dvec3 d = f.d, v = f.v;
  if (w->kind == TL_WALL_EDGE) {
    d = tl_dsub(d, tl_dscale(w->axis[0], tl_ddot(d, w->axis[0])));
    v = tl_dsub(v, tl_dscale(w->axis[0], tl_ddot(v, w->axis[0])));
  }
  const double t = tl_elastic_meet(d, v, f.radius + w->radius);
  return t < INFINITY && is_over(w, &f, t) ? tau + t : INFINITY;
}

bool tl_events_off_wall(const tl_events *events, uint32_t i, uint32_t wall, double tau,
                        talus_dvec3 *normal) {
  const tl_event_wall *w = &events->walls[wall];
  const tl_flyer *f = &events->flyers[i];
  const stand s = stand_on(w, from_wall(events, w, f->x, tau));
  *normal = s.normal;
  return s.off - f->radius <= BEYOND * f->radius && s.past <= 2 * BEYOND * f->radius;
}

/* True if the flyer is behind a wall: deeper than its centre, and not past the end. */
static bool is_behind(const tl_event_wall *w, talus_dvec3 d, double radius) {
  const stand s = stand_on(w, d);
  if (w->kind == TL_WALL_FACE)
    return w->is_solid && s.off < 0;
  if (w->kind == TL_WALL_CONE)
    return w->behind > 0 && s.off < 0 && s.off > -radius && s.past <= 0;
  return w->kind == TL_WALL_BALL && s.off < 0;
}

size_t tl_events_count_outside(const tl_events *events) {
  const tl_event_cells *cells = &events->cells;
  size_t count = 0;
  for (uint32_t i = 0; i < events->count; ++i) {
    const size_t cell = tl_event_cell(cells, events->plans[i].at);
    bool is_outside = false;
    for (uint32_t k = cells->wall_start[cell]; k < cells->wall_start[cell + 1]; ++k) {
      const tl_event_wall *w = &events->walls[cells->wall_list[k]];
      const talus_dvec3 d = from_wall(events, w, events->flyers[i].x, events->span);
      is_outside = is_outside || is_behind(w, d, events->flyers[i].radius);
    }
    count += is_outside;
  }
  return count;
}
