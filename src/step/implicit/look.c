/* Evaluates a guess: velocities, positions, contacts, forces and residual. */
#include "base/clock.h"
#include "kernels/mat3.h"
#include "step/implicit/implicit.h"

#include <float.h>
#include <math.h>

/* Forces are also compared with these shares of weight and of momentum over the step: a force that
 * is small beside both moves nobody, and need not be exact. */
#define LIGHT 1e-3
#define SLOW  1e-6
/* part of a position: smaller displacements of springs are rounding */
#define ROUND (1000 * DBL_EPSILON)
#define MOST  1e30 /* limit of `change`; INFINITY: the guess is lost */

static void find_twists(void *context, size_t begin, size_t end) {
  const tl_implicit *job = context;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(job->crowd, i);
    const tl_twist gain = tl_answer_to(&job->answers[slot], &job->impulse[slot]);
    tl_twist *twist = &job->twists[i];
    twist->velocity = tl_add(job->free[slot].velocity, gain.velocity);
    twist->spin = tl_add(job->free[slot].spin, gain.spin);
    job->velocity[slot] = twist->velocity;
    job->spin[slot] = twist->spin;
  }
}

/* True if the position of the guess is not finite. */
static bool is_lost(void *context, size_t i) {
  const tl_implicit *job = context;
  const uint32_t slot = tl_crowd_slot(job->crowd, i);
  const tl_shape *shape = tl_body_shape(job->crowd->model, slot);
  const tl_twist *twist = &job->twists[i];
  if (tl_body_is_static(job->crowd->model, slot))
    return false;
  const double size = (double)(shape->radius * job->crowd->model->property.scale[slot]);
  const double sizes =
      job->crowd->dt * fmax((double)tl_length(twist->velocity) / (size > 0 ? size : 1),
                            (double)tl_length(twist->spin));
  return !(sizes < TL_STEP_TOO_FAR);
}

/* ---- residual -------------------------------------------------------------------------------- */

double tl_implicit_stiffness(const tl_implicit *job, uint32_t slot) {
  const tl_model *model = job->crowd->model;
  const tl_answer *w = &job->answers[slot];
  const talus_real move = tl_max(w->move.x, tl_max(w->move.y, w->move.z)),
                   turn = tl_sym3_norm_inf(w->turn);
  double sum = 0;
  for (uint32_t k = job->tangents.start[slot]; k < job->tangents.start[slot + 1]; ++k) {
    const uint32_t i = job->tangents.entry[k] >> 1;
    const bool is_b = job->tangents.entry[k] & 1u;
    const tl_penalty_tangent *t = &job->tangents.rows[i];
    const tl_contact *c = &job->at_end.contacts_after->data[i];
    const talus_vec3 arm = is_b ? t->arm_b : t->arm_a;
    const talus_real along = t->press * (move + turn * tl_length2(tl_cross(arm, t->normal)));
    const talus_real across = t->hold * (move + turn * tl_length2(arm)) + t->turn * turn;
    sum += (double)tl_max(along, across) * (tl_body_is_static(model, is_b ? c->a : c->b) ? 1 : 2);
  }
  return job->crowd->dt * sum;
}

static talus_vec3 unlocked(talus_vec3 v, talus_vec3 move) {
  return tl_vec3(move.x > 0 ? v.x : 0, move.y > 0 ? v.y : 0, move.z > 0 ? v.z : 0);
}

static double share_of(double off, double all) {
  if (!(off < INFINITY) || !(all < INFINITY))
    return INFINITY;
  return off > 0 ? fmin(off / all, MOST) : 0;
}

static void compare_one(const tl_implicit *job, uint32_t slot) {
  const tl_model *model = job->crowd->model;
  const talus_real h = (talus_real)job->crowd->dt;
  tl_wrench *residual = &job->residual[slot];
  *residual = (tl_wrench){{0, 0, 0}, {0, 0, 0}};
  job->change[slot] = 0;
  if (tl_body_is_static(model, slot))
    return;
  residual->force =
      unlocked(tl_madd(job->impulse[slot].force, -h, job->force[slot]), job->answers[slot].move);
  residual->torque = tl_madd(job->impulse[slot].torque, -h, job->torque[slot]);
  double force = 0, torque = 0, stiff = 0;
  for (uint32_t k = job->tangents.start[slot]; k < job->tangents.start[slot + 1]; ++k) {
    force += (double)job->tangents.rows[job->tangents.entry[k] >> 1].force;
    torque += (double)job->tangents.rows[job->tangents.entry[k] >> 1].torque;
    stiff += (double)job->tangents.rows[job->tangents.entry[k] >> 1].press / job->crowd->dt;
  }
  const double mass = (double)model->property.mass[slot], dt = job->crowd->dt,
               size = (double)(tl_body_shape(model, slot)->radius * model->property.scale[slot]);
  const double least = mass * (LIGHT * (double)tl_length(model->gravity) +
                               SLOW * (double)tl_length(job->velocity[slot]) / dt) +
                       stiff * ROUND * (tl_dlength(job->guess.position[slot]) + size);
  const double off = (double)tl_length(residual->force) / dt,
               turned = tl_sym3_trace(job->answers[slot].turn) > 0
                            ? (double)tl_length(residual->torque) / dt
                            : 0;
  force += least;
  torque += least * size + SLOW * mass * size * size * (double)tl_length(job->spin[slot]) / dt;
  job->change[slot] = fmax(share_of(off, force), share_of(turned, torque));
}

static void compare(void *context, size_t begin, size_t end) {
  const tl_implicit *job = context;
  for (size_t i = begin; i < end; ++i)
    compare_one(job, tl_crowd_slot(job->crowd, i));
}

/* ---- the look -------------------------------------------------------------------------------- */

static talus_status push(tl_implicit *job) {
  const tl_crowd *crowd = job->crowd;
  const double begun = tl_clock();
  const tl_penalty_motion motion = {.velocity = job->velocity,
                                    .spin = job->spin,
                                    .h = crowd->dt,
                                    .is_whole = true,
                                    .is_limited = job->is_limited};
  TL_TRY(job->backend->find_forces(&job->at_end, &motion, job->at_end.contacts_after, job->force,
                                   job->torque, &job->sums, &job->tangents));
  tl_for(&crowd->model->par, crowd->count, 512, compare, job);
  job->worst = 0;
  job->worst_slot = TL_NONE;
  for (size_t i = 0; i < crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(crowd, i);
    if (job->change[slot] > job->worst)
      job->worst = job->change[slot], job->worst_slot = slot;
  }
  if (job->worst_slot != TL_NONE)
    job->stiffness = fmax(job->stiffness, tl_implicit_stiffness(job, job->worst_slot));
  job->report->wall_solve += tl_clock() - begun;
  return TALUS_OK;
}

static talus_status keep_springs(tl_implicit *job) {
  const tl_contacts *contacts = job->at_end.contacts_after;
  TL_TAKE(job->crowd->arena, contacts->count, &job->springs);
  if (contacts->count > 0)
    memcpy(job->springs, contacts->springs.data, contacts->count * sizeof *job->springs);
  return TALUS_OK;
}

talus_status tl_implicit_push_again(tl_implicit *job) {
  tl_contacts *contacts = job->at_end.contacts_after;
  if (contacts->count > 0)
    memcpy(contacts->springs.data, job->springs, contacts->count * sizeof *job->springs);
  return push(job);
}

talus_status tl_implicit_look(tl_implicit *job) {
  const tl_crowd *crowd = job->crowd;
  const tl_model *model = crowd->model;
  const double begun = tl_clock();
  tl_arena_release(crowd->arena, job->mark);
  tl_for(&model->par, crowd->count, 512, find_twists, job);
  const size_t lost = tl_find_first(&model->par, crowd->count, is_lost, job);
  if (lost != SIZE_MAX) {
    job->worst = INFINITY;
    job->worst_slot = tl_crowd_slot(crowd, lost);
    return TALUS_OK;
  }
  tl_crowd drift = *crowd;
  drift.out = &job->guess;
  tl_step_move(&drift, (tl_twists){.first = job->twists, .stride = sizeof *job->twists});
  const double moved = tl_clock();
  job->report->wall_step += moved - begun;
  if (job->at_end.multires) /* pairs are searched in several batches, whose counts add up */
    TL_TRY(tl_multires_begin_look(job->at_end.multires));
  TL_TRY(tl_step_find_contacts(job->backend, &job->at_end, job->report));
  if (job->is_limited)
    TL_TRY(keep_springs(job));
  return push(job);
}
