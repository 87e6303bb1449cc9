/* Narrow phase: pair -> contact points, through one table indexed by the two shape kinds. */
#ifndef TL_NARROW_NARROW_H
#define TL_NARROW_NARROW_H

#include "contact/contact.h"
#include "narrow/counts.h"
#include "narrow/kept.h"
#include "narrow/posed.h"

/* The most points of a pair without a clump: four on each of six walls of a container, or four in
 * each of eight directions with a mesh. Contacts with a container are never reduced: a box in a
 * corner with contacts to only some of its walls would rattle. A clump has the points of all its
 * spheres (narrow/clump.h). */
#define TL_NARROW_MAX_POINTS 32

/* Periods that a mesh may be long. */
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

/* The function for (kind of a, kind of b), in the order tl_narrow_swapped wants. The other half is
 * the same by swapping, which tl_narrow_pair does. NULL in both halves: this pair of kinds is not
 * supported. */
extern tl_narrow_fn *const tl_narrow_table[TALUS_SHAPE_KINDS][TALUS_SHAPE_KINDS];

/* Whether the two kinds are searched for their normal, so that last step's is worth having. */
bool tl_narrow_takes_guess(talus_shape_kind a, talus_shape_kind b);

/* Whether such a pair that misses keeps the axis that parts it (narrow/kept.h): those above, and
 * boxes. */
bool tl_narrow_keeps_axis(talus_shape_kind a, talus_shape_kind b);

/* Whether the shapes of the scene can make such pairs. */
bool tl_narrow_uses_guesses(const tl_model *model);
bool tl_narrow_uses_axes(const tl_model *model);

/* For such kinds, in the table's order: as the table's function, with a guess of the normal, unit,
 * from the first to the second. With any guess the points are the same within the accuracy stated
 * in docs/theory/convex.md. NULL: none. */
int tl_narrow_convex(const tl_posed *a, const tl_posed *b, const talus_dvec3 *guess,
                     talus_real margin, tl_point *out);

/* The same for kinds that keep an axis, the bits of the table's function; where there are no
 * points, *parting is a direction that parts the bodies (any length). */
int tl_narrow_search(const tl_posed *a, const tl_posed *b, const talus_dvec3 *guess,
                     talus_real margin, tl_point *out, talus_dvec3 *parting);

/* Points of a pair in either order; -1 where the kinds are not supported. Swapping the bodies gives
 * the mirrored points, with one exception: coincident spheres get the normal +z in any order. */
int tl_narrow_pair(const tl_posed *a, const tl_posed *b, talus_real margin, tl_point *out);

/* How deep a place of one body (its centre, but of a clump or a mesh) is behind the surface of a
 * mesh that is the other, m; 0 where it is not, or neither is a mesh with one side. Looks as far as
 * it takes: not for every step. */
double tl_narrow_buried(const tl_posed *a, const tl_posed *b);

/* Whether both are meshes whose surfaces go through each other, however deep. */
bool tl_narrow_crosses(const tl_posed *a, const tl_posed *b);

/* Whether two bodies overlap or touch, or one is within the other, or in the matter behind a wall
 * that the other is. Kinds that are not supported do not. */
bool tl_narrow_touches(const tl_posed *a, const tl_posed *b);

/* Whether a place, relative to the wall's position, is in the matter of a wall with one side:
 * behind it, within the cylinder about it. */
bool tl_revolved_holds(const tl_posed *wall, talus_dvec3 place);

/* Where a place is that is between the heights of a revolved wall of one side. */
typedef enum tl_revolved_side {
  TL_WALL_ASIDE,  /* above or below it, or in front of it from outside, or the wall has two sides */
  TL_WALL_WITHIN, /* where bodies may be */
  TL_WALL_BEHIND, /* in its matter, up to its largest radius */
  TL_WALL_BEYOND  /* behind it, farther out */
} tl_revolved_side;
tl_revolved_side tl_revolved_side_of(const tl_posed *wall, talus_dvec3 place);

/* The most points two kinds can have (a clump: each of its spheres); 0 where they are not
 * supported. */
int tl_narrow_capacity(talus_shape_kind a, talus_shape_kind b);

/* Pairs with a revolved wall: what the broad phase found, and what is left of them. */
typedef struct tl_wall_share {
  size_t asked, tested;
} tl_wall_share;

/* Takes out of the list (sorted, in place) who is too far from a revolved wall to touch it
 * (narrow/walls.c). margins: by slot. */
talus_status tl_walls_sift(const tl_crowd *crowd, const talus_real *margins, tl_pairs *pairs,
                           tl_wall_share *share);

/* Contacts of all candidate pairs (sorted) into *contacts, in canonical order, impulses 0. A pair's
 * margin is the sum of its bodies' (margins: by slot). Supported kinds that can never
 * touch (two static bodies) do not come here. TALUS_ERROR_UNSUPPORTED names both bodies.
 * Where a normal is searched for, that of the pair's first contact in crowd->contacts_before is a
 * guess of it. That set is in the checkpoint, so a restarted run guesses what the other would have.
 * Pairs that miss keep an axis in crowd->kept_axes (narrow/kept.h), if that is not NULL: those
 * of the call before are asked first, those of this call take their place.
 *
 * Periodic axes: a pair is looked at in its nearest image by centres of mass, so a body must be
 * smaller than half the period; a mesh of up to TL_PARTS_PERIODS periods in all that are near. A
 * plane has no images: it is where it is. */
talus_status tl_narrow_find_contacts(const tl_crowd *crowd, const tl_pairs *pairs,
                                     const talus_real *margins, tl_contacts *contacts);

/* The same, behind the contacts that the set holds already. */
talus_status tl_narrow_add_contacts(const tl_crowd *crowd, const tl_pairs *pairs,
                                    const talus_real *margins, tl_contacts *contacts);

/* Whether one pair has a contact; false where its kinds are not supported. */
bool tl_narrow_meets(const tl_crowd *crowd, const tl_pair *pair, const talus_real *margins);

#endif
