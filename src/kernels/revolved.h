/* Kernels: a wall that is a polyline turned about the z axis, and balls that touch it.
 *
 * The wall is thin: points [z, radius] in its own frame, straight between them, open at both ends.
 * A place x is (rho, z) in its meridian plane, and everything is plane geometry there: segments
 * (cones, tubes, plates) and corners (circles). One rule decides what a ball touches:
 *
 *  - Sides. With `side` 0 both sides are touched, each from where the centre is. Otherwise bodies
 *    are on one side: left of the way along the profile (+1) or right of it (-1). A centre that
 *    got behind the wall is pushed back while it is no deeper than `behind`; beyond that the wall
 *    does not touch it.
 *  - Segments. Each segment whose foot is within it makes one contact. At a corner that does not
 *    stick out towards the ball, a segment goes on behind its neighbour: such a ball could not
 *    come near the part that is not there without crossing the neighbour first, and one pressed
 *    into the one still stands squarely on the other.
 *  - Corners. Where a corner sticks out towards the ball, or the wall ends, the circle is touched:
 *    the normal is the line from the nearest place of the circle to the centre.
 *  - Around. In a throat not much wider than itself a ball touches more than one place of the
 *    circle: places a third of a turn away from the nearest one are contacts where they are near
 *    enough. The inside of a cone is convex, so these planes cut nothing off.
 *
 * Features: 2 j for corner j, 2 k + 1 for the segment from point k to k + 1; TL_REVOLVED_TURN more
 * for each third of a turn. Normals are analytic: those of the
 * published code are tilted by 1.4 degrees in azimuth (docs/sources.md F5). */
#ifndef TL_KERNELS_REVOLVED_H
#define TL_KERNELS_REVOLVED_H

#include "kernels/collide.h"

#define TL_REVOLVED_TURN 0x1000000u
#define TL_REVOLVED_MAX  24 /* contacts of one ball: the nearest */

typedef struct tl_revolved {
  const double *profile; /* z, radius of each point, at scale 1 */
  uint32_t count;        /* of points */
  double scale;
  double side; /* +1: bodies are left of the way along the profile, -1: right, 0: both */
} tl_revolved;

/* A place of the wall near a ball, and the distance of the ball's centre from it, negative
 * behind. */
typedef struct tl_wall_place {
  double distance;
  talus_dvec3 away; /* unit, from the wall to the centre, in the wall's frame */
  uint32_t feature;
} tl_wall_place;

typedef struct tl_wall_places {
  tl_wall_place place[TL_REVOLVED_MAX];
  int count;
} tl_wall_places;

/* In the meridian plane. */
typedef struct tl_meridian {
  double r, z;
} tl_meridian;

TL_FN tl_meridian tl_meridian_of(double r, double z) {
  tl_meridian m;
  m.r = r, m.z = z;
  return m;
}

TL_FN double tl_meridian_dot(tl_meridian a, tl_meridian b) { return a.r * b.r + a.z * b.z; }

TL_FN tl_meridian tl_revolved_point(const tl_revolved *wall, uint32_t i) {
  return tl_meridian_of(wall->scale * wall->profile[2 * i + 1], wall->scale * wall->profile[2 * i]);
}

/* Whether the last point is the first: a ring without ends. */
TL_FN bool tl_revolved_is_closed(const tl_revolved *wall) {
  const double *first = wall->profile, *last = wall->profile + 2 * (wall->count - 1);
  return first[0] == last[0] && first[1] == last[1];
}

/* One segment, and where a place is relative to it. */
typedef struct tl_wall_segment {
  tl_meridian from;   /* its first point */
  tl_meridian along;  /* unit */
  tl_meridian normal; /* unit: to the side where bodies are, or (both sides) where the place is */
  double left;        /* +1 where that is left of the way, -1 where it is right */
  double length;
  double s;     /* of the place, along it */
  double d;     /* of the place, along the normal */
  double near2; /* square of the distance of the nearest place within the segment */
} tl_wall_segment;

TL_FN tl_wall_segment tl_wall_segment_at(const tl_revolved *wall, uint32_t k, tl_meridian c) {
  const tl_meridian p = tl_revolved_point(wall, k), q = tl_revolved_point(wall, k + 1);
  const double dr = q.r - p.r, dz = q.z - p.z, length = sqrt(dr * dr + dz * dz);
  const tl_meridian to = tl_meridian_of(c.r - p.r, c.z - p.z);
  tl_wall_segment g;
  g.from = p;
  g.length = length;
  g.along = tl_meridian_of(dr / length, dz / length);
  g.normal = tl_meridian_of(-g.along.z, g.along.r);
  g.s = tl_meridian_dot(to, g.along);
  g.d = tl_meridian_dot(to, g.normal);
  g.left = wall->side < 0 || (wall->side == 0 && g.d < 0) ? -1 : 1;
  g.normal = tl_meridian_of(g.left * g.normal.r, g.left * g.normal.z), g.d *= g.left;
  const double beyond = g.s < 0 ? g.s : g.s > length ? g.s - length : 0;
  g.near2 = g.d * g.d + beyond * beyond;
  return g;
}

/* Segments before and after corner j; UINT32_MAX where the wall ends. */
TL_FN void tl_wall_corner_segments(const tl_revolved *wall, uint32_t j, uint32_t next[2]) {
  const uint32_t last = wall->count - 1;
  const bool closed = tl_revolved_is_closed(wall);
  next[0] = j > 0 ? j - 1 : closed ? last - 1 : UINT32_MAX;
  next[1] = j < last ? j : closed ? 0 : UINT32_MAX;
}

/* Whether corner j sticks out to the left (+1) or right (-1) of the way; c: the place that looks.
 * Ends do, but on the axis, where the wall goes on as its own mirror image. */
TL_FN bool tl_wall_sticks_out(const tl_revolved *wall, uint32_t j, double left, tl_meridian c) {
  uint32_t next[2];
  tl_wall_corner_segments(wall, j, next);
  const bool ends = next[0] == UINT32_MAX || next[1] == UINT32_MAX;
  const tl_wall_segment a = tl_wall_segment_at(wall, next[0] == UINT32_MAX ? next[1] : next[0], c);
  if (ends) {
    const tl_meridian p = tl_revolved_point(wall, j);
    return p.r > 0 || wall->side == 0 ||
           tl_meridian_dot(a.normal, tl_meridian_of(c.r - p.r, c.z - p.z)) > 0;
  }
  const tl_wall_segment b = tl_wall_segment_at(wall, next[1], c);
  /* Left normals open where the way turns right. */
  return left * (a.along.r * b.along.z - a.along.z * b.along.r) < 0;
}

TL_FN void tl_wall_add(tl_wall_places *list, double distance, talus_dvec3 away, uint32_t feature) {
  int at = list->count;
  if (at == TL_REVOLVED_MAX) { /* the farthest makes room, the first of equals stays */
    at = 0;
    for (int i = 1; i < TL_REVOLVED_MAX; ++i)
      if (list->place[i].distance >= list->place[at].distance)
        at = i;
    if (!(distance < list->place[at].distance))
      return;
  } else {
    list->count++;
  }
  list->place[at].distance = distance;
  list->place[at].away = away;
  list->place[at].feature = feature;
}

/* The place as the wall sees it. */
typedef struct tl_wall_view {
  tl_meridian c;
  double cs, sn; /* of its azimuth; a place on the axis looks along x */
  double reach;  /* contacts are no farther than this */
} tl_wall_view;

TL_FN tl_wall_view tl_wall_view_of(talus_dvec3 x, double reach) {
  const double rho = sqrt(x.x * x.x + x.y * x.y);
  tl_wall_view v;
  v.c = tl_meridian_of(rho, x.z);
  v.cs = rho > 0 ? x.x / rho : 1, v.sn = rho > 0 ? x.y / rho : 0;
  v.reach = reach;
  return v;
}

/* cosine and sine of a third of a turn, to either side */
#define TL_THIRD_COS (-0.5)
#define TL_THIRD_SIN 0.86602540378443864676

/* A segment's tangent planes that face the axis, at azimuth of the place and a third of a turn to
 * either side. */
TL_FN void tl_wall_add_segment(const tl_wall_view *v, const tl_wall_segment *g, uint32_t k,
                               tl_wall_places *list) {
  const tl_meridian n = g->normal;
  tl_wall_add(list, g->d, tl_dvec3(n.r * v->cs, n.r * v->sn, n.z), 2 * k + 1);
  const double inwards = (1 - TL_THIRD_COS) * v->c.r, far = g->d - n.r * inwards;
  if (!(n.r < 0) || !(far <= v->reach))
    return;
  const double s = g->s - g->along.r * inwards;
  if (s < 0 || s > g->length)
    return;
  for (uint32_t turn = 1; turn <= 2; ++turn) {
    const double sine = turn == 1 ? TL_THIRD_SIN : -TL_THIRD_SIN;
    const double cs = v->cs * TL_THIRD_COS - v->sn * sine, sn = v->sn * TL_THIRD_COS + v->cs * sine;
    tl_wall_add(list, far, tl_dvec3(n.r * cs, n.r * sn, n.z), 2 * k + 1 + turn * TL_REVOLVED_TURN);
  }
}

/* A circle that sticks out; from within it also a third of a turn away. `fallback`: the direction
 * of a place on the circle itself. */
TL_FN void tl_wall_add_corner(const tl_wall_view *v, tl_meridian p, uint32_t j,
                              tl_meridian fallback, tl_wall_places *list) {
  const double dr = v->c.r - p.r, dz = v->c.z - p.z, distance = sqrt(dr * dr + dz * dz);
  const tl_meridian n =
      distance > DBL_MIN ? tl_meridian_of(dr / distance, dz / distance) : fallback;
  tl_wall_add(list, distance, tl_dvec3(n.r * v->cs, n.r * v->sn, n.z), 2 * j);
  /* |c - P|^2 a third of a turn away */
  const double far2 = distance * distance + 2 * (1 - TL_THIRD_COS) * v->c.r * p.r;
  if (!(dr < 0) || !(far2 <= v->reach * v->reach))
    return;
  const double far = sqrt(far2);
  for (uint32_t turn = 1; turn <= 2; ++turn) {
    const double sine = turn == 1 ? TL_THIRD_SIN : -TL_THIRD_SIN;
    const double cs = v->cs * TL_THIRD_COS - v->sn * sine, sn = v->sn * TL_THIRD_COS + v->cs * sine;
    tl_wall_add(
        list, far,
        tl_dvec3((v->c.r * v->cs - p.r * cs) / far, (v->c.r * v->sn - p.r * sn) / far, dz / far),
        2 * j + turn * TL_REVOLVED_TURN);
  }
}

/* The segment with the nearest place, and whether the centre is behind the wall there. */
TL_FN uint32_t tl_wall_nearest(const tl_revolved *wall, tl_meridian c, double *near2,
                               bool *behind) {
  uint32_t nearest = 0;
  tl_wall_segment best = tl_wall_segment_at(wall, 0, c);
  for (uint32_t k = 1; k + 1 < wall->count; ++k) {
    const tl_wall_segment g = tl_wall_segment_at(wall, k, c);
    if (g.near2 < best.near2)
      best = g, nearest = k;
  }
  *near2 = best.near2;
  if (wall->side == 0)
    *behind = false;
  else if (best.s >= 0 && best.s <= best.length)
    *behind = best.d < 0;
  else
    *behind = !tl_wall_sticks_out(wall, best.s < 0 ? nearest : nearest + 1, wall->side, c);
  return nearest;
}

/* Whether a segment touches whose foot is beyond one of its ends: where the corner there does not
 * stick out, and the neighbour is between the place and the foot, or the place behind it. */
TL_FN bool tl_wall_goes_on(const tl_revolved *wall, const tl_wall_segment *g, uint32_t k,
                           tl_meridian c, bool is_behind) {
  uint32_t next[2];
  const uint32_t j = g->s < 0 ? k : k + 1;
  tl_wall_corner_segments(wall, j, next);
  if (next[0] == UINT32_MAX || next[1] == UINT32_MAX || tl_wall_sticks_out(wall, j, g->left, c))
    return false;
  const int side = g->s < 0 ? 0 : 1;
  const tl_wall_segment other = tl_wall_segment_at(wall, next[side], c);
  if (other.d < 0) /* unless it is past the neighbour's own end */
    return is_behind && (side == 0 ? other.s >= 0 : other.s <= other.length);
  if (other.left != g->left)
    return false;
  /* The line to the foot must go through the neighbour; otherwise the neighbour is not in the
   * way. */
  const tl_meridian foot = tl_meridian_of(c.r - g->d * g->normal.r, c.z - g->d * g->normal.z);
  const tl_meridian to = tl_meridian_of(foot.r - other.from.r, foot.z - other.from.z);
  const double below = tl_meridian_dot(to, other.normal), s = tl_meridian_dot(to, other.along);
  if (!(below < other.d))
    return false;
  const double at = other.s + (s - other.s) * other.d / (other.d - below);
  return at >= 0 && at <= other.length;
}

TL_FN bool tl_wall_touches_segment(const tl_revolved *wall, const tl_wall_segment *g, uint32_t k,
                                   tl_meridian c, double reach, double behind) {
  if (!(g->d <= reach) || g->d < -behind)
    return false;
  if (g->s >= 0 && g->s <= g->length)
    return g->d >= 0;
  return g->near2 <= reach * reach && tl_wall_goes_on(wall, g, k, c, behind > 0);
}

/* Tries corner j, if both neighbouring segments end before the place. */
TL_FN void tl_wall_try_corner(const tl_revolved *wall, const tl_wall_view *v, uint32_t j,
                              tl_wall_places *list) {
  const tl_meridian p = tl_revolved_point(wall, j), c = v->c;
  const double dr = c.r - p.r, dz = c.z - p.z;
  if (!(dr * dr + dz * dz <= v->reach * v->reach))
    return;
  uint32_t next[2];
  tl_meridian sum = tl_meridian_of(0, 0);
  tl_wall_corner_segments(wall, j, next);
  for (int side = 0; side < 2; ++side) {
    if (next[side] == UINT32_MAX)
      continue;
    const tl_wall_segment g = tl_wall_segment_at(wall, next[side], c);
    if (side == 0 ? g.s <= g.length : g.s >= 0)
      return;
    sum = tl_meridian_of(sum.r + g.normal.r, sum.z + g.normal.z);
  }
  if (wall->side != 0 && !tl_wall_sticks_out(wall, j, wall->side, c))
    return;
  const double length = sqrt(tl_meridian_dot(sum, sum));
  tl_wall_add_corner(
      v, p, j, length > 0 ? tl_meridian_of(sum.r / length, sum.z / length) : tl_meridian_of(0, 1),
      list);
}

/* Where the line from x to y first goes through segment k of the wall: its share in [0, 1], or 2 if
 * it does not. In the meridian plane the segment is n.(rho, z) = h, so rho^2 n_r^2 = (h - n_z z)^2
 * on the cone through it. */
TL_FN double tl_wall_crossing(const tl_revolved *wall, uint32_t k, talus_dvec3 x, talus_dvec3 y) {
  const tl_wall_segment g = tl_wall_segment_at(wall, k, tl_meridian_of(0, 0));
  const talus_dvec3 d = tl_dsub(y, x);
  const double nr = g.normal.r, nz = g.normal.z, h = tl_meridian_dot(g.from, g.normal);
  const double e = h - nz * x.z, f = -nz * d.z; /* the right side's root is e + f t */
  const double a = nr * nr * (d.x * d.x + d.y * d.y) - f * f;
  const double b = nr * nr * (x.x * d.x + x.y * d.y) - e * f;
  const double c = nr * nr * (x.x * x.x + x.y * x.y) - e * e;
  double t[2] = {2, 2};
  if (fabs(nr) < 1e-9) { /* a plate: the root is double */
    t[0] = f != 0 ? -e / f : 2;
  } else if (fabs(a) < 1e-30) {
    t[0] = b != 0 ? -0.5 * c / b : 2;
  } else if (b * b >= a * c) {
    const double root = sqrt(b * b - a * c), q = b > 0 ? -b - root : -b + root;
    t[0] = q / a, t[1] = q != 0 ? c / q : 2;
  }
  double first = 2;
  for (int i = 0; i < 2; ++i) {
    if (!(t[i] >= 0 && t[i] <= 1 && t[i] < first))
      continue;
    const double px = x.x + t[i] * d.x, py = x.y + t[i] * d.y, pz = x.z + t[i] * d.z;
    const tl_meridian to = tl_meridian_of(sqrt(px * px + py * py) - g.from.r, pz - g.from.z);
    const double s = tl_meridian_dot(to, g.along);
    /* The other branch of the cone is as far from the segment as its apex. */
    if (s >= 0 && s <= g.length &&
        fabs(tl_meridian_dot(to, g.normal)) <= 1e-6 * (g.length + fabs(g.from.r)))
      first = t[i];
  }
  return first;
}

/* The same for the whole wall. */
TL_FN double tl_revolved_crossing(const tl_revolved *wall, talus_dvec3 x, talus_dvec3 y) {
  double first = 2;
  for (uint32_t k = 0; k + 1 < wall->count; ++k) {
    const double t = tl_wall_crossing(wall, k, x, y);
    first = t < first ? t : first;
  }
  return first;
}

/* All places of the wall near a centre at x (in the wall's frame, m): no farther than `reach`, no
 * deeper than `behind`. Behind the wall the nearest segment counts, and those that continue behind
 * it. */
TL_FN void tl_revolved_places(const tl_revolved *wall, talus_dvec3 x, double reach, double behind,
                              tl_wall_places *list) {
  const tl_wall_view v = tl_wall_view_of(x, reach);
  const uint32_t last = wall->count - 1;
  double near2;
  bool is_behind;
  list->count = 0;
  const uint32_t nearest = tl_wall_nearest(wall, v.c, &near2, &is_behind);
  const double limit = is_behind ? behind : reach;
  if (!(near2 <= limit * limit))
    return;
  for (uint32_t k = 0; k < last; ++k) {
    const tl_wall_segment g = tl_wall_segment_at(wall, k, v.c);
    if ((is_behind && k == nearest) ||
        tl_wall_touches_segment(wall, &g, k, v.c, reach, is_behind ? behind : 0))
      tl_wall_add_segment(&v, &g, k, list);
  }
  const uint32_t corners = tl_revolved_is_closed(wall) ? last : last + 1;
  for (uint32_t j = 0; j < corners; ++j)
    tl_wall_try_corner(wall, &v, j, list);
}

#endif
