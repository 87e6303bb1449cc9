/* Two meshes by their trees, without scratch: the entry of the table, and the reference for the
 * search over lists (narrow/parts_mesh.c). */
#include "narrow/mesh_contour.h"

typedef struct walk_job {
  tl_mesh_pair pair;
  bool is_a;
  bool is_deep;
  bool looks_deep;       /* second search */
  uint32_t block;        /* of the triangles being visited */
  tl_mesh_points here;   /* of the block */
  tl_mesh_points points; /* of all blocks before it */
} walk_job;

static void end_block(walk_job *job) {
  tl_mesh_points_close(&job->here);
  for (int i = 0; i < job->here.count; ++i)
    tl_mesh_points_add(&job->points, &job->here.list[i]);
  job->here.count = 0;
}

/* Collects each near triangle of the other mesh, as in a list. */
static void meet_near(walk_job *job, uint32_t t) {
  const tl_mesh_pair *pair = &job->pair;
  const tl_triangle_corners own = tl_mesh_pair_first(pair, t);
  const double reach = tl_mesh_pair_reach(pair);
  tl_tree_box box = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
  for (int k = 0; k < 3; ++k) {
    const double x[3] = {own.p[k].x, own.p[k].y, own.p[k].z};
    for (int i = 0; i < 3; ++i)
      box.lo[i] = fmin(box.lo[i], x[i] - reach), box.hi[i] = fmax(box.hi[i], x[i] + reach);
  }
  tl_tree_walk walk = tl_tree_begin(&pair->b.f->tree, pair->b.flat);
  uint32_t first, count;
  while (tl_tree_next(&walk, &box, &first, &count))
    for (uint32_t i = first; i < first + count; ++i)
      tl_mesh_pair_meet_near(pair, t, i, &job->here);
}

static void meet_triangle(walk_job *job, uint32_t t) {
  const tl_mesh_run run = {.is_a = job->is_a, .triangle = t};
  if (t / TL_MESH_BLOCK != job->block)
    end_block(job);
  job->block = t / TL_MESH_BLOCK;
  if (job->looks_deep)
    tl_mesh_pair_meet_deep(&job->pair, job->is_a, t, &job->here);
  else if (job->pair.thesis)
    meet_near(job, t);
  else
    job->is_deep = tl_mesh_pair_meet(&job->pair, &run, &job->here) || job->is_deep;
}

/* True if the other body has a triangle near child k of a node. */
static bool is_near(const walk_job *job, const tl_tree_node *n, uint32_t k) {
  const tl_mesh_pair *pair = &job->pair;
  const tl_mesh_posed *other = job->is_a ? &pair->b : &pair->a;
  const tl_tree_box box =
      tl_mesh_moved_box(job->is_a ? &pair->a_to_b : &pair->b_to_a, n, k,
                        (pair->reach * (1 + 1e-6) + 1e-9 * pair->radius) / other->scale);
  uint32_t first, count;
  tl_tree_walk walk = tl_tree_begin(&other->f->tree, false);
  return tl_tree_next(&walk, &box, &first, &count);
}

static void visit(walk_job *job, uint32_t node) {
  const tl_tree_node *n = &(job->is_a ? job->pair.a.f : job->pair.b.f)->tree.node[node];
  for (uint32_t k = 0; k < TL_TREE_WIDE; ++k) {
    if (n->lo[0][k] > n->hi[0][k] || !is_near(job, n, k))
      continue;
    if (n->count[k] == 0)
      visit(job, n->first[k]);
    for (uint32_t t = n->first[k]; t < n->first[k] + n->count[k]; ++t)
      meet_triangle(job, t);
  }
}

static void search(walk_job *job) {
  for (int side = 0; side < (job->pair.thesis ? 1 : 2); ++side) {
    job->is_a = side == 0;
    const tl_facets *f = job->is_a ? job->pair.a.f : job->pair.b.f;
    const bool all = job->pair.a.flat || job->looks_deep;
    if (!all)
      visit(job, 0);
    for (uint32_t t = 0; all && t < f->triangles; ++t)
      meet_triangle(job, t);
    end_block(job);
  }
}

/* Whether it was enough. */
static bool look(const tl_posed *a, const tl_posed *b, talus_real margin, bool first, tl_point *out,
                 int *count) {
  walk_job job;
  tl_mesh_contours contours;
  job.pair = tl_mesh_pair_make(a, b, margin, first);
  job.is_deep = job.looks_deep = false, job.block = 0;
  tl_mesh_points_start(&job.points, &job.pair), tl_mesh_points_start(&job.here, &job.pair);
  search(&job);
  const tl_mesh_crossings crossings = {.pair = &job.pair};
  const tl_mesh_depth depth =
      tl_mesh_contours_judge(&crossings, first, job.is_deep, &job.points, &contours);
  if (depth == TL_MESH_AGAIN)
    return false;
  job.looks_deep = depth == TL_MESH_BY_VERTICES;
  if (job.looks_deep)
    search(&job);
  if (depth == TL_MESH_BY_CONTOURS) {
    tl_mesh_contours_reach_all(&job.pair, &contours);
    tl_mesh_contours_finish(&job.pair, &contours, &job.points);
  }
  tl_mesh_contours_part(&crossings, &contours, &job.points);
  *count = tl_mesh_points_take(&job.points, out);
  return true;
}

int tl_mesh_mesh(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  int count = 0;
  if (!look(a, b, margin, true, out, &count))
    (void)look(a, b, margin, false, out, &count);
  return count;
}
