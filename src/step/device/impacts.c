/* Impacts on a device: the order of their tasks (backend/thread/impacts.h). */
#include "step/device/hold.h"

#include "backend/thread/tasks.h"
#include "base/cancel.h"

#define ROUNDS_MOST 400 /* of a step; the solver stops what still waits */
#define BATCH       4   /* rounds between two looks at whether a contact waits */

typedef struct bounce_job {
  tl_held *held;
  tl_device *device;
  size_t bodies, contacts;
  tl_thread_impacts task;
} bounce_job;

static talus_status take_room(bounce_job *job) {
  tl_held *held = job->held;
  tl_device *device = job->device;
  tl_held_impacts *of = &held->impacts;
  TL_DEVICE_RESERVE(of->struck, job->bodies, tl_thread_struck);
  TL_DEVICE_RESERVE(of->thrown, job->bodies, tl_ccp_body);
  TL_DEVICE_RESERVE(of->owner, job->bodies, uint32_t);
  TL_DEVICE_RESERVE(of->is_hit, job->bodies, uint32_t);
  TL_DEVICE_RESERVE(held->best, job->bodies, uint64_t);
  TL_DEVICE_RESERVE(of->time, job->contacts, talus_real);
  TL_DEVICE_RESERVE(of->slack, job->contacts, talus_real);
  TL_DEVICE_RESERVE(of->gaps, job->contacts, talus_real);
  TL_DEVICE_RESERVE(held->after.hits, job->contacts, uint32_t);
  TL_DEVICE_RESERVE(held->after.given, job->contacts, talus_vec3);
  return TALUS_OK;
}

/* What only rounds need. */
static talus_status take_more(bounce_job *job) {
  tl_held_impacts *of = &job->held->impacts;
  tl_device *device = job->device;
  TL_DEVICE_RESERVE(of->parent, job->contacts, uint32_t);
  TL_DEVICE_RESERVE(of->next, job->contacts, uint32_t);
  TL_DEVICE_RESERVE(of->head, job->contacts, uint32_t);
  TL_DEVICE_RESERVE(of->rows, job->contacts, tl_impact_row);
  job->task.parent = of->parent.data;
  job->task.next = of->next.data;
  job->task.head = of->head.data;
  job->task.rows = of->rows.data;
  return TALUS_OK;
}

static tl_thread_impacts task_of(const bounce_job *job, const tl_crowd *crowd) {
  tl_held *held = job->held;
  const tl_held_impacts *of = &held->impacts;
  tl_thread_impacts task = {.crowd = tl_held_crowd(held, crowd),
                            .contacts = held->near.contacts.data,
                            .count = job->contacts,
                            .bodies = held->solver.data,
                            .shifts = of->thrown.data,
                            .tensors = held->has_tensors ? held->tensors.data : NULL,
                            .friction = held->friction.data,
                            .restitution = held->restitution.data,
                            .materials = (uint32_t)crowd->model->materials.count,
                            .h = (talus_real)crowd->dt,
                            .bounce_speed = held->bounce_speed,
                            .is_relative = crowd->model->solve.bounce_speed < 0,
                            .swift = TL_HELD_WORD(held, swift),
                            .struck = of->struck.data,
                            .first = held->best.data,
                            .owner = of->owner.data,
                            .is_hit = of->is_hit.data,
                            .time = of->time.data,
                            .slack = of->slack.data,
                            .hits = held->after.hits.data,
                            .given = held->after.given.data,
                            .gaps = of->gaps.data,
                            .left = TL_HELD_WORD(held, waiting)};
  for (int k = 0; k < 3; ++k)
    task.space.period[k] = task.crowd.period[k];
  return task;
}

static talus_status ask(const bounce_job *job, uint32_t *left) {
  return job->device->calls->download(job->device, left, job->task.left, sizeof *left);
}

static talus_status forget_left(const bounce_job *job) {
  return job->device->calls->clear(job->device, job->task.left, sizeof *job->task.left);
}

/* Which contacts take part, where some have no restitution. */
static talus_status reach_all(const bounce_job *job) {
  tl_device *device = job->device;
  for (uint32_t left = 1; left > 0;) {
    TL_TRY(forget_left(job));
    TL_DEVICE_LAUNCH(reach, job->task, job->contacts);
    TL_TRY(ask(job, &left));
  }
  TL_DEVICE_LAUNCH(part, job->task, job->contacts);
  return TALUS_OK;
}

static talus_status play_rounds(const bounce_job *job, const tl_crowd *crowd) {
  const tl_device_calls *calls = job->device->calls;
  const tl_thread_impacts *task = &job->task;
  const tl_device_launch round[] = {
      {TL_TASK_calm, task, job->bodies},    {TL_TASK_queue, task, job->contacts},
      {TL_TASK_due, task, job->contacts},   {TL_TASK_unite, task, job->contacts},
      {TL_TASK_line, task, job->contacts},  {TL_TASK_strike, task, job->contacts},
      {TL_TASK_again, task, job->contacts},
  };
  const size_t tasks = sizeof round / sizeof *round;
  uint32_t left = 1;
  for (int done = 0; left > 0 && done < ROUNDS_MOST;) {
    const int batch = done < BATCH ? 1 : BATCH;
    TL_GO_ON(crowd->cancel);
    TL_TRY(calls->repeat(job->device, round, tasks, batch - 1));
    TL_TRY(forget_left(job));
    TL_TRY(calls->repeat(job->device, round, tasks, 1));
    TL_TRY(ask(job, &left));
    done += batch;
  }
  return TALUS_OK;
}

talus_status tl_held_bounce(tl_held *held, const tl_crowd *crowd, size_t contacts,
                            bool *have_bounced) {
  tl_device *device = held->device;
  bounce_job job = {.held = held, .device = device, .bodies = held->bodies, .contacts = contacts};
  uint32_t left;
  *have_bounced = false;
  held->after.are_hit = false;
  if (!held->bounces)
    return TALUS_OK;
  TL_TRY(take_room(&job));
  job.task = task_of(&job, crowd);
  TL_TRY(device->calls->clear(device, job.task.swift, sizeof *job.task.swift));
  TL_TRY(forget_left(&job));
  TL_DEVICE_LAUNCH(stand, job.task, job.bodies);
  TL_DEVICE_LAUNCH(meet, job.task, contacts);
  TL_TRY(ask(&job, &left));
  if (left == 0)
    return TALUS_OK;
  TL_TRY(take_more(&job));
  if (!held->all_bounce)
    TL_TRY(reach_all(&job));
  TL_TRY(play_rounds(&job, crowd));
  TL_DEVICE_LAUNCH(leave, job.task, contacts);
  *have_bounced = held->after.are_hit = true;
  return TALUS_OK;
}
