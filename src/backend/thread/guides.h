/* Bodies that follow a motion, in a step on a device:
 *
 *   follow   the velocity with which the body covers its way in this step
 *   arrive   its pose and velocity at the end
 *
 * Formulas: kernels/motion.h. */
#ifndef TL_THREAD_GUIDES_H
#define TL_THREAD_GUIDES_H

#include "backend/thread/bodies.h"
#include "kernels/motion.h"

/* The motion of one body. */
typedef struct tl_thread_guide {
  talus_dvec3 position; /* pose at time 0 of its clock */
  talus_quat rotation;
  double clock;          /* s: what it reads at time 0 of the world */
  uint32_t slot;         /* of the body */
  uint32_t first, count; /* its terms */
} tl_thread_guide;

typedef struct tl_thread_guides {
  const tl_thread_guide *guides;
  const tl_motion_term *terms;
  const double *values;
  double t0, t1, h, grid; /* s; grid: dt of the world */
  tl_ccp_body *bodies;
  tl_thread_state out;
} tl_thread_guides;

typedef tl_thread_guides tl_follow_task, tl_arrive_task;

TL_FN void tl_follow_at(const tl_follow_task *task, size_t i) {
  const tl_thread_guide *g = &task->guides[i];
  tl_ccp_body body = tl_thread_nobody();
  tl_motion_way(g->position, g->rotation, task->terms + g->first, g->count, task->values,
                tl_clock_at(g->clock, task->grid, task->t0),
                tl_clock_at(g->clock, task->grid, task->t1), task->h, &body.v, &body.w);
  task->bodies[g->slot] = body;
}

TL_FN void tl_arrive_at(const tl_arrive_task *task, size_t i) {
  const tl_thread_guide *g = &task->guides[i];
  const tl_moving m = tl_motion_at(g->position, g->rotation, task->terms + g->first, g->count,
                                   task->values, tl_clock_at(g->clock, task->grid, task->t1));
  task->out.position[g->slot] = m.position;
  task->out.rotation[g->slot] = tl_dquat_narrow(m.rotation);
  task->out.velocity[g->slot] = tl_narrow(m.velocity);
  task->out.spin[g->slot] = tl_narrow(m.spin);
}

#endif
