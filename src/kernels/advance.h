/* Kernels: for how long two places stay apart, from bounds on their motion (docs/theory/time.md).
 *
 * Conservative advancement (Mirtich 1996): what is apart by `room` stays apart for as long as the
 * motion takes to use that up. Nothing is linearised: the bounds hold for turning bodies. */
#ifndef TL_KERNELS_ADVANCE_H
#define TL_KERNELS_ADVANCE_H

#include "kernels/real.h"
#include "kernels/vec3.h"

/* The time until which room - rate t - bend t^2 / 2 >= 0 holds, with bend >= 0: a bound from one
 * moment. DBL_MAX: for ever. */
TL_FN double tl_advance_from_one(double room, double rate, double bend) {
  if (!(room >= 0))
    return 0;
  const double root = sqrt(rate * rate + 2 * bend * room);
  if (rate > 0)
    return 2 * room / (rate + root);
  return bend > 0 ? (root - rate) / bend : DBL_MAX;
}

/* A bound from both ends of an interval of length h. The separation s along a fixed direction is
 * room at its begin and room_after at its end, and its second derivative is at most `bend`, so
 *
 *   s(t) >= room + (room_after - room) t/h - bend t (h - t) / 2.
 *
 * Returns until when that is not negative: h where it never is. */
TL_FN double tl_advance_from_two(double room, double room_after, double bend, double h) {
  if (!(room >= 0))
    return 0;
  const double slope = (room_after - room) / h - 0.5 * bend * h;
  const double under = slope * slope - 2 * bend * room;
  if (slope >= 0 || under < 0)
    return h;
  const double t = 2 * room / (sqrt(under) - slope);
  return t < h ? t : h;
}

/* A plane that turns with a body M, spin w, and the places of another body O, spin w_o, within
 * `reach` of its centre, as M sees them: how much the rate of their distance from the plane can
 * change, m/s2. u: of the centres from each other at the begin, m; rate: how fast they part or
 * close, at most, m/s; pull: relative acceleration, m/s2. With d = w_o - w the second derivative in
 * the axes of M is
 *
 *   u" - 2 w x u' + w x (w x u) + d x (d x s) + (d x w) x s,   |s| <= reach. */
TL_FN double tl_advance_bend_with(talus_dvec3 w, talus_dvec3 w_o, double reach, talus_dvec3 u,
                                  double rate, double pull, double length) {
  const talus_dvec3 d = tl_dsub(w_o, w);
  const double spin = tl_dlength(w), far = tl_dlength(u) + length * rate;
  return pull + 2 * spin * rate + spin * spin * far +
         (tl_ddot(d, d) + tl_dlength(tl_dcross(d, w))) * reach;
}

#endif
