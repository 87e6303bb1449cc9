/* Kernels: hard spheres: when two of them, or a sphere and a wall, touch, and how the impact
 * changes their velocities.
 *
 * Everything is in double, also where talus_real is float, because an event sums up many flights.
 * Times are counted from now; INFINITY: never.
 *
 * Rounding leaves overlaps of a last bit. The rule for them is that of Bannerman, Strobl, Formella
 * and Poeschel (2014): spheres that overlap and approach touch NOW, spheres that overlap and part
 * do not touch. It needs no tolerance, and overlaps do not grow. */
#ifndef TL_KERNELS_ELASTIC_H
#define TL_KERNELS_ELASTIC_H

#include "kernels/vec3.h"

/* The time at which two spheres touch: b is at d from a and moves with u relative to it; `reach` is
 * the sum of their radii. */
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

/* The time at which a gap that changes with `speed` (m/s, opening) and `pull` (m/s2) is closed and
 * still closing. A ball that lies on a wall and is pulled against it would touch all the time: it
 * falls for `fall_time` before it touches again. */
TL_FN double tl_elastic_fall(double gap, double speed, double pull, double fall_time) {
  if (gap <= 0) {
    if (speed < 0)
      return 0;
    if (!(pull < 0))
      return INFINITY;
    if (gap - speed * speed / (2 * pull) <= 0) /* it does not leave the wall */
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

/* The speed after an impact with the speed `approach`. If restitution is below 1, impacts slower
 * than `slowest` lose nothing, and faster ones part with at least that speed: otherwise infinitely
 * many impacts can happen in a finite time. */
TL_FN double tl_elastic_rebound(double approach, double restitution, double slowest) {
  if (restitution >= 1)
    return approach;
  return fmax(restitution * approach, fmin(approach, slowest));
}

#endif
