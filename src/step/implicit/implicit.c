#include "step/implicit/implicit.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "crowd/free.h"
#include "crowd/residency.h"

#include <math.h>
#include <stdio.h>

/* ---- sums over bodies ------------------------------------------------------------------------ */

static double dot_d(talus_vec3 a, talus_vec3 b) { return tl_ddot(tl_widen(a), tl_widen(b)); }

typedef struct product_job {
  const tl_implicit *job;
  const tl_wrench *one, *other;
} product_job;

static void multiply(void *context, size_t begin, size_t end, tl_tally *sum) {
  const product_job *p = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_twist moved = tl_answer_to(&p->job->answers[i], &p->other[i]);
    tl_tally_add(sum, dot_d(p->one[i].force, moved.velocity) + dot_d(p->one[i].torque, moved.spin));
  }
}

double tl_implicit_product(const tl_implicit *job, const tl_wrench *one, const tl_wrench *other) {
  const tl_model *model = job->crowd->model;
  product_job p = {job, one, other};
  tl_tally sum;
  tl_for_tally(&model->par, model->bodies, TL_BLOCK, multiply, &p, 1, &sum);
  return tl_tally_value(&sum);
}

void tl_implicit_advance(tl_implicit *job, talus_real share) {
  for (size_t i = 0; i < job->crowd->model->bodies; ++i) {
    tl_wrench *p = &job->impulse[i];
    p->force = tl_madd(p->force, share, job->step[i].force);
    p->torque = tl_madd(p->torque, share, job->step[i].torque);
  }
}

/* ---- the first guess ------------------------------------------------------------------------- */

static talus_status take_scratch(tl_implicit *job) {
  const size_t n = job->crowd->model->bodies;
  tl_arena *arena = job->crowd->arena;
  TL_TAKE(arena, n, &job->guess.position);
  TL_TAKE(arena, n, &job->guess.rotation);
  TL_TAKE(arena, n, &job->guess.velocity);
  TL_TAKE(arena, n, &job->guess.spin);
  TL_TAKE(arena, n, &job->answers);
  TL_TAKE(arena, n, &job->free);
  TL_TAKE(arena, n, &job->impulse);
  TL_TAKE(arena, n, &job->twists);
  TL_TAKE(arena, n, &job->velocity);
  TL_TAKE(arena, n, &job->spin);
  TL_TAKE(arena, n, &job->force);
  TL_TAKE(arena, n, &job->torque);
  TL_TAKE(arena, n, &job->residual);
  TL_TAKE(arena, n, &job->change);
  TL_TAKE(arena, n, &job->step);
  job->mark = tl_arena_get_mark(arena);
  return TALUS_OK;
}

static void begin_bodies(void *context, size_t begin, size_t end) {
  const tl_implicit *job = context;
  const tl_model *model = job->crowd->model;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(job->crowd, i);
    const uint32_t lock = model->property.flags[slot] & TL_FLAG_LOCKS;
    const tl_free f = tl_free_of(job->crowd, slot);
    tl_answer *w = &job->answers[slot];
    *w = (tl_answer){0};
    job->free[slot] = (tl_twist){f.velocity, f.spin};
    job->impulse[slot] = job->residual[slot] = (tl_wrench){{0, 0, 0}, {0, 0, 0}};
    if (!f.movable)
      continue;
    const talus_real each = 1 / model->property.mass[slot];
    w->move = tl_free_unlocked(tl_vec3(each, each, each), lock & TALUS_LOCK_X, lock & TALUS_LOCK_Y,
                               lock & TALUS_LOCK_Z);
    w->turn =
        tl_free_inverse_inertia(job->crowd->in->rotation[slot], tl_body_inertia(model, slot),
                                lock & TALUS_LOCK_RX, lock & TALUS_LOCK_RY, lock & TALUS_LOCK_RZ);
  }
}

/* The first guess is the impulses of the last step, at the points where they acted; at rest it is
 * the solution. If something was changed by hand, it is the impulses of look_at_start. */
static void begin_warm(tl_implicit *job) {
  const tl_model *model = job->crowd->model;
  const tl_contacts *before = tl_implicit_known(job);
  const talus_dvec3 *x = job->crowd->in->position;
  const talus_real ratio = tl_step_ratio(before->dt, job->crowd->dt);
  const bool has_torques = tl_contacts_have_law_states(before);
  for (size_t i = 0; i < before->count; ++i) {
    const tl_contact *c = &before->data[i];
    const bool is_bounded =
        tl_body_shape(model, c->a)->bounded && tl_body_shape(model, c->b)->bounded;
    const talus_vec3 push = tl_scale(c->impulse, ratio);
    const talus_vec3 twist =
        has_torques ? tl_scale(before->law_states.data[i].torque, ratio) : tl_vec3(0, 0, 0);
    const talus_vec3 arm_a = tl_between(x[c->a], c->point),
                     arm_b = is_bounded ? tl_narrow(tl_model_offset(model, x[c->b], c->point))
                                        : tl_between(x[c->b], c->point);
    tl_wrench *a = &job->impulse[c->a], *b = &job->impulse[c->b];
    a->force = tl_sub(a->force, push);
    a->torque = tl_sub(a->torque, tl_add(tl_cross(arm_a, push), twist));
    b->force = tl_add(b->force, push);
    b->torque = tl_add(b->torque, tl_add(tl_cross(arm_b, push), twist));
  }
}

/* ---- the end --------------------------------------------------------------------------------- */

static const char *const method_names[] = {"newton", "picard", "euler", "surrogate-picard",
                                           "multires-picard"};

static talus_status give_up(tl_implicit *job, int count) {
  const talus_implicit_def *def = &job->crowd->model->implicit;
  const double dt = job->crowd->dt;
  const bool is_lost = !(job->worst < INFINITY), is_picard = def->method != TALUS_IMPLICIT_NEWTON;
  const double product = sqrt(job->stiffness);
  char change[64] = "its velocity is out of range", stiff[48] = "", remedy[160];
  job->report->culprit = job->worst_slot;
  if (!is_lost)
    snprintf(change, sizeof change, "its force still changes by %.2g %%", 100 * job->worst);
  if (product > 0)
    snprintf(stiff, sizeof stiff, ", h omega is up to %.2g there", product);
  if (is_picard && def->damping > 0)
    snprintf(
        remedy, sizeof remedy,
        "undamped Picard converges only below 1; say step: {method: newton}, damping: auto, or "
        "dt: %.1g",
        product > 0 ? 0.5 * dt / product : 0.1 * dt);
  else if (is_picard)
    snprintf(remedy, sizeof remedy, "say step: {method: newton}, or more than %d iterations",
             def->iterations);
  else
    snprintf(remedy, sizeof remedy, "say step: {dt: %.1g}, or more than %d iterations", 0.5 * dt,
             def->iterations);
  return tl_fail(TALUS_ERROR_DIVERGED,
                 "the implicit step did not converge: %s after %d iterations of %s%s; %s", change,
                 count, method_names[def->method], stiff, remedy);
}

/* Kinds of work in a step, J. */
enum { CONTACTS, LOADS, LOST, WORKS };

static void add_works(void *context, size_t begin, size_t end, tl_tally *work) {
  const tl_implicit *job = context;
  const tl_model *model = job->crowd->model;
  const tl_properties *property = &model->property;
  const double h = job->crowd->dt;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(job->crowd, i);
    const tl_wrench *p = &job->impulse[slot];
    const tl_twist *free = &job->free[slot], *after = &job->twists[i];
    if (tl_body_is_static(model, slot))
      continue;
    tl_tally_add(&work[CONTACTS], 0.5 * (dot_d(p->force, tl_add(free->velocity, after->velocity)) +
                                         dot_d(p->torque, tl_add(free->spin, after->spin))));
    double loads = 0;
    if (property->force)
      loads += h * dot_d(property->force[slot], after->velocity);
    if (property->torque)
      loads += h * dot_d(property->torque[slot], after->spin);
    tl_tally_add(&work[LOADS], loads);
    /* Half of the change of velocity times the change of momentum, by contacts, weight and
     * loads. */
    const talus_vec3 gained = tl_sub(after->velocity, job->crowd->in->velocity[slot]),
                     turned = tl_sub(after->spin, job->crowd->in->spin[slot]);
    talus_vec3 moment = p->torque;
    if (property->torque)
      moment = tl_madd(moment, (talus_real)h, property->torque[slot]);
    tl_tally_add(&work[LOST], 0.5 * ((double)property->mass[slot] * dot_d(gained, gained) +
                                     dot_d(turned, moment)));
  }
}

/* Works of the step, by the velocities at its end. Energy that backward Euler itself takes is found
 * as the difference: kinetic energy m (v - v0)^2/2, and work pressed into springs that they do not
 * store. */
static void keep_ledger(tl_implicit *job) {
  tl_penalty *p = job->crowd->penalty;
  tl_solve_report *solve = &job->report->solve;
  const tl_penalty_sums *now = &job->sums;
  const tl_model *model = job->crowd->model;
  const double h = job->crowd->dt;
  tl_tally work[WORKS];
  tl_for_tally(&model->par, job->crowd->count, TL_BLOCK, add_works, job, WORKS, work);
  solve->contact_work = tl_tally_value(&work[CONTACTS]);
  solve->load_work = tl_tally_value(&work[LOADS]);
  solve->elastic = now->elastic + now->stored;
  solve->damping_work = h * now->damping;
  solve->friction_work = h * now->friction + p->stored - now->stored;
  solve->step_loss = tl_tally_value(&work[LOST]) + h * now->pressing - (now->elastic - p->pressed);
  p->pressed = now->elastic;
  p->stored = now->stored;
  p->damping = now->damping;
  p->friction = now->friction;
}

static void commit(void *context, size_t begin, size_t end) {
  const tl_implicit *job = context;
  tl_state *out = job->crowd->out;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(job->crowd, i);
    out->position[slot] = job->guess.position[slot];
    out->rotation[slot] = job->guess.rotation[slot];
    out->velocity[slot] = job->guess.velocity[slot];
    out->spin[slot] = job->guess.spin[slot];
    out->spring_force[slot] = job->force[slot];
    out->spring_torque[slot] = job->torque[slot];
  }
}

/* ---- the step -------------------------------------------------------------------------------- */

/* Finds the contacts of the present state, and so the energy in its springs: in a first step, or
 * after a change by hand. Springs are not stretched. */
static talus_status look_at_start(tl_implicit *job) {
  const tl_crowd *crowd = job->crowd;
  tl_penalty *p = crowd->penalty;
  tl_crowd at_start = *crowd;
  at_start.contacts_after = &p->start;
  at_start.multires = NULL;
  TL_TRY(tl_step_find_contacts(job->backend, &at_start, job->report));
  const tl_penalty_motion motion = {.velocity = crowd->in->velocity, .spin = crowd->in->spin};
  tl_penalty_sums sums;
  TL_TRY(
      job->backend->find_forces(crowd, &motion, &p->start, job->force, job->torque, &sums, NULL));
  p->pressed = sums.elastic;
  p->stored = sums.stored;
  return TALUS_OK;
}

/* Explicit Euler (Noble, Algorithm 6): forces at the begin of the step, positions by the velocities
 * there. */
static talus_status step_euler(tl_implicit *job) {
  const tl_crowd *crowd = job->crowd;
  const tl_model *model = crowd->model;
  tl_crowd drift = *crowd;
  drift.contacts_after = job->at_end.contacts_after;
  TL_TRY(tl_step_find_contacts(job->backend, &drift, job->report));
  const tl_penalty_motion motion = {
      .velocity = crowd->in->velocity, .spin = crowd->in->spin, .h = crowd->dt};
  TL_TRY(job->backend->find_forces(crowd, &motion, drift.contacts_after, job->force, job->torque,
                                   &job->sums, NULL));
  for (size_t i = 0; i < crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(crowd, i);
    job->impulse[slot].force = tl_scale(job->force[slot], (talus_real)crowd->dt);
    job->impulse[slot].torque = tl_scale(job->torque[slot], (talus_real)crowd->dt);
    job->twists[i] = (tl_twist){crowd->in->velocity[slot], crowd->in->spin[slot]};
  }
  drift.out = &job->guess;
  tl_step_move(&drift, (tl_twists){.first = job->twists, .stride = sizeof *job->twists});
  for (size_t i = 0; i < crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(crowd, i);
    if (tl_body_is_static(model, slot))
      continue;
    const tl_twist gain = tl_answer_to(&job->answers[slot], &job->impulse[slot]);
    job->guess.velocity[slot] = tl_add(job->free[slot].velocity, gain.velocity);
    job->guess.spin[slot] =
        tl_add(job->guess.spin[slot],
               tl_add(gain.spin, tl_sub(job->free[slot].spin, crowd->in->spin[slot])));
    job->twists[i] = (tl_twist){job->guess.velocity[slot], job->guess.spin[slot]};
  }
  return TALUS_OK;
}

static talus_status iterate(tl_implicit *job) {
  const talus_implicit_def *def = &job->crowd->model->implicit;
  int count = 0;
  if (def->method == TALUS_IMPLICIT_EULER)
    return step_euler(job);
  if (def->method == TALUS_IMPLICIT_NEWTON)
    begin_warm(job);
  TL_TRY(def->method == TALUS_IMPLICIT_NEWTON ? tl_implicit_newton(job, &count)
                                              : tl_implicit_picard(job, &count));
  job->report->solve.iterations = job->report->solve.inner = count;
  job->report->solve.force_change = job->worst;
  job->is_stuck = !tl_implicit_is_found(job);
  return job->is_stuck ? give_up(job, count) : TALUS_OK;
}

static talus_status step_here(tl_implicit *job) {
  const tl_crowd *crowd = job->crowd;
  const tl_model *model = crowd->model;
  tl_penalty *p = crowd->penalty;
  TL_TRY(take_scratch(job));
  if (!p->is_pushed) {
    TL_TRY(look_at_start(job));
    job->at_end.contacts_before = &p->start;
    tl_arena_release(crowd->arena, job->mark);
  }
  tl_for(&model->par, crowd->count, 512, begin_bodies, job);
  TL_TRY(iterate(job));
  TL_GO_ON(crowd->cancel); /* the rest of the step is short */
  TL_TRY(tl_step_check(crowd, (tl_twists){.first = job->twists, .stride = sizeof *job->twists},
                       &job->report->culprit));
  keep_ledger(job);
  tl_for(&model->par, crowd->count, 512, commit, job);
  p->is_pushed = true;
  return TALUS_OK;
}

talus_status tl_implicit_step(const tl_backend *backend, const tl_crowd *crowd,
                              tl_step_report *report, bool *is_stuck) {
  tl_penalty *p = crowd->penalty;
  *report = (tl_step_report){.culprit = TL_NONE, .partner = TL_NONE};
  tl_implicit job = {.backend = backend, .crowd = crowd, .report = report, .at_end = *crowd};
  job.at_end.in = &job.guess;
  if (crowd->multires)
    tl_multires_begin(crowd->multires, (double)tl_penalty_reach(crowd->model));
  const double pressed = p->pressed, stored = p->stored;
  const talus_status status = step_here(&job);
  if (status != TALUS_OK) /* a step that fails leaves its start unchanged */
    p->pressed = pressed, p->stored = stored;
  *is_stuck = job.is_stuck;
  return status;
}
