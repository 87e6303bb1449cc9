/* Points of a pair with a mesh while they are found (private to src/narrow): as many as come, each
 * key once; in the end at most four for each direction, and no more than TL_MESH_MOST. */
#ifndef TL_NARROW_MESH_POINTS_H
#define TL_NARROW_MESH_POINTS_H

#include "kernels/patch.h"

#define TL_MESH_MOST       32  /* points of a pair: colours want no more (contact/colour.c) */
#define TL_MESH_BINS       8   /* directions */
#define TL_MESH_CANDIDATES 192 /* before those found so far are reduced */

typedef struct tl_mesh_points {
  tl_point list[TL_MESH_CANDIDATES];
  int count;
  double size;  /* m, of the smaller body: what distances are compared with */
  double same;  /* m: points that are nearer to each other */
  double alike; /* and whose normals have more than this cosine are one */
} tl_mesh_points;

/* Empty; only what is the same to rounding is one. */
void tl_mesh_points_clear(tl_mesh_points *points, double size);

void tl_mesh_points_add(tl_mesh_points *points, const tl_point *point);

/* As they are, or reduced where there are more than TL_MESH_MOST. */
void tl_mesh_points_close(tl_mesh_points *points);

/* Of each normal bin the deepest, then those that span the most area; ascending by features. */
int tl_mesh_points_take(tl_mesh_points *points, tl_point out[TL_MESH_MOST]);

#endif
