/* Makes clusters, and steps them. */
#include "step/local/local.h"
#include "step/paths.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* ---- making clusters ------------------------------------------------------------------------- */

static talus_status take_cluster(tl_local *local, uint32_t *at) {
  if (local->free_clusters.count > 0) {
    *at = local->free_clusters.data[--local->free_clusters.count];
  } else {
    const tl_cluster none = {0};
    *at = (uint32_t)local->clusters.count;
    /* Room for all clusters, so that freeing one cannot fail. */
    TL_TRY(tl_array_reserve(&local->free_clusters, local->clusters.count + 1));
    TL_TRY(tl_array_reserve(&local->live, local->clusters.count + 1));
    TL_TRY(tl_array_push(&local->clusters, none));
  }
  tl_cluster *cluster = &local->clusters.data[*at];
  cluster->members.count = cluster->rows.count = 0;
  cluster->refers = 0;
  cluster->is_live = cluster->is_new = true;
  cluster->commits = false;
  cluster->status = TALUS_OK;
  cluster->place = local->live.count;
  local->live.data[local->live.count++] = *at;
  return TALUS_OK;
}

void tl_local_end_tentative(tl_local *local, uint32_t at) {
  tl_cluster *cluster = &local->clusters.data[at];
  const uint32_t last = local->live.data[--local->live.count];
  local->live.data[cluster->place] = last;
  local->clusters.data[last].place = cluster->place;
  cluster->is_live = false;
  for (size_t i = 0; i < cluster->members.count; ++i)
    local->bodies.data[cluster->members.data[i]].cluster = TL_NONE;
}

void tl_local_drop(tl_local *local, uint32_t at) {
  const tl_cluster *cluster = &local->clusters.data[at];
  if (!cluster->is_new) {
    local->counts.rollbacks++;
    local->counts.dropped[tl_step_length_class(cluster->dt, local->unit)]++;
  }
  tl_local_end_tentative(local, at);
  local->free_clusters.data[local->free_clusters.count++] = at;
}

static talus_status see(tl_local *local, uint32_t slot) {
  tl_local_body *body = &local->bodies.data[slot];
  if (!body->is_movable || body->seen == local->stamp)
    return TALUS_OK;
  body->seen = local->stamp;
  return tl_array_push(&local->queue, slot);
}

static talus_status see_neighbours(tl_local *local, uint32_t slot) {
  const tl_local_body *body = &local->bodies.data[slot];
  for (uint32_t i = body->first; i != TL_NONE;) {
    const tl_meeting *m = &local->meetings.data[i];
    if (m->is_edge || m->is_bound)
      TL_TRY(see(local, tl_meeting_other(m, slot)));
    i = tl_meeting_next(m, slot);
  }
  size_t ends = 0;
  const tl_joint_end *end =
      local->joints.all.count > 0 ? tl_joints_at(&local->joints, slot, &ends) : NULL;
  for (size_t i = 0; i < ends; ++i) {
    const tl_joint *joint = &local->joints.all.data[end[i].row];
    const uint32_t other = joint->a == slot ? joint->b : joint->a;
    if (tl_joint_acts(joint) && other != TL_NONE)
      TL_TRY(see(local, other));
  }
  if (body->cluster == TL_NONE)
    return TALUS_OK;
  const uint32_t at = body->cluster; /* an older cluster, with other bodies */
  const tl_cluster *cluster = &local->clusters.data[at];
  for (size_t i = 0; i < cluster->members.count; ++i)
    TL_TRY(see(local, cluster->members.data[i]));
  tl_local_drop(local, at);
  return TALUS_OK;
}

static int compare_slots(const void *x, const void *y) {
  const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  return a < b ? -1 : a > b;
}

static talus_status add_walls(tl_local *local, tl_cluster *cluster) {
  TL_TRY(tl_array_resize(&cluster->rows, cluster->members.count));
  memcpy(cluster->rows.data, cluster->members.data,
         cluster->members.count * sizeof *cluster->rows.data);
  for (size_t i = 0; i < local->everywhere.count; ++i)
    TL_TRY(tl_array_push(&cluster->rows, local->everywhere.data[i]));
  for (size_t i = 0; i < cluster->members.count; ++i) {
    const uint32_t slot = cluster->members.data[i];
    for (uint32_t k = local->bodies.data[slot].first; k != TL_NONE;) {
      const tl_meeting *m = &local->meetings.data[k];
      if (m->is_wall)
        TL_TRY(tl_array_push(&cluster->rows, tl_meeting_other(m, slot)));
      k = tl_meeting_next(m, slot);
    }
    size_t ends = 0;
    const tl_joint_end *end =
        local->joints.all.count > 0 ? tl_joints_at(&local->joints, slot, &ends) : NULL;
    for (size_t k = 0; k < ends; ++k) {
      const tl_joint *joint = &local->joints.all.data[end[k].row];
      const uint32_t other = joint->a == slot ? joint->b : joint->a;
      if (other != TL_NONE && !local->bodies.data[other].is_movable)
        TL_TRY(tl_array_push(&cluster->rows, other));
    }
  }
  qsort(cluster->rows.data, cluster->rows.count, sizeof *cluster->rows.data, compare_slots);
  size_t kept = 0;
  for (size_t i = 0; i < cluster->rows.count; ++i)
    if (kept == 0 || cluster->rows.data[i] != cluster->rows.data[kept - 1])
      cluster->rows.data[kept++] = cluster->rows.data[i];
  cluster->rows.count = kept;
  return TALUS_OK;
}

/* Ends a step at hold_at at the latest. If it ends shortly before, it gets half of the time that is
 * left, so that the next step is not very short. */
static void hold(const tl_local *local, tl_cluster *cluster) {
  const double left = local->hold_at - cluster->t0;
  double h = cluster->dt;
  cluster->is_held = left < h * (1 - 1e-9);
  if (h < left * (1 - 1e-9)) {
    if (left - h < 0.5 * h)
      h = 0.5 * left, cluster->is_held = true;
    if (h < local->least && left > local->least)
      h = local->least;
  }
  cluster->dt = fmin(h, left), cluster->t1 = cluster->t0 + cluster->dt;
  if (fabs(left - cluster->dt) <= 1e-9 * h)
    cluster->t1 = local->hold_at;
}

/* A step is as long as the paces of its members allow, also beyond the end of the interval; if it
 * would end there but for rounding, it ends there. Clusters with pressing contacts are held: such
 * bodies meet others that press, and if all their steps end at the same times fewer of them are cut
 * (dominoes: 7 % of all). */
static void plan(const tl_local *local, tl_cluster *cluster) {
  double h = local->unit, t0 = DBL_MAX;
  bool presses = false;
  for (size_t i = 0; i < cluster->members.count; ++i) {
    const tl_local_body *body = &local->bodies.data[cluster->members.data[i]];
    t0 = fmin(t0, body->c);
    presses |= cluster->members.count > 1 && body->c > body->o && !body->flies;
    h = body->pace > 0 ? fmin(h, body->pace) : h;
  }
  cluster->t0 = t0, cluster->dt = h, cluster->t1 = t0 + h;
  cluster->is_held = false;
  if (local->holds || presses)
    hold(local, cluster);
  const double left = local->end - t0;
  if (fabs(left - cluster->dt) <= 1e-9 * h)
    cluster->dt = left, cluster->t1 = local->end;
  cluster->planned = cluster->dt;
}

/* True if a body of the queue from `first` on has not reached the end of the interval. */
static bool is_under_way(const tl_local *local, size_t first) {
  for (size_t i = first; i < local->queue.count; ++i)
    if (local->bodies.data[local->queue.data[i]].c < local->end)
      return true;
  return false;
}

talus_status tl_local_tie(tl_local *local) {
  local->stamp++;
  local->queue.count = 0;
  for (size_t f = 0; f < local->fresh.count; ++f) {
    const size_t first = local->queue.count;
    TL_TRY(see(local, local->fresh.data[f]));
    for (size_t i = first; i < local->queue.count; ++i)
      TL_TRY(see_neighbours(local, local->queue.data[i]));
    if (local->queue.count == first || !is_under_way(local, first))
      continue;
    uint32_t at;
    TL_TRY(take_cluster(local, &at));
    tl_cluster *cluster = &local->clusters.data[at];
    TL_TRY(tl_array_resize(&cluster->members, local->queue.count - first));
    memcpy(cluster->members.data, local->queue.data + first,
           cluster->members.count * sizeof *cluster->members.data);
    qsort(cluster->members.data, cluster->members.count, sizeof *cluster->members.data,
          compare_slots);
    for (size_t i = 0; i < cluster->members.count; ++i)
      local->bodies.data[cluster->members.data[i]].cluster = at;
    TL_TRY(add_walls(local, cluster));
    plan(local, cluster);
    TL_TRY(tl_array_push(&local->work, at));
  }
  local->fresh.count = 0;
  return TALUS_OK;
}

/* ---- the step of a cluster ------------------------------------------------------------------- */

static void put_row(tl_state *state, size_t row, const tl_local_row *from) {
  state->position[row] = from->position;
  state->rotation[row] = from->rotation;
  state->velocity[row] = from->velocity;
  state->spin[row] = from->spin;
}

/* Writes the states at the begin of the step: of bodies by their laws, of walls by their motions.
 */
static void bring_together(const tl_local *local, const tl_cluster *cluster, tl_gathered *crew) {
  const tl_model *model = local->crowd->model;
  for (size_t row = 0; row < cluster->rows.count; ++row) {
    const uint32_t slot = cluster->rows.data[row];
    if (local->bodies.data[slot].is_movable) {
      const tl_local_row at = tl_local_at(local, slot, cluster->t0);
      put_row(&crew->before, row, &at);
    } else if ((model->property.flags[slot] & TL_FLAG_KINEMATIC) && cluster->t0 > local->begin) {
      const tl_moving m = tl_body_moving(model, slot, cluster->t0);
      const tl_local_row at = {m.position, tl_dquat_narrow(m.rotation), tl_narrow(m.velocity),
                               tl_narrow(m.spin)};
      put_row(&crew->before, row, &at);
    }
  }
}

static talus_status gather(const tl_local *local, const tl_cluster *cluster, tl_gathered *crew,
                           const tl_par *par) {
  static const tl_contacts none;
  const tl_gathered_source source = {local->crowd->model, local->crowd->in, &none,
                                     local->joints.all.count > 0 ? &local->joints : NULL, NULL};
  TL_TRY(tl_gather(crew, &source, cluster->rows.data, cluster->rows.count));
  crew->model.step = TALUS_STEP_ADAPTIVE;
  crew->model.par = *par;
  crew->model.log =
      (tl_log){0}; /* several workers, and steps that may not count: the caller logs */
  bring_together(local, cluster, crew);
  return tl_local_recall(local, cluster, crew);
}

static tl_crowd crowd_of(tl_gathered *crew, const tl_cluster *cluster) {
  return (tl_crowd){.model = &crew->model,
                    .count = crew->count,
                    .t0 = cluster->t0,
                    .t1 = cluster->t1,
                    .dt = cluster->dt,
                    .in = &crew->before,
                    .out = &crew->after,
                    .contacts_before = &crew->contacts_before,
                    .contacts_after = &crew->contacts_after,
                    .joints = crew->joints.all.count > 0 ? &crew->joints : NULL,
                    .joints_after = crew->joints.after.data,
                    .arena = &crew->arena,
                    .penalty = &crew->penalty};
}

/* Sums the impacts on each body. They act at the begin of the step, also on bodies that fly. */
static void kick_all(const tl_local *local, const tl_cluster *cluster, const tl_crowd *crowd) {
  const tl_contacts *contacts = crowd->contacts_after;
  for (size_t i = 0; i < cluster->members.count; ++i)
    local->bodies.data[cluster->members.data[i]].draft_kick = (tl_kick){0};
  for (size_t i = 0; i < contacts->hits.count; ++i) {
    const tl_contact *c = &contacts->data[contacts->hits.data[i].contact];
    const talus_vec3 on_b = contacts->hits.data[i].impulse;
    const talus_dvec3 *x = crowd->in->position;
    const uint32_t a = cluster->rows.data[c->a], b = cluster->rows.data[c->b];
    const talus_dvec3 arm = tl_dsub(c->point, x[c->a]);
    if (local->bodies.data[a].is_movable)
      tl_local_kick(local, a, crowd->in->rotation[c->a], tl_narrow(arm), tl_neg(on_b),
                    &local->bodies.data[a].draft_kick);
    if (local->bodies.data[b].is_movable) /* the periodic image that a met */
      tl_local_kick(local, b, crowd->in->rotation[c->b],
                    tl_narrow(tl_dsub(arm, tl_model_offset(crowd->model, x[c->a], x[c->b]))), on_b,
                    &local->bodies.data[b].draft_kick);
  }
}

/* Writes the result of the step to the tentative states of the members. */
static talus_status scatter(const tl_local *local, tl_cluster *cluster, tl_gathered *crew,
                            const tl_crowd *crowd) {
  uint8_t *flies;
  TL_TAKE(&crew->arena, crew->count, &flies);
  tl_step_find_flying(crowd, flies);
  for (uint32_t row = 0; row < crew->count; ++row) {
    tl_local_body *body = &local->bodies.data[cluster->rows.data[row]];
    if (!body->is_movable)
      continue;
    body->tentative = (tl_local_row){crew->after.position[row], crew->after.rotation[row],
                                     crew->after.velocity[row], crew->after.spin[row]};
    body->draft = tl_step_path(crowd, row, flies[row]);
    body->draft_flies = flies[row];
  }
  kick_all(local, cluster, crowd);
  return tl_local_keep(local, crew, cluster);
}

static talus_status step(const tl_local *local, tl_cluster *cluster, tl_gathered *crew,
                         const tl_par *par) {
  TL_TRY(tl_arena_reset(&crew->arena));
  TL_TRY(gather(local, cluster, crew, par));
  tl_crowd crowd = crowd_of(crew, cluster);
  /* A body without candidates: the same step without a search for them. */
  const bool is_alone = crew->count == 1 && !crowd.joints && crew->model.substeps <= 1;
  talus_status status =
      is_alone ? tl_step_alone(local->backend, &crowd, &cluster->report) : TALUS_ERROR_DIVERGED;
  if (status == TALUS_ERROR_DIVERGED) /* not alone, or too long: the adaptive step shortens it */
    status = tl_step_adaptive(local->backend, &crowd, &cluster->report);
  TL_TRY(status);
  cluster->t1 = crowd.t1, cluster->dt = crowd.dt;
  return scatter(local, cluster, crew, &crowd);
}

/* Processor seconds of the calling thread: the same whatever else runs. */
static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static talus_status step_one(const tl_local *local, tl_cluster *cluster, tl_gathered *crew,
                             const tl_par *par) {
  const double begun = local->observe ? cpu_seconds() : 0;
  const talus_status status = step(local, cluster, crew, par);
  cluster->seconds = local->observe ? cpu_seconds() - begun : 0;
  return status;
}

static void work(void *context, tl_team *team, int worker, int workers) {
  tl_local *local = context;
  const tl_par alone = {.threads = 1};
  (void)team, (void)workers;
  for (;;) {
    const size_t i = atomic_fetch_add(&local->next, 1);
    if (i >= local->work.count)
      return;
    tl_cluster *cluster = &local->clusters.data[local->work.data[i]];
    cluster->status = step_one(local, cluster, &local->crews.data[worker], &alone);
  }
}

static int compare_keys(const void *x, const void *y) {
  const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return a < b ? -1 : a > b;
}

/* Largest first, so that workers do not wait for a large cluster at the end. */
static talus_status sort_by_size(tl_local *local) {
  const size_t n = local->work.count;
  TL_TRY(tl_array_resize(&local->sorted, n));
  for (size_t i = 0; i < n; ++i) {
    const uint32_t at = local->work.data[i];
    const uint64_t rows = local->clusters.data[at].rows.count;
    local->sorted.data[i] = (UINT32_MAX - rows) << 32 | at;
  }
  if (n > 1)
    qsort(local->sorted.data, n, sizeof *local->sorted.data, compare_keys);
  for (size_t i = 0; i < n; ++i)
    local->work.data[i] = (uint32_t)local->sorted.data[i];
  return TALUS_OK;
}

/* Larger clusters are stepped by all workers together, because the others would wait for one. */
#define LARGE 512 /* rows */

talus_status tl_local_step_clusters(tl_local *local) {
  const tl_par *par = &local->crowd->model->par;
  size_t total = 0, kept = 0;
  for (size_t i = 0; i < local->work.count; ++i) { /* some were dropped since */
    const tl_cluster *cluster = &local->clusters.data[local->work.data[i]];
    if (!cluster->is_live || !cluster->is_new)
      continue;
    total += cluster->rows.count;
    local->work.data[kept++] = local->work.data[i];
  }
  local->work.count = kept;
  TL_TRY(sort_by_size(local));
  size_t first = 0;
  for (; first < kept && par->threads > 1; ++first) {
    tl_cluster *cluster = &local->clusters.data[local->work.data[first]];
    if (cluster->rows.count < LARGE || cluster->rows.count * (size_t)par->threads < total)
      break;
    cluster->status = step_one(local, cluster, &local->crews.data[0], par);
  }
  atomic_store(&local->next, first);
  const tl_par team = tl_par_if(par, kept - first > 1);
  if (first < kept)
    tl_team_run(&team, work, local);
  if (local->observe)
    local->observe(local->observe_context, local, false);
  for (size_t i = 0; i < kept; ++i) {
    tl_cluster *cluster = &local->clusters.data[local->work.data[i]];
    cluster->is_new = false;
    local->counts.body_steps += cluster->members.count;
    if (cluster->is_held && !cluster->report.is_cut)
      local->counts.held += cluster->members.count;
    if (cluster->status != TALUS_OK) /* nobody goes beyond it */
      cluster->t1 = cluster->t0;
    if (cluster->status != TALUS_OK && cluster->status != TALUS_ERROR_DIVERGED &&
        cluster->status != TALUS_ERROR_DOMAIN)
      return tl_local_step_again(local, cluster, &cluster->report);
  }
  return TALUS_OK;
}

talus_status tl_local_step_again(tl_local *local, tl_cluster *cluster, tl_step_report *report) {
  const tl_par alone = {.threads = 1};
  const talus_status first = cluster->status;
  plan(local, cluster);
  const talus_status status = step_one(local, cluster, &local->crews.data[0], &alone);
  *report = cluster->report;
  if (report->culprit < cluster->rows.count)
    report->culprit = cluster->rows.data[report->culprit];
  if (report->partner < cluster->rows.count)
    report->partner = cluster->rows.data[report->partner];
  if (status != TALUS_OK)
    return tl_fail_in(status, "in a step from t = %.9g s", cluster->t0);
  if (first == TALUS_ERROR_MEMORY)
    return tl_fail(first, "out of memory in a step of %zu bodies", cluster->members.count);
  return tl_fail(TALUS_ERROR_DIVERGED, "a step failed and then did not");
}
