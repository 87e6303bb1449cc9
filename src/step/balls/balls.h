/* Shared by the step of balls (step/balls/step.c), its passes (step/balls/balls.c) and the passes
 * in lanes (step/balls/balls_lanes.h). */
#ifndef TL_STEP_VERLET_BALLS_H
#define TL_STEP_VERLET_BALLS_H

#include "step/balls/list.h"

#include <stdatomic.h>

typedef struct tl_ball_step {
  const tl_model *model;
  const tl_crowd *crowd;
  tl_balls *balls;
  tl_ball_list *list; /* the list of these balls */
  tl_state mid;       /* state at the middle of the step, of bodies that touch walls */
  talus_vec3 *velocity_kick, *spin_kick;
  /* forces of walls, by slot, on balls that are near one */
  talus_vec3 *spring_force, *spring_torque;
  tl_ball_sums *sums; /* by worker */
  tl_ball_job forces;
  tl_depths wall_depths; /* depths of balls in walls that are not flat */
  /* (rad/s)^2: a ball that spins faster counts as having left its place, so the list is renewed in
   * every step while one does */
  talus_real most_spin2;
  size_t taken; /* bytes of the arena in use when the step began */
  bool begins;  /* finds the forces of the present state, not known yet: nothing moves */
  bool goes_on; /* also starts the next step: only forces can change it */
  _Atomic bool *left, *broken, *too_fast;
} tl_ball_step;

/* Bits that say what happened to balls in a pass. */
enum { TL_BALL_BROKEN = 1, TL_BALL_LEFT = 2, TL_BALL_TOO_FAST = 4 };

/* Above this speed (m/s, rad/s), or change of speed in half a step, a ball is too fast: the step
 * could produce numbers that are not finite. Below it cannot if forces are bounded
 * (forces_are_bounded of step/balls/step.c): steps above the critical one are refused, so
 * velocities grow by a few orders of magnitude per step at most. */
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

/* True if there are constant forces. */
static inline bool tl_balls_have_loads(const tl_model *model) {
  return model->property.force || model->property.torque;
}

/* Sets what contacts need to know about the step. */
void tl_balls_set_forces(tl_ball_step *job);

/* Kicks and drifts. *stays: false if some ball left its place in the list, has a position that is
 * not finite, or spins absurdly fast. */
talus_status tl_balls_start(tl_ball_step *job, bool *stays);

/* Forces, last kick and, if the step goes on, first kick and drift of the next step. Sets
 * job->left, broken and too_fast. */
talus_status tl_balls_pass(tl_ball_step *job);

/* Sum of one kind over all workers. */
tl_tally tl_balls_collect(const tl_ball_step *job, int kind);

/* The depths of balls in balls and in flat walls. */
tl_depths tl_balls_depths(const tl_ball_step *job);

/* Number of contacts of the step. */
size_t tl_balls_count_contacts(const tl_ball_step *job);

/* Bits that say whether velocities, or their change in half a step, are not finite or too large. */
unsigned tl_balls_find_fate(const tl_ball_step *job, const tl_ball *ball);

/* Finds contacts with bodies that are not flat and their forces, by the general code: they are
 * few. */
talus_status tl_balls_push_walls(tl_ball_step *job);

/* Tells crowd->passings of balls that leapt over a wall in this step. */
talus_status tl_balls_find_passings(const tl_ball_step *job);

/* Kicks and drifts of eight consecutive balls, in lanes. */
typedef struct tl_ball_kicks {
  /* Moves balls to the positions at which contacts are found next; false if one left its place in
   * the list. */
  bool (*start)(const tl_ball_step *job, size_t eight, tl_ball_sums *sums);
  /* Sums forces and does the last kick; returns TL_BALL_BROKEN if a velocity is not finite,
   * TL_BALL_TOO_FAST if it is far too large. If the step goes on it also does the next kick and
   * drift, and returns TL_BALL_LEFT if a ball left its place. */
  unsigned (*finish)(const tl_ball_step *job, size_t eight, tl_ball_sums *sums);
} tl_ball_kicks;

extern const tl_ball_kicks tl_ball_kicks_generic, tl_ball_kicks_avx2, tl_ball_kicks_avx512;

#endif
