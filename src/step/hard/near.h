/* Neighbours of hard spheres: which balls overlap now, and which touch a wall, without a broad
 * phase in most steps.
 *
 * The hard shell needs overlaps only, and a ball moves by about a hundredth of its size in a step.
 * So pairs of balls whose surfaces are nearer than a skin are kept with their gap, and for every
 * ball its distance to the nearest wall. A pair is tested only if the displacements of its balls
 * since then add up to the gap; a ball is tested against walls if its displacement reaches its
 * distance. Displacements of pairs are measured relative to the mean of all, so that a stream that
 * moves as a whole keeps its candidates. Candidates are valid as long as the two largest
 * displacements do not add up to the skin.
 *
 * The result is the list of pairs that the narrow phase would keep, in its order; so contacts are
 * the same to the bit as with any broad phase. The numbers of pairs that are reported depend on the
 * state only, not on when candidates were found. */
#ifndef TL_STEP_HARD_NEAR_H
#define TL_STEP_HARD_NEAR_H

#include "broad/broad.h"
#include "kernels/revolved.h"
#include "narrow/narrow.h"

#define TL_NEAR_WALLS 16 /* most bodies that do not move */

/* Finds the pairs that touch, sorted by (a, b), in the arena; share: those with revolved walls.
 * *is_done is false if this method cannot be used: few bodies, very different sizes, periodic axes,
 * moving walls, many walls, a skin or broad phase chosen by the scene, numbers that are not finite.
 * *pairs is then unchanged, and the general way finds them or reports the error. */
talus_status tl_near_find_pairs(const tl_crowd *crowd, tl_pairs *pairs, tl_wall_share *share,
                                bool *is_done);

/* ---- private to step/hard -------------------------------------------------------------------- */

/* A wall in the form that balls use. */
typedef struct tl_near_side {
  uint32_t slot;
  talus_shape_kind kind;
  talus_dvec3 position, normal; /* of a plane: a point on it, and its outward normal */
  tl_frame frame;
  double half[3];     /* container */
  tl_revolved turned; /* revolved */
  talus_box box;      /* others: bounding box */
} tl_near_side;

/* Makes the walls of valid candidates from near->walls. */
void tl_near_sides(const tl_crowd *crowd, const tl_near *near, tl_near_side *sides);

/* A lower bound of the gap between a ball's surface and the wall, m. */
double tl_near_gap(const tl_near_side *side, talus_dvec3 x, double radius);

/* m: if a ball is no farther from a wall, the narrow phase decides. */
double tl_near_tolerance(const tl_near_side *side, talus_dvec3 x, double radius);

/* Finds candidates anew. *can: whether this method can be used; if not, nothing is valid. */
talus_status tl_near_renew(const tl_crowd *crowd, tl_near *near, bool *can);

static inline double tl_near_radius(const tl_model *model, uint32_t slot) {
  return tl_body_shape(model, slot)->size[0] * (double)model->property.scale[slot];
}

#endif
