/* Kernels: how far the end, or the side, of a capsule or a cylinder is from a plane, a line or
 * another of them. The manifold of patch.h measures gaps along one normal, which is exact at the
 * deepest place and not at the others, where the surfaces look elsewhere: of two cylinders that
 * cross the ends are farther than the curvature of both together says, over a slant edge a capsule
 * is nearer. */
#ifndef TL_KERNELS_TUBE_H
#define TL_KERNELS_TUBE_H

#include "kernels/collide.h"

/* One end of a capsule or a cylinder and the axis that begins there; at the end is a ball (capsule)
 * or a disc (cylinder). */
typedef struct tl_tube {
  talus_dvec3 at, axis; /* axis: unit, from `at` to the other end */
  double length;        /* m, of the axis */
  double radius;        /* m; 0: a sharp edge */
  bool ball;
} tl_tube;

/* v without its part along the unit vector a. */
TL_FN talus_dvec3 tl_dacross(talus_dvec3 v, talus_dvec3 a) {
  return tl_dsub(v, tl_dscale(a, tl_ddot(v, a)));
}

/* The distance of the end from the plane through `on` with the unit normal m; the end is in front
 * of it. */
TL_FN double tl_tube_end_to_plane(const tl_tube *t, talus_dvec3 on, talus_dvec3 m) {
  const double above = tl_ddot(tl_dsub(t->at, on), m);
  return above - (t->ball ? t->radius : t->radius * tl_dlength(tl_dacross(m, t->axis)));
}

/* The square of how far a circle about 0 + c, spanned by p and q, is from 0 at an angle near 0
 * where it is least: Newton from there. */
TL_FN double tl_circle_least(talus_dvec3 c, talus_dvec3 p, talus_dvec3 q) {
  double angle = 0, least = 0;
  for (int round = 0; round < 5; ++round) {
    const double cs = tl_cos_d(angle), sn = tl_sin_d(angle);
    const talus_dvec3 out = tl_dadd(tl_dscale(p, cs), tl_dscale(q, sn));
    const talus_dvec3 along = tl_dadd(tl_dscale(p, -sn), tl_dscale(q, cs));
    const talus_dvec3 x = tl_dadd(c, out);
    const double now = tl_ddot(x, x);
    if (round > 0 && !(now < least))
      break;
    least = now;
    const double slope = tl_ddot(x, along), curve = tl_ddot(along, along) - tl_ddot(x, out);
    if (!(curve > 0))
      break;
    const double turn = slope / curve;
    angle -= turn > 0.5 ? 0.5 : turn < -0.5 ? -0.5 : turn;
  }
  return least;
}

/* The distance of the end of t from s. If that end is a disc, s counts as endless, which can only
 * make the distance less. */
TL_FN double tl_tube_end_to_side(const tl_tube *t, const tl_tube *s) {
  const talus_dvec3 d = tl_dsub(t->at, s->at), c = tl_dacross(d, s->axis);
  const double away = tl_dlength(c), along = tl_ddot(d, s->axis);
  const double beyond = fmax(fmax(-along, along - s->length), 0.0);
  if (t->ball && s->ball)
    return sqrt(away * away + beyond * beyond) - t->radius - s->radius;
  if (t->ball) {
    const double out = beyond > 0 ? fmax(away - s->radius, 0.0) : away - s->radius;
    return (beyond > 0 ? sqrt(out * out + beyond * beyond) : out) - t->radius;
  }
  talus_dvec3 p = tl_dacross(tl_dscale(c, -1), t->axis);
  const double flat = tl_dlength(p);
  if (!(flat > 1e-9 * away)) /* the disc faces the line */
    return away - s->radius;
  p = tl_dscale(p, t->radius / flat);
  const talus_dvec3 q = tl_dcross(t->axis, p);
  return sqrt(tl_circle_least(c, tl_dacross(p, s->axis), tl_dacross(q, s->axis))) - s->radius;
}

TL_FN double tl_tube_within(const tl_tube *t, double s) {
  return s < 0 ? 0 : s > t->length ? t->length : s;
}

/* The distance of two sides, from that of the segments of their axes. */
TL_FN double tl_tube_side_to_side(const tl_tube *t, const tl_tube *s) {
  const talus_dvec3 d = tl_dsub(s->at, t->at);
  const double c = tl_ddot(t->axis, s->axis), det = 1 - c * c;
  const double along_t = tl_ddot(d, t->axis), along_s = tl_ddot(d, s->axis);
  double x = tl_tube_within(t, det > 1e-14 ? (along_t - c * along_s) / det : 0);
  const double y = tl_tube_within(s, c * x - along_s);
  x = tl_tube_within(t, c * y + along_t);
  const talus_dvec3 apart = tl_dadd(d, tl_dsub(tl_dscale(s->axis, y), tl_dscale(t->axis, x)));
  return tl_dlength(apart) - t->radius - s->radius;
}

#endif
