/* Points of a pair with a mesh while they are found (private to src/narrow): any number, each key
 * once; finally at most four for each direction, and at most TL_MESH_MOST.
 *
 * For springs no point is dropped: a force would jump when another one is chosen. They share their
 * law by weights (solve/penalty/share.c). Above TL_MESH_WHOLE there are four for each direction,
 * too. */
#ifndef TL_NARROW_MESH_POINTS_H
#define TL_NARROW_MESH_POINTS_H

#include "kernels/patch.h"

#define TL_MESH_MOST       32  /* points of a pair; colouring limits them (contact/colour.c) */
#define TL_MESH_BINS       8   /* directions */
#define TL_MESH_CANDIDATES 192 /* number at which points found so far are reduced */
#define TL_MESH_WHOLE      (TL_MESH_CANDIDATES - 1) /* points of a pair, if none is dropped */

typedef struct tl_mesh_points {
  tl_point list[TL_MESH_CANDIDATES];
  int count;
  int keeps;    /* reduces only what is more */
  double size;  /* m, of the smaller body: the scale of distances */
  double same;  /* m: distance below which points are merged, */
  double alike; /* if the cosine of their normals is above this */
} tl_mesh_points;

/* Empties the set; points are merged only if they are the same up to rounding. whole: up to
 * TL_MESH_WHOLE points stay. */
void tl_mesh_points_clear(tl_mesh_points *points, double size, bool whole);

void tl_mesh_points_add(tl_mesh_points *points, const tl_point *point);

/* Leaves the points as they are, or reduces them to tl_mesh_points_room. */
void tl_mesh_points_close(tl_mesh_points *points);

/* The most points that tl_mesh_points_take writes. */
static inline int tl_mesh_points_room(const tl_mesh_points *points) {
  return points->keeps > TL_MESH_MOST ? points->keeps : TL_MESH_MOST;
}

/* Takes for each normal bin the deepest point, then those that span the largest area; or all.
 * Ascending by features. */
int tl_mesh_points_take(tl_mesh_points *points, tl_point *out);

#endif
