/* Kernels: one contact with friction: its cone, its response, its step and its residual.
 *
 * An impulse g on body b (and -g on a) at a contact with unit normal n, from a to b, is split as
 * g = g_n n + g_t. Coulomb's cone is K = { |g_t| <= mu g_n }. Everything is in world vectors: no
 * tangent basis is stored, so nothing flips when a contact persists and friction keeps its
 * direction from step to step.
 *
 * The solver minimises f(p) = p.N p/2 + p.(u + b) over the cones (the cone complementarity problem
 * of Anitescu and Tasora 2010) by steps p <- Pi(p - E (u + b)). */
#ifndef TL_KERNELS_CONE_H
#define TL_KERNELS_CONE_H

#include "kernels/mat3.h"

/* ---- projection --------------------------------------------------------------------------- */

/* A cone with the metric diag(1/en, 1/et, 1/et) it is projected in, prepared once per contact and
 * step. */
typedef struct tl_cone {
  talus_real mu;
  talus_real from_normal;  /* et/(et + mu^2 en) */
  talus_real from_tangent; /* mu en/(et + mu^2 en) */
} tl_cone;

/* A step of 0 means that impulses move nothing in that direction (it is locked). The formulas then
 * take their limits; where a limit is 0/0 the normal part is kept and the tangent is cut to it. */
TL_FN tl_cone tl_cone_make(talus_real mu, talus_real en, talus_real et) {
  tl_cone cone;
  const talus_real weight = et + mu * mu * en;
  cone.mu = mu;
  cone.from_normal = weight > 0 ? et / weight : TL_R(1);
  cone.from_tangent = weight > 0 ? mu * en / weight : TL_R(0);
  return cone;
}

/* The point p of K with the least (p_n - g_n)^2/en + |p_t - g_t|^2/et.
 *
 *  inside |g_t| <= mu g_n: p = g, bit for bit, without a root.
 *  otherwise p lies on the side |p_t| = mu p_n, along g_t; the minimum over p_n alone is
 *    p_n = (et g_n + mu en |g_t|)/(et + mu^2 en);
 *  where that is not positive g is in the polar cone and p = 0.
 *
 * With en = et this is the Euclidean projection (Tasora, Negrut, Anitescu 2011, eq. 13 and
 * following). Using different steps with the EUCLIDEAN projection converges to a wrong point; the
 * metric must be that of the steps. Scaling to y = g/sqrt(E) and projecting on the cone of
 * mu sqrt(en/et) says the same thing. mu = 0 and g_t = 0 need no case of their own: the division is
 * reached with |g_t| > 0 only. What is not a number stays so, to be found by whoever checks. */
TL_FN talus_vec3 tl_cone_project_with(talus_vec3 g, talus_vec3 n, tl_cone cone) {
  const talus_real gn = tl_dot(g, n);
  const talus_vec3 gt = tl_madd(g, -gn, n);
  const talus_real square = tl_length2(gt), limit = cone.mu * gn;
  if (gn >= 0 && square <= limit * limit)
    return g;
  const talus_real t = tl_sqrt(square);
  const talus_real pn = cone.from_normal * gn + cone.from_tangent * t;
  if (pn <= 0)
    return tl_vec3(0, 0, 0);
  return tl_madd(tl_scale(n, pn), cone.mu * pn / t, gt);
}

/* The same without a prepared cone, with one root and one division. */
TL_FN talus_vec3 tl_cone_project_scaled(talus_vec3 g, talus_vec3 n, talus_real mu, talus_real en,
                                        talus_real et) {
  const talus_real gn = tl_dot(g, n);
  const talus_vec3 gt = tl_madd(g, -gn, n);
  const talus_real square = tl_length2(gt), limit = mu * gn;
  if (gn >= 0 && square <= limit * limit)
    return g;
  const talus_real t = tl_sqrt(square);
  const talus_real lean = mu * en;
  talus_real weight = et + mu * lean, top = et * gn + lean * t;
  if (weight <= 0)
    weight = 1, top = gn;
  if (top <= 0)
    return tl_vec3(0, 0, 0);
  const talus_real f = top / (weight * t);
  return tl_madd(tl_scale(n, f * t), mu * f, gt);
}

/* Euclidean projection on K. */
TL_FN talus_vec3 tl_cone_project(talus_vec3 g, talus_vec3 n, talus_real mu) {
  return tl_cone_project_scaled(g, n, mu, 1, 1);
}

/* ---- response and step -------------------------------------------------------------------- */

/* How an impulse at `arm` (contact point minus centre of mass, world axes) changes the velocity of
 * that point of ONE body: diag(inv_mass) - [arm]x W [arm]x, W the inverse inertia in world axes.
 * inv_mass has three entries because translation may be locked axis by axis. The N of a contact,
 * D^T M^-1 D of Tasora et al. 2011 in world axes, is the sum over its two bodies. */
TL_FN tl_sym3 tl_point_response(talus_vec3 inv_mass, tl_sym3 inv_inertia, talus_vec3 arm) {
  const tl_sym3 w = inv_inertia;
  const talus_real x = arm.x, y = arm.y, z = arm.z;
  /* W times each row of [arm]x, which are (0, -z, y), (z, 0, -x) and (-y, x, 0). */
  const talus_vec3 w0 = tl_vec3(y * w.xz - z * w.xy, y * w.yz - z * w.yy, y * w.zz - z * w.yz);
  const talus_vec3 w1 = tl_vec3(z * w.xx - x * w.xz, z * w.xy - x * w.yz, z * w.xz - x * w.zz);
  const talus_vec3 w2 = tl_vec3(x * w.xy - y * w.xx, x * w.yy - y * w.xy, x * w.yz - y * w.xz);
  tl_sym3 s;
  s.xx = inv_mass.x + (y * w0.z - z * w0.y);
  s.yy = inv_mass.y + (z * w1.x - x * w1.z);
  s.zz = inv_mass.z + (x * w2.y - y * w2.x);
  s.xy = z * w0.x - x * w0.z;
  s.xz = x * w0.y - y * w0.x;
  s.yz = x * w1.y - y * w1.x;
  return s;
}

/* The scalar step of a contact [kg]: min(3/trace, 1/lambda_max) of N; 0 where nothing can move. In
 * exact arithmetic that is 1/lambda_max, because lambda_max >= trace/3: the step 3/trace of Tasora
 * et al. 2011 is the longer one, and for eccentric contacts exceeds even the stability limit
 * 2/lambda_max. The minimum makes both agree to the bit where N is a multiple of the identity. */
TL_FN talus_real tl_step_eta(tl_sym3 n) {
  const talus_real trace = tl_sym3_trace(n), largest = tl_sym3_eigenvalue_max(n);
  if (!(trace > 0 && largest > 0))
    return 0;
  return tl_min(3 / trace, 1 / largest);
}

/* Separate steps for the normal and the tangent [kg]: *en = 1/N_nn, *et = 1/lambda_max(N_tt), to be
 * used with the projection in the metric E = diag(en, et, et) (0 where nothing can move).
 *
 * Why the step never increases f. Write d = a + c with a along n and c tangent. N is positive
 * semi-definite, so (a - c).N(a - c) >= 0, that is, 2 a.N c <= a.N a + c.N c, and
 *   d.N d <= 2 (a.N a + c.N c) <= 2 d.E^-1 d.
 * For p' = Pi_E(p - E g), g the gradient at p, projection gives g.d <= -d.E^-1 d with d = p' - p,
 * hence f(p') - f(p) = g.d + d.N d/2 <= 0; it is < 0 for d != 0 unless N(a - c) = 0, which a body
 * free to translate excludes. Neither step is shorter than the scalar one, because N_nn and
 * lambda_max(N_tt) do not exceed lambda_max(N); the matched metric is what makes them safe. */
TL_FN void tl_step_metric(tl_sym3 N, talus_vec3 n, talus_real *en, talus_real *et) {
  const talus_real normal = tl_dot(n, tl_sym3_mul_vec(N, n));
  const talus_real tangent = tl_sym3_plane_eigenvalue_max(N, n);
  *en = normal > 0 ? 1 / normal : TL_R(0);
  *et = tangent > 0 ? 1 / tangent : TL_R(0);
}

/* ---- residual ----------------------------------------------------------------------------- */

/* |p - Pi(p - eta (u + b))|/eta [m/s]: 0 exactly at a solution, and a velocity, so that it can be
 * compared across scenes and with g h. p: impulse [N s]; u_plus_b: relative velocity plus bias.
 * eta = 0 (nothing can move): 0. */
TL_FN talus_real tl_contact_residual(talus_vec3 p, talus_vec3 u_plus_b, talus_vec3 n, talus_real mu,
                                     talus_real eta) {
  if (!(eta > 0))
    return 0;
  const talus_vec3 moved = tl_cone_project(tl_madd(p, -eta, u_plus_b), n, mu);
  return tl_length(tl_sub(p, moved)) / eta;
}

#endif
