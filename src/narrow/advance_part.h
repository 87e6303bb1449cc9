/* Bodies as sets of parts that advancement follows (private to narrow/advance_parts.c): triangles
 * of meshes in the nodes of their trees, spheres of clumps, whole convex bodies; with poses on a
 * path and distances between them. */
#ifndef TL_NARROW_ADVANCE_PART_H
#define TL_NARROW_ADVANCE_PART_H

#include "kernels/gjk.h"
#include "narrow/advance.h"
#include "shape/facets.h"

/* The pose of a body at one time. */
typedef struct tl_stance {
  talus_dvec3 at;
  tl_frame frame;
} tl_stance;

typedef struct tl_side {
  const tl_mover *m;
  const tl_facets *f;    /* of a mesh */
  const double *spheres; /* of a clump: x, y, z, radius at scale 1 */
  uint32_t sphere_count;
  tl_convex whole; /* of other kinds: pose at `begin` */
  double scale;
  double rounding;      /* m, of all parts; for a sphere of a clump its own radius */
  double rate, bend;    /* rad/s: speed of rotation, and its square */
  tl_stance begin, end; /* of the piece of its path */
} tl_side;

typedef enum tl_part_form {
  TL_PART_BRANCH, /* of a tree */
  TL_PART_LEAF,   /* of a tree: triangles */
  TL_PART_LIST,   /* of spheres */
  TL_PART_BALL,   /* a sphere */
  TL_PART_WHOLE   /* a convex body */
} tl_part_form;

/* Parts of a body that are tested together, in its own axes, m. */
typedef struct tl_part_node {
  tl_part_form form;
  talus_dvec3 middle, half; /* of their bounding box, without rounding */
  double radius;            /* of their bounding ball */
  double arm;               /* of the farthest of their points from the centre of mass */
  uint32_t first, count;    /* triangles, spheres, or the branch */
} tl_part_node;

/* One triangle, sphere or convex body. */
typedef struct tl_part {
  const tl_side *side;
  tl_part_form form; /* TL_PART_LEAF: a triangle */
  double corner[9];  /* in the body's axes, m; of a sphere its centre */
  double rounding;   /* m: radius of a sphere, or of the rounding around a core */
  double arm;
} tl_part;

tl_side tl_side_of(const tl_mover *m);
tl_stance tl_stance_at(const tl_side *s, double t);

/* The root: the whole body. */
tl_part_node tl_part_root(const tl_side *s);
/* Child k of a branch; false if there is none. */
bool tl_part_child(const tl_side *s, const tl_part_node *n, uint32_t k, tl_part_node *child);
/* Sphere k of a clump. */
tl_part_node tl_part_sphere(const tl_side *s, uint32_t k);
/* Part k of a node that is no branch. */
tl_part tl_part_of(const tl_side *s, const tl_part_node *n, uint32_t k);

/* A lower bound of the distance of two parts; negative if they have a point in common. *n: unit
 * vector from a to b; any direction in that case. */
double tl_part_distance(const tl_part *a, const tl_stance *at_a, const tl_part *b,
                        const tl_stance *at_b, double tolerance, talus_dvec3 *n);

/* Support of a part along n, m. */
double tl_part_farthest(const tl_part *p, const tl_stance *s, talus_dvec3 n);

#endif
