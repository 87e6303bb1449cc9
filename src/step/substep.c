#include "step/substep.h"

#include "base/cancel.h"
#include "contact/ride.h"

#include <math.h>

/* Load of a joint over the step. */
typedef struct load {
  talus_vec3 force, torque; /* sums over the substeps; if it broke: the load that broke it */
} load;

typedef struct substeps {
  const tl_backend *backend;
  const tl_crowd *crowd; /* of the whole step */
  tl_contacts *contacts;
  int count;
  const struct tl_solve_plan *plan; /* of the first substep; shared by all */
  tl_ride ride;
  talus_vec3 *impulses; /* by contact, sums over the substeps so far: impulses of the solver */
  talus_vec3 *torques;  /* torques of rolling resistance; NULL: none */
  talus_vec3 *hits;     /* impulses of impacts; NULL: nothing bounces */
  tl_joints joints;     /* state after the last substep */
  load *loads;          /* by row */
} substeps;

/* ---- contacts -------------------------------------------------------------------------------- */

static talus_status take_sums(const substeps *s, bool is_wanted, talus_vec3 **sums) {
  *sums = NULL;
  if (!is_wanted)
    return TALUS_OK;
  TL_TAKE(s->crowd->arena, s->contacts->count, sums);
  memset(*sums, 0, s->contacts->count * sizeof **sums);
  return TALUS_OK;
}

static bool can_bounce(const tl_model *model) {
  for (size_t i = 0; i < model->laws.count; ++i)
    if (model->laws.data[i].restitution > 0)
      return true;
  return false;
}

static talus_status begin_contacts(substeps *s) {
  const tl_model *model = s->crowd->model;
  TL_TRY(tl_ride_begin(&s->ride, s->crowd, s->contacts));
  TL_TRY(take_sums(s, true, &s->impulses));
  TL_TRY(take_sums(s, (model->law_kinds & TL_LAW_ROLLING) != 0, &s->torques));
  return take_sums(s, can_bounce(model), &s->hits);
}

static void add_range(void *context, size_t begin, size_t end) {
  const substeps *s = context;
  for (size_t i = begin; i < end; ++i) {
    s->impulses[i] = tl_add(s->impulses[i], s->contacts->data[i].impulse);
    if (s->torques)
      s->torques[i] = tl_add(s->torques[i], s->contacts->law_states.data[i].torque);
  }
}

/* Adds the impulses of the substep to the sums. */
static void add_contacts(substeps *s) {
  tl_for(&s->crowd->model->par, s->contacts->count, 1024, add_range, s);
  for (size_t i = 0; s->hits && i < s->contacts->hits.count; ++i) {
    const tl_hit *hit = &s->contacts->hits.data[i];
    s->hits[hit->contact] = tl_add(s->hits[hit->contact], hit->impulse);
  }
}

static void hand_range(void *context, size_t begin, size_t end) {
  const substeps *s = context;
  for (size_t i = begin; i < end; ++i) {
    s->contacts->data[i].impulse = s->impulses[i];
    if (s->torques)
      s->contacts->law_states.data[i].torque = s->torques[i];
  }
}

static bool is_nothing(talus_vec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }

static talus_status end_contacts(substeps *s) {
  tl_contacts *contacts = s->contacts;
  size_t hit = 0;
  tl_for(&s->crowd->model->par, contacts->count, 1024, hand_range, s);
  tl_ride_back(&s->ride);
  contacts->dt = s->crowd->dt;
  contacts->hits.count = 0;
  for (size_t i = 0; s->hits && i < contacts->count; ++i)
    hit += !is_nothing(s->hits[i]);
  if (hit > contacts->hits.capacity)
    TL_TRY(tl_array_reserve(&contacts->hits, hit + hit / 4));
  for (size_t i = 0; hit > 0 && i < contacts->count; ++i)
    if (!is_nothing(s->hits[i]))
      contacts->hits.data[contacts->hits.count++] = (tl_hit){(uint32_t)i, s->hits[i]};
  return TALUS_OK;
}

/* ---- joints ---------------------------------------------------------------------------------- */

/* Makes a copy of the joints that substeps may change. */
static talus_status begin_joints(substeps *s) {
  const tl_joints *joints = s->crowd->joints;
  if (!joints)
    return TALUS_OK;
  s->joints = *joints;
  TL_TAKE(s->crowd->arena, joints->all.count, &s->joints.all.data);
  memcpy(s->joints.all.data, joints->all.data, joints->all.count * sizeof *joints->all.data);
  TL_TAKE(s->crowd->arena, joints->all.count, &s->loads);
  memset(s->loads, 0, joints->all.count * sizeof *s->loads);
  return TALUS_OK;
}

static void add_joints(substeps *s, double dt) {
  const tl_joint_state *after = s->crowd->joints_after;
  for (size_t i = 0; s->loads && i < s->joints.all.count; ++i) {
    load *sum = &s->loads[i];
    const bool broke = after[i].broken && !s->joints.all.data[i].broken;
    if (broke)
      *sum = (load){after[i].force, after[i].torque};
    else if (!after[i].broken)
      *sum = (load){tl_add(sum->force, after[i].force), tl_add(sum->torque, after[i].torque)};
    tl_joints_take_one(&s->joints, i, &after[i]);
  }
  s->joints.dt = dt;
}

static void end_joints(const substeps *s) {
  tl_joint_state *after = s->crowd->joints_after;
  const talus_real share = 1 / TL_R(s->count);
  for (size_t i = 0; s->loads && i < s->joints.all.count; ++i) {
    after[i].force = s->loads[i].force;
    after[i].torque = s->loads[i].torque;
    if (!after[i].broken) {
      after[i].force = tl_scale(after[i].force, share);
      after[i].torque = tl_scale(after[i].torque, share);
    }
  }
}

/* ---- the report ------------------------------------------------------------------------------ */

static void add_report(tl_solve_report *all, const tl_solve_report *one) {
  if (one->worst_residual > all->worst_residual) {
    all->worst_residual = one->worst_residual;
    all->worst = one->worst;
  }
  all->residual_max = fmax(all->residual_max, one->residual_max);
  all->residual_rms = fmax(all->residual_rms, one->residual_rms);
  all->rise = fmax(all->rise, one->rise);
  all->objective = one->objective;
  if (one->iterations > all->iterations)
    all->iterations = one->iterations;
  if (one->unconverged > all->unconverged)
    all->unconverged = one->unconverged;
  all->restarts += one->restarts;
  all->corrected += one->corrected;
  all->contact_work += one->contact_work;
  all->load_work += one->load_work;
  all->joint_work += one->joint_work;
  all->made_energy += one->made_energy;
}

/* ---- the whole step -------------------------------------------------------------------------- */

/* The crowd of the k-th substep. From the second on bodies move in place, from crowd->out to
 * crowd->out. */
static tl_crowd part_of(const substeps *s, int k) {
  const tl_crowd *all = s->crowd;
  tl_crowd part = *all;
  part.dt = all->dt / s->count;
  part.t0 = k == 0 ? all->t0 : all->t0 + (all->t1 - all->t0) * k / s->count;
  part.t1 = k + 1 == s->count ? all->t1 : all->t0 + (all->t1 - all->t0) * (k + 1) / s->count;
  if (k > 0)
    part.in = all->out;
  if (s->loads)
    part.joints = &s->joints;
  part.plan = s->plan;
  return part;
}

static talus_status run_one(substeps *s, int k, tl_step_report *report) {
  tl_crowd part = part_of(s, k);
  const tl_arena_mark mark = tl_arena_get_mark(part.arena);
  const tl_solve_report before = report->solve;
  if (k > 0)
    tl_ride_bodies(&s->ride, part.in);
  if (k > 0 && tl_solve_plan_rides(s->plan))
    part.ride = &s->ride;
  else if (k > 0)
    tl_ride_settle(&s->ride);
  s->contacts->hits.count = 0;
  TL_TRY(tl_step_advance(s->backend, &part, report));
  tl_solve_report all = before;
  add_report(&all, &report->solve);
  report->solve = all;
  add_contacts(s);
  add_joints(s, part.dt);
  tl_arena_release(part.arena, mark);
  return TALUS_OK;
}

talus_status tl_substeps_run(const tl_backend *backend, const tl_crowd *crowd,
                             tl_step_report *report) {
  substeps s = {.backend = backend,
                .crowd = crowd,
                .contacts = crowd->contacts_after,
                .count = crowd->model->substeps};
  TL_TRY(begin_contacts(&s));
  TL_TRY(begin_joints(&s));
  TL_TRY(tl_solve_make_plan(crowd, s.contacts, &s.plan));
  for (int k = 0; k < s.count; ++k) {
    TL_TRY(run_one(&s, k, report));
    TL_GO_ON(crowd->cancel);
  }
  end_joints(&s);
  return end_contacts(&s);
}
