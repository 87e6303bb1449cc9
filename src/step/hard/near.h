/* Neighbours of hard spheres: which balls overlap now, and which touch a wall, without a broad
 * phase in most steps.
 *
 * The hard shell asks for overlaps alone, and a ball moves by a hundredth of its size in a step. So
 * pairs of balls whose surfaces are nearer than a skin are kept with their gap, and every ball with
 * its room: how far it is from all walls. A pair is looked at only when the ways of the two since
 * then add up to the gap, a ball and a wall when its way is as long as its room. Ways of pairs are
 * counted beside the mean way of all, because a stream that flies along together stays together.
 * Candidates hold as long as the two longest ways do not add up to the skin.
 *
 * What comes out are the pairs that the narrow phase would keep, in its order; so contacts are the
 * same to the bit as with any broad phase. How many pairs there are, and how many of a wall, is a
 * question of the state alone, not of when candidates were found. */
#ifndef TL_STEP_HARD_NEAR_H
#define TL_STEP_HARD_NEAR_H

#include "broad/broad.h"
#include "kernels/revolved.h"
#include "narrow/narrow.h"

#define TL_NEAR_WALLS 16 /* bodies that do not move, at most */

/* Pairs that touch, by (a, b), in the arena; share: of revolved walls. *is_done: false where this
 * way does not go (few bodies, very different sizes, periodic axes, walls that move, many walls, a
 * skin or a broad phase that somebody asked for, numbers that are not finite): then *pairs is
 * untouched, and the general way finds them or says what is wrong. */
talus_status tl_near_find_pairs(const tl_crowd *crowd, tl_pairs *pairs, tl_wall_share *share,
                                bool *is_done);

/* ---- within step/hard ------------------------------------------------------------------------ */

/* A wall as balls see it. */
typedef struct tl_near_side {
  uint32_t slot;
  talus_shape_kind kind;
  talus_dvec3 position, normal; /* of a plane: a place on it, and out of it */
  tl_frame frame;
  double half[3];     /* container */
  tl_revolved turned; /* revolved */
  talus_box box;      /* others: what it is within */
} tl_near_side;

/* Walls of candidates that hold, from near->walls. */
void tl_near_sides(const tl_crowd *crowd, const tl_near *near, tl_near_side *sides);

/* m: no more than what is between a ball's surface and the wall's. */
double tl_near_gap(const tl_near_side *side, talus_dvec3 x, double radius);

/* m: a ball that is no farther from a wall is for the narrow phase to decide on. */
double tl_near_tolerance(const tl_near_side *side, talus_dvec3 x, double radius);

/* Finds candidates anew. *can: whether this way goes; else nothing is valid. */
talus_status tl_near_renew(const tl_crowd *crowd, tl_near *near, bool *can);

static inline double tl_near_radius(const tl_model *model, uint32_t slot) {
  return tl_body_shape(model, slot)->size[0] * (double)model->property.scale[slot];
}

#endif
