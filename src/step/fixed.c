/* The fixed step: runs each stage once on the whole crowd. */
#include "contact/history.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "contact/patch.h"
#include "joint/guard.h"
#include "step/step.h"

#include "step/hard/near.h"
#include "step/relay.h"
#include "step/sleep.h"
#include "step/substep.h"

#include <math.h>

typedef struct check_job {
  const tl_model *model;
  const tl_crowd *crowd;
  tl_twists twists;
} check_job;

/* True if the velocity is not finite, or so large that the next position would not be. */
static bool is_diverged(void *context, size_t i) {
  const check_job *job = context;
  const uint32_t slot = tl_crowd_slot(job->crowd, i);
  if (tl_body_is_static(job->model, slot))
    return false;
  const tl_twist twist = tl_twist_of(job->twists, i);
  const tl_twist shift = tl_shift_of(job->twists, i);
  return !tl_is_finite(tl_length2(twist.velocity)) || !tl_is_finite(tl_length2(twist.spin)) ||
         !tl_is_finite(tl_length2(shift.velocity)) || !tl_is_finite(tl_length2(shift.spin));
}

#define AHEAD 8 /* velocities between prefetching one and using it */

/* Displacement of a body within the step over its own size, or the angle (rad) that it turns by;
 * the larger of both. */
static double sizes_moved(const check_job *job, size_t i) {
  const uint32_t slot = tl_crowd_slot(job->crowd, i);
  const tl_shape *shape = tl_body_shape(job->model, slot);
  if (tl_body_is_static(job->model, slot) || !shape->bounded)
    return 0;
  const tl_twist twist = tl_twist_of(job->twists, i);
  const double size = (double)(shape->radius * job->model->property.scale[slot]);
  return job->crowd->dt *
         fmax((double)tl_length(twist.velocity) / size, (double)tl_length(twist.spin));
}

static bool moves_too_far(void *context, size_t i) {
  return sizes_moved(context, i) > TL_STEP_TOO_FAR;
}

/* True if the body must be checked by the two functions above. Uses squares, which overflow sooner,
 * with a margin for their rounding: one pass over all bodies instead of two with roots. */
static bool is_suspect(void *context, size_t i) {
  const check_job *job = context;
  const uint32_t slot = tl_crowd_slot(job->crowd, i);
  if (tl_body_is_static(job->model, slot))
    return false;
  if (job->twists.row && i + AHEAD < job->crowd->count) /* solver bodies are in another order */
    __builtin_prefetch(tl_twist_place(job->twists, i + AHEAD));
  const tl_shape *shape = tl_body_shape(job->model, slot);
  const tl_twist twist = tl_twist_of(job->twists, i);
  const tl_twist shift = tl_shift_of(job->twists, i);
  const double most = 0.5 * TL_STEP_TOO_FAR / job->crowd->dt, most2 = most * most;
  const double size =
      shape->bounded ? (double)(shape->radius * job->model->property.scale[slot]) : 1;
  return !((double)tl_length2(twist.velocity) < most2 * size * size &&
           (double)tl_length2(twist.spin) < most2 && tl_is_finite(tl_length2(shift.velocity)) &&
           tl_is_finite(tl_length2(shift.spin)));
}

/* True if the body would leave a domain with `stop`. */
static bool is_leaving(void *context, size_t i) {
  const check_job *job = context;
  const talus_domain_def *domain = &job->model->domain;
  const uint32_t slot = tl_crowd_slot(job->crowd, i);
  if (tl_body_is_static(job->model, slot))
    return false;
  const talus_vec3 v =
      tl_add(tl_twist_of(job->twists, i).velocity, tl_shift_of(job->twists, i).velocity);
  const talus_dvec3 x = tl_dmadd(job->crowd->in->position[slot], job->crowd->dt, v);
  return (!domain->periodic[0] && (x.x < domain->box.lo.x || x.x > domain->box.hi.x)) ||
         (!domain->periodic[1] && (x.y < domain->box.lo.y || x.y > domain->box.hi.y)) ||
         (!domain->periodic[2] && (x.z < domain->box.lo.z || x.z > domain->box.hi.z));
}

/* True if a margin or a box is not finite though the shape is bounded: a velocity or load is too
 * large. */
typedef struct bounds_job {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_box *boxes;
  const talus_real *margins;
} bounds_job;

static bool is_unbounded_by_mistake(void *context, size_t i) {
  const bounds_job *job = context;
  const uint32_t slot = tl_crowd_slot(job->crowd, i);
  return tl_body_shape(job->model, slot)->bounded &&
         (!tl_is_finite(job->margins[slot]) || !tl_box_is_finite(job->boxes[i]));
}

talus_status tl_step_check(const tl_crowd *crowd, tl_twists twists, uint32_t *culprit) {
  const tl_model *model = crowd->model;
  check_job job = {model, crowd, twists};
  const bool none_suspect = tl_find_first(&model->par, crowd->count, is_suspect, &job) == SIZE_MAX;
  size_t bad =
      none_suspect ? SIZE_MAX : tl_find_first(&model->par, crowd->count, is_diverged, &job);
  if (bad != SIZE_MAX) {
    *culprit = tl_crowd_slot(crowd, bad);
    return tl_fail(TALUS_ERROR_DIVERGED, "its velocity is not finite");
  }
  bad = none_suspect ? SIZE_MAX : tl_find_first(&model->par, crowd->count, moves_too_far, &job);
  if (bad != SIZE_MAX) {
    const tl_twist twist = tl_twist_of(twists, bad);
    *culprit = tl_crowd_slot(crowd, bad);
    return tl_fail(TALUS_ERROR_DIVERGED,
                   "at %.3g m/s and %.3g rad/s it would move by a million times its size, or turn "
                   "by a million rad, within a step",
                   (double)tl_length(twist.velocity), (double)tl_length(twist.spin));
  }
  if (model->domain.enabled && model->domain.outside == TALUS_OUTSIDE_STOP) {
    bad = tl_find_first(&model->par, crowd->count, is_leaving, &job);
    if (bad != SIZE_MAX) {
      *culprit = tl_crowd_slot(crowd, bad);
      return tl_fail(TALUS_ERROR_DOMAIN, "it leaves the domain, which says `outside: stop`");
    }
  }
  return TALUS_OK;
}

/* Finds the contacts of the pairs and gives them the impulses of the last step. Contacts between
 * sleeping bodies are copied, not searched. */
static talus_status renew_contacts(const tl_backend *backend, const tl_crowd *crowd,
                                   tl_pairs *pairs, const talus_real *margins,
                                   const tl_slidings *slidings, tl_contacts *contacts) {
  const tl_model *model = crowd->model;
  const bool may_sleep = crowd->in->sleep_flags != NULL;
  TL_TRY(tl_history_begin(crowd->contacts_before, tl_model_substep(model, crowd->dt), contacts));
  if (may_sleep) {
    TL_TRY(tl_sleep_keep(crowd, crowd->contacts_before, contacts));
    tl_sleep_drop_pairs(crowd, pairs);
  }
  const size_t kept = contacts->count;
  TL_TRY(backend->find_contacts(crowd, pairs, margins, contacts));
  if (contacts->recent < contacts->count)
    contacts->recent = contacts->count;
  tl_contacts fresh = {.data = contacts->data ? contacts->data + kept : NULL,
                       .count = contacts->count - kept};
  tl_history_carry(model, crowd->contacts_before, contacts, kept);
  tl_contact_lay_slidings(crowd, slidings, &fresh);
  if (may_sleep)
    TL_TRY(tl_sleep_merge(crowd, contacts, kept));
  return tl_sleep_is_on(crowd) ? tl_sleep_fall(crowd, contacts) : TALUS_OK;
}

/* Finds candidates by the broad phase. Boxes are not needed after it. */
static talus_status find_candidates(const tl_backend *backend, const tl_crowd *crowd,
                                    talus_real *margins, tl_pairs *pairs, tl_step_report *report) {
  const tl_model *model = crowd->model;
  talus_box *boxes;
  TL_TAKE(crowd->arena, crowd->count, &boxes);
  TL_TRY(backend->find_bounds(crowd, boxes, margins));
  bounds_job bounds = {model, crowd, boxes, margins};
  const size_t unbounded =
      tl_find_first(&model->par, crowd->count, is_unbounded_by_mistake, &bounds);
  if (unbounded != SIZE_MAX) {
    report->culprit = tl_crowd_slot(crowd, unbounded);
    return tl_fail(TALUS_ERROR_DIVERGED, "its velocity or the load on it is out of range");
  }
  TL_GO_ON(crowd->cancel);
  report->broad = model->broad;
  if (model->broad == TALUS_BROAD_AUTO)
    report->broad = tl_broad_choose(crowd, boxes, &report->broad_reason);
  TL_TRY(backend->find_pairs(report->broad, crowd, boxes, pairs));
  if (crowd->joints)
    tl_joints_keep_apart(crowd->joints, pairs);
  return tl_walls_sift(crowd, margins, pairs, &report->walls);
}

/* Hard spheres keep a list of neighbours; of these the pairs that touch are found, with margin 0.
 */
static talus_status find_pairs(const tl_backend *backend, const tl_crowd *crowd,
                               talus_real *margins, tl_pairs *pairs, tl_step_report *report) {
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  bool is_done;
  TL_TRY(tl_near_find_pairs(crowd, pairs, &report->walls, &is_done));
  if (is_done) {
    memset(margins, 0, crowd->model->bodies * sizeof *margins);
    report->broad = TALUS_BROAD_BINS;
    report->broad_reason = "hard spheres keep a list of neighbours";
  } else {
    tl_arena_release(crowd->arena, mark);
    TL_TRY(find_candidates(backend, crowd, margins, pairs, report));
  }
  report->pairs = pairs->count;
  TL_GO_ON(crowd->cancel);
  tl_arena_sink(crowd->arena, mark, (void **)&pairs->data, pairs->count * sizeof *pairs->data);
  return TALUS_OK;
}

talus_status tl_step_find_contacts(const tl_backend *backend, const tl_crowd *crowd,
                                   tl_step_report *report) {
  const tl_model *model = crowd->model;
  const tl_contacts *before = crowd->contacts_before;
  tl_contacts *after = crowd->contacts_after;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  const double begun = tl_clock();
  talus_real *margins;
  tl_pairs pairs = {0};
  tl_contacts_clear(after); /* so a step that fails early has no contacts */
  TL_TAKE(crowd->arena, model->bodies, &margins);
  TL_TRY(find_pairs(backend, crowd, margins, &pairs, report));
  if (tl_sleep_is_on(crowd))
    TL_TRY(tl_sleep_wake(crowd, &pairs, margins, before));
  tl_slidings slidings;
  TL_TRY(tl_contact_take_slidings(crowd, before, &slidings));
  const double found = tl_clock();
  report->wall_broad += found - begun;
  TL_TRY(renew_contacts(backend, crowd, &pairs, margins, &slidings, after));
  TL_GO_ON(crowd->cancel);
  tl_reach reach;
  const bool reaches = tl_reach_is_on(model) && after->count > 0;
  if (reaches) {
    TL_TRY(tl_reach_begin(crowd, margins, &reach));
    TL_TRY(tl_relay(backend, crowd, &reach, after, &report->relayed));
    report->pushed = reach.push_count;
    TL_GO_ON(crowd->cancel);
  }
  TL_TRY(tl_history_lay(model, before, after));
  if (reaches)
    tl_reach_sift(&reach, after);
  report->wall_narrow += tl_clock() - found;
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* Bodies wake and fall asleep during the step: this is written to the rows of `out`, which stages
 * then use as rows of `in`. */
static tl_state begin_sleep(const tl_crowd *crowd) {
  tl_state in = *crowd->in;
  if (in.sleep_flags && in.sleep_flags != crowd->out->sleep_flags)
    for (size_t i = 0; i < crowd->count; ++i)
      crowd->out->sleep_flags[tl_crowd_slot(crowd, i)] = in.sleep_flags[tl_crowd_slot(crowd, i)];
  in.sleep_flags = crowd->out->sleep_flags;
  return in;
}

talus_status tl_step_advance(const tl_backend *backend, const tl_crowd *crowd,
                             tl_step_report *report) {
  if (crowd->joints)
    tl_joints_begin(crowd->joints, crowd->dt, crowd->joints_after);
  TL_TRY(tl_joints_guard_start(crowd));
  const double found = tl_clock();
  tl_twists twists;
  talus_status status = backend->solve(crowd, crowd->contacts_after, &twists, &report->solve);
  const double solved = tl_clock();
  report->wall_solve += solved - found;
  /* the cancelled stage may be incomplete */
  if (status == TALUS_OK && tl_cancel_look(crowd->cancel))
    status = tl_fail(TALUS_INTERRUPTED, "stopped on request");
  if (status == TALUS_OK)
    status = tl_step_check(crowd, twists, &report->culprit);
  if (status == TALUS_OK)
    status = tl_joints_guard(crowd, twists);
  TL_TRY(status);
  tl_step_move(crowd, twists);
  if (crowd->joints)
    tl_joints_settle(crowd->model, crowd->out, crowd->joints, crowd->joints_after);
  report->wall_step += tl_clock() - solved;
  return TALUS_OK;
}

/* Adaptive steps keep surfaces half a halo apart, so gaps are measured from there. */
static void take_halos_off(const tl_crowd *crowd, tl_contacts *contacts) {
  for (size_t i = 0; i < contacts->count; ++i) {
    tl_contact *c = &contacts->data[i];
    c->gap -= TL_R(0.5) * (tl_halo_of(crowd->model, c->a) + tl_halo_of(crowd->model, c->b));
  }
}

static talus_status step_from(const tl_backend *backend, const tl_crowd *crowd,
                              tl_step_report *report) {
  TL_TRY(tl_step_find_contacts(backend, crowd, report));
  if (crowd->model->step == TALUS_STEP_ADAPTIVE)
    take_halos_off(crowd, crowd->contacts_after);
  TL_GO_ON(crowd->cancel);
  if (crowd->model->substeps > 1)
    TL_TRY(tl_substeps_run(backend, crowd, report));
  else
    TL_TRY(tl_step_advance(backend, crowd, report));
  if (tl_sleep_is_on(crowd))
    tl_sleep_watch(crowd);
  return TALUS_OK;
}

talus_status tl_step_fixed(const tl_backend *backend, const tl_crowd *crowd,
                           tl_step_report *report) {
  const tl_model *model = crowd->model;
  if (model->solve.kind == TALUS_SOLVE_ELASTIC &&
      (model->step == TALUS_STEP_EVENT || model->solve.shell == TALUS_SHELL_SOFT))
    return tl_step_event(crowd, report);
  *report = (tl_step_report){.culprit = TL_NONE, .partner = TL_NONE};
  const tl_state in = begin_sleep(crowd);
  tl_crowd from = *crowd;
  from.in = &in;
  return step_from(backend, &from, report);
}
