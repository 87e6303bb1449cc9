/* Bodies that passed through a wall within a step, by the way of their centres: whether or not
 * there was a contact.
 *
 * A wall is any bounded body that contacts do not move. Each body knows how far its centre may go
 * before it can reach any wall (`room`, m), so that a step looks only at bodies that have used up
 * theirs: those near a wall, now and then. `room` changes what a step costs, never what it finds.
 */
#ifndef TL_CONTACT_PASSING_H
#define TL_CONTACT_PASSING_H

#include "contact/contact.h"
#include "kernels/collide.h"

typedef struct tl_passing_wall tl_passing_wall; /* contact/past.h */

#define TL_PASSING_GROUP 16 /* walls that one ball bounds */

typedef struct tl_passing_walls {
  tl_passing_wall *wall;
  size_t count;
  talus_dvec3 *centre; /* of the ball about each group of walls, at the end of the step */
  double *radius;      /* of that ball, m; and of the way of its walls */
  double moved;        /* m: of all walls */
} tl_passing_walls;

typedef struct tl_passings {
  tl_pair *data; /* a: the body; b: the wall */
  size_t count, capacity;
} tl_passings;

/* The walls of a crowd at crowd->in and crowd->out, in its arena. Slots from `statics` on have
 * none. */
talus_status tl_passing_lay_walls(const tl_crowd *crowd, uint32_t statics, tl_passing_walls *walls);

/* Follows the centre of the body in a slot from `from` to `to` within the step. Returns how far it
 * may go from there before it can reach a wall, m. *through: the first wall that it passed, in the
 * order of slots, or TL_NONE. */
double tl_passing_follow(const tl_model *model, const tl_passing_walls *walls, uint32_t slot,
                         talus_dvec3 from, talus_dvec3 to, uint32_t *through);

/* True if the way of its centre says nothing about a body: a wall, a ring, a body that was told of.
 */
bool tl_passing_is_exempt(const tl_model *model, uint32_t slot);

/* Appends the two, unless a joint keeps them from touching. */
talus_status tl_passing_add(const tl_crowd *crowd, uint32_t body, uint32_t wall,
                            tl_passings *found);

/* Follows all bodies from crowd->in to crowd->out, and appends those that passed through a wall, in
 * the order of slots. room: by slot, 0 at first. */
talus_status tl_passing_find(const tl_crowd *crowd, uint32_t statics, float *room,
                             tl_passings *found);

#endif
