/* Shapes: one row per shape, shared by bodies. A device has such rows too, with lists of its own.
 */
#ifndef TL_CROWD_SHAPE_ROW_H
#define TL_CROWD_SHAPE_ROW_H

#include <talus/talus.h>

#include "base/fn.h"

struct tl_facets; /* shape/facets.h */

typedef struct tl_shape {
  char *name;
  talus_shape_kind kind;
  double size[5];      /* as given; plane normal normalised; mesh: thickness, rounding,
                          half of how thick it is (0: not known) */
  uint32_t open;       /* container: sides that are not there; revolved: TL_REVOLVED_...;
                          mesh: talus_sides */
  double volume;       /* m3 at scale 1; 0 for unbounded and hollow shapes */
  talus_vec3 gyration; /* squared radii of gyration about the principal axes, m2 at scale 1 */
  talus_real radius;   /* bounding sphere about the centre of mass at scale 1; 0 if unbounded */
  bool bounded;        /* false: plane */
  bool isotropic;      /* the three radii of gyration are the same number */
  talus_dvec3 centre;  /* of mass, in the shape's own frame */
  talus_quat axes;     /* principal frame within the shape's own frame */
  double error;        /* estimated, relative, of volume and gyration; 0: exact to rounding */

  /* Everything below is in the PRINCIPAL frame about the centre of mass, at scale 1.
   * Hull: its vertices, x, y, z of each (the points within are gone). Clump: x, y, z, radius of
   * each sphere, in the order given. Revolved: z, radius of each point of the profile. Mesh: as
   * given. NULL for other kinds. */
  double *points;
  uint32_t point_count;
  /* Hull: faces, coplanar triangles merged. Face f has the vertices face_vertex[face_start[f]] ...
   * face_vertex[face_start[f + 1] - 1], counter-clockwise from outside, and the plane n.x = d with
   * face_plane[4 f ...] = nx, ny, nz (unit, outwards), d > 0. face_start has face_count + 1
   * entries, face_vertex 2 edge_count (every edge is of two faces). Edges: each once, as two
   * vertices, lower first, ascending. */
  uint32_t *face_start, *face_vertex;
  double *face_plane;
  uint32_t face_count;
  uint32_t *edge; /* 2 edge_count entries */
  uint32_t edge_count;
  /* Hull: what meets at vertex i, in the entries vertex_start[i] ... vertex_start[i + 1] - 1: the
   * vertices at the other ends of its edges, ascending, and its faces, ascending (as many). */
  uint32_t *vertex_start, *neighbour, *vertex_face;
  /* Mesh: face_vertex has three vertices for each of face_count triangles, in the order of the tree
   * of its surface, which is derived; the other lists are empty. */
  struct tl_facets *facets;
} tl_shape;

/* `open` of a revolved wall, as files have it. */
enum { TL_REVOLVED_IN, TL_REVOLVED_OUT, TL_REVOLVED_BOTH };

/* Kinds without mass, which are never free. */
TL_FN bool tl_kind_is_wall(talus_shape_kind kind) {
  return kind == TALUS_PLANE || kind == TALUS_CONTAINER || kind == TALUS_REVOLVED;
}

/* Numbers that each of a shape's points has. */
TL_FN size_t tl_kind_width(talus_shape_kind kind) {
  return kind == TALUS_CLUMP ? 4 : kind == TALUS_REVOLVED ? 2 : 3;
}

#endif
