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
 * wall and is pulled against it would touch for ever: it is let fall for `fall_time` before it
 * does. */
TL_FN double tl_elastic_fall(double gap, double speed, double pull, double fall_time) {
  if (gap <= 0) {
    if (speed < 0)
      return 0;
    if (!(pull < 0))
      return INFINITY;
    if (gap - speed * speed / (2 * pull) <= 0) /* it does not come off */
      return speed / -pull + fall_time;
    return (speed + sqrt(speed * speed - 2 * pull * gap)) / -pull;
  }
  if (pull == 0)
    return speed < 0 ? gap / -speed : INFINITY;
  const double square = speed * speed - 2 * pull * gap;
  if (speed > 0)
    return pull < 0 ? (speed + sqrt(square)) / -pull : INFINITY;
  return square > 0 ? 2 * gap / (sqrt(square) - speed) : INFINITY;
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
