/* Contacts of pairs of any shape: the work of one thread in each task.
 *
 * Pairs whose bounding spheres overlap arrive in canonical order. They are sorted into classes,
 * so that neighbouring threads do the same work. A pair has room for its first point; further
 * points go to a place in a pool, which the pair stores. Then the points of all pairs are
 * counted and moved to their places. The functions of the kinds are those of the host
 * (narrow/posed_pairs.h, narrow/clump_parts.h). */
#ifndef TL_THREAD_PAIRS_H
#define TL_THREAD_PAIRS_H

#include <talus/detect.h>

#include "backend/thread/spheres.h"
#include "narrow/clump_parts.h"

/* Classes of pairs, fast ones first. */
typedef enum tl_pair_class {
  TL_PAIRS_ROUND,     /* a sphere and a sphere, box, plane or container; boxes and walls */
  TL_PAIRS_ELLIPSOID, /* two ellipsoids, or one and a sphere */
  TL_PAIRS_BOX,       /* two boxes, by their axes */
  TL_PAIRS_CONVEX,    /* all others */
  TL_PAIRS_CLUMP,     /* a clump and any body */
  TL_PAIR_CLASSES
} tl_pair_class;

/* Most points of a pair without a clump: four on each of six walls of a container. */
#define TL_PAIR_POINTS 24

/* Bodies on a device. */
typedef struct tl_thread_bodies {
  const tl_shape *shapes;
  const uint32_t *shape; /* by slot */
  const talus_real *scale;
  const talus_quat *rotation;
  const tl_thread_ball *rows; /* positions, and radii of bounding spheres */
  tl_grid_space space;
  talus_real margin; /* m: of a pair; */
  /* or, by slot, margins whose sum is that of a pair; NULL: all pairs have the same */
  const talus_real *margins;
  talus_ellipsoid_method method;
} tl_thread_bodies;

TL_FN talus_shape_kind tl_thread_kind(const tl_thread_bodies *bodies, uint32_t slot) {
  return bodies->shapes[bodies->shape[slot]].kind;
}

TL_FN bool tl_kind_is_box_or_ball(talus_shape_kind kind) {
  return kind == TALUS_SPHERE || kind == TALUS_BOX;
}

TL_FN tl_pair_class tl_thread_class(talus_shape_kind a, talus_shape_kind b) {
  const bool swapped = tl_narrow_swapped(a, b);
  const talus_shape_kind first = swapped ? b : a, second = swapped ? a : b;
  if (tl_has_clump(a, b))
    return TL_PAIRS_CLUMP;
  if (tl_kind_is_box_or_ball(first) &&
      (tl_kind_is_wall(second) || (first == TALUS_SPHERE && tl_kind_is_box_or_ball(second))))
    return TL_PAIRS_ROUND;
  if (first == TALUS_BOX && second == TALUS_BOX)
    return TL_PAIRS_BOX;
  const bool smooth = first == TALUS_SPHERE || first == TALUS_ELLIPSOID;
  return smooth && second == TALUS_ELLIPSOID ? TL_PAIRS_ELLIPSOID : TL_PAIRS_CONVEX;
}

TL_FN talus_real tl_thread_pair_margin(const tl_thread_bodies *bodies, uint32_t a, uint32_t b) {
  return bodies->margins ? bodies->margins[a] + bodies->margins[b] : bodies->margin;
}

/* ---- classes --------------------------------------------------------------------------------- */

typedef struct tl_class_task {
  tl_thread_bodies bodies;
  const uint32_t *owners, *others;
  uint32_t *classes, *pairs; /* keys and values of a sort */
} tl_class_task;

TL_FN void tl_class_at(const tl_class_task *task, size_t i) {
  const tl_pair_class of = tl_thread_class(tl_thread_kind(&task->bodies, task->owners[i]),
                                           tl_thread_kind(&task->bodies, task->others[i]));
  task->classes[i] = (uint32_t)of;
  task->pairs[i] = (uint32_t)i;
}

/* Finds the end of each class that occurs, among sorted pairs. */
typedef struct tl_bound_task {
  const uint32_t *classes;
  size_t count;
  uint32_t *ends; /* by class; cleared before */
} tl_bound_task;

TL_FN void tl_bound_at(const tl_bound_task *task, size_t i) {
  const uint32_t of = task->classes[i];
  if (i + 1 == task->count || task->classes[i + 1] != of)
    task->ends[of] = (uint32_t)(i + 1);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* Pairs pairs[0], pairs[1], ... of one class. */
typedef struct tl_pair_task {
  tl_thread_bodies bodies;
  const uint32_t *owners, *others, *pairs;
  uint32_t *counts; /* number of points, by pair */
  tl_point *points; /* by pair: its first point */
  tl_point *pool;   /* the further points; */
  uint32_t room;    /* capacity of the pool; */
  uint32_t *used;   /* number of points in it, or that would be with enough room; */
  uint32_t *starts; /* by pair: place of its further points */
} tl_pair_task;

typedef tl_pair_task tl_round_task, tl_ellipsoid_task, tl_box_task, tl_convex_task, tl_clump_task;

/* A pair in the order of the table, like in narrow.c. */
typedef struct tl_thread_pair {
  tl_posed first, second;
  talus_dvec3 origin; /* of the points, in world coordinates */
  talus_real margin;
  bool swapped;
} tl_thread_pair;

TL_FN tl_posed tl_thread_pose(const tl_thread_bodies *bodies, uint32_t slot, talus_dvec3 position) {
  tl_posed posed = {0};
  posed.shape = &bodies->shapes[bodies->shape[slot]];
  posed.scale = bodies->scale[slot];
  posed.position = position;
  posed.rotation = bodies->rotation[slot];
  return posed;
}

/* Planes have no images. The origin of a swapped pair is the image of b next to a. A sphere and an
 * ellipsoid are treated as two ellipsoids and are never swapped (narrow/ellipsoid_pairs.c). */
TL_FN tl_thread_pair tl_thread_order(const tl_thread_bodies *bodies, uint32_t a, uint32_t b) {
  const talus_shape_kind kind_a = tl_thread_kind(bodies, a), kind_b = tl_thread_kind(bodies, b);
  const tl_thread_ball row_a = bodies->rows[a], row_b = bodies->rows[b];
  const talus_dvec3 at_a = tl_dvec3(row_a.x, row_a.y, row_a.z);
  const talus_dvec3 at_b = tl_dvec3(row_b.x, row_b.y, row_b.z);
  const talus_dvec3 direct = tl_dsub(at_b, at_a);
  const bool endless = kind_a == TALUS_PLANE || kind_b == TALUS_PLANE;
  const talus_dvec3 to_b = endless ? direct : tl_thread_offset(&bodies->space, &row_a, &row_b);
  tl_thread_pair pair;
  pair.margin = tl_thread_pair_margin(bodies, a, b);
  pair.swapped =
      tl_narrow_swapped(kind_a, kind_b) && tl_thread_class(kind_a, kind_b) != TL_PAIRS_ELLIPSOID;
  pair.first = tl_thread_pose(bodies, pair.swapped ? b : a, tl_dvec3(0, 0, 0));
  pair.second =
      tl_thread_pose(bodies, pair.swapped ? a : b, pair.swapped ? tl_dscale(to_b, -1) : to_b);
  pair.origin = pair.swapped ? tl_dadd(at_b, tl_dsub(to_b, direct)) : at_a;
  return pair;
}

/* Stores points in the layout of contacts. */
TL_FN void tl_pair_keep(const tl_pair_task *task, uint32_t i, const tl_thread_pair *pair,
                        tl_point *points, int count) {
  task->counts[i] = (uint32_t)count;
  if (count == 0)
    return;
  if (pair->swapped)
    tl_narrow_swap(points, count);
  for (int k = 0; k < count; ++k)
    points[k].point = tl_dadd(pair->origin, points[k].point);
  task->points[i] = points[0];
  if (count == 1)
    return;
  const uint32_t more = (uint32_t)count - 1, at = tl_thread_add(task->used, more);
  task->starts[i] = at;
  if ((uint64_t)at + more > task->room)
    return;
  for (uint32_t k = 0; k < more; ++k)
    task->pool[at + k] = points[k + 1];
}

TL_FN int tl_round_meet(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  const bool ball = a->shape->kind == TALUS_SPHERE;
  switch (b->shape->kind) {
  case TALUS_PLANE:
    return ball ? tl_posed_sphere_plane(a, b, margin, out) : tl_posed_box_plane(a, b, margin, out);
  case TALUS_CONTAINER:
    return ball ? tl_posed_sphere_container(a, b, margin, out)
                : tl_posed_box_container(a, b, margin, out);
  case TALUS_BOX:
    return tl_posed_sphere_box(a, b, margin, out);
  default:
    return tl_posed_sphere_sphere(a, b, margin, out);
  }
}

TL_FN void tl_round_at(const tl_round_task *task, size_t k) {
  const uint32_t i = task->pairs[k];
  const tl_thread_pair pair = tl_thread_order(&task->bodies, task->owners[i], task->others[i]);
  tl_point points[TL_PAIR_POINTS];
  tl_pair_keep(task, i, &pair, points,
               tl_round_meet(&pair.first, &pair.second, pair.margin, points));
}

TL_FN void tl_ellipsoid_at(const tl_ellipsoid_task *task, size_t k) {
  const uint32_t i = task->pairs[k];
  const tl_thread_pair pair = tl_thread_order(&task->bodies, task->owners[i], task->others[i]);
  tl_point point;
  tl_pair_keep(
      task, i, &pair, &point,
      tl_posed_ellipsoids_by(&pair.first, &pair.second, task->bodies.method, pair.margin, &point));
}

TL_FN void tl_box_at(const tl_box_task *task, size_t k) {
  const uint32_t i = task->pairs[k];
  const tl_thread_pair pair = tl_thread_order(&task->bodies, task->owners[i], task->others[i]);
  tl_point points[TL_PAIR_POINTS];
  tl_pair_keep(task, i, &pair, points,
               tl_posed_box_box(&pair.first, &pair.second, pair.margin, points));
}

TL_FN void tl_convex_at(const tl_convex_task *task, size_t k) {
  const uint32_t i = task->pairs[k];
  const tl_thread_pair pair = tl_thread_order(&task->bodies, task->owners[i], task->others[i]);
  const talus_shape_kind second = pair.second.shape->kind;
  const talus_real margin = pair.margin;
  tl_point points[TL_PAIR_POINTS];
  const int count = second == TALUS_PLANE
                        ? tl_posed_convex_plane(&pair.first, &pair.second, margin, points)
                    : second == TALUS_CONTAINER
                        ? tl_posed_convex_container(&pair.first, &pair.second, margin, points)
                        : tl_posed_convex_convex(&pair.first, &pair.second, margin, points);
  tl_pair_keep(task, i, &pair, points, count);
}

/* ---- clumps ---------------------------------------------------------------------------------- */

/* Points of two parts, one of them a sphere. */
TL_FN int tl_clump_meet(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out) {
  if (!tl_narrow_swapped(a->shape->kind, b->shape->kind))
    return tl_posed_sphere_any(a, b, margin, out);
  tl_posed first, second;
  tl_narrow_turn(a, b, &first, &second);
  const int count = tl_posed_sphere_any(&first, &second, margin, out);
  tl_narrow_turn_back(b, out, count);
  return count;
}

/* Returns the number of points of all parts that are near; writes the first `room`. */
TL_BIG_FN uint32_t tl_clump_points(const tl_thread_pair *pair, tl_point *out, uint32_t room) {
  tl_clump_pair_job job;
  tl_clump_part a = {0}, b = {0};
  uint32_t count = 0;
  tl_clump_pair_begin(&pair->first, &pair->second, pair->margin, &job);
  for (uint32_t i = 0; i < job.a.parts; ++i) {
    tl_clump_part_make(&job.a, i, &a);
    if (tl_clump_is_apart(&a.posed, &job.b.whole, job.margin))
      continue;
    for (uint32_t j = 0; j < job.b.parts; ++j) {
      tl_point points[TL_CONTAINER_WALLS];
      tl_posed first, second;
      tl_clump_part_make(&job.b, j, &b);
      if (tl_clump_is_apart(&a.posed, &b.posed, job.margin))
        continue;
      tl_clump_parts_posed(&a, &b, &first, &second);
      const int found = tl_clump_meet(&first, &second, job.margin, points);
      tl_clump_points_moved(&job, &a, i, j, points, found);
      for (int k = 0; k < found; ++k, ++count)
        if (count < room)
          out[count] = points[k];
    }
  }
  return count;
}

/* More points than a thread holds: all of them into the pool. */
TL_FN void tl_clump_pool(const tl_clump_task *task, uint32_t i, const tl_thread_pair *pair,
                         uint32_t count) {
  const uint32_t at = tl_thread_add(task->used, count);
  task->counts[i] = count;
  task->starts[i] = at + 1;
  if ((uint64_t)at + count > task->room)
    return;
  tl_point *points = task->pool + at;
  (void)tl_clump_points(pair, points, count);
  if (pair->swapped)
    tl_narrow_swap(points, (int)count);
  else
    tl_sort_by_features(points, (int)count);
  for (uint32_t k = 0; k < count; ++k)
    points[k].point = tl_dadd(pair->origin, points[k].point);
  task->points[i] = points[0];
}

TL_FN void tl_clump_at(const tl_clump_task *task, size_t k) {
  const uint32_t i = task->pairs[k];
  const tl_thread_pair pair = tl_thread_order(&task->bodies, task->owners[i], task->others[i]);
  tl_point points[TL_PAIR_POINTS];
  const uint32_t count = tl_clump_points(&pair, points, TL_PAIR_POINTS);
  if (count > TL_PAIR_POINTS) {
    tl_clump_pool(task, i, &pair, count);
    return;
  }
  if (!pair.swapped)
    tl_sort_by_features(points, (int)count);
  tl_pair_keep(task, i, &pair, points, (int)count);
}

/* ---- moving points to their places ----------------------------------------------------------- */

typedef struct tl_place_task {
  const uint32_t *owners, *others;
  const uint32_t *counts; /* by pair, as in tl_pair_task */
  const tl_point *points, *pool;
  const uint32_t *starts;
  const uint64_t *targets; /* by pair: its first contact */
  talus_row_contact *contacts;
} tl_place_task;

TL_FN void tl_place_at(const tl_place_task *task, size_t i) {
  for (uint32_t k = 0; k < task->counts[i]; ++k) {
    const tl_point point = k == 0 ? task->points[i] : task->pool[task->starts[i] + k - 1];
    talus_row_contact contact;
    contact.a = task->owners[i];
    contact.b = task->others[i];
    contact.feature_a = point.feature_a;
    contact.feature_b = point.feature_b;
    contact.point = point.point;
    contact.normal = point.normal;
    contact.gap = point.gap;
    task->contacts[task->targets[i] + k] = contact;
  }
}

#endif
