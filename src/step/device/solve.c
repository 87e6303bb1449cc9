/* The solver on a device: rows by colour, Gauss-Seidel sweeps, position correction; gradient.c has
 * the other methods. The stages are those of solve/ccp/, but sweeps have no momentum, and all
 * contacts are one island. */
#include "step/device/solve.h"

#include "backend/thread/tasks.h"
#include "solve/system/system.h"

#include <math.h>

#define ROUNDS 8  /* rounds of colouring between two counts of uncoloured contacts */
#define LOOK   10 /* sweeps between two measurements of the residual */
/* position correction has this part of the usual sweeps, as in solve/ccp/correct.c */
#define SHARE 4
#define DEEP  TL_R(2) /* overlap, in slops, that begins a correction */
/* part of the fastest approach: with a larger residual the solve has not converged */
#define FAR 0.01

typedef tl_held_rows solve_job;

/* ---- colours --------------------------------------------------------------------------------- */

static talus_status colour_rounds(solve_job *job, const tl_thread_colours *task) {
  tl_device *device = job->device;
  const size_t count = job->rows.count;
  const tl_device_launch round[] = {{TL_TASK_forget, task, job->held->bodies},
                                    {TL_TASK_bid, task, count},
                                    {TL_TASK_choose, task, count}};
  for (uint32_t left = (uint32_t)count; left > 0;) {
    TL_TRY(device->calls->repeat(device, round, sizeof round / sizeof *round, ROUNDS));
    TL_TRY(device->calls->clear(device, task->left, sizeof *task->left));
    TL_DEVICE_LAUNCH(tell, *task, count);
    TL_TRY(device->calls->download(device, &left, task->left, sizeof left));
  }
  return TALUS_OK;
}

/* Sorts rows by colour; rows of a colour stay in the order of contacts. */
static talus_status sort_colours(solve_job *job) {
  tl_held *held = job->held;
  tl_device *device = job->device;
  const size_t count = job->rows.count;
  const tl_device_sort sort = {{held->colour[0].data, held->colour[1].data},
                               {held->order[0].data, held->order[1].data},
                               false};
  bool in_room;
  TL_TRY(device->calls->sort(device, count, 6, &sort, &in_room));
  const tl_limit_task limit = {
      .colour = held->colour[in_room].data, .count = count, .ends = held->ends.data};
  TL_TRY(device->calls->clear(device, limit.ends, sizeof job->ends));
  TL_DEVICE_LAUNCH(limit, limit, count);
  TL_TRY(device->calls->download(device, job->ends, limit.ends, sizeof job->ends));
  for (int c = 1; c <= TL_COLOURS_MOST; ++c)
    job->ends[c] = job->ends[c] > job->ends[c - 1] ? job->ends[c] : job->ends[c - 1];
  job->order = held->order[in_room].data;
  return TALUS_OK;
}
_Static_assert(TL_COLOURS_MOST < 64, "colours are sorted by six bits");

static talus_status find_colours(solve_job *job) {
  tl_held *held = job->held;
  tl_device *device = job->device;
  const size_t count = job->rows.count;
  for (int k = 0; k < 2; ++k) {
    TL_DEVICE_RESERVE(held->colour[k], count, uint32_t);
    TL_DEVICE_RESERVE(held->order[k], count, uint32_t);
  }
  TL_DEVICE_RESERVE(held->best, held->bodies, uint64_t);
  TL_DEVICE_RESERVE(held->taken, held->bodies, uint64_t);
  TL_DEVICE_RESERVE(held->ends, TL_COLOURS_MOST + 1, uint32_t);
  const tl_thread_colours task = {.contacts = held->near.contacts.data,
                                  .bodies = held->solver.data,
                                  .colour = held->colour[0].data,
                                  .order = held->order[0].data,
                                  .best = held->best.data,
                                  .taken = held->taken.data,
                                  .left = TL_HELD_WORD(held, left)};
  TL_TRY(device->calls->clear(device, task.taken, held->bodies * sizeof *task.taken));
  TL_DEVICE_LAUNCH(settle, task, count);
  TL_TRY(colour_rounds(job, &task));
  return sort_colours(job);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static talus_status carry(solve_job *job) {
  tl_held *held = job->held;
  tl_device *device = job->device;
  TL_DEVICE_RESERVE(held->after.impulses, job->rows.count, talus_vec3);
  const tl_carry_task task = {.contacts = held->near.contacts.data,
                              .before = held->before.contacts.data,
                              .before_count = held->before.count,
                              .impulses_before = held->before.impulses.data,
                              .impulses = held->after.impulses.data};
  TL_DEVICE_LAUNCH(carry, task, job->rows.count);
  return TALUS_OK;
}

talus_status tl_held_make_rows(solve_job *job) {
  tl_held *held = job->held;
  tl_device *device = job->device;
  const tl_model *model = job->crowd->model;
  const size_t count = job->rows.count;
  TL_DEVICE_RESERVE(held->row_a, count, uint32_t);
  TL_DEVICE_RESERVE(held->row_b, count, uint32_t);
  TL_DEVICE_RESERVE(held->row_numbers, TL_ROW_FIELDS * count, talus_real);
  TL_DEVICE_RESERVE(held->lift, count, talus_real);
  TL_DEVICE_RESERVE(held->lift_bias, count, talus_real);
  TL_DEVICE_RESERVE(held->shifts, held->bodies, tl_ccp_body);
  job->rows = (tl_thread_rows){.count = count,
                               .a = held->row_a.data,
                               .b = held->row_b.data,
                               .of = held->row_numbers.data,
                               .lift = held->lift.data,
                               .lift_bias = held->lift_bias.data,
                               .bodies = held->solver.data,
                               .shifts = held->shifts.data,
                               .tensors = held->has_tensors ? held->tensors.data : NULL,
                               .is_radial = job->is_gradient && held->is_radial};
  tl_row_task row = {.crowd = tl_held_crowd(held, job->crowd),
                     .rows = job->rows,
                     .order = job->order,
                     .contacts = held->near.contacts.data,
                     .gaps = job->have_bounced ? held->impacts.gaps.data : NULL,
                     .impulses = held->after.impulses.data,
                     .friction = held->friction.data,
                     .materials = (uint32_t)model->materials.count,
                     .is_warm = job->settings->warm_start,
                     .most_friction = held->ncp > 0 ? TL_REAL_MAX : TL_R(1e6),
                     .fastest = TL_HELD_WORD(held, fastest)};
  for (int k = 0; k < 3; ++k)
    row.space.period[k] = row.crowd.period[k];
  TL_TRY(device->calls->clear(device, row.fastest, sizeof *row.fastest));
  TL_DEVICE_LAUNCH(row, row, count);
  return TALUS_OK;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* Visits every row, colour by colour, `times` times; one thread visits the last colour in turn. */
static talus_status visit_all(const solve_job *job, int kind, talus_real share, int times) {
  tl_visit_task tasks[TL_COLOURS_MOST + 1];
  tl_device_launch launches[TL_COLOURS_MOST + 1];
  size_t count = 0;
  for (int c = 0; c <= TL_COLOURS_MOST; ++c) {
    const size_t begin = c > 0 ? job->ends[c - 1] : 0, rows = job->ends[c] - begin;
    const bool in_turn = c == TL_COLOURS_MOST;
    if (rows == 0)
      continue;
    tasks[count] = (tl_visit_task){.rows = job->rows,
                                   .first = begin,
                                   .tail = in_turn ? rows : 0,
                                   .share = share,
                                   .is_ncp = job->is_ncp};
    launches[count] = (tl_device_launch){kind, &tasks[count], in_turn ? 1 : rows};
    count++;
  }
  return job->device->calls->repeat(job->device, launches, count, times);
}

/* Measures residuals and the parts of the objective. */
talus_status tl_held_look(solve_job *job) {
  tl_device *device = job->device;
  const tl_remain_task remain = {.rows = job->rows,
                                 .threads = tl_held_threads(job->rows.count),
                                 .is_ncp = job->is_ncp,
                                 .sums = job->held->sums.data,
                                 .worst = TL_HELD_WORD(job->held, worst)};
  uint64_t worst;
  TL_TRY(device->calls->clear(device, remain.worst, sizeof worst));
  TL_DEVICE_LAUNCH(remain, remain, remain.threads);
  TL_TRY(tl_held_add(job->held, remain.threads, TL_REMAINS, job->totals));
  TL_TRY(device->calls->download(device, &worst, remain.worst, sizeof worst));
  const uint32_t bits = (uint32_t)(worst >> 32);
  float most;
  memcpy(&most, &bits, sizeof most);
  job->most = (double)most;
  job->worst = (uint32_t)worst;
  return TALUS_OK;
}

static double rms_of(const solve_job *job) {
  return sqrt(job->totals[TL_REMAIN_SQUARE] / (double)job->rows.count);
}

/* Impulses of the last step, multiplied by the share that lowers the objective most (seidel.c): its
 * slopes before and after all of them are applied determine the parabola. */
static talus_status warm(solve_job *job) {
  tl_device *device = job->device;
  TL_TRY(tl_held_look(job));
  const double slope = job->totals[TL_REMAIN_WORK];
  TL_TRY(visit_all(job, TL_TASK_visit, 1, 1));
  TL_TRY(tl_held_look(job));
  const double q = 0.5 * (slope + job->totals[TL_REMAIN_WORK]);
  if (!(q > 0))
    return TALUS_OK;
  const talus_real share = tl_warm_share(q, slope);
  if (share == 1)
    return TALUS_OK;
  const tl_shrink_task shrink = {.rows = job->rows, .share = share};
  TL_TRY(visit_all(job, TL_TASK_visit, share - 1, 1));
  TL_DEVICE_LAUNCH(shrink, shrink, job->rows.count);
  return TALUS_OK;
}

tl_effort tl_held_effort(const solve_job *job) {
  const tl_system system = {
      .model = job->crowd->model,
      .crowd = job->crowd,
      .settings = job->settings,
      .summary = {.slowest = {1, 1, 1}, .fastest = {0, 0, 0}}, /* small speeds by free fall only */
  };
  return tl_effort_of(&system, job->rows.count, false);
}

static talus_status sweep(solve_job *job) {
  tl_effort effort = tl_held_effort(job);
  const bool looks = effort.tolerance > 0;
  for (int done = 0; done < effort.most;) {
    const int left = (done < effort.usual ? effort.usual : effort.most) - done;
    const int sweeps = left < LOOK ? left : LOOK;
    TL_GO_ON(job->crowd->cancel);
    TL_TRY(visit_all(job, TL_TASK_visit, 0, sweeps));
    job->report->iterations = done += sweeps;
    if (!looks)
      continue;
    TL_TRY(tl_held_look(job));
    if (tl_effort_is_enough(&effort, done, rms_of(job)))
      break;
  }
  if (!looks || effort.most == 0)
    TL_TRY(tl_held_look(job));
  job->report->residual_rms = rms_of(job);
  job->report->residual_max = job->most;
  job->report->objective = job->totals[TL_REMAIN_BIAS];
  return TALUS_OK;
}

/* Like solve/ccp/converge.c, for all rows together. */
static talus_status note_residual(solve_job *job) {
  tl_device *device = job->device;
  const tl_model *model = job->crowd->model;
  const double fall = (double)tl_length(model->gravity) * job->crowd->dt, rms = rms_of(job);
  TL_TRY(device->calls->download(device, &job->fastest, TL_HELD_WORD(job->held, fastest),
                                 sizeof job->fastest));
  if (!(rms > fmax(fall, job->settings->tolerance)) || !(rms > FAR * job->fastest))
    return TALUS_OK;
  uint32_t slots[2];
  TL_TRY(device->calls->download(device, &slots[0], job->rows.a + job->worst - 1, sizeof *slots));
  TL_TRY(device->calls->download(device, &slots[1], job->rows.b + job->worst - 1, sizeof *slots));
  job->report->unconverged = 1;
  job->report->worst_residual = rms;
  job->report->worst = tl_body_is_static(model, slots[0]) ? slots[1] : slots[0];
  return TALUS_OK;
}

/* Colours, rows, and what they come to. */
static talus_status seidel(solve_job *job) {
  TL_TRY(find_colours(job));
  TL_TRY(tl_held_make_rows(job));
  if (job->settings->warm_start)
    TL_TRY(warm(job));
  TL_TRY(sweep(job));
  TL_TRY(note_residual(job));
  tl_device *device = job->device;
  const tl_store_task store = {job->rows, job->order, job->held->after.impulses.data};
  TL_DEVICE_LAUNCH(store, store, job->rows.count);
  return TALUS_OK;
}

/* ---- position correction --------------------------------------------------------------------- */

static talus_status aim_rows(solve_job *job, bool *is_needed) {
  tl_held *held = job->held;
  tl_device *device = job->device;
  const tl_aim_task aim = {.rows = job->rows,
                           .order = job->order,
                           .contacts = held->near.contacts.data,
                           .gaps = job->have_bounced ? held->impacts.gaps.data : NULL,
                           .h = (talus_real)job->crowd->dt,
                           .slop = held->slop,
                           .share = (talus_real)job->settings->recovery,
                           .recovery_speed = held->recovery_speed,
                           .deep = DEEP * held->slop,
                           .found = TL_HELD_WORD(held, aim)};
  uint32_t found;
  TL_TRY(device->calls->clear(device, aim.found, sizeof found));
  TL_DEVICE_LAUNCH(aim, aim, job->rows.count);
  TL_TRY(device->calls->download(device, &found, aim.found, sizeof found));
  *is_needed = (found & TL_AIM_DEEP) || job->most * job->crowd->dt > (double)held->slop;
  return TALUS_OK;
}

/* Rows of gradient methods have no colours: made anew, with the velocities of the solution. */
static talus_status colour_again(solve_job *job) {
  bool is_needed;
  job->is_gradient = false;
  TL_TRY(find_colours(job));
  TL_TRY(tl_held_make_rows(job));
  return aim_rows(job, &is_needed);
}

static talus_status correct(solve_job *job, const tl_ccp_body **shifts) {
  tl_held *held = job->held;
  tl_device *device = job->device;
  const talus_solve_def *settings = job->settings;
  bool is_needed;
  *shifts = job->have_bounced ? held->impacts.thrown.data : NULL;
  if (!(settings->recovery > 0))
    return TALUS_OK;
  const tl_still_task still = {held->solver.data, held->shifts.data};
  TL_TRY(aim_rows(job, &is_needed));
  if (!is_needed)
    return TALUS_OK;
  if (job->is_gradient)
    TL_TRY(colour_again(job));
  TL_DEVICE_LAUNCH(still, still, held->bodies);
  const int sweeps = (settings->iterations + SHARE - 1) / SHARE;
  TL_TRY(visit_all(job, TL_TASK_lift, 0, sweeps));
  const tl_merge_task merge = {held->impacts.thrown.data, held->shifts.data};
  if (job->have_bounced)
    TL_DEVICE_LAUNCH(merge, merge, held->bodies);
  *shifts = held->shifts.data;
  return TALUS_OK;
}

/* ---- the whole solve ------------------------------------------------------------------------- */

talus_status tl_held_solve(tl_held *held, const tl_crowd *crowd, tl_solve_report *report,
                           const tl_ccp_body **shifts) {
  solve_job job = {.held = held,
                   .device = held->device,
                   .crowd = crowd,
                   .settings = &crowd->model->solve,
                   .report = report,
                   .rows = {.count = held->after.count},
                   .is_ncp = held->ncp > 0,
                   .is_gradient = crowd->model->solve.method != TALUS_GAUSS_SEIDEL};
  *shifts = NULL;
  if (job.rows.count == 0)
    return TALUS_OK;
  if (job.rows.count >= UINT32_MAX)
    return tl_fail(TALUS_ERROR_MEMORY, "%zu contacts are more than a device counts (4e9)",
                   job.rows.count);
  TL_TRY(carry(&job));
  TL_TRY(tl_held_bounce(held, crowd, job.rows.count, &job.have_bounced));
  if (job.is_gradient) {
    TL_TRY(tl_held_iterate(&job));
    TL_TRY(note_residual(&job));
  } else
    TL_TRY(seidel(&job));
  return correct(&job, shifts);
}
