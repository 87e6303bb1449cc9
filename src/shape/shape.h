/* Shapes: from a definition to bounds and mass properties. */
#ifndef TL_SHAPE_SHAPE_H
#define TL_SHAPE_SHAPE_H

#include "base/power.h"
#include "kernels/aabb.h"
#include "kernels/revolved.h"
#include "crowd/crowd.h"

#define TL_EXPONENT_LEAST 1.1 /* of a superellipsoid */
#define TL_EXPONENT_MOST  100.0

/* The support function of |u|^n + |v|^n <= 1, stretched by x and y >= 0: the norm of (x, y) whose
 * exponent is n/(n - 1) (Hoelder). */
static inline double tl_dual_norm(double x, double y, double n) {
  const double big = fmax(x, y), small = fmin(x, y);
  if (big == 0)
    return 0;
  return big * tl_pow_d(1 + tl_pow_d(small / big, n / (n - 1)), (n - 1) / n);
}

/* Fills *shape from the definition, or fails naming the shape and the value. Owns a copy of the
 * name. */
talus_status tl_shape_make(const talus_shape_def *def, tl_shape *shape);
void tl_shape_release(tl_shape *shape);

/* The arrays that a hull, a clump or a mesh owns beside its name, in one list: for memory,
 * checkpoints and copies. `scalars` follows from the counts of the shape; the pointer may still be
 * NULL. */
typedef struct tl_shape_list {
  const char *name;
  void *data;
  size_t scalars, scalar_bytes; /* doubles are 8 bytes, indices 4 */
} tl_shape_list;

#define TL_SHAPE_LISTS 8
void tl_shape_lists(const tl_shape *shape, tl_shape_list lists[TL_SHAPE_LISTS]);

/* Points list k at `data`, which somebody else owns: for rows of a device. */
void tl_shape_point_list(tl_shape *shape, int k, void *data);

/* Makes room for all lists by the shape's counts, all zero. On failure none is there. */
talus_status tl_shape_allocate(tl_shape *shape);

/* Gives list k a copy of the scalars at `from`, as many as the counts say; it had none before. */
talus_status tl_shape_set_list(tl_shape *shape, int k, const void *from);
void tl_shape_release_lists(tl_shape *shape);

/* Computes what follows from the lists and is not saved: the surface of a mesh. To be called after
 * loading them. */
talus_status tl_shape_derive(tl_shape *shape);

/* Makes the tree of surrogates (shape/surrogate.h) of a mesh or a revolved wall that has none yet;
 * other shapes stay as they are. */
talus_status tl_shape_need_surrogate(tl_shape *shape);

/* A copy to the last bit. */
talus_status tl_shape_copy(tl_shape *to, const tl_shape *from);

/* Whether a shape that was read from a file is valid: counts, indices, finite numbers. */
talus_status tl_shape_validate(const tl_shape *shape);

const char *tl_shape_kind_name(talus_shape_kind kind);

/* Box of a shape at a pose of its principal frame. For an unbounded shape it is infinite on every
 * side. */
talus_box tl_shape_bounds(const tl_shape *shape, double scale, talus_dvec3 position,
                          talus_quat rotation);

/* The wall as kernels see it. */
static inline tl_revolved tl_shape_revolved(const tl_shape *shape, double scale) {
  const double in = shape->size[0];
  return (tl_revolved){.profile = shape->points,
                       .count = shape->point_count,
                       .scale = scale,
                       .side = shape->open == TL_REVOLVED_IN    ? in
                               : shape->open == TL_REVOLVED_OUT ? -in
                                                                : 0};
}

/* A radius about the centre of mass that is within the shape at scale 1, and not far from the
 * largest; of a clump its smallest sphere; of a mesh about half
 * of how thick it is; 0 for a plane. For warnings, not for contacts. */
double tl_shape_inner_radius(const tl_shape *shape);

/* Whether a straight way goes through a wall: through the inside of a convex shape or of a sphere
 * of a clump, through a side of a container that is there, through the surface of a revolved wall
 * or a mesh. Places are in the principal frame at scale 1. Never through a plane. */
bool tl_shape_is_crossed(const tl_shape *shape, talus_dvec3 from, talus_dvec3 to);

/* How far a place is at least from any that a way through the shape must touch; 0 or less within a
 * convex one. No more than `most` of a mesh, which is searched no farther. Same frame and scale. */
double tl_shape_clearance(const tl_shape *shape, talus_dvec3 place, double most);

/* Whether the centre of mass is within the shape: false for a ring, a shell, a wall. */
bool tl_shape_holds_centre(const tl_shape *shape);

/* Boxes of every member of the crowd at crowd->in, grown by each body's own margin: half the
 * model's where that is given, otherwise the distance the body can move within the step,
 *   h |v + h a| + (non-spheres) h |w| radius, with a = gravity + force / mass.
 * margins[slot] is that distance (0 for a fixed body; a kinematic body's from its motion); margins
 * has a row per slot of the model, of which only members are written. */
talus_status tl_shape_find_bounds(const tl_crowd *crowd, talus_box *boxes, talus_real *margins);

#endif
