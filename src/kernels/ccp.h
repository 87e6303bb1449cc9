/* One contact of the cone complementarity problem, and its visit in a Gauss-Seidel sweep.
 *
 * Everything is a world vector: the impulse p on body b (its opposite on a), the relative velocity
 * u = (velocity of b - velocity of a) at the contact point, the unit normal n from a to b. No
 * tangent basis is needed, because isotropic friction knows only |p_t|.
 *
 * The step is diagonal in (normal, tangent): E = diag(en, et, et), and the projection is taken in
 * the matched metric (docs/sources.md C2: a diagonal step with a Euclidean projection has the wrong
 * fixed point):
 *
 *   g = p - E (u + b),   p' = argmin over the friction cone of (y - g)^T E^-1 (y - g)
 *
 * With `ncp` a visit solves Coulomb's law of that diagonal response instead of its convex
 * relaxation: the normal impulse first, then friction within the disk that it allows.
 *
 * The arithmetic of a visit is written once, in ccp_visit.h, for a number type that is one real
 * here (and on a device) and a vector of reals in the CPU's sweep: the bits are the same. */
#ifndef TL_KERNELS_CCP_H
#define TL_KERNELS_CCP_H

#include "kernels/cone.h"
#include "kernels/mat3.h"

/* A body as the solver sees it: eight reals, one cache line in double. A push through its centre
 * needs only the first four. A sphere without locks answers the same in every direction, and the
 * two inverse scalars are enough; otherwise inv_inertia is negative and the tensor is in a separate
 * table. inv_mass = 0: contacts cannot move it. */
typedef struct tl_ccp_body {
  talus_vec3 v;
  talus_real inv_mass;
  talus_vec3 w;
  talus_real inv_inertia;
} tl_ccp_body;

typedef struct tl_ccp_tensor {
  talus_vec3 inv_mass;
  tl_sym3 inv_inertia; /* world frame */
} tl_ccp_tensor;

/* en = 0: nothing can move along the normal, and the row keeps the impulse 0. */
typedef struct tl_ccp_row {
  talus_vec3 normal, arm_a, arm_b, impulse;
  talus_real bias, friction, en, et;
} tl_ccp_row;

/* One visit with a real as the number. */
#define NUMBER             talus_real
#define TRUTH              int
#define NUMBER_SQRT(x)     tl_sqrt(x)
#define SELECT(test, a, b) ((test) ? (a) : (b))
#define ANY(test)          (test)
#define VISIT(name)        tl_ccp_##name
#include "kernels/ccp_visit.h"
#undef NUMBER
#undef TRUTH
#undef NUMBER_SQRT
#undef SELECT
#undef ANY
#undef VISIT

/* v + w x arm. */
TL_FN talus_vec3 tl_ccp_point_velocity(const tl_ccp_body *body, talus_vec3 arm) {
  return tl_add(body->v, tl_cross(body->w, arm));
}

/* Adds an impulse and a moment about the centre of mass to a body that contacts can move. */
TL_FN void tl_ccp_turn(tl_ccp_body *body, const tl_ccp_tensor *tensor, talus_vec3 impulse,
                       talus_vec3 moment) {
  if (body->inv_inertia >= 0) {
    body->v = tl_madd(body->v, body->inv_mass, impulse);
    body->w = tl_madd(body->w, body->inv_inertia, moment);
  } else {
    body->v = tl_add(body->v, tl_mul(tensor->inv_mass, impulse));
    body->w = tl_add(body->w, tl_sym3_mul_vec(tensor->inv_inertia, moment));
  }
}

/* Twice the kinetic energy of a velocity and a spin. Locked directions have an inverse of 0 and no
 * velocity. */
TL_FN double tl_ccp_energy(const tl_ccp_body *body, const tl_ccp_tensor *tensor, talus_vec3 v,
                           talus_vec3 w) {
  if (body->inv_inertia >= 0)
    return (double)(tl_length2(v) / body->inv_mass + tl_length2(w) / body->inv_inertia);
  const talus_vec3 m = tensor->inv_mass;
  tl_sym3 inverse = tensor->inv_inertia, inertia = tl_sym3_diagonal(tl_vec3(0, 0, 0));
  inverse.xx = inverse.xx > 0 ? inverse.xx : 1;
  inverse.yy = inverse.yy > 0 ? inverse.yy : 1;
  inverse.zz = inverse.zz > 0 ? inverse.zz : 1;
  if (!tl_sym3_inverse(inverse, &inertia))
    return 0;
  return (double)((m.x > 0 ? v.x * v.x / m.x : 0) + (m.y > 0 ? v.y * v.y / m.y : 0) +
                  (m.z > 0 ? v.z * v.z / m.z : 0) + tl_dot(w, tl_sym3_mul_vec(inertia, w)));
}

/* Adds the impulse p at the arm. */
TL_FN void tl_ccp_push(tl_ccp_body *body, const tl_ccp_tensor *tensor, talus_vec3 arm,
                       talus_vec3 p) {
  tl_ccp_turn(body, tensor, p, tl_cross(arm, p));
}

#endif
