/* What the two ways of verlet_balls.c share: ball by ball, and in lanes. */
#ifndef TL_STEP_VERLET_BALLS_H
#define TL_STEP_VERLET_BALLS_H

#include "step/verlet_list.h"

#include <stdatomic.h>

enum { TL_BALL_CONTACT_WORK = TL_BALL_ENERGIES, TL_BALL_LOAD_WORK, TL_BALL_SUMS = 8 };

typedef struct tl_ball_step {
  const tl_model *model;
  const tl_scope *scope;
  tl_ball_list *list;
  tl_state mid; /* of bodies that touch walls */
  talus_vec3 *lead, *swing;
  talus_vec3 *push, *twist;       /* of walls, by slot, for balls that are near one */
  double (*sums)[TL_BALL_SUMS];   /* by rank: contacts that it counts, and both kicks; one row is
                                     a cache line, not all of it used */
  double (*blocks)[TL_BALL_SUMS]; /* the same of TL_BLOCK slots */
  tl_ball_job forces;
  size_t taken;  /* bytes of the arena that the step has found in use */
  bool begins;   /* forces of the state as it is: nothing moves */
  bool goes_on;  /* the next step is started as well: nothing but forces can change it */
  bool is_large; /* the rows are more than caches near a core hold */
  _Atomic bool *left, *broken;
} tl_ball_step;

/* What became of balls. */
enum { TL_BALL_BROKEN = 1, TL_BALL_LEFT = 2 };

/* Kick and drift of eight balls from now to where contacts look for them; false where one left its
 * place in the list. */
bool tl_balls_start_avx512(const tl_ball_step *job, size_t eight);

/* Sums of forces and the last kick: TL_BALL_BROKEN where a velocity is not finite. Where it goes
 * on, then the next step's kick and drift, TL_BALL_LEFT as above. next_is_ready: all
 * forces on the next eight are known too, and may be asked for ahead. */
unsigned tl_balls_finish_avx512(const tl_ball_step *job, size_t eight, bool next_is_ready);
/* What they wrote past the caches can be seen by other threads from here on. */
void tl_balls_fence_avx512(void);

#endif
