#include "narrow/clump.h"

#include "kernels/patch.h"
#include "narrow/mesh.h"
#include "shape/shape.h"

/* True if no triangle of the mesh is near the sphere; tests boxes of the tree. */
static bool is_far_from_mesh(const tl_posed *sphere, const tl_posed *mesh, talus_real margin) {
  const tl_mesh_posed m = tl_mesh_pose(mesh);
  const talus_dvec3 x = tl_mesh_to_local(&m, sphere->position);
  const double radius = sphere->shape->size[0] * (double)sphere->scale + m.f->rounding * m.scale;
  const double reach =
      (radius + fmax((double)margin, 0)) / m.scale * (1 + 1e-9) + 1e-12 * m.f->extent;
  const tl_tree_box box = {{x.x - reach, x.y - reach, x.z - reach},
                           {x.x + reach, x.y + reach, x.z + reach}};
  tl_tree_walk walk = tl_tree_begin(&m.f->tree, false);
  uint32_t first, count;
  return !tl_tree_next(&walk, &box, &first, &count);
}

bool tl_clump_is_far(const tl_posed *a, const tl_posed *b, talus_real margin) {
  return tl_clump_is_apart(a, b, margin) ||
         (b->shape->kind == TALUS_MESH && a->shape->kind == TALUS_SPHERE &&
          is_far_from_mesh(a, b, margin));
}

static int find_in_parts(const tl_clump_pair_job *job, const tl_clump_part *a,
                         const tl_clump_part *b, uint32_t i, uint32_t j, tl_point *points) {
  tl_posed first, second;
  tl_clump_parts_posed(a, b, &first, &second);
  const int count = tl_narrow_pair(&first, &second, job->margin, points);
  tl_clump_points_moved(job, a, i, j, points, count);
  return count;
}

int tl_clump_find(const tl_clump_pair_job *job, uint32_t i, uint32_t j, tl_point *points) {
  tl_clump_part a = {0}, b = {0};
  tl_clump_part_make(&job->a, i, &a);
  tl_clump_part_make(&job->b, j, &b);
  return find_in_parts(job, &a, &b, i, j, points);
}

/* Points of all parts that are near; out NULL: only whether there is one. */
static int find_all(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  tl_clump_pair_job job;
  tl_clump_part part_a = {0}, part_b = {0};
  int count = 0;
  tl_clump_pair_begin(a, b, margin, &job);
  for (uint32_t i = 0; i < job.a.parts; ++i) {
    tl_clump_part_make(&job.a, i, &part_a);
    if (tl_clump_is_far(&part_a.posed, b, margin))
      continue;
    for (uint32_t j = 0; j < job.b.parts; ++j) {
      tl_point points[TL_NARROW_MAX_POINTS];
      tl_clump_part_make(&job.b, j, &part_b);
      if (tl_clump_is_far(&part_a.posed, &part_b.posed, margin))
        continue;
      const int found = find_in_parts(&job, &part_a, &part_b, i, j, points);
      if (out)
        memcpy(out + count, points, (size_t)(found > 0 ? found : 0) * sizeof *out);
      count += found;
      if (!out && count > 0)
        return count;
    }
  }
  return count;
}

bool tl_clump_meets(const tl_posed *a, const tl_posed *b, talus_real margin) {
  return find_all(a, b, margin, NULL) > 0;
}

int tl_clump_pair(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const int count = find_all(a, b, margin, out);
  tl_sort_by_features(out, count);
  return count;
}
