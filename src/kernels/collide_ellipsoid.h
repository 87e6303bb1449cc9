/* Kernels: an ellipsoid against an ellipsoid, by any of the three methods a scene can name. */
#ifndef TL_KERNELS_COLLIDE_ELLIPSOID_H
#define TL_KERNELS_COLLIDE_ELLIPSOID_H

#include "kernels/collide_sphere.h"
#include "kernels/ellipsoid_chm.h"

TL_FN tl_ell_pair tl_ellipsoid_pair(const tl_ellipsoid *a, const tl_ellipsoid *b, talus_dvec3 d) {
  tl_ell_pair p;
  p.m1 = tl_ellipsoid_matrix(a);
  p.m2 = tl_ellipsoid_matrix(b);
  p.d.x = d.x, p.d.y = d.y, p.d.z = d.z;
  return p;
}

/* Whether the place v, from the centre, lies within. */
TL_FN bool tl_ellipsoid_holds(const tl_ellipsoid *e, talus_dvec3 v) {
  const talus_dvec3 u = tl_frame_to_local(&e->frame, v);
  const double x = u.x / e->half[0], y = u.y / e->half[1], z = u.z / e->half[2];
  return x * x + y * y + z * z <= 1;
}

/* The contact as a point midway between the surfaces. */
TL_FN void tl_ellipsoids_midpoint(talus_dvec3 d, const tl_ell_contact *found, tl_point *out) {
  out->point =
      tl_dvec3(0.5 * ((found->p1.x - found->p2.x) + d.x), 0.5 * ((found->p1.y - found->p2.y) + d.y),
               0.5 * ((found->p1.z - found->p2.z) + d.z));
  out->normal = tl_vec3(TL_R(found->normal.x), TL_R(found->normal.y), TL_R(found->normal.z));
  out->gap = TL_R(-found->w);
  out->feature_a = 0, out->feature_b = 0;
}

/* The same, unless the smaller body lies within the other all along the normal, with its centre
 * inside: then the point is that centre, as in the paper (section 2), because the midpoint may be
 * in neither body. Returns whether that was the case. */
TL_FN bool tl_ellipsoids_point(const tl_ellipsoid *a, const tl_ellipsoid *b, talus_dvec3 d,
                               const tl_ell_contact *found, tl_point *out) {
  tl_ellipsoids_midpoint(d, found, out);
  if (!(found->w >= 2 * fmin(found->h1, found->h2)))
    return false;
  const bool first = found->h1 <= found->h2;
  if (!tl_ellipsoid_holds(first ? b : a, d)) /* -d is within the ellipsoid if d is */
    return false;
  out->point = first ? tl_dvec3(0, 0, 0) : d;
  return true;
}

/* Which solver a pair needs. */
typedef enum tl_ell_class { TL_ELL_SPHERE, TL_ELL_PLAIN, TL_ELL_NEEDS_CARE } tl_ell_class;

TL_FN tl_ell_class tl_ellipsoid_class(const tl_ellipsoid *e) {
  if (tl_ellipsoid_is_sphere(e))
    return TL_ELL_SPHERE;
  return tl_ellipsoid_most(e) <= TL_ELL_THIN * tl_ellipsoid_least(e) ? TL_ELL_PLAIN
                                                                     : TL_ELL_NEEDS_CARE;
}

/* Whether centres are too near each other for a normal between them. */
TL_FN bool tl_ellipsoids_concentric(double least, talus_dvec3 d) {
  return !(tl_ddot(d, d) > 1e-12 * least * least);
}

/* Newton (the default), from M alone. If it returns UNSURE, call tl_ellipsoids_contact_careful. */
TL_FN tl_ell_outcome tl_ellipsoids_contact_quick(const tl_ell_pair *p, double margin,
                                                 tl_ell_contact *out) {
  double xi;
  tl_ell_vec y;
  const tl_ell_answer answer = tl_ellipsoids_ask(p, TL_ELL_SETTLE, &xi, &y);
  if (answer == TL_ELL_APART && !(margin > 0))
    return TL_ELL_FAR;
  const double scale = 1 / sqrt(tl_ell_dot(y, y));
  return tl_ellipsoids_find_contact(p, tl_ell_times(y, scale), margin, out);
}

TL_FN int tl_collide_ellipsoids_newton(const tl_ellipsoid *a, const tl_ellipsoid *b, talus_dvec3 d,
                                       double margin, tl_point *out) {
  const tl_ell_class kind_a = tl_ellipsoid_class(a), kind_b = tl_ellipsoid_class(b);
  if (kind_a == TL_ELL_SPHERE && kind_b == TL_ELL_SPHERE)
    return tl_collide_sphere_sphere(a->half[0], b->half[0], d, margin, out);
  tl_ell_contact found;
  tl_ell_outcome outcome = TL_ELL_UNSURE;
  if (kind_a != TL_ELL_NEEDS_CARE && kind_b != TL_ELL_NEEDS_CARE &&
      !tl_ellipsoids_concentric(fmin(tl_ellipsoid_least(a), tl_ellipsoid_least(b)), d)) {
    const tl_ell_pair p = tl_ellipsoid_pair(a, b, d);
    outcome = tl_ellipsoids_contact_quick(&p, margin, &found);
  }
  if (outcome == TL_ELL_UNSURE)
    outcome = tl_ellipsoids_contact_careful(a, b, d, margin, &found) ? TL_ELL_FOUND : TL_ELL_FAR;
  if (outcome == TL_ELL_FAR)
    return 0;
  tl_ellipsoids_point(a, b, d, &found, out);
  return 1;
}

/* Methods 1 and 2 of the paper: OpM alone, and OpM if ChM finds an overlap. OpM alone decides by
 * the sign of the gap that it ends with (5). ChM has no margin, so the bodies are enlarged for it,
 * by factors that add at least half the margin to every half width. */
TL_FN int tl_collide_ellipsoids_opm(const tl_ellipsoid *a, const tl_ellipsoid *b, talus_dvec3 d,
                                    double margin, bool ask_first, tl_point *out) {
  const tl_ell_pair p = tl_ellipsoid_pair(a, b, d);
  const double least_a = tl_ellipsoid_least(a), least_b = tl_ellipsoid_least(b);
  if (ask_first) {
    tl_ell_pair grown = p;
    if (margin > 0) {
      const double fa = 1 + 0.5 * margin / least_a, fb = 1 + 0.5 * margin / least_b;
      grown.m1 = tl_ell_scaled(&p.m1, fa * fa);
      grown.m2 = tl_ell_scaled(&p.m2, fb * fb);
    }
    if (!tl_ellipsoids_overlap_chm(&grown))
      return 0;
  }
  tl_ell_contact found;
  const bool concentric = tl_ellipsoids_concentric(fmin(least_a, least_b), d);
  tl_ellipsoids_opm(&p, concentric ? tl_ellipsoids_best_axis(a, b, d) : tl_ell_unit(d), &found);
  if (!(-found.w <= margin))
    return 0;
  tl_ellipsoids_point(a, b, d, &found, out);
  return 1;
}

#endif
