#include "narrow/clump.h"

#include "kernels/patch.h"
#include "shape/shape.h"

/* A body that is a clump is seen as its spheres, any other as itself. */
static uint32_t part_count(const tl_posed *p) {
  return p->shape->kind == TALUS_CLUMP ? p->shape->point_count : 1;
}

/* Part number i; a sphere's shape goes to *ball. */
static tl_posed part(const tl_posed *p, const tl_frame *frame, uint32_t i, tl_shape *ball) {
  if (p->shape->kind != TALUS_CLUMP)
    return *p;
  const double *sphere = p->shape->points + 4 * (size_t)i;
  ball->kind = TALUS_SPHERE;
  ball->bounded = true;
  ball->size[0] = sphere[3];
  ball->radius = TL_R(sphere[3]);
  const talus_dvec3 arm = tl_dscale(tl_dvec3(sphere[0], sphere[1], sphere[2]), (double)p->scale);
  tl_posed child = *p;
  child.shape = ball;
  child.position = tl_dadd(p->position, tl_frame_to_world(frame, arm));
  return child;
}

/* Whether bounding spheres are farther apart than the margin, by more than rounding. */
static bool is_far(const tl_posed *a, const tl_posed *b, talus_real margin) {
  if (!a->shape->bounded || tl_kind_is_wall(b->shape->kind))
    return false;
  const talus_dvec3 d = tl_dsub(b->position, a->position);
  const double reach = (double)a->shape->radius * (double)a->scale +
                       (double)b->shape->radius * (double)b->scale + (double)margin;
  return tl_ddot(d, d) > reach * reach * (1 + 8 * (double)TL_REAL_EPS);
}

/* Points of two parts, as features of the whole bodies. */
static int find_in_parts(const tl_posed *a, const tl_posed *b, talus_real margin, uint32_t i,
                         uint32_t j, const bool clump[2], tl_point *points) {
  tl_posed first = *a, second = *b;
  first.position = tl_dvec3(0, 0, 0);
  second.position = tl_dsub(b->position, a->position);
  const int count = tl_narrow_pair(&first, &second, margin, points);
  for (int k = 0; k < count; ++k) {
    points[k].point = tl_dadd(points[k].point, a->position);
    points[k].feature_a = clump[0] ? i : points[k].feature_a;
    points[k].feature_b = clump[1] ? j : points[k].feature_b;
  }
  return count;
}

void tl_clump_visit(const tl_posed *a, const tl_posed *b, talus_real margin, tl_points_fn *visit,
                    void *context) {
  const bool clump[2] = {a->shape->kind == TALUS_CLUMP, b->shape->kind == TALUS_CLUMP};
  const tl_frame frame_a = tl_frame_from_quat(a->rotation);
  const tl_frame frame_b = tl_frame_from_quat(b->rotation);
  const uint32_t parts_a = part_count(a), parts_b = part_count(b);
  tl_shape ball_a = {0}, ball_b = {0};
  for (uint32_t i = 0; i < parts_a; ++i) {
    const tl_posed part_a = part(a, &frame_a, i, &ball_a);
    if (is_far(&part_a, b, margin))
      continue;
    for (uint32_t j = 0; j < parts_b; ++j) {
      const tl_posed part_b = part(b, &frame_b, j, &ball_b);
      if (is_far(&part_a, &part_b, margin))
        continue;
      tl_point points[TL_NARROW_MAX_POINTS];
      const int count = find_in_parts(&part_a, &part_b, margin, i, j, clump, points);
      if (count > 0)
        visit(context, points, count);
    }
  }
}

static void add_count(void *context, const tl_point *points, int count) {
  (void)points;
  *(size_t *)context += (size_t)count;
}

size_t tl_clump_count(const tl_posed *a, const tl_posed *b, talus_real margin) {
  size_t count = 0;
  tl_clump_visit(a, b, margin, add_count, &count);
  return count;
}

typedef struct collected {
  tl_point *out;
  int count;
} collected;

static void collect(void *context, const tl_point *points, int count) {
  collected *all = context;
  memcpy(all->out + all->count, points, (size_t)count * sizeof *points);
  all->count += count;
}

int tl_clump_pair(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  collected all = {.out = out};
  tl_clump_visit(a, b, margin, collect, &all);
  tl_sort_by_features(out, all.count);
  return all.count;
}
