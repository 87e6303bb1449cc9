/* The first triangle along a ray from a place within a mesh. */
#include "narrow/mesh.h"

/* Part of the extent: boxes are met so much beside them. */
#define BESIDE 1e-9
/* Cosine: a face along the ray is beside it. */
#define GRAZES 1e-9

typedef struct ray {
  const tl_facets *f;
  talus_dvec3 from, along;
  double start[3], inverse[3]; /* of each coordinate; a ray beside a box has no number */
  double more;
  double nearest;
} ray;

static bool meets_box(const ray *r, const tl_tree_node *n, uint32_t k) {
  double first = -r->more, last = r->nearest;
  for (int i = 0; i < 3; ++i) {
    const double lo = (double)n->lo[i][k] - r->more - r->start[i];
    const double hi = (double)n->hi[i][k] + r->more - r->start[i];
    if (r->inverse[i] == 0) {
      if (lo > 0 || hi < 0)
        return false;
      continue;
    }
    const double s = lo * r->inverse[i], t = hi * r->inverse[i];
    first = fmax(first, fmin(s, t)), last = fmin(last, fmax(s, t));
  }
  return first <= last;
}

/* Sides count, so that no ray slips through between two triangles. */
static void meet_triangle(ray *r, uint32_t t) {
  const uint32_t *v = r->f->triangle + 3 * (size_t)t;
  if (!(tl_ddot(tl_facets_normal(r->f, r->f->triangle_facet[t]), r->along) > GRAZES))
    return;
  const talus_dvec3 p[3] = {tl_dsub(tl_facets_point(r->f, v[0]), r->from),
                            tl_dsub(tl_facets_point(r->f, v[1]), r->from),
                            tl_dsub(tl_facets_point(r->f, v[2]), r->from)};
  const talus_dvec3 n = tl_dcross(tl_dsub(p[1], p[0]), tl_dsub(p[2], p[0]));
  const double slope = tl_ddot(n, r->along);
  if (slope == 0)
    return;
  for (int k = 0; k < 3; ++k)
    if (slope * tl_ddot(r->along, tl_dcross(p[k], p[k == 2 ? 0 : k + 1])) < 0)
      return;
  const double at = tl_ddot(n, p[0]) / slope;
  if (at >= 0 && at < r->nearest)
    r->nearest = at;
}

static void visit(ray *r, uint32_t node) {
  const tl_tree_node *n = &r->f->tree.node[node];
  for (uint32_t k = 0; k < TL_TREE_WIDE; ++k) {
    if (n->lo[0][k] > n->hi[0][k] || !meets_box(r, n, k))
      continue;
    if (n->count[k] == 0)
      visit(r, n->first[k]);
    for (uint32_t t = n->first[k]; t < n->first[k] + n->count[k]; ++t)
      meet_triangle(r, t);
  }
}

double tl_mesh_exit(const tl_mesh_posed *m, talus_dvec3 local, talus_dvec3 along, double most) {
  const double start[3] = {local.x, local.y, local.z}, way[3] = {along.x, along.y, along.z};
  ray r = {.f = m->f, .from = local, .along = along, .more = BESIDE * m->f->extent};
  r.nearest = most;
  for (int i = 0; i < 3; ++i) {
    r.start[i] = start[i];
    r.inverse[i] = fabs(way[i]) > 1e-12 ? 1 / way[i] : 0;
  }
  visit(&r, 0);
  return r.nearest;
}
