/* What the step of balls (step/balls/step.c), its passes (step/balls/balls.c) and these in lanes
 * (step/balls/balls_lanes.h) share. */
#ifndef TL_STEP_VERLET_BALLS_H
#define TL_STEP_VERLET_BALLS_H

#include "step/balls/list.h"

#include <stdatomic.h>

typedef struct tl_ball_step {
  const tl_model *model;
  const tl_crowd *crowd;
  tl_balls *balls;
  tl_ball_list *list; /* theirs */
  tl_state mid;       /* of bodies that touch walls */
  talus_vec3 *velocity_kick, *spin_kick;
  talus_vec3 *spring_force, *spring_torque; /* of walls, by slot, for balls that are near one */
  tl_ball_sums *sums;                       /* by worker */
  tl_ball_job forces;
  tl_depths wall_depths; /* of balls in what is not flat */
  talus_real most_spin2; /* (rad/s)^2: whoever has more is looked at as if it had left its place;
                            while somebody has, the list is made anew in every step */
  size_t taken;          /* bytes of the arena that the step has found in use */
  bool begins;           /* forces of the state as it is: nothing moves */
  bool goes_on;          /* the next step is started as well: nothing but forces can change it */
  _Atomic bool *left, *broken, *too_fast;
} tl_ball_step;

/* What became of balls. */
enum { TL_BALL_BROKEN = 1, TL_BALL_LEFT = 2, TL_BALL_TOO_FAST = 4 };

/* Speeds (m/s, rad/s), and what half a step changes them by, from which on a ball is too fast: a
 * step could end in numbers that are none. Below it cannot, where forces are bounded
 * (forces_are_bounded of step/balls/step.c): a step is refused that is above the critical one of
 * its springs and dashpots, so velocities grow by some orders of magnitude in it at most. */
#define TL_BALL_FASTEST        (TALUS_SINGLE ? 1e9 : 1e30)
#define TL_BALL_FASTEST_SQUARE ((talus_real)(TL_BALL_FASTEST * TL_BALL_FASTEST))

/* Velocities in the middle of the step. */
static inline tl_twist tl_balls_mid(const tl_ball_step *job, size_t rank) {
  const tl_ball *ball = &job->list->ball.data[rank];
  talus_vec3 velocity_kick, spin_kick;
  tl_ball_kick(&job->forces, ball, &velocity_kick, &spin_kick);
  return (tl_twist){tl_add(tl_vec3(ball->v[0], ball->v[1], ball->v[2]), velocity_kick),
                    tl_add(tl_vec3(ball->w[0], ball->w[1], ball->w[2]), spin_kick)};
}

/* Whether there are constant forces. */
static inline bool tl_balls_have_loads(const tl_model *model) {
  return model->property.force || model->property.torque;
}

/* What contacts need to know of the step. */
void tl_balls_set_forces(tl_ball_step *job);

/* Kicks and drifts; *stays: false where some ball left its place in the list, is nowhere at all, or
 * spins beyond all sense. */
talus_status tl_balls_start(tl_ball_step *job, bool *stays);

/* Forces, the last kick and, where it goes on, the first kick and drift of the next step; what
 * became of balls goes to job->left, broken and too_fast. */
talus_status tl_balls_pass(tl_ball_step *job);

/* Sums of all workers, of one kind. */
tl_tally tl_balls_collect(const tl_ball_step *job, int kind);

/* How deep balls are in balls and in flat walls. */
tl_depths tl_balls_depths(const tl_ball_step *job);

/* How many contacts the step found. */
size_t tl_balls_count_contacts(const tl_ball_step *job);

/* Whether velocities, or what half a step changes them by, are finite, and far from not being so.
 */
unsigned tl_balls_find_fate(const tl_ball_step *job, const tl_ball *ball);

/* Contacts with bodies that are not flat and their forces, by the general way: they are few. */
talus_status tl_balls_push_walls(tl_ball_step *job);

/* Kicks and drifts of eight balls that follow upon each other, in lanes. */
typedef struct tl_ball_kicks {
  /* From now to where contacts look for them; false where one left its place in the list. */
  bool (*start)(const tl_ball_step *job, size_t eight, tl_ball_sums *sums);
  /* Sums of forces and the last kick: TL_BALL_BROKEN where a velocity is not finite,
   * TL_BALL_TOO_FAST where it is far too large. Where it goes on, then the next step's kick and
   * drift, TL_BALL_LEFT as above. */
  unsigned (*finish)(const tl_ball_step *job, size_t eight, tl_ball_sums *sums);
} tl_ball_kicks;

extern const tl_ball_kicks tl_ball_kicks_generic, tl_ball_kicks_avx2, tl_ball_kicks_avx512;

#endif
