/* One contact of the cone complementarity problem, and its update in a Gauss-Seidel sweep.
 *
 * Everything is a world vector: the impulse p on body b (its opposite on a), the relative velocity
 * u = (velocity of b - velocity of a) at the contact point, the unit normal n from a to b. No
 * tangent basis is needed, because isotropic friction knows only |p_t|.
 *
 * The step is diagonal in (normal, tangent): E = diag(en, et, et), and the projection is taken in
 * the matched metric (SOURCES C2: a diagonal step with a Euclidean projection has the wrong fixed
 * point):
 *
 *   g = p - E (u + b),   p' = argmin over the friction cone of (y - g)^T E^-1 (y - g)
 *
 * With `ncp` the De Saxce correction mu |u_t| n is added to b in every visit (SOURCES C3; De Saxce
 * and Feng 1998), so that the fixed point is Coulomb's law and not its convex relaxation. */
#ifndef TL_KERNELS_CCP_H
#define TL_KERNELS_CCP_H

#include "kernels/cone.h"
#include "kernels/mat3.h"

/* A body as the solver sees it: one cache line in double. For a body that answers the same in every
 * direction (sphere, no locks) the two inverse scalars say all; otherwise inv_inertia is negative
 * and its tensor is in a table beside. inv_mass = 0: contacts cannot move it. */
typedef struct tl_ccp_body {
  talus_vec3 v, w;
  talus_real inv_mass, inv_inertia;
} tl_ccp_body;

typedef struct tl_ccp_tensor {
  talus_vec3 inv_mass;
  tl_sym3 inv_inertia; /* world frame */
} tl_ccp_tensor;

typedef struct tl_ccp_row {
  uint32_t a, b; /* solver bodies */
  talus_vec3 normal, arm_a, arm_b, impulse;
  talus_real bias, friction, en, et;
} tl_ccp_row;

/* v + w x arm. */
TL_FN talus_vec3 tl_ccp_point_velocity(const tl_ccp_body *body, talus_vec3 arm) {
  return tl_add(body->v, tl_cross(body->w, arm));
}

/* Adds sign * p at the arm to a movable body. */
TL_FN void tl_ccp_push(tl_ccp_body *body, const tl_ccp_tensor *tensor, talus_vec3 arm,
                       talus_vec3 p) {
  const talus_vec3 moment = tl_cross(arm, p);
  if (body->inv_inertia >= 0) {
    body->v = tl_madd(body->v, body->inv_mass, p);
    body->w = tl_madd(body->w, body->inv_inertia, moment);
  } else {
    body->v = tl_add(body->v, tl_mul(tensor->inv_mass, p));
    body->w = tl_add(body->w, tl_sym3_mul_vec(tensor->inv_inertia, moment));
  }
}

/* u + b of a row: what the complementarity condition looks at. */
TL_FN talus_vec3 tl_ccp_gradient(const tl_ccp_row *row, const tl_ccp_body *a, const tl_ccp_body *b,
                                 int ncp) {
  const talus_vec3 u =
      tl_sub(tl_ccp_point_velocity(b, row->arm_b), tl_ccp_point_velocity(a, row->arm_a));
  talus_real lift = row->bias;
  if (ncp && row->friction > 0) {
    const talus_vec3 ut = tl_madd(u, -tl_dot(u, row->normal), row->normal);
    lift += row->friction * tl_length(ut);
  }
  return tl_madd(u, lift, row->normal);
}

/* The impulse after one projected step from `p` with gradient `d`: the tangential step in every
 * direction, then the normal part of the result set right. */
TL_FN talus_vec3 tl_ccp_project(const tl_ccp_row *row, talus_vec3 p, talus_vec3 d) {
  const talus_vec3 n = row->normal;
  const talus_vec3 g = tl_madd(p, -row->et, d);
  const talus_real extra = (row->et - row->en) * tl_dot(d, n);
  return tl_cone_project_scaled(tl_madd(g, extra, n), n, row->friction, row->en, row->et);
}

/* The natural-map residual |p - Pi(p - eta d)| / eta of the row, m/s, with the Euclidean projector
 * and the scalar eta = min(3/trace, 1/lambda_max) (SOURCES C2); 0 for a row that nothing can move.
 */
TL_FN talus_real tl_ccp_residual(const tl_ccp_row *row, talus_vec3 d) {
  if (!(row->en > 0))
    return 0;
  const talus_real least = row->et > 0 ? tl_min(row->en, row->et) : row->en;
  const talus_real trace = row->et > 0 ? 1 / row->en + 2 / row->et : 3 / row->en;
  return tl_contact_residual(row->impulse, d, row->normal, row->friction, tl_min(3 / trace, least));
}

#endif
