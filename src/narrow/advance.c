#include "narrow/advance.h"

#include "kernels/advance.h"
#include "kernels/convex.h"
#include "narrow/advance_parts.h"
#include "narrow/clump.h"
#include "narrow/posed_pairs.h"
#include "shape/facets.h"

#include <float.h>
#include <math.h>

#define TRIES  8  /* lengths of an interval that are tried before the gap is found again */
#define CHASES 64 /* times that parts are followed again after a pair has touched */

/* The way in which the motion of a pair is bounded. */
typedef enum bound {
  /* every point belongs to two spheres, or a sphere and a wall, and moves with their centres */
  BY_SPHERES,
  /* two convex bodies, or one and walls: bounds the support function along a fixed direction */
  BY_SUPPORT,
  BY_SPEED /* any shapes: the gap closes at most as fast as the fastest points move */
} bound;

typedef struct job {
  const tl_advance *pair;
  bound bound;
  double floor;            /* m: gap that is to be proven */
  double reach_a, reach_b; /* m: of the farthest relevant point from the centre */
  double bend_a, bend_b;   /* m/s2: acceleration of that point by rotation */
  talus_dvec3 closing;     /* m/s: velocity of b relative to a, at the begin */
  talus_dvec3 pull;        /* m/s2: acceleration of b relative to a */
} job;

/* The body with which a plane turns. */
typedef enum holder { STILL, WITH_A, WITH_B } holder;

/* A plane between the bodies at the time of the view. */
typedef struct plane {
  talus_dvec3 normal; /* unit, from a to b */
  double behind;      /* m along the normal, from the begin of a: surface of the wall */
  holder with;
} plane;

/* The bodies as they are at one time. */
typedef struct view {
  const job *job;
  double t;
  tl_posed a, b;
  talus_dvec3 origin; /* of a, relative to where it began */
  double gap;         /* m: smallest gap */
  double safe;        /* s: BY_SPHERES: time for which all points stay above the floor */
  talus_dvec3 normal; /* of the smallest gap */
  int count;          /* number of planes: one between convex bodies, one for each wall */
  plane planes[TL_NARROW_MAX_POINTS];
} view;

/* ---- bounds on motion ------------------------------------------------------------------------ */

static bool turns(const tl_mover *m) { return tl_ddot(m->path.spin, m->path.spin) > 0; }

static bool is_of_spheres(const tl_shape *shape) {
  return shape->kind == TALUS_SPHERE || shape->kind == TALUS_CLUMP;
}

static bool is_flat_wall(const tl_mover *m) {
  return (m->shape->kind == TALUS_PLANE || m->shape->kind == TALUS_CONTAINER) && !turns(m);
}

static bool is_convex(const tl_shape *shape) {
  return !tl_kind_is_wall(shape->kind) && shape->kind != TALUS_CLUMP && shape->kind != TALUS_MESH;
}

/* A flat wall touches a mesh only where it touches the hull of the mesh. */
static bound bound_of(const tl_advance *pair) {
  const tl_shape *a = pair->a.shape, *b = pair->b.shape;
  const bool wall_a = is_flat_wall(&pair->a), wall_b = is_flat_wall(&pair->b);
  if ((is_of_spheres(a) || wall_a) && (is_of_spheres(b) || wall_b))
    return BY_SPHERES;
  if ((a->kind == TALUS_MESH && wall_b) || (b->kind == TALUS_MESH && wall_a))
    return BY_SUPPORT;
  return (is_convex(a) || wall_a) && (is_convex(b) || wall_b) ? BY_SUPPORT : BY_SPEED;
}

/* Slightly more than the bounding radius, which is rounded to a float in the single build. */
static double radius_of(const tl_mover *m) {
  return (double)m->shape->radius * (double)m->scale * (1 + 4 * (double)TL_REAL_EPS);
}

/* Reach of a wall, which may be unbounded: as far as the other body comes. */
static double reach_of(const tl_advance *pair, const tl_mover *m, const tl_mover *other) {
  if (!turns(m) || m->shape->kind == TALUS_SPHERE)
    return 0;
  if (!tl_kind_is_wall(m->shape->kind))
    return radius_of(m);
  const talus_dvec3 apart = tl_dsub(other->path.position, m->path.position);
  const talus_dvec3 closing = tl_dsub(other->path.velocity, m->path.velocity);
  const talus_dvec3 pull = tl_dsub(other->path.acceleration, m->path.acceleration);
  return tl_dlength(apart) + radius_of(other) +
         pair->h * (tl_dlength(closing) + 0.5 * pair->h * tl_dlength(pull));
}

static job job_of(const tl_advance *pair) {
  const tl_path *a = &pair->a.path, *b = &pair->b.path;
  job j = {.pair = pair,
           .bound = bound_of(pair),
           .floor = pair->goes_on ? pair->floor - pair->fine : pair->floor,
           .reach_a = reach_of(pair, &pair->a, &pair->b),
           .reach_b = reach_of(pair, &pair->b, &pair->a),
           .closing = tl_dsub(b->velocity, a->velocity),
           .pull = tl_dsub(b->acceleration, a->acceleration)};
  j.bend_a = tl_ddot(a->spin, a->spin) * j.reach_a;
  j.bend_b = tl_ddot(b->spin, b->spin) * j.reach_b;
  return j;
}

static talus_dvec3 closing_at(const job *j, double t) {
  return tl_dadd(j->closing, tl_dscale(j->pull, t));
}

/* Largest speed (m/s) at which two points of the bodies can approach at time t. */
static double speed_at(const job *j, double t) {
  const tl_path *a = &j->pair->a.path, *b = &j->pair->b.path;
  return tl_dlength(closing_at(j, t)) + tl_dlength(a->spin) * j->reach_a +
         tl_dlength(b->spin) * j->reach_b;
}

static double motion_from(const job *j, double t, double length) {
  return length * (speed_at(j, t) + 0.5 * length * tl_dlength(j->pull));
}

/* Bound of the growth of the rate of the separation along a direction, m/s2. */
static double bend_along(const job *j, talus_dvec3 n) {
  return j->bend_a + j->bend_b + fmax(tl_ddot(n, j->pull), 0);
}

/* ---- the view at one time -------------------------------------------------------------------- */

static tl_posed pose_at(const tl_mover *m, double t) {
  tl_posed p = {.shape = m->shape, .scale = m->scale};
  p.position = tl_path_position(&m->path, t);
  const bool is_round = m->shape->kind == TALUS_SPHERE;
  p.rotation = tl_dquat_narrow(is_round ? m->path.rotation : tl_path_rotation(&m->path, t));
  return p;
}

/* Time for which the two spheres of a point stay above the floor. Their centres move like the point
 * as part of the bodies, except that rotation does not move them along the normal. */
static double sphere_time(const view *v, const tl_point *p, talus_dvec3 n) {
  const job *j = v->job;
  const talus_dvec3 arm_b = tl_dsub(p->point, v->b.position);
  const talus_dvec3 turning =
      tl_dsub(tl_dcross(j->pair->b.path.spin, arm_b), tl_dcross(j->pair->a.path.spin, p->point));
  const double rate = -tl_ddot(n, tl_dadd(closing_at(j, v->t), turning));
  const double bend = j->bend_a + j->bend_b + fmax(-tl_ddot(n, j->pull), 0);
  return tl_advance_from_one((double)p->gap - j->floor, rate, bend);
}

/* Adds the plane of a wall once: all of its points have its normal. */
static void take_plane(view *v, talus_dvec3 n, double middle, double gap) {
  const bool is_b = tl_kind_is_wall(v->job->pair->b.shape->kind);
  const double behind = is_b ? middle + 0.5 * gap : middle - 0.5 * gap;
  for (int i = 0; i < v->count; ++i)
    if (tl_ddot(v->planes[i].normal, n) > 1 - 1e-15) {
      v->planes[i].behind =
          is_b ? fmin(v->planes[i].behind, behind) : fmax(v->planes[i].behind, behind);
      return;
    }
  if (v->count < TL_NARROW_MAX_POINTS)
    v->planes[v->count++] = (plane){.normal = n, .behind = behind};
}

static void take_points(view *v, const tl_point *points, int count) {
  for (int i = 0; i < count; ++i) {
    const tl_point *p = &points[i];
    const talus_dvec3 wide = tl_widen(p->normal), n = tl_dscale(wide, 1 / tl_dlength(wide));
    const double gap = (double)p->gap;
    if (gap < v->gap)
      v->gap = gap, v->normal = n;
    if (v->job->bound == BY_SPHERES)
      v->safe = fmin(v->safe, sphere_time(v, p, n));
    if (v->job->bound == BY_SUPPORT)
      take_plane(v, n, tl_ddot(n, tl_dadd(v->origin, p->point)), gap);
  }
}

/* Tests all parts of one body with all of the other. If the table has b first, points are
 * swapped. */
static void look_at_clumps(view *v, talus_real margin) {
  const bool is_swapped = tl_narrow_swapped(v->a.shape->kind, v->b.shape->kind);
  tl_posed first = is_swapped ? v->b : v->a, second = is_swapped ? v->a : v->b;
  first.position = tl_dvec3(0, 0, 0);
  second.position = is_swapped ? tl_dscale(v->b.position, -1) : v->b.position;
  tl_clump_pair_job clumps;
  tl_clump_pair_begin(&first, &second, margin, &clumps);
  for (uint32_t i = 0; i < clumps.a.parts; ++i)
    for (uint32_t k = 0; k < clumps.b.parts; ++k) {
      tl_point points[TL_NARROW_MAX_POINTS];
      const int count = tl_clump_find(&clumps, i, k, points);
      for (int n = 0; is_swapped && n < count; ++n) {
        points[n].point = tl_dadd(points[n].point, v->b.position);
        points[n].normal = tl_neg(points[n].normal);
      }
      take_points(v, points, count);
    }
}

/* Finds what is nearer than `margin` at time t. */
static void look(const job *j, double t, double margin, view *v) {
  v->job = j, v->t = t;
  v->gap = v->safe = DBL_MAX;
  v->count = 0;
  v->a = pose_at(&j->pair->a, t), v->b = pose_at(&j->pair->b, t);
  v->origin = v->a.position;
  v->b.position = tl_dsub(v->b.position, v->origin);
  v->a.position = tl_dvec3(0, 0, 0);
  const talus_real near = TL_R(fmax(margin, 0)) * (1 + 4 * TL_REAL_EPS);
  if (tl_has_clump(v->a.shape->kind, v->b.shape->kind)) {
    look_at_clumps(v, near);
    return;
  }
  tl_point points[TL_NARROW_MAX_POINTS];
  const int count = tl_narrow_pair(&v->a, &v->b, near, points);
  take_points(v, points, count > 0 ? count : 0);
}

/* ---- how long a view is valid ---------------------------------------------------------------- */

/* Support of a convex body along n at time t, m. */
static double farthest(const tl_mover *m, double t, talus_dvec3 n) {
  const tl_posed p = pose_at(m, t);
  tl_convex c = {0};
  if (m->shape->kind == TALUS_MESH) {
    const tl_frame frame = tl_frame_from_quat(p.rotation);
    const talus_dvec3 local = tl_frame_to_local(&frame, n);
    double range[2];
    tl_facets_range(m->shape->facets, (double[3]){local.x, local.y, local.z}, range);
    return tl_ddot(n, p.position) + range[1] * (double)m->scale;
  }
  tl_posed_convex(&p, &c);
  return tl_ddot(n, tl_convex_support(&c, n)) + c.rounding;
}

/* Normal of a plane at time t. */
static talus_dvec3 normal_at(const view *v, const plane *p, double t) {
  const tl_advance *pair = v->job->pair;
  if (p->with == STILL || t == v->t)
    return p->normal;
  const talus_dvec3 spin = p->with == WITH_A ? pair->a.path.spin : pair->b.path.spin;
  return tl_dquat_rotate(tl_dquat_turn(spin, t - v->t), p->normal);
}

/* Separation of the bodies along the plane's normal at time t, m. */
static double separation(const view *v, const plane *p, double t) {
  const tl_advance *pair = v->job->pair;
  const talus_dvec3 n = normal_at(v, p, t), back = tl_dscale(n, -1);
  const bool wall_a = tl_kind_is_wall(pair->a.shape->kind);
  const bool wall_b = tl_kind_is_wall(pair->b.shape->kind);
  if (!wall_a && !wall_b)
    return -farthest(&pair->b, t, back) - farthest(&pair->a, t, n);
  const tl_path *wall = wall_b ? &pair->b.path : &pair->a.path;
  const talus_dvec3 moved = tl_dsub(tl_path_position(wall, t), tl_path_position(wall, v->t));
  const double behind = p->behind + tl_ddot(n, moved);
  return wall_b ? behind - farthest(&pair->a, t, n) : -farthest(&pair->b, t, back) - behind;
}

/* Bound, within `length`, of the change of the rate of the separation along a plane's normal,
 * m/s2. */
static double bend_of(const view *v, const plane *p, double length) {
  const job *j = v->job;
  const tl_advance *pair = j->pair;
  if (p->with == STILL)
    return bend_along(j, p->normal);
  const double pull = tl_dlength(j->pull), rate = tl_dlength(closing_at(j, v->t)) + length * pull;
  const talus_dvec3 a = pair->a.path.spin, b = pair->b.path.spin;
  return p->with == WITH_A
             ? tl_advance_bend_with(a, b, radius_of(&pair->b), v->b.position, rate, pull, length)
             : tl_advance_bend_with(b, a, radius_of(&pair->a), v->b.position, rate, pull, length);
}

/* Time for which a plane is proven to separate the bodies, at most `length`. */
static double plane_time(const view *v, const plane *p, double length) {
  const double floor = v->job->floor;
  const double room = separation(v, p, v->t) - floor;
  double best = 0;
  for (int i = 0; i < TRIES && best < length && room >= 0; ++i) {
    const double t = tl_advance_from_two(room, separation(v, p, v->t + length) - floor,
                                         bend_of(v, p, length), length);
    best = fmax(best, t);
    if (t >= 0.25 * length) /* a shorter interval would hardly give more */
      break;
    length = fmax(2 * best, length / 16);
  }
  return best;
}

/* If a face turns, a plane that turns with it separates the bodies for longer than a fixed one. */
static double turning_time(const view *v, double length) {
  const plane still = {.normal = v->normal};
  double best = plane_time(v, &still, length);
  for (int with = WITH_A; with <= WITH_B && best < length; ++with) {
    const plane p = {.normal = v->normal, .with = (holder)with};
    if (turns(with == WITH_A ? &v->job->pair->a : &v->job->pair->b))
      best = fmax(best, plane_time(v, &p, length));
  }
  return best;
}

static double support_time(view *v, double length) {
  const tl_advance *pair = v->job->pair;
  const bool has_wall =
      tl_kind_is_wall(pair->a.shape->kind) || tl_kind_is_wall(pair->b.shape->kind);
  if (!has_wall) /* one plane is enough */
    return turning_time(v, length);
  for (int i = 0; i < v->count && length > 0; ++i)
    length = plane_time(v, &v->planes[i], length);
  return length;
}

/* Time for which the view is proven to be valid, at most `length`. */
static double time_from(view *v, double length) {
  const job *j = v->job;
  if (v->gap == DBL_MAX)
    return length;
  if (j->bound == BY_SPHERES)
    return fmin(v->safe, length);
  const double by_speed =
      fmin(tl_advance_from_one(v->gap - j->floor, speed_at(j, v->t), tl_dlength(j->pull)), length);
  if (j->bound == BY_SPEED || by_speed >= length)
    return by_speed;
  return fmax(support_time(v, length), by_speed);
}

static bool is_supported(const tl_advance *pair) {
  return tl_narrow_capacity(pair->a.shape->kind, pair->b.shape->kind) > 0;
}

/* Follows surfaces only, from r->time on; true if they stay apart to the end. */
static bool follow_parts(const tl_advance *pair, tl_advanced *r) {
  const tl_parts_advanced p = tl_advance_parts(pair, r->time);
  r->looks += p.looks;
  r->time = p.time;
  if (p.least < r->least)
    r->least = p.least, r->least_at = p.least_at;
  if (pair->floor >= 0) {
    r->gap = fmax(p.least, 0);
    r->is_lost = p.is_lost;
  }
  return p.is_clear;
}

/* Takes one view and advances as far as it is valid; true: finished. */
static bool go_on(const tl_advance *pair, const job *j, tl_advanced *r, double *gap) {
  const double left = pair->h - r->time;
  view v;
  look(j, r->time, pair->floor + motion_from(j, r->time, left), &v);
  r->gap = *gap = v.gap;
  if (v.gap < r->least)
    r->least = v.gap, r->least_at = r->time;
  if (v.gap < pair->floor)
    return true;
  const double length = time_from(&v, left);
  if (!pair->goes_on && length < left && motion_from(j, r->time, length) < pair->fine) {
    r->is_clear = motion_from(j, r->time, left) < 2 * pair->fine;
    return true;
  }
  /* Advances by at least one last bit of the time. */
  r->time = length >= left ? pair->h : fmax(r->time + length, nextafter(r->time, DBL_MAX));
  return false;
}

tl_advanced tl_advance_pair(const tl_advance *pair) {
  tl_advanced r = {.least = DBL_MAX};
  if (!is_supported(pair) || !(pair->h > 0)) {
    r.time = pair->h, r.is_clear = true;
    return r;
  }
  const job j = job_of(pair);
  const bool has_parts = tl_advance_has_parts(pair);
  double gap = DBL_MAX; /* gap of the view before */
  int chases = 0;
  while (r.time < pair->h) {
    if (has_parts && gap > 4 * pair->fine && chases++ < CHASES) {
      r.is_clear = follow_parts(pair, &r);
      if (r.is_clear || pair->floor >= 0)
        return r;
    }
    if (r.looks++ >= TL_ADVANCE_MOST) {
      r.is_lost = true;
      return r;
    }
    if (go_on(pair, &j, &r, &gap))
      return r;
  }
  r.is_clear = true;
  return r;
}

double tl_advance_gap(const tl_advance *pair, double t, double margin) {
  if (!is_supported(pair))
    return DBL_MAX;
  if (margin > 0 && tl_advance_has_parts(pair)) {
    const double apart = tl_advance_parts_gap(pair, t, margin);
    if (apart > 0)
      return apart;
  }
  const job j = job_of(pair);
  view v;
  look(&j, t, margin, &v);
  return v.gap;
}

/* Keeps the nearest points. */
static int keep_nearest(tl_point *list, int count, int most, const tl_point *p) {
  if (count < most) {
    list[count] = *p;
    return count + 1;
  }
  int worst = 0;
  for (int i = 1; i < count; ++i)
    if (list[i].gap > list[worst].gap)
      worst = i;
  if (p->gap < list[worst].gap)
    list[worst] = *p;
  return count;
}

int tl_advance_points(const tl_advance *pair, double t, double margin, tl_point *out, int most) {
  tl_posed a = pose_at(&pair->a, t), b = pose_at(&pair->b, t);
  const talus_real near = TL_R(fmax(margin, 0));
  int kept = 0;
  b.position = tl_dsub(b.position, a.position);
  a.position = tl_dvec3(0, 0, 0);
  if (!tl_has_clump(a.shape->kind, b.shape->kind)) {
    tl_point points[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, near, points);
    for (int i = 0; i < count; ++i)
      kept = keep_nearest(out, kept, most, &points[i]);
    tl_sort_by_features(out, kept);
    return kept;
  }
  const bool is_swapped = tl_narrow_swapped(a.shape->kind, b.shape->kind);
  tl_posed first = is_swapped ? b : a, second = is_swapped ? a : b;
  first.position = tl_dvec3(0, 0, 0);
  second.position = is_swapped ? tl_dscale(b.position, -1) : b.position;
  tl_clump_pair_job clumps;
  tl_clump_pair_begin(&first, &second, near, &clumps);
  for (uint32_t i = 0; i < clumps.a.parts; ++i)
    for (uint32_t k = 0; k < clumps.b.parts; ++k) {
      tl_point points[TL_NARROW_MAX_POINTS];
      const int count = tl_clump_find(&clumps, i, k, points);
      if (is_swapped)
        tl_narrow_swap(points, count);
      for (int n = 0; n < count; ++n) {
        if (is_swapped)
          points[n].point = tl_dadd(points[n].point, b.position);
        kept = keep_nearest(out, kept, most, &points[n]);
      }
    }
  tl_sort_by_features(out, kept);
  return kept;
}

double tl_advance_motion(const tl_advance *pair, double t) {
  const job j = job_of(pair);
  return motion_from(&j, 0, t);
}
