/* Meshes against planes and containers: their vertices that are near. */
#include "kernels/collide_convex.h"
#include "narrow/mesh.h"
#include "narrow/mesh_points.h"

/* A half-space. The mesh is the first body; its centre is the origin. */
typedef struct flat_job {
  tl_mesh_posed m;
  talus_dvec3 away; /* unit, world: outward normal */
  double s;         /* m: height of the origin */
  double local[3];  /* `away` in the mesh's frame */
  double reach;     /* upper bound of a vertex's distance along it, in the mesh's frame */
  double margin, rounding;
  const tl_wall *wall; /* or NULL */
  uint32_t feature;
  tl_mesh_points points;
} flat_job;

static void meet_vertex(flat_job *job, uint32_t vertex) {
  const tl_mesh_posed *m = &job->m;
  const talus_dvec3 at = tl_facets_point(m->f, vertex);
  const talus_dvec3 p = tl_frame_to_world(&m->frame, tl_dscale(at, m->scale));
  const talus_dvec3 surface = tl_dalong(p, -job->rounding, job->away);
  const double gap = job->s + tl_ddot(job->away, surface);
  if (!(gap <= job->margin) || !tl_wall_has(job->wall, surface))
    return;
  const tl_point point = tl_point_at(surface, job->away, gap, vertex, job->feature);
  tl_mesh_points_add(&job->points, &point);
}

/* Visits each vertex at the first triangle that has it. */
static void meet_triangles(flat_job *job, uint32_t first, uint32_t count) {
  const tl_facets *f = job->m.f;
  for (uint32_t t = first; t < first + count; ++t)
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t vertex = f->triangle[3 * (size_t)t + k];
      if (f->vertex_kind[vertex] == TL_VERTEX_SHARP &&
          f->vertex_triangle[f->vertex_start[vertex]] == t)
        meet_vertex(job, vertex);
    }
}

static void visit(flat_job *job, uint32_t node) {
  const tl_tree_node *n = &job->m.f->tree.node[node];
  for (uint32_t k = 0; k < TL_TREE_WIDE; ++k) {
    double least = 0;
    if (n->lo[0][k] > n->hi[0][k])
      continue;
    for (int i = 0; i < 3; ++i)
      least += job->local[i] * (double)(job->local[i] > 0 ? n->lo[i][k] : n->hi[i][k]);
    if (least > job->reach)
      continue;
    if (n->count[k] > 0)
      meet_triangles(job, n->first[k], n->count[k]);
    else
      visit(job, n->first[k]);
  }
}

static flat_job start(const tl_posed *a, talus_real margin) {
  flat_job job;
  job.m = tl_mesh_pose(a);
  job.margin = (double)margin, job.rounding = job.m.f->rounding * job.m.scale;
  job.wall = NULL, job.feature = 0;
  tl_mesh_points_clear(&job.points, 2 * (double)a->shape->radius * job.m.scale, a->whole);
  return job;
}

static int run(flat_job *job, talus_dvec3 away, double s, tl_point *out) {
  const tl_mesh_posed *m = &job->m;
  const talus_dvec3 local = tl_frame_to_local(&m->frame, away);
  job->away = away, job->s = s, job->points.count = 0;
  job->local[0] = local.x, job->local[1] = local.y, job->local[2] = local.z;
  job->reach = (job->margin + job->rounding - s) / m->scale;
  job->reach += 1e-12 * (fabs(job->reach) + m->f->extent); /* the gap itself decides */
  if (m->flat)
    meet_triangles(job, 0, m->f->triangles);
  else
    visit(job, 0);
  return tl_mesh_points_take(&job->points, out);
}

int tl_mesh_plane(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const double *size = b->shape->size;
  const tl_frame frame = tl_frame_from_quat(b->rotation);
  const talus_dvec3 n = tl_frame_to_world(&frame, tl_dvec3(size[0], size[1], size[2]));
  flat_job job = start(a, margin);
  return run(&job, n, -tl_ddot(n, b->position) - size[3] * (double)b->scale, out);
}

int tl_mesh_container(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const tl_frame frame = tl_frame_from_quat(b->rotation);
  const double half = 0.5 * (double)b->scale;
  const talus_dvec3 edges =
      tl_dvec3(half * b->shape->size[0], half * b->shape->size[1], half * b->shape->size[2]);
  flat_job job = start(a, margin);
  if (a->whole) /* for each wall */
    job.points.keeps = TL_MESH_WHOLE / TL_CONTAINER_WALLS;
  double extent[3];
  for (int i = 0; i < 3; ++i) {
    const talus_dvec3 axis = tl_frame_to_local(&job.m.frame, tl_frame_axis(&frame, i));
    const double m[3] = {axis.x, axis.y, axis.z};
    double range[2];
    tl_facets_range(job.m.f, m, range);
    extent[i] = fmax(-range[0], range[1]) * job.m.scale;
  }
  const tl_contained c =
      tl_contained_make(tl_frame_to_local(&frame, tl_dscale(b->position, -1)), edges,
                        b->shape->open, tl_dvec3(extent[0], extent[1], extent[2]));
  int count = 0;
  for (int wall = 0; wall < TL_CONTAINER_WALLS; ++wall) {
    if (tl_wall_is_open(&c, wall))
      continue;
    talus_dvec3 away;
    double s;
    tl_wall_touched_side(&c, &frame, wall, &away, &s);
    tl_wall here;
    here.contained = &c, here.frame = &frame, here.number = wall;
    job.wall = &here, job.feature = (uint32_t)wall;
    count += run(&job, away, s, out + count);
  }
  tl_sort_by_features(out, count);
  return count;
}
