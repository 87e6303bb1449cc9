/* Kernels: the force of two bodies that overlap a little (docs/theory/penalty.md). */
#ifndef TL_KERNELS_PENALTY_H
#define TL_KERNELS_PENALTY_H

#include "kernels/vec3.h"

/* The variant with a real; step/balls/forces_lanes.h has the one with vectors. */
#define NUMBER             talus_real
#define TRUTH              int
#define NUMBER_SQRT(x)     tl_sqrt(x)
#define SELECT(test, a, b) ((test) ? (a) : (b))
#define VISIT(name)        tl_spring_##name
#include "kernels/penalty_visit.h"
#undef NUMBER
#undef TRUTH
#undef NUMBER_SQRT
#undef SELECT
#undef VISIT

TL_FN tl_spring_vec tl_spring_vec_of(talus_vec3 v) {
  tl_spring_vec r;
  r.x = v.x, r.y = v.y, r.z = v.z;
  return r;
}
TL_FN talus_vec3 tl_spring_vec3(tl_spring_vec v) { return tl_vec3(v.x, v.y, v.z); }

/* The dashpot that gives a restitution e: with b = -ln e / sqrt(pi^2 + ln^2 e), that is
 * e = exp(-pi b / sqrt(1 - b^2)), the factor of sqrt(S m*) is 2 b for a linear spring and
 * 2 sqrt(5/6) b for that of Hertz, where e then is the same at every speed (Antypov and Elliott
 * 2011). e = 0 is critical damping. Contacts end where the overlap does: a dashpot may pull. */
TL_FN double tl_spring_damping(double restitution, bool is_hertz) {
  if (!(restitution < 1))
    return 0;
  const double log_e = restitution > 0 ? tl_log_d(restitution) : 0;
  const double b = restitution > 0 ? -log_e / sqrt(TL_PI * TL_PI + log_e * log_e) : 1;
  return is_hertz ? 2 * sqrt(5.0 / 6.0) * b : 2 * b;
}

/* Resistance to turning against each other by a vector that a spring of stiffness k and a dashpot c
 * hold back, up to a torque `most` (Luding 2008, "Cohesive, frictional powders", 4.2). */
typedef struct tl_spring_turned {
  talus_vec3 torque;       /* N m, on b */
  double stored, friction; /* J now, and W: taken, the dashpot's share included */
} tl_spring_turned;

TL_FN tl_spring_turned tl_spring_turn(talus_real k, talus_real c, talus_real most, talus_real old_k,
                                      talus_real h, talus_vec3 spin, talus_vec3 drift,
                                      talus_vec3 *turn) {
  tl_spring_turned r;
  if (old_k < k)
    *turn = tl_scale(*turn, old_k / k);
  *turn = tl_madd(*turn, h, drift);
  talus_vec3 held = tl_scale(*turn, -k);
  const talus_real pull = tl_length(held);
  if (pull > most) {
    *turn = tl_scale(*turn, most / pull);
    held = tl_scale(held, most / pull);
  }
  r.torque = tl_madd(held, -c, spin);
  const talus_real length = tl_length(r.torque);
  if (length > most)
    r.torque = tl_scale(r.torque, most / length);
  r.stored = (double)(TL_R(0.5) * k * tl_length2(*turn));
  r.friction = -(double)tl_dot(r.torque, spin);
  return r;
}

/* Turns the stretch of the last step into the present frame, as tl_spring_push does. */
TL_FN talus_vec3 tl_spring_carried(talus_vec3 v, talus_vec3 n, talus_real angle) {
  const talus_real length = tl_length(v);
  if (!(length > 0))
    return v;
  talus_vec3 r = tl_madd(v, angle, tl_cross(n, v));
  r = tl_madd(r, -tl_dot(r, n), n);
  const talus_real now = tl_length(r);
  return now > 0 ? tl_scale(r, length / now) : tl_vec3(0, 0, 0);
}

#endif
