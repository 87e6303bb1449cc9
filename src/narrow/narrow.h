/* Narrow phase: finds the contact points of pairs, by a table indexed by the two shape kinds. */
#ifndef TL_NARROW_NARROW_H
#define TL_NARROW_NARROW_H

#include "contact/contact.h"
#include "narrow/counts.h"
#include "narrow/kept.h"
#include "narrow/posed.h"

/* Most points of a pair without a clump: four on each of six walls of a container, or four in each
 * of eight directions with a mesh. Contacts with a container are never reduced: a box in a corner
 * with contacts to only some of its walls would rattle. A clump has the points of all its spheres
 * (narrow/clump.h). */
#define TL_NARROW_MAX_POINTS 32

/* Most periods that a mesh may be long. */
#define TL_PARTS_PERIODS 8

/* Writes the contact points with gap <= margin, ascending by (feature_a, feature_b), and returns
 * how many (at most TL_NARROW_MAX_POINTS, but for a clump).
 *
 * Features: 0 for a sphere, a plane, and a box under a sphere; the vertex number 0 ... 7 for a box
 * on something flat (bit i: the positive side of axis i); the wall number 0 ... 5 for a container
 * (the order of TALUS_SIDE_...); corners and segments of a revolved wall (kernels/revolved.h);
 * otherwise the face, edge or vertex as kernels/patch.h numbers
 * them. */
typedef int tl_narrow_fn(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out);

/* The function for (kind of a, kind of b), in the order of tl_narrow_swapped; tl_narrow_pair swaps
 * bodies for the other half. NULL in both halves: the pair of kinds is not supported. */
extern tl_narrow_fn *const tl_narrow_table[TALUS_SHAPE_KINDS][TALUS_SHAPE_KINDS];

/* True if the normal of the two kinds is found by a search, which a guess speeds up. */
bool tl_narrow_takes_guess(talus_shape_kind a, talus_shape_kind b);

/* True if a pair of these kinds without contacts keeps the axis that separates it (narrow/kept.h):
 * the kinds above, and boxes. */
bool tl_narrow_keeps_axis(talus_shape_kind a, talus_shape_kind b);

/* True if the shapes of the scene can make such pairs. */
bool tl_narrow_uses_guesses(const tl_model *model);
bool tl_narrow_uses_axes(const tl_model *model);

/* For such kinds, in the table's order: like the table's function, with a guess of the normal
 * (unit, from the first to the second; NULL: none). The points are the same for any guess, within
 * the accuracy stated in docs/theory/convex.md. */
int tl_narrow_convex(const tl_posed *a, const tl_posed *b, const talus_dvec3 *guess,
                     talus_real margin, tl_point *out);

/* The same for kinds that keep an axis, with the bits of the table's function. If there are no
 * points, *parting is a direction that separates the bodies (any length). */
int tl_narrow_search(const tl_posed *a, const tl_posed *b, const talus_dvec3 *guess,
                     talus_real margin, tl_point *out, talus_dvec3 *parting);

/* Points of a pair in either order; -1 where the kinds are not supported. Swapping the bodies gives
 * the mirrored points, with one exception: coincident spheres get the normal +z in any order. */
int tl_narrow_pair(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out);

/* Depth (m) of a point of one body (its centre, except for clumps and meshes) behind the surface of
 * the other if that is a mesh with an inside; 0 if it is not behind. Searches without limit: too
 * slow for every step. */
double tl_narrow_buried(const tl_posed *a, const tl_posed *b);

/* True if both are meshes whose surfaces cross, at any depth. */
bool tl_narrow_crosses(const tl_posed *a, const tl_posed *b);

/* True if two bodies overlap or touch, or one is inside the other, or in the matter behind the wall
 * that the other is. False for kinds that are not supported. */
bool tl_narrow_touches(const tl_posed *a, const tl_posed *b);

/* True if a point, relative to the wall's position, is in the matter of a wall with one side:
 * behind it, within the cylinder about it. */
bool tl_revolved_holds(const tl_posed *wall, talus_dvec3 place);

/* The position of a point between the heights of a one-sided revolved wall. */
typedef enum tl_revolved_side {
  TL_WALL_ASIDE,  /* above or below it, or in front of it from outside, or the wall has two sides */
  TL_WALL_WITHIN, /* where bodies may be */
  TL_WALL_BEHIND, /* in its matter, up to its largest radius */
  TL_WALL_BEYOND  /* behind it, farther out */
} tl_revolved_side;
tl_revolved_side tl_revolved_side_of(const tl_posed *wall, talus_dvec3 place);

/* Most points that two kinds can have (a clump: each of its spheres); 0 if not supported. */
int tl_narrow_capacity(talus_shape_kind a, talus_shape_kind b);

/* Pairs with a revolved wall: found by the broad phase, and remaining. */
typedef struct tl_wall_share {
  size_t asked, tested;
} tl_wall_share;

/* Removes pairs from the list (sorted, in place) whose body is too far from a revolved wall to
 * touch it (narrow/walls.c). margins: by slot. */
talus_status tl_walls_sift(const tl_crowd *crowd, const talus_real *margins, tl_pairs *pairs,
                           tl_wall_share *share);

/* Writes the contacts of all candidate pairs (sorted) into *contacts, in canonical order, with
 * impulses 0. The margin of a pair is the sum of those of its bodies (margins: by slot). Pairs that
 * can never touch (two static bodies) must not be among them. TALUS_ERROR_UNSUPPORTED names both
 * bodies.
 * If a normal is searched for, that of the pair's first contact in crowd->contacts_before is the
 * guess. That set is in the checkpoint, so a restarted run has the same guesses. Pairs without
 * contacts keep an axis in crowd->kept_axes (narrow/kept.h) unless it is NULL: those of the call
 * before are tried first; those of this call replace them.
 *
 * Periodic axes: a pair is tested in the image whose centres of mass are nearest, so a body must be
 * smaller than half the period; a mesh of up to TL_PARTS_PERIODS periods is tested in all images
 * that are near. A plane has no images. */
talus_status tl_narrow_find_contacts(const tl_crowd *crowd, const tl_pairs *pairs,
                                     const talus_real *margins, tl_contacts *contacts);

/* The same, appended to the contacts that the set holds already. */
talus_status tl_narrow_add_contacts(const tl_crowd *crowd, const tl_pairs *pairs,
                                    const talus_real *margins, tl_contacts *contacts);

/* True if a pair has a contact; false if its kinds are not supported. */
bool tl_narrow_meets(const tl_crowd *crowd, const tl_pair *pair, const talus_real *margins);

#endif
