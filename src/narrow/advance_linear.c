#include "narrow/advance_linear.h"

#include "kernels/nearest.h"
#include "kernels/triangle.h"
#include "narrow/mesh.h"

#include <float.h>
#include <math.h>

#define BISECTIONS 30

/* A mesh at the begin and at the end of the paths. */
typedef struct side {
  tl_mesh_posed at[2];
} side;

typedef struct search {
  side a, b;
  double floor;
  double best; /* earliest meeting: 0 ... 1 of the path; more: none yet */
} search;

/* A triangle in the world, at the begin and at the end. */
typedef struct swept {
  talus_dvec3 p[2][3];
} swept;

static side side_of(const tl_mover *m, double h) {
  side s;
  for (int end = 0; end < 2; ++end) {
    const double t = end ? h : 0;
    const tl_posed p = {.shape = m->shape,
                        .scale = m->scale,
                        .position = tl_path_position(&m->path, t),
                        .rotation = tl_dquat_narrow(tl_path_rotation(&m->path, t))};
    s.at[end] = tl_mesh_pose(&p);
  }
  return s;
}

static swept swept_of(const side *s, uint32_t t) {
  const uint32_t *v = s->at[0].f->triangle + 3 * (size_t)t;
  swept w;
  for (int end = 0; end < 2; ++end)
    for (int k = 0; k < 3; ++k)
      w.p[end][k] = tl_mesh_to_world(&s->at[end], tl_facets_point(s->at[end].f, v[k]));
  return w;
}

/* ---- a vertex and a face --------------------------------------------------------------------- */

/* The vertex is taken to move straight in the frame of the triangle. */
static void meet_vertex(search *w, const talus_dvec3 x[2], const side *face, uint32_t t) {
  const tl_facets *f = face->at[0].f;
  const uint32_t *rows = f->triangle + 3 * (size_t)t;
  const talus_dvec3 corner[3] = {tl_facets_point(f, rows[0]), tl_facets_point(f, rows[1]),
                                 tl_facets_point(f, rows[2])};
  const talus_dvec3 from = tl_mesh_to_local(&face->at[0], x[0]);
  const talus_dvec3 to = tl_mesh_to_local(&face->at[1], x[1]);
  const talus_dvec3 n =
      tl_dunit(tl_dcross(tl_dsub(corner[1], corner[0]), tl_dsub(corner[2], corner[0])));
  const double d0 = tl_ddot(n, tl_dsub(from, corner[0])), d1 = tl_ddot(n, tl_dsub(to, corner[0]));
  const double floor = (d0 < 0 ? -1 : 1) * w->floor / face->at[0].scale;
  const double s = d0 == d1 ? 2 : (d0 - floor) / (d0 - d1);
  if (!(s >= 0 && s < w->best) || s > 1)
    return;
  const talus_dvec3 at = tl_dadd(tl_dscale(from, 1 - s), tl_dscale(to, s));
  int part;
  const talus_dvec3 near = tl_nearest_on_triangle(at, corner, &part);
  if (tl_dlength(tl_dsub(at, near)) <= fabs(floor) * (1 + 1e-9) + 1e-12 * f->extent)
    w->best = s;
}

/* ---- two edges ------------------------------------------------------------------------------- */

static talus_dvec3 between(const swept *w, int k, double s) {
  return tl_dadd(tl_dscale(w->p[0][k], 1 - s), tl_dscale(w->p[1][k], s));
}

static double edge_distance(const swept *a, int i, const swept *b, int k, double s) {
  const tl_triangle_corners edge = {
      {between(b, k, s), between(b, (k + 1) % 3, s), between(b, (k + 1) % 3, s)}};
  return sqrt(tl_segment_triangle(between(a, i, s), between(a, (i + 1) % 3, s), &edge).square);
}

static void meet_edges(search *w, const swept *a, int i, const swept *b, int k) {
  double lo = 0, hi = 1, near_lo = edge_distance(a, i, b, k, 0),
         near_hi = edge_distance(a, i, b, k, 1);
  for (int n = 0; n < BISECTIONS && lo < w->best; ++n) {
    if (near_lo <= w->floor) {
      w->best = fmin(w->best, lo);
      return;
    }
    const double middle = 0.5 * (lo + hi), near = edge_distance(a, i, b, k, middle);
    if (near <= w->floor || near_hi < near_lo) {
      if (!(near < near_hi) && near > w->floor) { /* it does not get nearer than at the end */
        if (near_hi <= w->floor)
          w->best = fmin(w->best, hi);
        return;
      }
      if (near <= w->floor)
        hi = middle, near_hi = near;
      else
        lo = middle, near_lo = near;
    } else {
      if (!(near < near_lo))
        return;
      hi = middle, near_hi = near;
    }
  }
  if (near_hi <= w->floor)
    w->best = fmin(w->best, hi);
}

/* ---- trees ----------------------------------------------------------------------------------- */

static void meet_triangles(search *w, uint32_t ta, uint32_t tb) {
  const swept a = swept_of(&w->a, ta), b = swept_of(&w->b, tb);
  for (int k = 0; k < 3; ++k) {
    meet_vertex(w, (talus_dvec3[2]){a.p[0][k], a.p[1][k]}, &w->b, tb);
    meet_vertex(w, (talus_dvec3[2]){b.p[0][k], b.p[1][k]}, &w->a, ta);
  }
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k)
      meet_edges(w, &a, i, &b, k);
}

/* Bounding box (world) of child k of a node over the whole path. */
static talus_box box_of(const side *s, const tl_tree_node *n, uint32_t k) {
  talus_box box = {0};
  for (int end = 0; end < 2; ++end) {
    const tl_mesh_posed *m = &s->at[end];
    const talus_dvec3 lo = tl_dvec3((double)n->lo[0][k], (double)n->lo[1][k], (double)n->lo[2][k]);
    const talus_dvec3 hi = tl_dvec3((double)n->hi[0][k], (double)n->hi[1][k], (double)n->hi[2][k]);
    const talus_dvec3 at = tl_mesh_to_world(m, tl_dscale(tl_dadd(lo, hi), 0.5));
    const talus_dvec3 half = tl_frame_extent(&m->frame, tl_dscale(tl_dsub(hi, lo), 0.5 * m->scale));
    const talus_box here = {tl_dsub(at, half), tl_dadd(at, half)};
    box = end ? tl_box_union(box, here) : here;
  }
  return box;
}

static bool meets(const talus_box *a, const talus_box *b, double more) {
  return a->lo.x <= b->hi.x + more && b->lo.x <= a->hi.x + more && a->lo.y <= b->hi.y + more &&
         b->lo.y <= a->hi.y + more && a->lo.z <= b->hi.z + more && b->lo.z <= a->hi.z + more;
}

/* Tests the triangles of b below a node against one of a. */
static void visit_second(search *w, uint32_t triangle, const talus_box *box, uint32_t node) {
  const tl_tree_node *n = &w->b.at[0].f->tree.node[node];
  for (uint32_t k = 0; k < TL_TREE_WIDE; ++k) {
    if (n->lo[0][k] > n->hi[0][k])
      continue;
    const talus_box its = box_of(&w->b, n, k);
    if (!meets(box, &its, w->floor))
      continue;
    if (n->count[k] == 0)
      visit_second(w, triangle, box, n->first[k]);
    for (uint32_t t = n->first[k]; t < n->first[k] + n->count[k]; ++t)
      meet_triangles(w, triangle, t);
  }
}

double tl_advance_linear(const tl_advance *pair) {
  search w = {.floor = fmax(pair->floor, 0), .best = 2};
  w.a = side_of(&pair->a, pair->h), w.b = side_of(&pair->b, pair->h);
  w.floor += w.a.at[0].f->rounding * w.a.at[0].scale + w.b.at[0].f->rounding * w.b.at[0].scale;
  for (uint32_t t = 0; t < w.a.at[0].f->triangles; ++t) {
    const swept s = swept_of(&w.a, t);
    talus_box box = {s.p[0][0], s.p[0][0]};
    for (int end = 0; end < 2; ++end)
      for (int k = 0; k < 3; ++k)
        box = tl_box_union(box, (talus_box){s.p[end][k], s.p[end][k]});
    visit_second(&w, t, &box, 0);
  }
  return w.best <= 1 ? w.best * pair->h : DBL_MAX;
}
