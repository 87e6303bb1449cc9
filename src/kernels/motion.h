/* Scripted motion of a kinematic body: pose and velocity as functions of time, never integrated. */
#ifndef TL_KERNELS_MOTION_H
#define TL_KERNELS_MOTION_H

#include "kernels/quat.h"
#include "kernels/vec3.h"
#include <talus/types.h>

/* x(t) = x0 + v t + A (sin(2 pi f t + phase) - sin(phase)). */
TL_FN talus_dvec3 tl_motion_position(talus_dvec3 x0, const talus_motion *m, double t) {
  const double angle = 6.283185307179586476925 * m->frequency * t + m->phase;
  const talus_dvec3 x = tl_dmadd(x0, t, m->velocity);
  return tl_dmadd(x, sin(angle) - sin(m->phase), m->amplitude);
}

TL_FN talus_vec3 tl_motion_velocity(const talus_motion *m, double t) {
  const double rate = 6.283185307179586476925 * m->frequency;
  return tl_madd(m->velocity, (talus_real)(rate * cos(rate * t + m->phase)), m->amplitude);
}

/* q(t) = exp(spin t) q0; the angle is reduced in double, so that a float build does not lose it
 * after many turns. */
TL_FN talus_quat tl_motion_rotation(talus_quat q0, const talus_motion *m, double t) {
  const double sx = (double)m->spin.x, sy = (double)m->spin.y, sz = (double)m->spin.z;
  const double rate = sqrt(sx * sx + sy * sy + sz * sz);
  if (rate == 0)
    return q0;
  const double half = 0.5 * fmod(rate * t, 4 * 3.14159265358979323846), s = sin(half) / rate;
  const talus_quat turn = tl_quat((talus_real)cos(half), (talus_real)(s * sx), (talus_real)(s * sy),
                                  (talus_real)(s * sz));
  return tl_quat_normalize(tl_quat_mul(turn, q0));
}

#endif
