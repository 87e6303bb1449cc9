/* Rounds: which clusters step, and which steps count. */
#include "step/local/local.h"

#include "base/cancel.h"
#include "crowd/free.h"
#include "joint/guard.h"
#include "narrow/advance.h"

#include <float.h>
#include <math.h>

#define GROWTH 2

/* ---- begin ----------------------------------------------------------------------------------- */

/* If a body ends its step where bodies leave the world, the interval ends at that time. */
static void end_with(tl_local *local, const tl_local_body *body) {
  if (local->leaves && !local->holds && body->c < local->end &&
      local->leaves(local->leaves_context, body->current.position))
    local->end = body->c;
}

static talus_status begin_bodies(tl_local *local) {
  const tl_crowd *crowd = local->crowd;
  const tl_model *model = crowd->model;
  TL_TRY(tl_array_resize(&local->bodies, crowd->count));
  local->fresh.count = 0;
  for (uint32_t i = 0; i < crowd->count; ++i) {
    const tl_local_row now = {crowd->in->position[i], crowd->in->rotation[i],
                              crowd->in->velocity[i], crowd->in->spin[i]};
    tl_local_body *body = &local->bodies.data[i];
    *body = (tl_local_body){.final = now,
                            .current = now,
                            .o = local->begin,
                            .c = local->begin,
                            .begun = local->begin,
                            .ahead = local->begin,
                            .is_movable = !tl_body_is_static(model, i),
                            .pace = crowd->in->pace ? crowd->in->pace[i] : 0,
                            .first = TL_NONE,
                            .cluster = TL_NONE,
                            .past = TL_NONE};
    if (body->is_movable)
      TL_TRY(tl_array_push(&local->fresh, i));
  }
  tl_local_take_up_ahead(local);
  for (uint32_t i = 0; i < crowd->count && local->ahead.count > 0; ++i)
    if (local->bodies.data[i].c > local->begin)
      end_with(local, &local->bodies.data[i]);
  return TALUS_OK;
}

/* Joints of the interval have states of their own; the lists of who is jointed are the crowd's. */
static talus_status begin_joints(tl_local *local) {
  const tl_joints *from = local->crowd->joints;
  const size_t n = from ? from->all.count : 0;
  const size_t capacity = local->joints.all.capacity;
  tl_joint *own = local->joints.all.data;
  if (from)
    local->joints = *from;
  local->joints.all.data = own, local->joints.all.capacity = capacity;
  local->joints.all.count = 0;
  TL_TRY(tl_array_resize(&local->joints.all, n));
  if (n == 0)
    return TALUS_OK;
  memcpy(local->joints.all.data, from->all.data, n * sizeof *from->all.data);
  const double grid = tl_model_substep(local->crowd->model, local->unit);
  const talus_real ratio = tl_step_ratio(from->dt, grid);
  for (size_t i = 0; i < n; ++i) {
    tl_joint *joint = &local->joints.all.data[i];
    if (ratio != 1)
      tl_scale_reals(joint->impulse, TL_JOINT_ROWS, ratio);
    if (joint->broken) { /* its last force was reported in an earlier interval */
      joint->force = joint->torque = tl_vec3(0, 0, 0);
      memset(joint->impulse, 0, sizeof joint->impulse);
    }
  }
  local->joints.dt = grid;
  return TALUS_OK;
}

/* Bodies that pushed each other in a step stay in one cluster until the next: their impulses act
 * evenly over the step, so both must come back to the same time. Impulses of impacts act at the
 * begin of the step, and a body that comes back keeps them. */
static void bind_contacts(tl_local *local, const tl_contacts *contacts) {
  uint32_t last[2] = {TL_NONE, TL_NONE}; /* points of a pair follow each other */
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    const tl_local_body *a = &local->bodies.data[c->a], *b = &local->bodies.data[c->b];
    if (!(tl_length2(c->impulse) > 0) || !a->is_movable || !b->is_movable ||
        (c->a == last[0] && c->b == last[1]))
      continue;
    last[0] = c->a, last[1] = c->b;
    for (uint32_t k = local->bodies.data[c->a].first; k != TL_NONE;) {
      tl_meeting *m = &local->meetings.data[k];
      if (tl_meeting_other(m, c->a) == c->b)
        m->is_bound = true;
      k = tl_meeting_next(m, c->a);
    }
  }
}

#if !defined(NDEBUG)
static tl_mover at_begin(const tl_crowd *crowd, uint32_t slot, talus_dvec3 at) {
  return (tl_mover){tl_body_shape(crowd->model, slot),
                    crowd->model->property.scale[slot],
                    {.position = at, .rotation = tl_dquat_widen(crowd->in->rotation[slot])}};
}

/* Finds pairs that overlap at the begin of the interval. */
static void find_tangled(tl_local *local) {
  const tl_crowd *crowd = local->crowd;
  for (size_t i = 0; i < local->meetings.count; ++i) {
    const uint32_t a = local->meetings.data[i].a, b = local->meetings.data[i].b;
    const talus_dvec3 *x = crowd->in->position;
    const bool is_plane =
        !tl_body_shape(crowd->model, a)->bounded || !tl_body_shape(crowd->model, b)->bounded;
    const talus_dvec3 apart =
        is_plane ? tl_dsub(x[b], x[a]) : tl_model_offset(crowd->model, x[a], x[b]);
    const tl_advance pair = {
        .a = at_begin(crowd, a, tl_dvec3(0, 0, 0)), .b = at_begin(crowd, b, apart), .h = 1};
    local->meetings.data[i].is_tangled = tl_advance_gap(&pair, 0, 0) < 0;
  }
}
#endif

static talus_status begin(tl_local *local) {
  const tl_model *model = local->crowd->model;
  local->stamp = 0;
  local->live.count = local->work.count = local->free_clusters.count = 0;
  local->pieces.count = 0;
  for (uint32_t i = (uint32_t)local->clusters.count; i-- > 0;) {
    local->clusters.data[i].is_live = false, local->clusters.data[i].refers = 0;
    TL_TRY(tl_array_push(&local->free_clusters, i));
  }
  const size_t crews = (size_t)(model->par.threads > 1 ? model->par.threads : 1);
  while (local->crews.count < crews) {
    const tl_gathered none = {0};
    TL_TRY(tl_array_push(&local->crews, none));
  }
  TL_TRY(begin_joints(local));
  TL_TRY(tl_local_begin_giving(local));
  TL_TRY(begin_bodies(local));
  TL_TRY(tl_local_find_near(local));
#if !defined(NDEBUG)
  find_tangled(local);
#endif
  bind_contacts(local, local->crowd->contacts_before);
  return tl_local_index_contacts(local);
}

/* ---- which bodies may meet ------------------------------------------------------------------- */

static talus_status look_ahead(tl_local *local, uint32_t slot) {
  const tl_model *model = local->crowd->model;
  tl_local_body *body = &local->bodies.data[slot];
  const double longest = local->unit;
  const double h = body->pace > 0 ? fmin(body->pace, longest) : longest;
  body->ahead = local->holds ? fmin(local->end, body->c + h) : body->c + h;
  body->guess = tl_local_guess(local, slot);
  talus_box box = tl_local_box(model, slot, &body->guess, body->ahead - body->c);
  if (body->c > body->o)
    box = tl_box_union(box, tl_local_box(model, slot, &body->law, body->c - body->o));
  bool has_walls = false;
  return tl_local_is_inside(box, body->box) ? TALUS_OK
                                            : tl_local_stray(local, slot, box, &has_walls);
}

/* Bodies with new laws that pushed each other belong to one cluster anyway, so pairs of them need
 * no test. Sets are trees of parents with the lowest slot as root (union-find), in the memory of
 * `queue`. */
static uint32_t root_of(tl_local *local, uint32_t slot) {
  uint32_t *parent = local->queue.data;
  while (parent[slot] != slot)
    slot = parent[slot] = parent[parent[slot]];
  return slot;
}

static bool take_part(const tl_local *local, const tl_meeting *m) {
  return local->bodies.data[m->a].seen == local->stamp &&
         local->bodies.data[m->b].seen == local->stamp;
}

static talus_status join_bound(tl_local *local) {
  TL_TRY(tl_array_resize(&local->queue, local->bodies.count));
  uint32_t *parent = local->queue.data;
  for (size_t i = 0; i < local->fresh.count; ++i) {
    const uint32_t slot = local->fresh.data[i];
    parent[slot] = slot;
    local->bodies.data[slot].seen = local->stamp;
  }
  for (size_t i = 0; i < local->fresh.count; ++i) {
    const uint32_t slot = local->fresh.data[i];
    for (uint32_t k = local->bodies.data[slot].first; k != TL_NONE;) {
      const tl_meeting *m = &local->meetings.data[k];
      k = tl_meeting_next(m, slot);
      if (!m->is_bound || !take_part(local, m))
        continue;
      const uint32_t x = root_of(local, m->a), y = root_of(local, m->b);
      parent[x > y ? x : y] = x > y ? y : x;
    }
  }
  return TALUS_OK;
}

static bool are_joined(tl_local *local, const tl_meeting *m) {
  return take_part(local, m) && root_of(local, m->a) == root_of(local, m->b);
}

static talus_status ask_all(tl_local *local, uint32_t slot) {
  for (uint32_t i = local->bodies.data[slot].first; i != TL_NONE;) {
    tl_meeting *m = &local->meetings.data[i];
    if (!m->is_wall && m->seen != local->stamp) {
      m->seen = local->stamp;
      if (are_joined(local, m))
        m->is_edge = true;
      else
        TL_TRY(tl_array_push(&local->asked, i));
    }
    i = tl_meeting_next(m, slot);
  }
  return TALUS_OK;
}

/* Tested from the end of the first law on, as far as both free paths are known. */
static bool may_meet(const tl_local *local, const tl_meeting *m, uint64_t *looks) {
  const tl_local_body *a = &local->bodies.data[m->a], *b = &local->bodies.data[m->b];
  const double s = fmin(a->c, b->c), u = fmin(a->ahead, b->ahead);
  if (!(u > s))
    return false;
  const tl_track ta = tl_local_expected(local, m->a), tb = tl_local_expected(local, m->b);
  return !tl_local_keep_apart(local->crowd->model, m->a, &ta, m->b, &tb, s, u, TL_LOCAL_TOUCH,
                              looks);
}

/* Bodies of different clusters, one of which commits. Tested from the begin of its step on. */
static bool do_meet(const tl_local *local, const tl_meeting *m, uint64_t *looks) {
  const tl_track ta = tl_local_actual(local, m->a), tb = tl_local_actual(local, m->b);
  double s = DBL_MAX;
  for (int i = 0; i < 2; ++i) {
    const uint32_t at = local->bodies.data[i ? m->b : m->a].cluster;
    if (at != TL_NONE && local->clusters.data[at].commits)
      s = fmin(s, local->clusters.data[at].t0);
  }
  const double u = fmin(tl_track_end(&ta), tl_track_end(&tb));
  return u > s && !tl_local_keep_apart(local->crowd->model, m->a, &ta, m->b, &tb, s, u,
                                       TL_LOCAL_STOP_AT, looks);
}

typedef struct ask_job {
  tl_local *local;
  bool (*question)(const tl_local *, const tl_meeting *, uint64_t *);
  _Atomic uint64_t looks;
} ask_job;

static void ask_range(void *context, size_t begin, size_t end) {
  ask_job *job = context;
  uint64_t looks = 0;
  for (size_t i = begin; i < end; ++i)
    job->local->answers.data[i] =
        job->question(job->local, &job->local->meetings.data[job->local->asked.data[i]], &looks);
  atomic_fetch_add(&job->looks, looks);
}

static talus_status ask(tl_local *local,
                        bool (*question)(const tl_local *, const tl_meeting *, uint64_t *)) {
  ask_job job = {.local = local, .question = question};
  TL_TRY(tl_array_resize(&local->answers, local->asked.count));
  tl_for(&local->crowd->model->par, local->asked.count, 32, ask_range, &job);
  local->counts.looks += job.looks;
  local->counts.visits += local->asked.count;
  return TALUS_OK;
}

/* Tests bodies with new laws against all that they may meet. */
static talus_status look(tl_local *local) {
  local->stamp++;
  local->asked.count = 0;
  for (size_t i = 0; i < local->fresh.count; ++i)
    TL_TRY(look_ahead(local, local->fresh.data[i]));
  TL_TRY(join_bound(local));
  for (size_t i = 0; i < local->fresh.count; ++i)
    TL_TRY(ask_all(local, local->fresh.data[i]));
  TL_TRY(ask(local, may_meet));
  for (size_t i = 0; i < local->asked.count; ++i)
    local->meetings.data[local->asked.data[i]].is_edge = local->answers.data[i];
  return TALUS_OK;
}

/* ---- which steps count ----------------------------------------------------------------------- */

/* Bodies whose tentative step leaves their box get a larger one. If there are new walls in it, the
 * cluster takes its step again. */
static talus_status follow_strays(tl_local *local) {
  const tl_model *model = local->crowd->model;
  for (size_t k = 0; k < local->work.count; ++k) {
    const tl_cluster *cluster = &local->clusters.data[local->work.data[k]];
    bool has_walls = false;
    for (size_t i = 0; cluster->status == TALUS_OK && i < cluster->members.count; ++i) {
      const uint32_t slot = cluster->members.data[i];
      const tl_local_body *body = &local->bodies.data[slot];
      const talus_box box = tl_local_box(model, slot, &body->draft, cluster->dt);
      if (!tl_local_is_inside(box, body->box))
        TL_TRY(tl_local_stray(local, slot, box, &has_walls));
    }
    for (size_t i = 0; has_walls && i < cluster->members.count; ++i)
      TL_TRY(tl_array_push(&local->fresh, cluster->members.data[i]));
  }
  local->work.count = 0;
  return TALUS_OK;
}

/* Finds T* and the clusters that commit: those whose step begins before T*, so that no body comes
 * back to the begin of a step that counts, where its impacts act. A cluster whose step failed
 * commits also if it begins at T*. */
static void choose(tl_local *local) {
  local->star = DBL_MAX;
  for (size_t i = 0; i < local->live.count; ++i)
    local->star = fmin(local->star, local->clusters.data[local->live.data[i]].t1);
  for (size_t i = 0; i < local->live.count; ++i) {
    tl_cluster *cluster = &local->clusters.data[local->live.data[i]];
    cluster->commits =
        cluster->t0 < local->star || (cluster->t0 <= local->star && cluster->status != TALUS_OK);
  }
}

/* Tests the steps of the clusters that commit against the laws of all other bodies. Bodies that
 * meet are put into one cluster, which steps again. */
static talus_status check(tl_local *local) {
  local->stamp++;
  local->asked.count = 0;
  for (size_t k = 0; !local->skips_check && k < local->live.count; ++k) {
    const tl_cluster *cluster = &local->clusters.data[local->live.data[k]];
    for (size_t i = 0; cluster->commits && i < cluster->members.count; ++i) {
      const uint32_t slot = cluster->members.data[i];
      for (uint32_t j = local->bodies.data[slot].first; j != TL_NONE;) {
        tl_meeting *m = &local->meetings.data[j];
        const uint32_t other = tl_meeting_other(m, slot);
        if (!m->is_wall && m->seen != local->stamp &&
            local->bodies.data[other].cluster != local->bodies.data[slot].cluster) {
          m->seen = local->stamp;
          TL_TRY(tl_array_push(&local->asked, j));
        }
        j = tl_meeting_next(m, slot);
      }
    }
  }
  TL_TRY(ask(local, do_meet));
  for (size_t i = 0; i < local->asked.count; ++i) {
    tl_meeting *m = &local->meetings.data[local->asked.data[i]];
    if (!local->answers.data[i])
      continue;
    m->is_edge = true;
    TL_TRY(tl_array_push(&local->fresh, m->a));
  }
  return TALUS_OK;
}

static talus_status fail(tl_local *local, tl_step_report *report) {
  for (size_t i = 0; i < local->live.count; ++i) {
    tl_cluster *cluster = &local->clusters.data[local->live.data[i]];
    if (cluster->commits && cluster->status != TALUS_OK)
      return tl_local_step_again(local, cluster, report);
  }
  return TALUS_OK;
}

/* ---- commit ---------------------------------------------------------------------------------- */

/* The law of a body is final up to the time `to`: adds its impulses, and its path for audits. */
static talus_status record(tl_local *local, uint32_t slot, double to) {
  const tl_local_body *body = &local->bodies.data[slot];
  TL_TRY(tl_local_give(local, slot, to));
  if (!local->records || !(to > body->o))
    return TALUS_OK;
  const tl_piece piece = {slot, body->o, to, body->begun, body->c, body->law};
  return tl_array_push(&local->pieces, piece);
}

static void let_past_go(tl_local *local, uint32_t past) {
  if (past != TL_NONE && --local->clusters.data[past].refers == 0)
    local->free_clusters.data[local->free_clusters.count++] = past;
}

/* The next step may be `growth` times as long as this one, or as long as the body's pace allowed
 * before if the pace did not limit this one. */
static double next_pace(const tl_local *local, const tl_cluster *cluster,
                        const tl_local_body *body) {
  const double next = local->growth * cluster->dt;
  const bool was_free = !cluster->report.is_cut && body->pace > cluster->planned;
  return was_free ? fmax(next, body->pace) : next;
}

static void commit_body(tl_local *local, const tl_cluster *cluster, uint32_t at, uint32_t slot) {
  tl_local_body *body = &local->bodies.data[slot];
  TL_ASSERT(cluster->t0 >= body->o); /* I3: nothing before o changes */
  if (body->c > cluster->t0) {
    local->counts.rendezvous++;
    local->counts.depth = fmax(local->counts.depth, body->c - cluster->t0);
  }
  body->final = tl_local_at(local, slot, cluster->t0);
  body->current = body->tentative;
  body->o = body->begun = cluster->t0, body->c = cluster->t1;
  body->law = body->draft, body->flies = body->draft_flies, body->kick = body->draft_kick;
  body->pace = next_pace(local, cluster, body);
  let_past_go(local, body->past);
  body->past = at;
}

static void bind(tl_local *local, const tl_cluster *cluster) {
  for (size_t i = 0; i < cluster->members.count; ++i) {
    const uint32_t slot = cluster->members.data[i];
    for (uint32_t k = local->bodies.data[slot].first; k != TL_NONE;) {
      tl_meeting *m = &local->meetings.data[k];
      m->is_bound = false;
      k = tl_meeting_next(m, slot);
    }
  }
  bind_contacts(local, &cluster->contacts);
}

static void count_step(tl_local *local, const tl_cluster *cluster) {
  tl_local_counts *counts = &local->counts;
  const size_t bodies = cluster->members.count;
  const int length = tl_step_length_class(cluster->dt, local->unit);
  counts->histogram[length] += bodies;
  counts->steps[length]++;
  counts->clusters++;
  counts->window = fmax(counts->window, cluster->t1 - local->star);
  counts->least = counts->least > 0 ? fmin(counts->least, cluster->dt) : cluster->dt;
  counts->most_members = bodies > counts->most_members ? bodies : counts->most_members;
  if (cluster->contacts.count > counts->most_contacts)
    counts->most_contacts = cluster->contacts.count;
}

static uint32_t slot_of(const tl_cluster *cluster, uint32_t row) {
  return row < cluster->rows.count ? cluster->rows.data[row] : TL_NONE;
}

static void add_report(tl_step_report *sum, const tl_cluster *cluster) {
  const tl_step_report *one = &cluster->report;
  tl_solve_report *to = &sum->solve;
  const tl_solve_report *from = &one->solve;
  sum->pairs += one->pairs;
  sum->walls.asked += one->walls.asked, sum->walls.tested += one->walls.tested;
  sum->swept += one->swept;
  sum->wall_broad += one->wall_broad, sum->wall_narrow += one->wall_narrow;
  sum->wall_solve += one->wall_solve, sum->wall_step += one->wall_step;
  if (one->is_cut) {
    sum->is_cut = true;
    sum->cut_by = (tl_pair){slot_of(cluster, one->cut_by.a), slot_of(cluster, one->cut_by.b)};
  }
  to->residual_max = fmax(to->residual_max, from->residual_max);
  to->residual_rms = fmax(to->residual_rms, from->residual_rms);
  to->iterations = from->iterations > to->iterations ? from->iterations : to->iterations;
  to->objective += from->objective;
  to->contact_work += from->contact_work;
  to->load_work += from->load_work;
  to->joint_work += from->joint_work;
  to->made_energy += from->made_energy;
  to->restarts += from->restarts;
  to->corrected += from->corrected;
  to->unconverged += from->unconverged;
  if (from->unconverged > 0 && from->worst_residual >= to->worst_residual)
    to->worst_residual = from->worst_residual, to->worst = slot_of(cluster, from->worst);
}

#if defined(NDEBUG)
static void assert_invariants(const tl_local *local) { (void)local; }
static void assert_apart(const tl_local *local, uint32_t slot) { (void)local, (void)slot; }
#else
/* (I1): no law ends before another one begins. */
static void assert_invariants(const tl_local *local) {
  double last = local->begin, first = DBL_MAX;
  for (size_t i = 0; i < local->bodies.count; ++i) {
    const tl_local_body *body = &local->bodies.data[i];
    if (!body->is_movable)
      continue;
    last = fmax(last, body->o), first = fmin(first, body->c);
  }
  TL_ASSERT(first == DBL_MAX || last < first || last == local->begin);
}

/* (I2): a body does not overlap another one while both follow their laws. */
static void assert_apart(const tl_local *local, uint32_t slot) {
  uint64_t looks = 0;
  if (local->skips_check)
    return;
  for (uint32_t i = local->bodies.data[slot].first; i != TL_NONE;) {
    const tl_meeting *m = &local->meetings.data[i];
    const tl_local_body *a = &local->bodies.data[m->a], *b = &local->bodies.data[m->b];
    const tl_track ta = tl_local_actual(local, m->a), tb = tl_local_actual(local, m->b);
    TL_ASSERT(m->is_wall || m->is_late || m->is_tangled ||
              tl_local_keep_apart(local->crowd->model, m->a, &ta, m->b, &tb, fmax(a->o, b->o),
                                  fmin(a->c, b->c), -0.01, &looks));
    i = tl_meeting_next(m, slot);
  }
}
#endif

/* A joint that broke keeps its last force and torque until the end of the interval, so that they
 * can be reported. Its bodies may meet from now on. */
static talus_status commit_joints(tl_local *local, const tl_cluster *cluster) {
  for (size_t i = 0; i < cluster->joints.count; ++i) {
    const uint32_t row = cluster->joints.data[i].row;
    const tl_joint *joint = &local->joints.all.data[row];
    tl_joint_state after = cluster->joints.data[i].after;
    const bool was_broken = joint->broken;
    if (was_broken)
      after.force = joint->force, after.torque = joint->torque;
    tl_joints_take_one(&local->joints, row, &after);
    local->joints.apart_stale = false; /* that list is the crowd's, and is up to date */
    if (joint->broken && !was_broken)
      TL_TRY(tl_local_let_meet(local, joint->a, joint->b));
  }
  return TALUS_OK;
}

/* Drops steps that begin after the end of the interval: they belong to the next one. */
static void drop_later(tl_local *local) {
  for (size_t k = local->live.count; k-- > 0;)
    if (local->clusters.data[local->live.data[k]].t0 >= local->end)
      tl_local_drop(local, local->live.data[k]);
}

static talus_status commit(tl_local *local, tl_step_report *report) {
  for (size_t k = 0; k < local->live.count;) {
    const uint32_t at = local->live.data[k];
    tl_cluster *cluster = &local->clusters.data[at];
    if (!cluster->commits) {
      k++;
      continue;
    }
    TL_ASSERT(cluster->dt >= fmin(local->least, local->end - cluster->t0) * (1 - 1e-9)); /* (P) */
    cluster->refers = cluster->members.count;
    for (size_t i = 0; i < cluster->members.count; ++i) {
      const uint32_t slot = cluster->members.data[i];
      TL_TRY(record(local, slot, cluster->t0));
      commit_body(local, cluster, at, slot);
      end_with(local, &local->bodies.data[slot]);
      TL_TRY(tl_array_push(&local->fresh, slot));
    }
    TL_TRY(tl_local_prepare_giving(local, cluster));
    TL_TRY(commit_joints(local, cluster));
    bind(local, cluster);
    count_step(local, cluster);
    add_report(report, cluster);
    tl_local_end_tentative(local, at);
  }
  drop_later(local);
  assert_invariants(local);
  for (size_t i = 0; i < local->fresh.count; ++i)
    assert_apart(local, local->fresh.data[i]);
  return TALUS_OK;
}

/* A round: tentative steps, a check of all of them, and the steps that count. */
static talus_status do_round(tl_local *local, tl_step_report *report) {
  TL_TRY(look(local));
  TL_TRY(tl_local_tie(local));
  for (;;) {
    TL_TRY(tl_local_step_clusters(local));
    TL_TRY(follow_strays(local));
    if (local->fresh.count == 0) {
      choose(local);
      TL_TRY(check(local));
    }
    if (local->fresh.count == 0)
      break;
    TL_TRY(tl_local_tie(local));
  }
  TL_TRY(fail(local, report));
  if (local->observe)
    local->observe(local->observe_context, local, true);
  return commit(local, report);
}

/* ---- end ------------------------------------------------------------------------------------- */

static talus_status finish(tl_local *local) {
  const tl_crowd *crowd = local->crowd;
  const tl_model *model = crowd->model;
  tl_state *out = crowd->out;
  for (uint32_t i = 0; i < crowd->count; ++i) {
    const tl_local_body *body = &local->bodies.data[i];
    tl_local_row row = body->current;
    if (body->is_movable)
      row = tl_local_at(local, i, local->end);
    if (model->property.flags[i] & TL_FLAG_KINEMATIC) {
      const tl_moving m = tl_body_moving(model, i, local->end);
      row = (tl_local_row){m.position, tl_dquat_narrow(m.rotation), tl_narrow(m.velocity),
                           tl_narrow(m.spin)};
    } else if (!body->is_movable) {
      row.velocity = row.spin = tl_vec3(0, 0, 0);
    } else {
      TL_ASSERT(body->c >= local->end);
      TL_TRY(record(local, i, local->end));
    }
    out->position[i] = row.position, out->rotation[i] = row.rotation;
    out->velocity[i] = row.velocity, out->spin[i] = row.spin;
    if (out->pace)
      out->pace[i] = body->pace;
  }
  for (size_t i = 0; i < local->joints.all.count; ++i) {
    const tl_joint *from = &local->joints.all.data[i];
    tl_joint_state *to = &crowd->joints_after[i];
#define COPY(name, type, columns, scalar, flags) memcpy(&to->name, &from->name, sizeof to->name);
    TL_JOINT_FIELDS(COPY)
#undef COPY
    to->told = from->told;
  }
  TL_TRY(tl_local_keep_ahead(local));
  if (crowd->joints &&
      local->ahead_next.count > 0) /* what joints report must belong to this time */
    tl_joints_settle(model, crowd->out, crowd->joints, crowd->joints_after);
  TL_TRY(tl_local_sort(&local->given, local->given_centres.data));
  TL_TRY(tl_local_collect(local, crowd->contacts_after));
  if (crowd->joints)
    tl_joints_tell_coarse(model, crowd->joints, crowd->joints_after, local->end);
  return TALUS_OK;
}

static talus_status go(const tl_backend *backend, tl_crowd *crowd, tl_local *local,
                       tl_step_report *report) {
  const double left = crowd->t1 - crowd->t0;
  *report = (tl_step_report){.culprit = TL_NONE, .partner = TL_NONE};
  local->backend = backend;
  local->crowd = crowd;
  local->begin = crowd->t0, local->end = crowd->t1;
  local->unit = crowd->model->dt;
  if (local->holds || !(local->hold_at > local->end))
    local->hold_at = local->end;
  local->least = fmin(crowd->model->dt_min, left);
  local->growth = crowd->model->growth > 1 ? crowd->model->growth : GROWTH;
  tl_contacts_clear(crowd->contacts_after);
  TL_TRY(begin(local));
  uint64_t movable = local->fresh.count, rounds = 0;
  while (local->fresh.count > 0 || local->live.count > 0) {
    TL_GO_ON(crowd->cancel);
    TL_TRY(do_round(local, report));
    rounds++;
    bool goes_on = local->live.count > 0;
    for (size_t i = 0; i < local->fresh.count && !goes_on; ++i)
      goes_on = local->bodies.data[local->fresh.data[i]].c < local->end;
    if (!goes_on)
      break;
  }
  crowd->t1 = local->end, crowd->dt = local->end - local->begin;
  local->counts.rounds += rounds;
  local->counts.body_steps_global += rounds * movable;
  return finish(local);
}

talus_status tl_step_local(const tl_backend *backend, tl_crowd *crowd, tl_local *local,
                           tl_step_report *report) {
  const tl_local_counts before = local->counts;
  const bool holds = local->holds;
  talus_status status = go(backend, crowd, local, report);
  const bool is_over = status != TALUS_ERROR_DIVERGED && status != TALUS_ERROR_DOMAIN;
  if (status != TALUS_OK)
    local->counts = before; /* the interval does not count */
  if (!holds &&
      !is_over) { /* it may have failed beyond the end of the interval: steps end there now */
    local->holds = true;
    status = go(backend, crowd, local, report);
    local->holds = false;
    if (status != TALUS_OK)
      local->counts = before;
  }
  return status;
}

void tl_local_free(tl_local *local) {
  for (size_t i = 0; i < local->clusters.capacity && i < local->clusters.count; ++i) {
    tl_cluster *cluster = &local->clusters.data[i];
    tl_array_free(&cluster->members);
    tl_array_free(&cluster->rows);
    tl_array_free(&cluster->joints);
    tl_array_free(&cluster->centres);
    tl_array_free(&cluster->owned);
    tl_contacts_release(&cluster->contacts);
  }
  for (size_t i = 0; i < local->crews.count; ++i)
    tl_gathered_free(&local->crews.data[i]);
  tl_array_free(&local->bodies);
  tl_array_free(&local->meetings);
  tl_array_free(&local->clusters);
  tl_array_free(&local->free_clusters);
  tl_array_free(&local->live);
  tl_array_free(&local->fresh);
  tl_array_free(&local->asked);
  tl_array_free(&local->answers);
  tl_array_free(&local->queue);
  tl_array_free(&local->work);
  tl_array_free(&local->everywhere);
  tl_array_free(&local->strayed);
  tl_array_free(&local->order);
  tl_array_free(&local->nodes);
  tl_array_free(&local->owned);
  tl_array_free(&local->owners);
  tl_array_free(&local->sorted);
  tl_array_free(&local->crews);
  tl_array_free(&local->joints.all);
  tl_array_free(&local->pieces);
  tl_array_free(&local->ahead);
  tl_array_free(&local->ahead_next);
  tl_contacts_release(&local->given);
  tl_array_free(&local->given_centres);
  tl_array_free(&local->pulls);
}
