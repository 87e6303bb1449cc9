/* Points of a pair with a mesh while they are found (private to src/narrow): any number, each key
 * once; finally at most four for each direction, and at most TL_MESH_MOST. */
#ifndef TL_NARROW_MESH_POINTS_H
#define TL_NARROW_MESH_POINTS_H

#include "kernels/patch.h"

#define TL_MESH_MOST       32  /* points of a pair; colouring limits them (contact/colour.c) */
#define TL_MESH_BINS       8   /* directions */
#define TL_MESH_CANDIDATES 192 /* number at which points found so far are reduced */

typedef struct tl_mesh_points {
  tl_point list[TL_MESH_CANDIDATES];
  int count;
  double size;  /* m, of the smaller body: the scale of distances */
  double same;  /* m: distance below which points are merged, */
  double alike; /* if the cosine of their normals is above this */
} tl_mesh_points;

/* Empties the set; points are merged only if they are the same up to rounding. */
void tl_mesh_points_clear(tl_mesh_points *points, double size);

void tl_mesh_points_add(tl_mesh_points *points, const tl_point *point);

/* Leaves the points as they are, or reduces them to TL_MESH_MOST. */
void tl_mesh_points_close(tl_mesh_points *points);

/* Takes for each normal bin the deepest point, then those that span the largest area; ascending by
 * features. */
int tl_mesh_points_take(tl_mesh_points *points, tl_point out[TL_MESH_MOST]);

#endif
