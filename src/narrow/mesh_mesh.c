/* Two meshes: vertices of each against the other, and edges against edges. A pair of features is a
 * contact where the direction between them is in both normal cones. */
#include "narrow/mesh.h"
#include "narrow/mesh_points.h"

/* rad: how far a vertex may be from looking at what it meets. Generous: the corners of a face that
 * lies nearly flat on another all count, each with its own gap. */
#define SLANT 0.2
/* rad: the same of edges, whose crossings are the other corners of two faces that lie on each
 * other.
 */
#define SLANT_OF_EDGE 0.03
/* Of the smaller body's radius: how deep behind a surface features are looked for, and how much
 * deeper vertices are where something was found that is deep. */
#define SHALLOW 0.03
#define DEEP    0.5

typedef struct pair_job {
  tl_mesh_posed a, b;
  double margin, rounding; /* m, of both */
  double radius;           /* m, of the smaller */
  double reach;            /* m: how far is looked */
  bool is_deep;            /* a vertex was found that is */
  double depth;            /* m: the same for vertices that are behind the surface */
  double near;             /* m: how near surfaces are that are looked at */
  tl_mesh_points points;
} pair_job;

static talus_dvec3 to_world(const tl_mesh_posed *m, talus_dvec3 local) {
  return tl_dadd(m->position, tl_frame_to_world(&m->frame, tl_dscale(local, m->scale)));
}

/* ---- vertices -------------------------------------------------------------------------------- */

/* A vertex x of one body, in the world, which is `s` over the other. */
static void add_vertex(pair_job *job, bool is_a, uint32_t vertex, uint32_t feature, talus_dvec3 x,
                       talus_dvec3 away, double s) {
  const tl_mesh_posed *own = is_a ? &job->a : &job->b;
  const double gap = s - job->rounding;
  if (!(gap <= job->margin))
    return;
  const talus_dvec3 surface = tl_dalong(x, -own->f->rounding * own->scale, away);
  tl_point point =
      tl_point_at(surface, away, gap, is_a ? vertex : feature, is_a ? feature : vertex);
  if (!is_a)
    point.normal = tl_neg(point.normal);
  tl_mesh_points_add(&job->points, &point);
}

static bool looks(const tl_mesh_posed *m, uint32_t vertex, talus_dvec3 towards) {
  return tl_vertex_looks(m->f, vertex, tl_frame_to_local(&m->frame, towards), SLANT);
}

static void meet_vertex(pair_job *job, bool is_a, uint32_t vertex) {
  const tl_mesh_posed *own = is_a ? &job->a : &job->b, *other = is_a ? &job->b : &job->a;
  const talus_dvec3 x = to_world(own, tl_facets_point(own->f, vertex));
  const talus_dvec3 local = tl_mesh_to_local(other, x);
  tl_near near[TL_NEAR_MOST];
  int count = tl_mesh_near(other, local, job->reach / other->scale, near);
  if (count == 0 && !other->f->two_sided)
    count = tl_mesh_deep(other, local, job->depth / other->scale, near);
  if (count > 0 && near[0].inside && near[0].distance * other->scale > 0.5 * SHALLOW * job->radius)
    job->is_deep = true;
  for (int i = 0; i < count; ++i) {
    const talus_dvec3 away = tl_frame_to_world(&other->frame, near[i].normal);
    const double distance = near[i].distance * other->scale;
    if (looks(own, vertex, tl_dscale(away, -1)))
      add_vertex(job, is_a, vertex, near[i].feature, x, away,
                 near[i].inside ? -distance : distance);
    else if (other->f->two_sided && looks(own, vertex, away)) /* it went through the sheet */
      add_vertex(job, is_a, vertex, near[i].feature, x, tl_dscale(away, -1), -distance);
  }
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* An edge in the world. */
typedef struct side {
  uint32_t number;
  talus_dvec3 from, along;
} side;

static side side_of(const tl_mesh_posed *m, uint32_t edge) {
  const uint32_t *v = m->f->edge_vertex + 2 * (size_t)edge;
  side s = {.number = edge, .from = to_world(m, tl_facets_point(m->f, v[0]))};
  s.along = tl_dsub(to_world(m, tl_facets_point(m->f, v[1])), s.from);
  return s;
}

/* Whether a place is behind the surface, no deeper than `depth`. */
static bool is_behind(const tl_mesh_posed *m, talus_dvec3 place, double depth) {
  tl_near near[TL_NEAR_MOST];
  if (m->f->two_sided)
    return true;
  const double reach = depth * (1 + 1e-6) / m->scale + 1e-12 * m->f->extent;
  return tl_mesh_near(m, tl_mesh_to_local(m, place), reach, near) > 0 && near[0].inside;
}

/* w: unit, from b to a. */
static bool edges_look(const pair_job *job, const side *a, const side *b, talus_dvec3 w) {
  return tl_edge_looks(job->b.f, b->number, tl_frame_to_local(&job->b.frame, w), SLANT_OF_EDGE) &&
         tl_edge_looks(job->a.f, a->number, tl_frame_to_local(&job->a.frame, tl_dscale(w, -1)),
                       SLANT_OF_EDGE);
}

static void meet_edges(pair_job *job, const side *a, const side *b) {
  const talus_dvec3 r = tl_dsub(a->from, b->from);
  const double aa = tl_ddot(a->along, a->along), bb = tl_ddot(b->along, b->along);
  const double ab = tl_ddot(a->along, b->along);
  const double ar = tl_ddot(a->along, r), br = tl_ddot(b->along, r), det = aa * bb - ab * ab;
  if (!(det > 1e-12 * aa * bb))
    return; /* parallel: their ends meet */
  const double s = (ab * br - ar * bb) / det, t = (aa * br - ab * ar) / det;
  if (!(s > 0 && s < 1 && t > 0 && t < 1))
    return;
  const talus_dvec3 on_a = tl_dalong(a->from, s, a->along), on_b = tl_dalong(b->from, t, b->along);
  talus_dvec3 w = tl_dunit(tl_dcross(a->along, b->along));
  double apart = tl_ddot(tl_dsub(on_a, on_b), w);
  if (fabs(apart) > job->reach)
    return;
  if (apart < 0)
    w = tl_dscale(w, -1), apart = -apart;
  if (!edges_look(job, a, b, w)) { /* or one went through the other */
    w = tl_dscale(w, -1), apart = -apart;
    if (!edges_look(job, a, b, w) || !is_behind(&job->a, on_b, -apart) ||
        !is_behind(&job->b, on_a, -apart))
      return;
  }
  const double gap = apart - job->rounding;
  if (!(gap <= job->margin))
    return;
  const tl_point point =
      tl_point_at(tl_dalong(on_a, -job->a.f->rounding * job->a.scale, w), w, gap,
                  tl_key_of_edge(job->a.f, a->number), tl_key_of_edge(job->b.f, b->number));
  tl_mesh_points_add(&job->points, &point);
}

static bool is_own_edge(const tl_facets *f, uint32_t t, uint32_t k, uint32_t *edge) {
  *edge = f->triangle_edge[3 * (size_t)t + k];
  return *edge != TL_NONE && f->edge_triangle[f->edge_start[*edge]] == t &&
         !tl_edge_is_concave(f, *edge);
}

/* An edge of a against those of b that are near. */
static void meet_edge(pair_job *job, uint32_t edge) {
  const tl_mesh_posed *m = &job->b;
  const side a = side_of(&job->a, edge);
  const talus_dvec3 p = tl_mesh_to_local(m, a.from);
  const talus_dvec3 q = tl_mesh_to_local(m, tl_dadd(a.from, a.along));
  const double more = job->reach / m->scale;
  const tl_tree_box box = {{fmin(p.x, q.x) - more, fmin(p.y, q.y) - more, fmin(p.z, q.z) - more},
                           {fmax(p.x, q.x) + more, fmax(p.y, q.y) + more, fmax(p.z, q.z) + more}};
  tl_tree_walk walk = tl_tree_begin(&m->f->tree, m->flat);
  uint32_t first, count, other;
  while (tl_tree_next(&walk, &box, &first, &count))
    for (uint32_t t = first; t < first + count; ++t)
      for (uint32_t k = 0; k < 3; ++k)
        if (is_own_edge(m->f, t, k, &other)) {
          const side b = side_of(m, other);
          meet_edges(job, &a, &b);
        }
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Vertices of a body, and edges of the first one, each with the first of its triangles. */
static void meet_triangle(pair_job *job, bool is_a, uint32_t t) {
  const tl_facets *f = is_a ? job->a.f : job->b.f;
  uint32_t edge;
  for (uint32_t k = 0; k < 3; ++k) {
    const uint32_t v = f->triangle[3 * (size_t)t + k];
    if (f->vertex_kind[v] == TL_VERTEX_SHARP && f->vertex_triangle[f->vertex_start[v]] == t)
      meet_vertex(job, is_a, v);
    if (is_a && is_own_edge(f, t, k, &edge))
      meet_edge(job, edge);
  }
}

/* Whether the other body has a triangle near child k of a node. */
static bool is_near(const pair_job *job, bool is_a, const tl_tree_node *n, uint32_t k) {
  const tl_mesh_posed *own = is_a ? &job->a : &job->b, *other = is_a ? &job->b : &job->a;
  const double lo[3] = {(double)n->lo[0][k], (double)n->lo[1][k], (double)n->lo[2][k]};
  const double hi[3] = {(double)n->hi[0][k], (double)n->hi[1][k], (double)n->hi[2][k]};
  const talus_dvec3 middle =
      tl_dvec3(0.5 * (lo[0] + hi[0]), 0.5 * (lo[1] + hi[1]), 0.5 * (lo[2] + hi[2]));
  const talus_dvec3 at = tl_mesh_to_local(other, to_world(own, middle));
  const double centre[3] = {at.x, at.y, at.z}, scale = own->scale / other->scale;
  const double more = job->near / other->scale;
  tl_tree_box box;
  for (int i = 0; i < 3; ++i) {
    const talus_dvec3 axis = tl_frame_to_local(&own->frame, tl_frame_axis(&other->frame, i));
    const double half = 0.5 * scale *
                            (fabs(axis.x) * (hi[0] - lo[0]) + fabs(axis.y) * (hi[1] - lo[1]) +
                             fabs(axis.z) * (hi[2] - lo[2])) +
                        more + 1e-12 * other->f->extent;
    box.lo[i] = centre[i] - half, box.hi[i] = centre[i] + half;
  }
  uint32_t first, count;
  tl_tree_walk walk = tl_tree_begin(&other->f->tree, false);
  return tl_tree_next(&walk, &box, &first, &count);
}

static void visit(pair_job *job, bool is_a, uint32_t node) {
  const tl_tree_node *n = &(is_a ? job->a.f : job->b.f)->tree.node[node];
  for (uint32_t k = 0; k < TL_TREE_WIDE; ++k) {
    if (n->lo[0][k] > n->hi[0][k] || !is_near(job, is_a, n, k))
      continue;
    if (n->count[k] == 0)
      visit(job, is_a, n->first[k]);
    for (uint32_t t = n->first[k]; t < n->first[k] + n->count[k]; ++t)
      meet_triangle(job, is_a, t);
  }
}

static void search(pair_job *job) {
  job->points.count = 0;
  for (int is_a = 0; is_a < 2; ++is_a) {
    const tl_facets *f = is_a ? job->a.f : job->b.f;
    if (!job->a.flat)
      visit(job, is_a, 0);
    for (uint32_t t = 0; job->a.flat && t < f->triangles; ++t)
      meet_triangle(job, is_a, t);
  }
}

int tl_mesh_mesh(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  pair_job job;
  job.a = tl_mesh_pose(a), job.b = tl_mesh_pose(b);
  job.margin = (double)margin;
  job.rounding = job.a.f->rounding * job.a.scale + job.b.f->rounding * job.b.scale;
  job.radius = fmin((double)a->shape->radius * job.a.scale, (double)b->shape->radius * job.b.scale);
  job.points.size = 2 * job.radius;
  /* Where surfaces go through each other, a vertex is behind one by no more than a side is long. */
  job.is_deep = false;
  job.near = job.reach = fmax(job.margin + job.rounding, SHALLOW * job.radius);
  job.depth = fmax(job.a.f->longest * job.a.scale, job.b.f->longest * job.b.scale);
  search(&job);
  if (job.is_deep) {
    job.near = job.depth = fmax(job.reach, DEEP * job.radius);
    search(&job);
  }
  return tl_mesh_points_take(&job.points, out);
}
