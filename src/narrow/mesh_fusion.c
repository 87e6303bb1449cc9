/* Contacts of two meshes as in Noble's thesis: one for every pair of near triangles; contacts that
 * are near each other and have similar directions are merged. */
#include "narrow/mesh_pair.h"

/* Depth of a side of one triangle that pierces another: the smaller depth of its ends. */
static double depth_of(const tl_triangle_corners *t, int side, const tl_triangle_corners *face) {
  const talus_dvec3 n =
      tl_dunit(tl_dcross(tl_dsub(face->p[1], face->p[0]), tl_dsub(face->p[2], face->p[0])));
  const double h = tl_ddot(n, tl_dsub(t->p[side], face->p[0]));
  const double k = tl_ddot(n, tl_dsub(t->p[side == 2 ? 0 : side + 1], face->p[0]));
  return fmin(fabs(h), fabs(k));
}

/* Unit direction from b to a in the frame of b; *s: height of a above b along it. */
static talus_dvec3 direction(const tl_mesh_pair *pair, uint32_t a, uint32_t b,
                             const tl_triangle_near *near, const tl_triangle_corners *first,
                             const tl_triangle_corners *second, double *s) {
  const int side = near->feature - TL_TRIANGLE_CROSSES;
  const double distance = sqrt(near->square);
  *s = distance;
  if (side < 0 && distance > 1e-14 * pair->b.f->extent)
    return tl_dscale(tl_dsub(near->on_a, near->on_b), 1 / distance);
  if (side >= 3) { /* a side of b pierces the face of a */
    const talus_dvec3 n = tl_facets_normal(pair->a.f, pair->a.f->triangle_facet[a]);
    const talus_dvec3 world = tl_frame_to_world(&pair->a.frame, n);
    *s = -depth_of(second, side - 3, first);
    return tl_frame_to_local(&pair->b.frame, tl_dscale(world, -1));
  }
  *s = side < 0 ? 0 : -depth_of(first, side, second);
  return tl_facets_normal(pair->b.f, pair->b.f->triangle_facet[b]);
}

void tl_mesh_pair_meet_near(const tl_mesh_pair *pair, uint32_t a, uint32_t b,
                            tl_mesh_points *points) {
  const tl_triangle_corners first = tl_mesh_pair_first(pair, a);
  const tl_triangle_corners second = tl_mesh_pair_second(pair, b);
  const tl_triangle_near near = tl_triangle_triangle(&first, &second);
  const tl_mesh_posed *m = &pair->b;
  double s;
  const talus_dvec3 n = direction(pair, a, b, &near, &first, &second, &s);
  const double gap = s * m->scale - pair->rounding;
  if (!(gap <= pair->margin))
    return;
  const talus_dvec3 away = tl_frame_to_world(&m->frame, n);
  const talus_dvec3 x =
      tl_dadd(m->position, tl_frame_to_world(&m->frame, tl_dscale(near.on_a, m->scale)));
  const tl_point point =
      tl_point_at(tl_dalong(x, -pair->a.f->rounding * pair->a.scale, away), away, gap, a, b);
  tl_mesh_points_add(points, &point);
}
