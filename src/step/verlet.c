/* Velocity Verlet (Swope et al. 1982) for spring forces.
 *
 *   kick    v += h/2 a(t0)               forces of the last step's contacts are kept in the state
 *   drift   x += h v, rotation freely
 *   force   contacts and springs at t1; tangential springs are stretched by what moved the bodies
 *   kick    v += h/2 a(t1)
 *
 * Dashpots need the velocity at t1, which depends on their force: it is taken as v + h/2 a(t0), so
 * that they are of second order, too.
 *
 * Everything before the last kick uses scratch memory and the new contacts only, so a step that
 * fails changes nothing. */
#include "base/cancel.h"
#include "base/clock.h"
#include "kernels/rotation.h"
#include "solve/penalty/penalty.h"
#include "step/balls/list.h"

typedef struct verlet_job {
  const tl_model *model;
  const tl_crowd *crowd;
  tl_state mid; /* poses at t1, velocities at the middle of the step */
  const talus_vec3 *first_force, *first_torque; /* at t0 */
  /* change of velocities in half a step with the forces of t0 */
  talus_vec3 *velocity_kick, *spin_kick;
  talus_vec3 *spring_force, *spring_torque; /* at t1 */
  /* by member: velocities at the middle of the step, or at t1 */
  tl_twist *twists;
} verlet_job;

/* ---- kicks ----------------------------------------------------------------------------------- */

static double dot_d(talus_vec3 a, talus_vec3 b) { return tl_ddot(tl_widen(a), tl_widen(b)); }

/* Change of the velocity and spin of a free body by half a step of forces. */
static tl_twist kick_of(const tl_model *model, uint32_t slot, talus_quat rotation, talus_vec3 force,
                        talus_vec3 torque, talus_real half) {
  const tl_properties *property = &model->property;
  const uint32_t lock = property->flags[slot] & TL_FLAG_LOCKS;
  const talus_vec3 inertia = tl_body_inertia(model, slot);
  if (property->force)
    force = tl_add(force, property->force[slot]);
  if (property->torque)
    torque = tl_add(torque, property->torque[slot]);
  tl_twist kick = {tl_scale(tl_madd(model->gravity, 1 / property->mass[slot], force), half),
                   {0, 0, 0}};
  if (lock == 0 && tl_body_shape(model, slot)->isotropic) {
    kick.spin = tl_scale(torque, half / inertia.x);
    return kick;
  }
  const tl_sym3 inverse = tl_free_inverse_inertia(rotation, inertia, lock & TALUS_LOCK_RX,
                                                  lock & TALUS_LOCK_RY, lock & TALUS_LOCK_RZ);
  kick.spin = tl_scale(tl_sym3_mul_vec(inverse, torque), half);
  kick.velocity =
      tl_vec3(lock & TALUS_LOCK_X ? 0 : kick.velocity.x, lock & TALUS_LOCK_Y ? 0 : kick.velocity.y,
              lock & TALUS_LOCK_Z ? 0 : kick.velocity.z);
  return kick;
}

/* A kick changes the kinetic energy by exactly force times mean velocity: work of contacts and of
 * loads. */
static void add_work(const tl_model *model, uint32_t slot, const tl_twist *before,
                     const tl_twist *after, talus_vec3 spring_force, talus_vec3 spring_torque,
                     double half, tl_tally work[2]) {
  const tl_properties *property = &model->property;
  const talus_vec3 v = tl_add(before->velocity, after->velocity);
  const talus_vec3 w = tl_add(before->spin, after->spin);
  tl_tally_add(&work[0], 0.5 * half * (dot_d(spring_force, v) + dot_d(spring_torque, w)));
  if (property->force)
    tl_tally_add(&work[1], 0.5 * half * dot_d(property->force[slot], v));
  if (property->torque)
    tl_tally_add(&work[1], 0.5 * half * dot_d(property->torque[slot], w));
}

static tl_twist kicked(tl_twist twist, tl_twist kick) {
  return (tl_twist){tl_add(twist.velocity, kick.velocity), tl_add(twist.spin, kick.spin)};
}

static void first_kick(const verlet_job *job, size_t member, tl_tally work[2]) {
  const uint32_t slot = tl_crowd_slot(job->crowd, member);
  const tl_state *in = job->crowd->in;
  const double half = 0.5 * job->crowd->dt;
  if (tl_body_is_static(job->model, slot)) {
    job->velocity_kick[slot] = job->spin_kick[slot] = tl_vec3(0, 0, 0);
    return;
  }
  const tl_twist kick = kick_of(job->model, slot, in->rotation[slot], job->first_force[slot],
                                job->first_torque[slot], (talus_real)half);
  const tl_twist before = {in->velocity[slot], in->spin[slot]};
  job->twists[member] = kicked(before, kick);
  job->velocity_kick[slot] = kick.velocity;
  job->spin_kick[slot] = kick.spin;
  add_work(job->model, slot, &before, &job->twists[member], job->first_force[slot],
           job->first_torque[slot], half, work);
}

static void last_kick(const verlet_job *job, size_t member, tl_tally work[2]) {
  const uint32_t slot = tl_crowd_slot(job->crowd, member);
  const double half = 0.5 * job->crowd->dt;
  const tl_twist before = {job->mid.velocity[slot], job->mid.spin[slot]};
  if (tl_body_is_static(job->model, slot)) {
    job->twists[member] =
        kicked(before, (tl_twist){job->velocity_kick[slot], job->spin_kick[slot]});
    return;
  }
  const tl_twist kick = kick_of(job->model, slot, job->mid.rotation[slot], job->spring_force[slot],
                                job->spring_torque[slot], (talus_real)half);
  job->twists[member] = kicked(before, kick);
  add_work(job->model, slot, &before, &job->twists[member], job->spring_force[slot],
           job->spring_torque[slot], half, work);
}

typedef void kick_fn(const verlet_job *job, size_t member, tl_tally work[2]);

typedef struct kick_job {
  const verlet_job *verlet;
  kick_fn *kick;
} kick_job;

static void kick_some(void *context, size_t begin, size_t end, tl_tally *work) {
  const kick_job *job = context;
  for (size_t i = begin; i < end; ++i)
    job->kick(job->verlet, i, work);
}

static void kick_all(const verlet_job *job, kick_fn *kick, tl_solve_report *report) {
  kick_job all = {job, kick};
  tl_tally work[2];
  tl_for_tally(&job->model->par, job->crowd->count, TL_BLOCK, kick_some, &all, 2, work);
  report->contact_work += tl_tally_value(&work[0]);
  report->load_work += tl_tally_value(&work[1]);
}

/* Springs are stretched by the displacement of a kinematic body in the step, which its velocity at
 * the end does not determine. */
static void kick_kinematic(void *context, size_t begin, size_t end) {
  const verlet_job *job = context;
  const tl_crowd *crowd = job->crowd;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(crowd, i);
    if (!(job->model->property.flags[slot] & TL_FLAG_KINEMATIC))
      continue;
    talus_vec3 v, w;
    tl_body_way(job->model, slot, crowd->t0, crowd->t1, crowd->dt, &v, &w);
    job->velocity_kick[slot] = tl_sub(job->mid.velocity[slot], v);
    job->spin_kick[slot] = tl_sub(job->mid.spin[slot], w);
    job->mid.velocity[slot] = v;
    job->mid.spin[slot] = w;
  }
}

/* ---- the step -------------------------------------------------------------------------------- */

static talus_status push(const tl_backend *backend, const tl_crowd *crowd,
                         const tl_penalty_motion *motion, tl_contacts *contacts, talus_vec3 *force,
                         talus_vec3 *torque, tl_step_report *report) {
  tl_penalty_sums sums;
  TL_TRY(backend->find_forces(crowd, motion, contacts, force, torque, &sums, NULL));
  tl_penalty_keep_ledger(crowd, motion->velocity_kick != NULL, &sums, &report->solve);
  return TALUS_OK;
}

/* Finds forces of the present state if they are not known: in a first step, or after a change by
 * hand. Springs are not stretched. */
static talus_status push_at_start(const tl_backend *backend, const tl_crowd *crowd,
                                  const tl_contacts *before, tl_contacts *contacts,
                                  tl_step_report *report) {
  tl_crowd at_start = *crowd;
  at_start.contacts_before = before;
  at_start.contacts_after = contacts;
  TL_TRY(tl_step_find_contacts(backend, &at_start, report));
  const tl_penalty_motion motion = {.velocity = crowd->in->velocity, .spin = crowd->in->spin};
  return push(backend, crowd, &motion, contacts, crowd->out->spring_force,
              crowd->out->spring_torque, report);
}

static talus_status take_scratch(verlet_job *job) {
  const size_t n = job->model->bodies;
  tl_arena *arena = job->crowd->arena;
  TL_TAKE(arena, n, &job->mid.position);
  TL_TAKE(arena, n, &job->mid.rotation);
  TL_TAKE(arena, n, &job->mid.velocity);
  TL_TAKE(arena, n, &job->mid.spin);
  TL_TAKE(arena, n, &job->velocity_kick);
  TL_TAKE(arena, n, &job->spin_kick);
  TL_TAKE(arena, n, &job->spring_force);
  TL_TAKE(arena, n, &job->spring_torque);
  TL_TAKE(arena, job->crowd->count, &job->twists);
  return TALUS_OK;
}

/* Forces and torques are finite as long as velocities are; this is checked before anything is
 * committed. */
static bool is_diverged(void *context, size_t member) {
  const verlet_job *job = context;
  const tl_twist *twist = &job->twists[member];
  return !tl_is_finite(tl_length2(twist->velocity)) || !tl_is_finite(tl_length2(twist->spin));
}

static void commit_range(void *context, size_t begin, size_t end) {
  const verlet_job *job = context;
  tl_state *out = job->crowd->out;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(job->crowd, i);
    out->position[slot] = job->mid.position[slot];
    out->rotation[slot] = job->mid.rotation[slot];
    out->velocity[slot] = job->twists[i].velocity;
    out->spin[slot] = job->twists[i].spin;
    out->spring_force[slot] = job->spring_force[slot];
    out->spring_torque[slot] = job->spring_torque[slot];
  }
}

/* tl_step_verlet for bodies of any shape. */
static talus_status step_any(const tl_backend *backend, const tl_crowd *crowd,
                             const tl_contacts *before, tl_contacts *after,
                             tl_step_report *report) {
  const tl_model *model = crowd->model;
  const double begun = tl_clock();
  tl_penalty *p = crowd->penalty;
  const tl_contacts *last = before;
  const tl_state *pushed_by = crowd->in;
  if (!p->is_pushed) {
    pushed_by = crowd->out;
    TL_TRY(push_at_start(backend, crowd, before, &p->start, report));
    p->is_pushed = true;
    last = &p->start;
  }
  verlet_job job = {.model = model,
                    .crowd = crowd,
                    .first_force = pushed_by->spring_force,
                    .first_torque = pushed_by->spring_torque};
  TL_TRY(take_scratch(&job));
  kick_all(&job, first_kick, &report->solve);
  const tl_twists twists = {.first = job.twists, .stride = sizeof *job.twists};
  TL_TRY(tl_step_check(crowd, twists, &report->culprit));
  tl_crowd drift = *crowd;
  drift.out = &job.mid;
  tl_step_move(&drift, twists);
  drift.in = &job.mid;
  tl_for(&model->par, crowd->count, 512, kick_kinematic, &job);
  report->wall_step += tl_clock() - begun;

  drift.contacts_before = last;
  drift.contacts_after = after;
  TL_TRY(tl_step_find_contacts(backend, &drift, report));
  TL_GO_ON(crowd->cancel);
  const double found = tl_clock();
  const tl_penalty_motion motion = {.velocity = job.mid.velocity,
                                    .spin = job.mid.spin,
                                    .velocity_kick = job.velocity_kick,
                                    .spin_kick = job.spin_kick,
                                    .h = crowd->dt};
  TL_TRY(push(backend, &drift, &motion, after, job.spring_force, job.spring_torque, report));
  TL_GO_ON(crowd->cancel); /* the rest of the step is short */
  const double pushed = tl_clock();
  report->wall_solve += pushed - found;
  kick_all(&job, last_kick, &report->solve);
  const size_t bad = tl_find_first(&model->par, crowd->count, is_diverged, &job);
  if (bad != SIZE_MAX) {
    report->culprit = tl_crowd_slot(crowd, bad);
    return tl_fail(TALUS_ERROR_DIVERGED, "its velocity is not finite");
  }
  tl_for(&model->par, crowd->count, 512, commit_range, &job);
  report->wall_step += tl_clock() - pushed;
  return TALUS_OK;
}

static talus_status prepare(const tl_crowd *crowd, tl_step_report *report) {
  const double begun = tl_clock();
  const talus_status status = tl_penalty_prepare(crowd);
  report->wall_step += tl_clock() - begun;
  return status;
}

/* A step of the rows at home. */
static talus_status step_here(const tl_backend *backend, const tl_crowd *crowd,
                              const tl_contacts *before, tl_contacts *after,
                              tl_step_report *report) {
  tl_penalty *p = crowd->penalty;
  if (crowd->where)
    TL_TRY(tl_need(crowd->where, TL_THE_WHOLE, TL_READ | TL_WRITE | TL_OR_NONE));
  TL_TRY(prepare(crowd, report));
  const bool was_pushed = p->is_pushed;
  const double stored = p->stored, damping = p->damping, friction = p->friction;
  const talus_status status = step_any(backend, crowd, before, after, report);
  if (status != TALUS_OK) { /* a step that fails leaves its start unchanged */
    p->is_pushed = was_pushed;
    p->stored = stored, p->damping = damping, p->friction = friction;
  }
  return status;
}

/* True if the list of balls may be used: nobody else holds the rows. */
static bool may_be_balls(const tl_crowd *crowd) {
  return crowd->where && (!crowd->where->holder || tl_balls_of(crowd->where)) &&
         !crowd->penalty->is_general && tl_balls_are_all(crowd);
}

bool tl_step_is_of_balls(const tl_crowd *crowd) {
  tl_penalty *p = crowd->penalty;
  if (crowd->model->step == TALUS_STEP_IMPLICIT)
    return false;
  if (!p->is_known || p->bodies != crowd->count)
    p->are_balls = may_be_balls(crowd);
  return p->are_balls;
}

talus_status tl_step_verlet(const tl_backend *backend, const tl_crowd *crowd, tl_contacts *before,
                            tl_contacts *after, tl_step_report *report) {
  *report = (tl_step_report){.culprit = TL_NONE, .partner = TL_NONE};
  if (crowd->joints)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "solve: {kind: penalty} has no joints; use solve: {kind: ccp}");
  if (!tl_step_is_of_balls(crowd))
    return step_here(backend, crowd, before, after, report);
  talus_status status = prepare(crowd, report);
  if (status == TALUS_OK)
    status = tl_step_balls(backend, crowd, before, report);
  if (status != TALUS_OK && status != TALUS_INTERRUPTED)
    tl_balls_give_up(crowd, before);
  return status;
}
