/* Kernels: the path of one body within a step (docs/theory/time.md).
 *
 * A step computes poses at its two ends. What the body does between them is stated here, once, for
 * stepping, sweeping and audits alike: the centre of mass goes along a straight line at constant
 * speed, or along a parabola where the body flies (adaptive steps), and the body turns about a
 * fixed axis at a constant rate. */
#ifndef TL_KERNELS_PATH_H
#define TL_KERNELS_PATH_H

#include "kernels/motion.h"

typedef struct tl_path {
  talus_dvec3 position;     /* at the begin, m */
  talus_dvec3 velocity;     /* at the begin, m/s */
  talus_dvec3 acceleration; /* constant, m/s2; 0: a straight line */
  tl_dquat rotation;        /* at the begin */
  talus_dvec3 spin;         /* constant, rad/s */
} tl_path;

/* The spin that turns `from` into `to` within h. Of all such spins it is the one nearest to
 * `about`; the body may turn by more than half a turn. */
TL_FN talus_dvec3 tl_path_spin(tl_dquat from, tl_dquat to, talus_dvec3 about, double h) {
  const talus_dvec3 turn = tl_dquat_between(from, to); /* rad, at most half a turn */
  const double angle = tl_dlength(turn), whole = 2 * TL_PI;
  const double rate = tl_dlength(about);
  if (!(rate * h > 3)) /* rad: the number of whole turns is certainly 0 */
    return tl_dscale(turn, 1 / h);
  const talus_dvec3 axis = angle > 1e-6 ? tl_dscale(turn, 1 / angle) : tl_dscale(about, 1 / rate);
  const double turns = floor((h * tl_ddot(about, axis) - angle) / whole + 0.5);
  return tl_dscale(axis, (angle + whole * turns) / h);
}

TL_FN talus_dvec3 tl_path_position(const tl_path *path, double t) {
  const talus_dvec3 v = tl_dadd(path->velocity, tl_dscale(path->acceleration, 0.5 * t));
  return tl_dadd(path->position, tl_dscale(v, t));
}

TL_FN tl_dquat tl_path_rotation(const tl_path *path, double t) {
  return tl_dquat_normalize(tl_dquat_mul(tl_dquat_turn(path->spin, t), path->rotation));
}

/* Makes the straight line of a step of length h the parabola with the same ends on which the
 * velocity changes by `gain`, m/s. */
TL_FN void tl_path_fly(tl_path *path, talus_dvec3 gain, double h) {
  path->velocity = tl_dsub(path->velocity, tl_dscale(gain, 0.5));
  path->acceleration = tl_dscale(gain, 1 / h);
}

/* The largest distance, m, between the path and its chord within a piece of length t: the
 * acceleration bends the path of the centre, and turning that of a place at the distance `reach`
 * from it. */
TL_FN double tl_path_bulge(const tl_path *path, double reach, double t) {
  const double rate2 = tl_ddot(path->spin, path->spin);
  return 0.125 * t * t * (tl_dlength(path->acceleration) + rate2 * reach);
}

#endif
