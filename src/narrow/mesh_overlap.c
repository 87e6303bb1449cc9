/* How far two triangles overlap along a direction. Where nothing is out of reach behind a surface
 * the height of a contour says nothing about its depth: the line may go round a thread. */
#include "narrow/mesh_contour.h"

typedef struct overlap {
  talus_dvec3 out;
  double most;
  talus_dvec3 at;
} overlap;

static void keep_overlap(overlap *o, talus_dvec3 lower, talus_dvec3 upper) {
  const double height = tl_ddot(o->out, tl_dsub(lower, upper));
  if (height > o->most)
    o->most = height, o->at = tl_dalong(lower, -0.5 * height, o->out);
}

/* A corner of one triangle and the place of the other that is over it or under it. */
static void overlap_corners(overlap *o, const tl_triangle_corners *t,
                            const tl_triangle_corners *face, bool face_is_upper) {
  const talus_dvec3 n = tl_dcross(tl_dsub(face->p[1], face->p[0]), tl_dsub(face->p[2], face->p[0]));
  const double slope = tl_ddot(n, o->out);
  if (!(slope * slope > 1e-6 * tl_ddot(n, n)))
    return;
  for (int k = 0; k < 3; ++k) {
    const double h = tl_ddot(n, tl_dsub(t->p[k], face->p[0])) / slope;
    const talus_dvec3 at = tl_dalong(t->p[k], -h, o->out);
    bool within = true;
    for (int i = 0; i < 3; ++i) {
      const talus_dvec3 side = tl_dsub(face->p[i == 2 ? 0 : i + 1], face->p[i]);
      within = within && tl_ddot(tl_dcross(n, side), tl_dsub(at, face->p[i])) >= 0;
    }
    if (within)
      keep_overlap(o, face_is_upper ? t->p[k] : at, face_is_upper ? at : t->p[k]);
  }
}

/* A side of each: where one is over the other. */
static void overlap_sides(overlap *o, const tl_triangle_corners *a, const tl_triangle_corners *b) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const talus_dvec3 u = tl_dsub(a->p[i == 2 ? 0 : i + 1], a->p[i]);
      const talus_dvec3 v = tl_dsub(b->p[j == 2 ? 0 : j + 1], b->p[j]);
      const talus_dvec3 r = tl_dsub(b->p[j], a->p[i]), n = tl_dcross(v, o->out);
      const talus_dvec3 m = tl_dcross(u, o->out);
      const double det = tl_ddot(u, n);
      if (!(det * det > 1e-12 * tl_ddot(u, u) * tl_ddot(n, n)))
        continue;
      const double s = tl_ddot(r, n) / det, t = tl_ddot(r, m) / det;
      if (s >= 0 && s <= 1 && t >= 0 && t <= 1)
        keep_overlap(o, tl_dalong(a->p[i], s, u), tl_dalong(b->p[j], t, v));
    }
}

void tl_mesh_contour_overlap(const tl_mesh_pair *pair, uint32_t a, uint32_t b,
                             tl_mesh_contour *contour) {
  const tl_triangle_corners first = tl_mesh_pair_first(pair, a);
  const tl_triangle_corners second = tl_mesh_pair_second(pair, b);
  const talus_dvec3 n = tl_facets_normal(pair->b.f, pair->b.f->triangle_facet[b]);
  overlap o = {contour->out, contour->overlap, contour->at};
  if (tl_ddot(tl_mesh_pair_normal(pair, a), o.out) <= 0 || tl_ddot(n, o.out) >= 0)
    return; /* they do not face each other along it */
  overlap_corners(&o, &first, &second, true);
  overlap_corners(&o, &second, &first, false);
  overlap_sides(&o, &first, &second);
  contour->overlap = o.most, contour->at = o.at;
}
