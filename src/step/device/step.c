/* A step on a device: the order of its stages. */
#include "step/device/hold.h"

#include "backend/thread/tasks.h"
#include "contact/reach.h"
#include "base/cancel.h"
#include "base/clock.h"

/* ---- obstacles ---------------------------------------------------------------- */

static bool has_turning_planes(const tl_model *model) {
  for (size_t i = 0; i < model->bodies && model->motions.count > 0; ++i)
    if ((model->property.flags[i] & TL_FLAG_KINEMATIC) && !tl_body_shape(model, i)->bounded &&
        tl_body_turns(model, i))
      return true;
  return false;
}

static const char *find_shape(const tl_model *model) {
  for (size_t i = 0; i < model->shapes.count; ++i)
    if (!tl_device_knows(model->shapes.data[i].kind))
      return "meshes and revolved walls";
  return NULL;
}

const char *tl_device_step_obstacle(const tl_model *model, bool has_joints) {
  if (model->step != TALUS_STEP_FIXED)
    return "steps other than fixed ones";
  if (model->substeps > 1)
    return "substeps";
  if (model->solve.kind != TALUS_SOLVE_CCP)
    return "solvers other than ccp";
  if (model->solve.method != TALUS_GAUSS_SEIDEL && model->solve.reduction != TALUS_REDUCTION_AUTO &&
      model->solve.reduction != TALUS_REDUCTION_GATHER)
    return "solve.reduction other than gather";
  if (has_joints)
    return "joints";
  if (has_turning_planes(model))
    return "planes that turn";
  if (model->sleep.speed > 0)
    return "sleep";
  if (model->law_kinds != 0)
    return "static friction, rolling resistance and cohesion";
  if (model->ignored.count > 0)
    return "pairs of groups that are ignored";
  if (model->broad != TALUS_BROAD_AUTO && model->broad != TALUS_BROAD_BINS)
    return "broad phases other than bins";
  return find_shape(model);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static talus_status find_contacts(tl_held *held, const tl_crowd *crowd, tl_step_report *report) {
  tl_device *device = held->device;
  const tl_model *model = crowd->model;
  const tl_ready_task ready = {.crowd = tl_held_crowd(held, crowd),
                               .spare = TL_R(0.5) * tl_reach_slack(model, crowd->dt),
                               .fixed_margin = TL_R(0.5 * model->margin),
                               .inner = held->widths.data,
                               .sweeps = !model->unswept,
                               .bodies = held->solver.data,
                               .tensors = held->has_tensors ? held->tensors.data : NULL,
                               .margins = held->margins.data,
                               .rows = held->near.rows.data,
                               .fixed = held->near.fixed.data};
  const tl_thread_guides guides = tl_held_guides(held, crowd);
  if (held->has_guided_planes)
    TL_TRY(tl_held_send_planes(held, crowd));
  TL_DEVICE_LAUNCH(follow, guides, held->guides);
  TL_DEVICE_LAUNCH(ready, ready, held->bodies);
  tl_spheres_asked asked = {.count = held->bodies,
                            .plane_count = held->plane_slots.count,
                            .is_there = true,
                            .has_fixed = true};
  for (int k = 0; k < 3; ++k) {
    asked.low[k] = ready.crowd.low[k];
    asked.period[k] = ready.crowd.period[k];
  }
  const tl_thread_bodies bodies = {.shapes = ready.crowd.shapes,
                                   .shape = ready.crowd.shape,
                                   .scale = ready.crowd.scale,
                                   .rotation = ready.crowd.in.rotation,
                                   .margins = held->margins.data,
                                   .method = model->narrow.ellipsoid};
  tl_spheres_times times;
  TL_TRY(tl_device_find_sent(device, &held->near, &held->shapes, &asked, &bodies, &report->pairs,
                             &held->after.count, &times));
  report->wall_broad += 1e-3 * (times.sort_ms + times.search_ms);
  report->wall_narrow += 1e-3 * times.write_ms;
  report->broad = TALUS_BROAD_BINS;
  report->broad_reason = "the device has bins";
  return TALUS_OK;
}

static talus_status refuse(tl_wrong_kind kind, uint32_t slot, tl_step_report *report) {
  report->culprit = slot;
  if (kind == TL_WRONG_OUTSIDE)
    return tl_fail(TALUS_ERROR_DOMAIN, "it leaves the domain, which says `outside: stop`");
  return tl_fail(TALUS_ERROR_DIVERGED,
                 kind == TL_WRONG_NUMBER
                     ? "its velocity is not finite"
                     : "it would move by a million times its size, or turn by a million rad, "
                       "within a step");
}

static talus_status judge(tl_held *held, const tl_crowd *crowd, const tl_ccp_body *shifts,
                          tl_step_report *report) {
  tl_device *device = held->device;
  const tl_judge_task task = {.crowd = tl_held_crowd(held, crowd),
                              .bodies = held->solver.data,
                              .shifts = shifts,
                              .most = TL_STEP_TOO_FAR,
                              .culprits = TL_HELD_WORD(held, culprits)};
  uint32_t culprits[TL_WRONGS];
  TL_TRY(device->calls->clear(device, task.culprits, sizeof culprits));
  TL_DEVICE_LAUNCH(judge, task, held->bodies);
  TL_TRY(device->calls->download(device, culprits, task.culprits, sizeof culprits));
  for (int kind = 0; kind < TL_WRONGS; ++kind)
    if (culprits[kind] > 0)
      return refuse((tl_wrong_kind)kind, (uint32_t)held->bodies - culprits[kind], report);
  return TALUS_OK;
}

static talus_status find_worth(tl_held *held, const tl_crowd *crowd, const tl_ccp_body *shifts,
                               tl_solve_report *report) {
  tl_device *device = held->device;
  const tl_worth_task task = {.crowd = tl_held_crowd(held, crowd),
                              .bodies = held->solver.data,
                              .shifts = shifts,
                              .struck = held->after.are_hit ? held->impacts.struck.data : NULL,
                              .threads = tl_held_threads(held->bodies),
                              .sums = held->sums.data};
  double sums[TL_WORTHS];
  TL_DEVICE_LAUNCH(worth, task, task.threads);
  TL_TRY(tl_held_add(held, task.threads, TL_WORTHS, sums));
  report->contact_work = sums[TL_WORTH_CONTACT] + sums[TL_WORTH_LIFT];
  report->load_work = sums[TL_WORTH_LOAD];
  report->objective += sums[TL_WORTH_OBJECTIVE];
  return TALUS_OK;
}

static talus_status move(tl_held *held, const tl_crowd *crowd, const tl_ccp_body *shifts) {
  tl_device *device = held->device;
  const tl_move_task task = {
      .crowd = tl_held_crowd(held, crowd), .bodies = held->solver.data, .shifts = shifts};
  const tl_thread_guides guides = tl_held_guides(held, crowd);
  TL_DEVICE_LAUNCH(move, task, held->bodies);
  TL_DEVICE_LAUNCH(arrive, guides, held->guides);
  return TALUS_OK;
}

/* Makes the result valid; the sets of the last step become memory for the next one. */
static void take_result(tl_held *held, const tl_crowd *crowd) {
  const tl_held_contacts before = held->before;
  held->before = held->after;
  held->before.contacts = held->near.contacts;
  held->near.contacts = before.contacts;
  held->after =
      (tl_held_contacts){.impulses = before.impulses, .hits = before.hits, .given = before.given};
  held->now = !held->now;
  held->dt = crowd->dt;
  tl_made_away(held->where, TL_HELD_STATE | TL_THE_CONTACTS);
}

/* ---- the step -------------------------------------------------------------------------------- */

static talus_status step(tl_held *held, const tl_crowd *crowd, tl_step_report *report) {
  const tl_ccp_body *shifts;
  TL_TRY(find_contacts(held, crowd, report));
  TL_GO_ON(crowd->cancel);
  const double found = tl_clock();
  TL_TRY(tl_held_solve(held, crowd, &report->solve, &shifts));
  TL_TRY(judge(held, crowd, shifts, report));
  const double solved = tl_clock();
  report->wall_solve += solved - found;
  TL_TRY(find_worth(held, crowd, shifts, &report->solve));
  TL_TRY(move(held, crowd, shifts));
  TL_TRY(tl_held_look_back(held, crowd, report));
  take_result(held, crowd);
  report->wall_step += tl_clock() - solved;
  report->is_elsewhere = true;
  return TALUS_OK;
}

talus_status tl_device_step(tl_open_device *open, const tl_crowd *crowd, tl_contacts *contacts,
                            tl_step_report *report) {
  tl_held *held;
  bool is_fresh;
  *report = (tl_step_report){.culprit = TL_NONE, .partner = TL_NONE};
  TL_TRY(tl_held_take(open, crowd, contacts, &held, &is_fresh));
  const tl_device_counters before = held->device->count;
  if (!is_fresh) {
    TL_TRY(tl_need(crowd->where, TL_THE_WHOLE, TL_READ));
    TL_TRY(tl_held_send(held, crowd));
  }
  const tl_device_counters sent = held->device->count;
  TL_TRY(step(held, crowd, report));
  const tl_device_counters *after = &held->device->count;
  report->sent_bytes = sent.uploaded - before.uploaded;
  report->moved_bytes = after->uploaded - sent.uploaded + after->downloaded - sent.downloaded;
  report->device_bytes = after->peak;
  return TALUS_OK;
}
