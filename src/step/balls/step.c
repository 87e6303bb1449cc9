/* A step of velocity Verlet for balls (verlet.c has the scheme): makes the list if needed, computes
 * forces and moves (step/balls/balls.c), and checks the result.
 *
 * During consecutive steps the state of balls stays in the list, in its order. Rows at home are
 * written on request (step/balls/store.c), and before a step that could fail midway; a step cannot
 * fail if no ball is too fast. */
#include "step/balls/balls.h"

#include "base/cancel.h"
#include "base/clock.h"
#include <math.h>
#include <stdio.h>

/* ---- what can go wrong ----------------------------------------------------------------------- */

typedef struct check_job {
  const tl_ball_step *step;
  tl_twist *twists; /* by slot */
} check_job;

static void find_mids(void *context, size_t begin, size_t end) {
  const check_job *job = context;
  for (size_t i = begin; i < end; ++i)
    job->twists[i] = tl_balls_mid(job->step, job->step->list->rank.data[i]);
}

/* Makes the message for a ball whose position is not finite or outside, from the velocities it was
 * to move with. */
static talus_status check(const tl_ball_step *job, tl_step_report *report) {
  const size_t n = job->crowd->count;
  tl_twist *twists;
  TL_TRY(tl_need(job->balls->where, TL_THE_STATE, TL_READ));
  TL_TAKE(job->crowd->arena, n, &twists);
  check_job work = {job, twists};
  tl_for(&job->model->par, n, 1024, find_mids, &work);
  return tl_step_check(job->crowd, (tl_twists){.first = twists, .stride = sizeof *twists},
                       &report->culprit);
}

static talus_status find_broken(const tl_ball_step *job, tl_step_report *report) {
  for (uint32_t slot = 0; slot < job->crowd->count; ++slot) {
    const tl_ball *ball = &job->list->ball.data[job->list->rank.data[slot]];
    if (!tl_body_is_static(job->model, slot) && (tl_balls_find_fate(job, ball) & TL_BALL_BROKEN)) {
      report->culprit = slot;
      break;
    }
  }
  return tl_fail(TALUS_ERROR_DIVERGED, "its velocity is not finite");
}

/* True if no contact can make a slow ball too fast within a step: bounds the change of velocity and
 * spin by the force of the deepest overlap, which is largest for the smallest ball. Fixed balls are
 * not counted: a ball can be deeper in a much larger one, but between TL_BALL_FASTEST and the
 * overflow of a square there is a factor of 1e10 in single precision, enough for a ball a million
 * times larger. */
static bool forces_are_bounded(const tl_ball_step *job) {
  const tl_ball_list *list = job->list;
  const tl_penalty *p = job->crowd->penalty;
  const double r = list->largest, per_mass = job->crowd->dt / list->lightest;
  if (!(r > 0)) /* nothing moves */
    return true;
  for (size_t i = 0; i < p->laws.count; ++i) {
    const tl_spring_law *law = &p->laws.data[i];
    const double stiffness = (double)law->normal + (double)law->tangent;
    const double force = (stiffness * (r + r * r) + (double)law->cohesion) *
                         (1 + (double)law->friction) * (1 + (double)law->damping);
    if (!(force * per_mass * (1 + 1 / list->smallest) < TL_BALL_FASTEST))
      return false;
  }
  return true;
}

/* ---- the step -------------------------------------------------------------------------------- */

/* Writes the sums of a step into the report. */
static void keep_ledger(tl_ball_step *job, tl_step_report *report) {
  tl_ball_list *list = job->list;
  double total[TL_BALL_SUMS];
  tl_tally contact_work = tl_balls_collect(job, TL_BALL_CONTACT_WORK);
  for (int kind = 0; kind < TL_BALL_ENERGIES; ++kind) {
    const tl_tally sum = tl_balls_collect(job, kind);
    total[kind] = tl_tally_value(&sum);
  }
  if (!job->begins) {
    const tl_tally load_work = tl_balls_collect(job, TL_BALL_LOAD_WORK);
    tl_tally_merge(&contact_work, &list->first_work);
    report->solve.contact_work += tl_tally_value(&contact_work);
    report->solve.load_work += tl_tally_value(&load_work);
    list->first_work = tl_balls_collect(job, TL_BALL_FIRST_WORK);
  }
  const tl_penalty_sums walls = list->wall_sums;
  const tl_penalty_sums sums = {.elastic = total[TL_BALL_ELASTIC] + walls.elastic,
                                .stored = total[TL_BALL_STORED] + walls.stored,
                                .damping = total[TL_BALL_DAMPING] + walls.damping,
                                .friction = total[TL_BALL_FRICTION] + walls.friction};
  tl_penalty_keep_ledger(job->crowd, !job->begins, &sums, &report->solve);
}

/* Computes forces at the end of the step (or of the initial state), and everything after that. */
static talus_status push_and_commit(tl_ball_step *job, tl_step_report *report) {
  const tl_crowd *crowd = job->crowd;
  tl_ball_list *list = job->list;
  tl_residency *where = job->balls->where;
  const double begun = tl_clock();
  tl_balls_set_forces(job);
  TL_TRY(tl_balls_push_walls(job));
  TL_TRY(tl_balls_find_passings(job));
  if (where->soon & TL_THE_CONTACTS)
    TL_TRY(tl_balls_reserve(list, job->balls->contacts));
  bool has_old_contacts = false;
  if (!list->cannot_overflow) { /* the step may fail midway and must then have changed nothing */
    TL_TRY(tl_need(where, TL_THE_STATE, TL_READ));
    /* else they are lost */
    has_old_contacts = tl_need(where, TL_THE_CONTACTS, TL_READ) == TALUS_OK;
  }
  _Atomic bool broken, left, too_fast;
  atomic_init(&broken, false);
  atomic_init(&left, false);
  atomic_init(&too_fast, false);
  job->broken = &broken;
  job->left = &left;
  job->too_fast = &too_fast;
  job->goes_on = !job->begins && !tl_balls_have_loads(job->model);
  list->is_started = false;
  tl_made_away(where, TL_THE_CONTACTS);
  TL_TRY(tl_balls_pass(job));
  const double pushed = tl_clock();
  report->wall_solve += pushed - begun;
  if (atomic_load(&broken)) {
    TL_ASSERT(!list->cannot_overflow);
    if (has_old_contacts)
      tl_made_home(where, TL_THE_CONTACTS);
    else
      tl_lose(where, TL_THE_CONTACTS);
    return find_broken(job, report);
  }
  tl_made_away(where, TL_THE_STATE & TL_BALLS_HOLD);
  /* The number of candidates is not reported, because it depends on when the list was renewed: a
   * resumed run would report another number. */
  report->pairs = tl_balls_count_contacts(job);
  report->has_depths = report->is_elsewhere = true;
  report->depths = tl_balls_depths(job);
  tl_depths_merge(&report->depths, &job->wall_depths);
  list->cannot_overflow = !job->begins && !atomic_load(&too_fast) && forces_are_bounded(job);
  list->is_started = job->goes_on;
  list->has_left = atomic_load(&left);
  list->started_dt = crowd->dt;
  list->started_gravity = job->model->gravity;
  keep_ledger(job, report);
  report->wall_step += tl_clock() - pushed;
  return TALUS_OK;
}

static talus_status renew(const tl_backend *backend, tl_ball_step *job, tl_step_report *report) {
  const double begun = tl_clock();
  TL_TRY(tl_balls_renew(backend, job->crowd, job->balls));
  job->list->scratch = job->crowd->arena->peak - job->taken;
  report->wall_broad += tl_clock() - begun;
  return TALUS_OK;
}

/* Square of half the spin that tl_step_check refuses; a spin whose square overflows is refused,
 * too. */
static talus_real find_most_spin2(const tl_crowd *crowd) {
  const double most = 0.5 * TL_STEP_TOO_FAR / crowd->dt;
  return (talus_real)fmin(most * most, (double)TL_REAL_MAX);
}

/* True if the last step has started this one. Changing gravity, dt or loads by hand asks for rows,
 * which ends the list. The comparison is a guard: a step started with others would be wrong without
 * any sign. */
static bool is_started(const tl_ball_step *job) {
  const tl_ball_list *list = job->list;
  const talus_vec3 g = job->model->gravity, old = list->started_gravity;
  return list->is_started && list->started_dt == job->crowd->dt && g.x == old.x && g.y == old.y &&
         g.z == old.z && !job->model->property.force && !job->model->property.torque;
}

/* The arena gives back memory that no step of the last 64 has used, but renewals may be rarer: so
 * every step asks for their memory. A step that renews does not, so that its real need is seen. */
static talus_status keep_room(const tl_ball_step *job) {
  const tl_ball_list *list = job->list;
  tl_arena *arena = job->crowd->arena;
  if (!tl_balls_hold(job->balls) || (is_started(job) && list->has_left))
    return TALUS_OK;
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  unsigned char *room;
  TL_TAKE(arena, list->scratch, &room);
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

static talus_status step(const tl_backend *backend, tl_ball_step *job, tl_step_report *report) {
  const tl_crowd *crowd = job->crowd;
  tl_crowd certain = *crowd;
  tl_penalty *p = crowd->penalty;
  tl_ball_list *list = job->list;
  TL_TRY(keep_room(job));
  TL_TAKE(crowd->arena, (size_t)job->model->par.threads, &job->sums);
  if (!tl_balls_hold(job->balls))
    TL_TRY(renew(backend, job, report));
  TL_GO_ON(crowd->cancel); /* last chance: from now on springs of walls are stretched in place */
  bool stays = true;
  if (!p->is_pushed) {
    job->begins = true;
    TL_TRY(tl_balls_start(job, &stays));
    TL_TRY(push_and_commit(job, report));
    p->is_pushed = true;
    job->begins = false;
    certain.cancel = NULL; /* contacts are those of the new step by now */
    job->crowd = crowd = &certain;
  }
  const double begun = tl_clock();
  if (is_started(job))
    stays = !list->has_left;
  else
    TL_TRY(tl_balls_start(job, &stays));
  report->wall_step += tl_clock() - begun;
  if (!stays) {
    tl_balls_set_forces(job);
    TL_TRY(check(job, report));
    /* Now every velocity is finite, and the new list covers its displacement. */
    TL_TRY(renew(backend, job, report));
    /* A ball that leaves the new list as well is faster than skins allow (SKIN_FASTEST of
     * step/balls/list.c), or has more than half of the refused spin: then the list is renewed in
     * every step. */
    TL_TRY(tl_balls_start(job, &stays));
  }
  report->broad = list->broad;
  report->broad_reason = list->broad_reason;
  return push_and_commit(job, report);
}

talus_status tl_step_balls(const tl_backend *backend, const tl_crowd *crowd, tl_contacts *contacts,
                           tl_step_report *report) {
  const tl_model *model = crowd->model;
  tl_balls *balls;
  TL_TRY(tl_balls_register(crowd->where, &balls));
  balls->model = model;
  balls->state = crowd->out;
  balls->contacts = contacts;
  balls->dt = crowd->dt;
  tl_ball_step job = {.model = model,
                      .crowd = crowd,
                      .balls = balls,
                      .list = &balls->list,
                      .most_spin2 = find_most_spin2(crowd),
                      .taken = crowd->arena->in_use};
  return step(backend, &job, report);
}

void tl_balls_give_up(const tl_crowd *crowd, tl_contacts *contacts) {
  tl_residency *where = crowd->where;
  if (tl_balls_of(where)) {
    char why[1024]; /* keeps the message of the step, which counts */
    snprintf(why, sizeof why, "%s", tl_last_message());
    (void)tl_need(where, TL_THE_STATE, TL_READ); /* memory for these exists */
    const talus_status status = tl_need(where, TL_THE_CONTACTS, TL_READ);
    if (status != TALUS_OK) /* memory for these may be missing */
      (void)tl_fail(status, "%s", why);
    tl_lose(where, TL_THE_WHOLE);
  }
  crowd->penalty->is_pushed = crowd->penalty->is_known = false;
  contacts->springs.count = 0;
}
