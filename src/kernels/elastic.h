/* Kernels: hard spheres. When two of them, or one and a wall, come to touch, and what that does.
 *
 * All of it in double, whatever the build's real is: a sum of many flights is what an event is
 * about. Times are from now; INFINITY: never.
 *
 * Rounding leaves overlaps of a last bit. They are met as in Bannerman, Strobl, Formella and
 * Poeschel (2014): what overlaps and comes nearer touches NOW, what overlaps and parts does not
 * touch; no tolerance is needed, and overlaps do not grow. */
#ifndef TL_KERNELS_ELASTIC_H
#define TL_KERNELS_ELASTIC_H

#include "kernels/vec3.h"

/* Two spheres, b at d from a and moving with u against it, `reach` the sum of their radii. */
TL_FN double tl_elastic_meet(talus_dvec3 d, talus_dvec3 u, double reach) {
  const double approach = -tl_ddot(d, u);
  if (!(approach > 0))
    return INFINITY;
  const double beyond = tl_ddot(d, d) - reach * reach;
  if (beyond <= 0)
    return 0;
  const double square = approach * approach - tl_ddot(u, u) * beyond;
  return square >= 0 ? beyond / (approach + sqrt(square)) : INFINITY;
}

/* A gap that opens with `speed` and `pull` (m/s2): when it is closed and closing. What lies on a
 * wall and is pulled against it would touch for ever: it is let fall for `rest` before it does. */
TL_FN double tl_elastic_fall(double gap, double speed, double pull, double rest) {
  if (gap <= 0) {
    if (speed < 0)
      return 0;
    if (!(pull < 0))
      return INFINITY;
    if (gap - speed * speed / (2 * pull) <= 0) /* it does not come off */
      return speed / -pull + rest;
    return (speed + sqrt(speed * speed - 2 * pull * gap)) / -pull;
  }
  if (pull == 0)
    return speed < 0 ? gap / -speed : INFINITY;
  const double square = speed * speed - 2 * pull * gap;
  if (speed > 0)
    return pull < 0 ? (speed + sqrt(square)) / -pull : INFINITY;
  return square > 0 ? 2 * gap / (sqrt(square) - speed) : INFINITY;
}

/* A sphere against a ball that does not fall with it: d + t v + t^2 a / 2 is where its centre is,
 * seen from the ball's; the first moment within `most` at which it is `reach` long and gets
 * shorter. By steps that cannot go too far: no speed is above |v| + |a| most. Where those do not
 * come to an end (it hardly grazes) it is told to look there again. */
TL_FN double tl_elastic_meet_falling(talus_dvec3 d, talus_dvec3 v, talus_dvec3 a, double reach,
                                     double most, double rest) {
  const double pull = tl_dlength(a);
  double t = 0;
  for (int turn = 0; turn < 64; ++turn) {
    const talus_dvec3 x = tl_dadd(d, tl_dadd(tl_dscale(v, t), tl_dscale(a, 0.5 * t * t)));
    const talus_dvec3 u = tl_dadd(v, tl_dscale(a, t));
    const double far = tl_dlength(x), gap = far - reach, towards = tl_ddot(x, u);
    if (gap <= 1e-14 * reach && towards < 0)
      return t;
    const double fastest = tl_dlength(u) + pull * (most - t);
    double step = gap > 0 ? gap / fastest : 0;
    if (gap <= 1e-14 * reach) /* it parts: until it may come nearer again */
      step = towards / (fastest * fastest + far * pull) + (turn > 0 ? rest : 0);
    t += fmax(step, 1e-16 * most);
    if (!(t < most))
      return INFINITY;
  }
  return t;
}

/* The speed at which two part that came nearer with `approach`. Where restitution is below 1,
 * impacts slower than `slowest` lose nothing, and faster ones part with that at least: otherwise
 * infinitely many impacts can happen in a finite time. */
TL_FN double tl_elastic_rebound(double approach, double restitution, double slowest) {
  if (restitution >= 1)
    return approach;
  return fmax(restitution * approach, fmin(approach, slowest));
}

#endif
