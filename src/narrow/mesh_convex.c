/* Convex bodies against meshes: facets as bounded half-spaces, edges as segments, vertices as their
 * ends. */
#include "kernels/collide_box.h"
#include "kernels/collide_convex.h"
#include "kernels/gjk.h"
#include "kernels/nearest.h"
#include "narrow/mesh.h"
#include "narrow/mesh_points.h"
#include "narrow/posed_pairs.h"

/* rad: tolerance of the cone of an edge. Searches are this exact; bodies with faces and straight
 * sides that nearly lie on an edge touch it at two points with different gaps. */
#define SEARCHED 1e-6
#define SLANT    0.03
/* Part of the extent: a point that is farther beside a triangle is not over it. */
#define END_SLACK 1e-9
/* Part of the extent: a corner of a solid that sticks out beside a facet by more is not flush. */
#define FLUSH 0.01

typedef struct convex_job {
  tl_mesh_posed m;
  tl_convex body; /* its centre is the origin */
  bool is_box, is_image;
  talus_dvec3 half; /* m: of a box */
  double margin;
  double rounding; /* of the mesh, m */
  double slack;    /* rad: tolerance of cones */
  tl_tree_box box; /* region of the mesh's frame where the body can touch triangles */
  tl_mesh_points points;
  bool straddles; /* part of the body is behind the plane of a facet of a sheet */
} convex_job;

static void find_box(convex_job *job) {
  const tl_mesh_posed *m = &job->m;
  const double grow = job->margin + job->rounding + job->body.rounding;
  for (int i = 0; i < 3; ++i) {
    const talus_dvec3 axis = tl_frame_axis(&m->frame, i), back = tl_dscale(axis, -1);
    const double at = tl_ddot(m->position, axis);
    const double hi = tl_ddot(tl_convex_support(&job->body, axis), axis) - at;
    const double lo = tl_ddot(tl_convex_support(&job->body, back), axis) - at;
    job->box.lo[i] = (lo - grow) / m->scale, job->box.hi[i] = (hi + grow) / m->scale;
  }
}

/* ---- facets ---------------------------------------------------------------------------------- */

/* A facet relative to the body. */
typedef struct view {
  uint32_t key;
  talus_dvec3 v[3]; /* m: corners of one of its triangles, own frame */
  talus_dvec3 away; /* unit, world: outward normal */
  double s;         /* m: height of the body's centre above its plane */
} view;

/* True if a point is above or below the triangle, or beside it by rounding. */
static bool is_over(const view *facet, talus_dvec3 local, talus_dvec3 normal, double slack) {
  for (int k = 0; k < 3; ++k) {
    const talus_dvec3 side = tl_dsub(facet->v[(k + 1) % 3], facet->v[k]);
    const talus_dvec3 in = tl_dcross(normal, side);
    if (tl_ddot(in, tl_dsub(local, facet->v[k])) < -slack * tl_dlength(side))
      return false;
  }
  return true;
}

static view view_of(const tl_facets *f, uint32_t t) {
  const uint32_t *rows = f->triangle + 3 * (size_t)t;
  view facet = {.key = tl_key_of_facet(f, f->triangle_facet[t])};
  for (int k = 0; k < 3; ++k)
    facet.v[k] = tl_facets_point(f, rows[k]);
  return facet;
}

static talus_dvec3 normal_of(const view *facet) {
  return tl_dunit(tl_dcross(tl_dsub(facet->v[1], facet->v[0]), tl_dsub(facet->v[2], facet->v[0])));
}

bool tl_mesh_goes_through(const tl_mesh_posed *m, talus_dvec3 from, talus_dvec3 to) {
  const tl_facets *f = m->f;
  const talus_dvec3 p = tl_mesh_to_local(m, from), q = tl_mesh_to_local(m, to);
  const double slack = END_SLACK * f->extent;
  const tl_tree_box box = {
      {fmin(p.x, q.x) - slack, fmin(p.y, q.y) - slack, fmin(p.z, q.z) - slack},
      {fmax(p.x, q.x) + slack, fmax(p.y, q.y) + slack, fmax(p.z, q.z) + slack}};
  tl_tree_walk walk = tl_tree_begin(&f->tree, m->flat);
  uint32_t first, count;
  while (tl_tree_next(&walk, &box, &first, &count))
    for (uint32_t t = first; t < first + count; ++t) {
      const view facet = view_of(f, t);
      const talus_dvec3 normal = normal_of(&facet);
      const double h = tl_ddot(normal, tl_dsub(p, facet.v[0]));
      const double k = tl_ddot(normal, tl_dsub(q, facet.v[0]));
      if (h * k <= 0 && h != k &&
          is_over(&facet, tl_dalong(p, h / (h - k), tl_dsub(q, p)), normal, slack))
        return true;
    }
  return false;
}

/* A sheet has no inside, and its facets end. A point behind the plane of a facet has passed through
 * the sheet only if the straight line to it from the body's centre, which is inside the body,
 * crosses the sheet; otherwise the body went around the end. If the mesh is one of several images,
 * another image may continue where it ends: the caller that combines images tests all
 * (narrow/parts_images.c). */
static bool is_through(const convex_job *job, const view *facet, talus_dvec3 p, double height,
                       talus_dvec3 normal) {
  const tl_mesh_posed *m = &job->m;
  if (!m->f->two_sided || job->is_image)
    return true;
  const talus_dvec3 on_plane = tl_dscale(p, facet->s / (facet->s - height));
  return is_over(facet, tl_mesh_to_local(m, on_plane), normal, END_SLACK * m->f->extent) ||
         tl_mesh_goes_through(m, tl_dvec3(0, 0, 0), p);
}

/* Whether the body comes out of a solid by less than `most` where this triangle is: all of it is
 * before its plane then. A place in front of the triangle is out already, but not by being beside
 * the facet that it is behind. */
static bool is_shorter_way(const convex_job *job, uint32_t t, talus_dvec3 local, double most,
                           bool is_beside) {
  const tl_mesh_posed *m = &job->m;
  const tl_facets *f = m->f;
  const uint32_t facet = f->triangle_facet[t];
  const talus_dvec3 n = tl_facets_normal(f, facet);
  const double s = tl_ddot(n, local) - f->plane[4 * (size_t)facet + 3];
  if (s > END_SLACK * f->extent && !is_beside)
    return true;
  const talus_dvec3 down = tl_dscale(tl_frame_to_world(&m->frame, n), -1);
  const double least = tl_ddot(down, tl_dsub(m->position, tl_convex_support(&job->body, down))) -
                       f->plane[4 * (size_t)facet + 3] * m->scale - job->body.rounding;
  return -least < most * (1 - 1e-6);
}

/* True if the surface is nearer to a place of the body, behind a facet, than that facet is, and is
 * a way out of the body as well. The side of a block is none for the corner of another block that
 * lies on it: that one is beside its own end, but the body would have to go all of its width. */
static bool is_nearer(const convex_job *job, talus_dvec3 local, double distance, bool is_beside) {
  const tl_mesh_posed *m = &job->m;
  const tl_facets *f = m->f;
  const tl_tree_box box = {{local.x - distance, local.y - distance, local.z - distance},
                           {local.x + distance, local.y + distance, local.z + distance}};
  const double limit = distance * (1 - 1e-6) - 1e-12 * f->extent;
  tl_tree_walk walk = tl_tree_begin(&f->tree, m->flat);
  uint32_t first, count;
  while (tl_tree_next(&walk, &box, &first, &count))
    for (uint32_t t = first; t < first + count; ++t) {
      const uint32_t *rows = f->triangle + 3 * (size_t)t;
      const talus_dvec3 v[3] = {tl_facets_point(f, rows[0]), tl_facets_point(f, rows[1]),
                                tl_facets_point(f, rows[2])};
      int part;
      if (tl_dlength(tl_dsub(local, tl_nearest_on_triangle(local, v, &part))) < limit &&
          (f->two_sided || is_shorter_way(job, t, local, distance * m->scale, is_beside)))
        return true;
    }
  return false;
}

/* Adds the contact of one point of the body over a facet; false if it is no contact. */
static bool add_place(convex_job *job, const view *facet, talus_dvec3 p, uint32_t feature) {
  const tl_mesh_posed *m = &job->m;
  const double height = facet->s + tl_ddot(facet->away, p), gap = height - job->rounding;
  job->straddles = job->straddles || height < 0;
  if (!(gap <= job->margin))
    return false;
  const talus_dvec3 local = tl_mesh_to_local(m, p);
  const talus_dvec3 normal = normal_of(facet);
  /* Where a point is beside a facet of a solid by less than it is deep, the edge of the facet is
   * nearer to the side of the body than to its bottom, and finds no way out by the bottom: the
   * corner of a box that lies flush on a block of mesh. */
  const bool is_beside = !is_over(facet, local, normal, END_SLACK * m->f->extent);
  const double flush = fmin(-height / m->scale, FLUSH * m->f->extent);
  if (is_beside && (m->f->two_sided || !(flush > 0) || !is_over(facet, local, normal, flush)))
    return false;
  /* A point behind one facet may be behind another one that is nearer: the shortest way counts. */
  if (height < 0 && (!is_through(job, facet, p, height, normal) ||
                     is_nearer(job, local, -height / m->scale, is_beside)))
    return false;
  const tl_point point = tl_point_at(p, facet->away, gap, feature, facet->key);
  tl_mesh_points_add(&job->points, &point);
  return true;
}

/* Corners above the centre show the facet their back. */
static void add_box_corners(convex_job *job, const view *facet) {
  for (int k = 0; k < 8; ++k) {
    const talus_dvec3 p = tl_frame_to_world(&job->body.frame, tl_box_vertex(job->half, k));
    if (tl_ddot(facet->away, p) <= 1e-9 * job->body.reach)
      add_place(job, facet, p, (uint32_t)k);
  }
}

/* Adds the patch of the body that faces the facet, like tl_collide_convex_half_space, and the
 * lowest point if no point of the patch is as low. */
static void add_patch(convex_job *job, const view *facet) {
  const talus_dvec3 down = tl_dscale(facet->away, -1);
  const talus_dvec3 lowest =
      tl_dalong(tl_convex_support(&job->body, down), job->body.rounding, down);
  const double least = facet->s + tl_ddot(facet->away, lowest);
  if (!(least - job->rounding <= job->margin))
    return;
  tl_patch patch;
  tl_convex_patch(&job->body, down, &patch);
  bool deep = false;
  for (int i = 0; i < patch.count; ++i) {
    const double height = facet->s + tl_ddot(facet->away, patch.vertex[i]);
    deep = deep || height <= least + TL_PATCH_AS_DEEP * job->points.size;
    add_place(job, facet, patch.vertex[i],
              patch.number << 8 | (patch.count == 1 ? 0 : 2 * (uint32_t)i));
  }
  if (!deep)
    add_place(job, facet, lowest, patch.number << 8 | TL_PATCH_WITNESS);
}

/* The facet seen from the side of the body's centre. */
static view turned_view_of(const tl_mesh_posed *m, uint32_t t) {
  const tl_facets *f = m->f;
  const uint32_t number = f->triangle_facet[t];
  view facet = view_of(f, t);
  facet.away = tl_frame_to_world(&m->frame, tl_facets_normal(f, number));
  facet.s = -tl_ddot(facet.away, m->position) - f->plane[4 * (size_t)number + 3] * m->scale;
  if (f->two_sided && facet.s < 0)
    facet.away = tl_dscale(facet.away, -1), facet.s = -facet.s;
  return facet;
}

static void meet_facet(convex_job *job, uint32_t t) {
  const view facet = turned_view_of(&job->m, t);
  if (facet.s < -job->body.reach)
    return; /* the whole body is behind */
  if (job->is_box)
    add_box_corners(job, &facet);
  else
    add_patch(job, &facet);
}

/* ---- edges ----------------------------------------------------------------------------------- */

static tl_frame frame_along(talus_dvec3 z) {
  const talus_dvec3 x = tl_dorthogonal(z), y = tl_dcross(z, x);
  return (tl_frame){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
}

/* The rim of a revolved wall is touched from behind, too, as in exact contacts. */
static bool is_rim(const tl_facets *f, uint32_t edge) {
  return f->own_points && f->edge_start[edge + 1] - f->edge_start[edge] == 1;
}

static bool is_of_rim(const tl_facets *f, uint32_t vertex) {
  for (uint32_t i = f->vertex_start[vertex]; f->own_points && i < f->vertex_start[vertex + 1]; ++i)
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t edge = f->triangle_edge[3 * (size_t)f->vertex_triangle[i] + k];
      if (edge != TL_NONE && is_rim(f, edge) &&
          (f->edge_vertex[2 * (size_t)edge] == vertex ||
           f->edge_vertex[2 * (size_t)edge + 1] == vertex))
        return true;
    }
  return false;
}

/* Key of the feature at a point of the edge (edge or end vertex), or TL_NONE if the direction is
 * not in its cone. along: -1 ... 1 */
static uint32_t edge_key(const tl_facets *f, uint32_t edge, double along, talus_dvec3 w,
                         double slack) {
  const bool is_end = fabs(along) > 1 - 1e-9;
  const uint32_t vertex = f->edge_vertex[2 * (size_t)edge + (along > 0)];
  if (is_end && f->vertex_kind[vertex] == TL_VERTEX_SHARP) {
    const bool looks =
        tl_vertex_looks(f, vertex, w, slack) &&
        (f->two_sided || tl_ddot(w, tl_vertex_normal(f, vertex)) >= 0 || is_of_rim(f, vertex));
    return looks ? vertex : TL_NONE;
  }
  const bool looks = tl_edge_looks(f, edge, w, slack) &&
                     (f->two_sided || tl_ddot(w, tl_edge_normal(f, edge)) >= 0 || is_rim(f, edge));
  return looks ? tl_key_of_edge(f, edge) : TL_NONE;
}

static bool is_in_box(const convex_job *job, talus_dvec3 a, talus_dvec3 b) {
  const tl_tree_box *box = &job->box;
  return fmin(a.x, b.x) <= box->hi[0] && fmax(a.x, b.x) >= box->lo[0] &&
         fmin(a.y, b.y) <= box->hi[1] && fmax(a.y, b.y) >= box->lo[1] &&
         fmin(a.z, b.z) <= box->hi[2] && fmax(a.z, b.z) >= box->lo[2];
}

static void meet_edge(convex_job *job, uint32_t edge) {
  const tl_mesh_posed *m = &job->m;
  const tl_facets *f = m->f;
  const talus_dvec3 a = tl_facets_point(f, f->edge_vertex[2 * (size_t)edge]);
  const talus_dvec3 b = tl_facets_point(f, f->edge_vertex[2 * (size_t)edge + 1]);
  const double half = 0.5 * tl_dlength(tl_dsub(b, a)) * m->scale;
  if (!(half > 0) || !is_in_box(job, a, b) || tl_edge_is_concave(f, edge))
    return;
  const talus_dvec3 along = tl_frame_to_world(&m->frame, tl_dunit(tl_dsub(b, a)));
  const talus_dvec3 middle =
      tl_dadd(m->position, tl_frame_to_world(&m->frame, tl_dscale(tl_dadd(a, b), 0.5 * m->scale)));
  tl_convex segment = {.core = TL_CORE_SEGMENT,
                       .size = {half},
                       .rounding = job->rounding,
                       .reach = (half + job->rounding) * (1 + 1e-12),
                       .position = middle,
                       .frame = frame_along(along),
                       .scale = 1};
  tl_point found[TL_MANIFOLD_MAX];
  talus_dvec3 parting;
  const int count = tl_collide_convex(&job->body, &segment, NULL, job->margin, found, &parting);
  for (int i = 0; i < count; ++i) {
    const talus_dvec3 n = tl_dunit(
        tl_dvec3((double)found[i].normal.x, (double)found[i].normal.y, (double)found[i].normal.z));
    const talus_dvec3 w = tl_frame_to_local(&m->frame, tl_dscale(n, -1));
    const double at = tl_ddot(tl_dsub(found[i].point, middle), along) / half;
    found[i].feature_b = edge_key(f, edge, at, w, job->slack);
    if (found[i].feature_b != TL_NONE)
      tl_mesh_points_add(&job->points, &found[i]);
  }
}

static void meet_triangle(convex_job *job, uint32_t t) {
  const tl_facets *f = job->m.f;
  meet_facet(job, t);
  for (uint32_t k = 0; k < 3; ++k) {
    const uint32_t edge = f->triangle_edge[3 * (size_t)t + k];
    if (edge != TL_NONE && f->edge_triangle[f->edge_start[edge]] == t)
      meet_edge(job, edge);
  }
}

/* ---- sheets ---------------------------------------------------------------------------------- */

static bool meets(const convex_job *job, const view *facet) {
  const tl_mesh_posed *m = &job->m;
  double corner[9];
  talus_dvec3 middle = tl_dvec3(0, 0, 0);
  for (size_t k = 0; k < 3; ++k) {
    const talus_dvec3 x = facet->v[k];
    corner[3 * k] = x.x, corner[3 * k + 1] = x.y, corner[3 * k + 2] = x.z;
    middle = tl_dalong(middle, 1.0 / 3, x);
  }
  const tl_convex face = {.core = TL_CORE_HULL,
                          .position = m->position,
                          .frame = m->frame,
                          .scale = m->scale,
                          .points = corner,
                          .point_count = 3};
  const double rounding = job->body.rounding;
  tl_gjk g;
  tl_gjk_distance(&job->body, &face, tl_mesh_to_world(m, middle), rounding, 0,
                  1e-6 * job->body.reach, &g);
  return g.overlap || g.upper <= rounding;
}

/* If a sheet passes through a body, the body always gets a way out: the shortest one along the
 * normal of a facet that passes through it. */
static void find_way_out(convex_job *job) {
  const tl_mesh_posed *m = &job->m;
  double best = -HUGE_VAL;
  tl_point point = {.gap = 0};
  for (int i = 0; i < job->points.count; ++i)
    if ((double)job->points.list[i].gap + job->rounding < 0)
      return;
  tl_tree_walk walk = tl_tree_begin(&m->f->tree, m->flat);
  uint32_t first, count;
  while (tl_tree_next(&walk, &job->box, &first, &count))
    for (uint32_t t = first; t < first + count; ++t) {
      const view facet = turned_view_of(m, t);
      const talus_dvec3 down = tl_dscale(facet.away, -1);
      const talus_dvec3 lowest =
          tl_dalong(tl_convex_support(&job->body, down), job->body.rounding, down);
      const double height = facet.s + tl_ddot(facet.away, lowest);
      if (!(height < 0 && height > best) || !meets(job, &facet))
        continue;
      best = height;
      point = tl_point_at(lowest, facet.away, height - job->rounding, TL_PATCH_WITNESS, facet.key);
    }
  if (best > -HUGE_VAL)
    tl_mesh_points_add(&job->points, &point);
}

static void begin(const tl_posed *a, const tl_posed *b, talus_real margin, convex_job *job) {
  job->m = tl_mesh_pose(b), tl_posed_convex(a, &job->body);
  job->is_box = a->shape->kind == TALUS_BOX, job->is_image = b->image;
  job->half = tl_dvec3(job->body.size[0], job->body.size[1], job->body.size[2]);
  job->margin = (double)margin, job->rounding = job->m.f->rounding * job->m.scale;
  job->straddles = false;
  job->slack = a->shape->kind == TALUS_ELLIPSOID || a->shape->kind == TALUS_SUPERELLIPSOID
                   ? SEARCHED
                   : SLANT;
  tl_mesh_points_clear(
      &job->points, 2 * fmin(job->body.reach, (double)b->shape->radius * job->m.scale), b->whole);
  find_box(job);
}

bool tl_mesh_way_out(const tl_posed *a, const tl_posed *b, tl_point *out) {
  convex_job job;
  begin(a, b, 0, &job);
  find_way_out(&job);
  if (job.points.count > 0)
    *out = job.points.list[0];
  return job.points.count > 0;
}

int tl_mesh_convex(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  convex_job job;
  begin(a, b, margin, &job);
  tl_tree_walk walk = tl_tree_begin(&job.m.f->tree, job.m.flat);
  uint32_t first, count;
  while (tl_tree_next(&walk, &job.box, &first, &count))
    for (uint32_t t = first; t < first + count; ++t)
      meet_triangle(&job, t);
  if (job.straddles && job.m.f->two_sided && !job.is_image)
    find_way_out(&job);
  return tl_mesh_points_take(&job.points, out);
}
