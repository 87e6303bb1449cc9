/* Finds how far to go along a Newton step, island by island.
 *
 * The slope of the potential along the step is residual times velocity. The search of an island
 * ends when the slope is small relative to that at the begin: the step becomes shorter if the slope
 * changed its sign, longer if it hardly changed. An island that ends early does not wait for the
 * others. */
#include "base/cancel.h"
#include "step/implicit/implicit.h"

#include <math.h>

#define STEEP   0.5 /* slope at the end over slope at the begin that ends the search */
#define TRIES   12  /* most looks along a step */
#define FARTHER 10  /* largest factor by which a step is made longer at once */
#define PATIENT 4   /* careful steps after one that was too long */

/* An island, stored at the slot of one of its bodies. */
typedef struct island {
  double first, slope; /* slope at the begin of the step, and at `at` */
  double at, next;     /* as shares of the step */
  double lo, lo_slope; /* farthest point where the potential still falls */
  double hi, hi_slope; /* nearest point where it rises */
  bool is_done, is_short;
} island;

typedef struct search {
  tl_implicit *job;
  uint32_t *of; /* by slot: the slot of its island; TL_NONE if contacts do not move the body */
  island *rows; /* by slot */
} search;

/* ---- islands --------------------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *of, uint32_t slot) {
  while (of[slot] != slot)
    slot = of[slot] = of[of[slot]];
  return slot;
}

static void find_islands(search *s) {
  const tl_implicit *job = s->job;
  const tl_contacts *contacts = job->at_end.contacts_after;
  const tl_model *model = job->crowd->model;
  for (size_t i = 0; i < model->bodies; ++i)
    s->of[i] = (uint32_t)i;
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    if (!(job->tangents.rows[i].press > 0) || tl_body_is_static(model, c->a) ||
        tl_body_is_static(model, c->b))
      continue;
    const uint32_t a = root_of(s->of, c->a), b = root_of(s->of, c->b);
    s->of[a > b ? a : b] = a < b ? a : b;
  }
  for (size_t i = 0; i < model->bodies; ++i)
    s->of[i] = root_of(s->of, (uint32_t)i);
}

static double dot_d(talus_vec3 a, talus_vec3 b) { return tl_ddot(tl_widen(a), tl_widen(b)); }

/* Residual times velocity, summed in the order of slots. */
static void find_slopes(search *s) {
  const tl_implicit *job = s->job;
  const size_t n = job->crowd->model->bodies;
  for (size_t i = 0; i < n; ++i)
    s->rows[i].slope = 0;
  for (size_t i = 0; i < n; ++i) {
    const tl_twist moved = tl_answer_to(&job->answers[i], &job->step[i]);
    s->rows[s->of[i]].slope +=
        dot_d(job->residual[i].force, moved.velocity) + dot_d(job->residual[i].torque, moved.spin);
  }
}

/* ---- the search ------------------------------------------------------------------------------ */

static void choose_next(island *of) {
  if (of->slope > 0)
    of->hi = of->at, of->hi_slope = of->slope;
  else
    of->lo = of->at, of->lo_slope = of->slope;
  if (of->hi < INFINITY) {
    const double secant =
        of->hi_slope < INFINITY ? of->lo_slope / (of->lo_slope - of->hi_slope) : 0;
    of->next = of->lo + (of->hi - of->lo) * fmin(0.9, fmax(0.1, secant));
  } else {
    const double straight =
        of->slope > of->first ? of->first / (of->first - of->slope) : (double)FARTHER;
    of->next = of->at * fmin(FARTHER, straight);
  }
  of->is_short = of->is_short || of->next < 1;
}

/* Looks at the present points of all islands; true if all have ended. */
static bool look_round(search *s) {
  const size_t n = s->job->crowd->model->bodies;
  const bool is_lost = !(s->job->worst < INFINITY);
  bool are_done = true;
  if (!is_lost)
    find_slopes(s);
  for (size_t i = 0; i < n; ++i) {
    island *of = &s->rows[i];
    if (s->of[i] != i || of->is_done)
      continue;
    if (is_lost)
      of->slope = INFINITY;
    of->is_done = !(of->first < 0) || fabs(of->slope) <= -STEEP * of->first;
    if (of->is_done)
      continue;
    choose_next(of);
    are_done = false;
  }
  return are_done;
}

static void go_on(search *s) {
  tl_implicit *job = s->job;
  const size_t n = job->crowd->model->bodies;
  for (size_t i = 0; i < n; ++i) {
    const island *of = &s->rows[s->of[i]];
    if (of->is_done)
      continue;
    const talus_real share = (talus_real)(of->next - of->at);
    tl_wrench *p = &job->impulse[i];
    p->force = tl_madd(p->force, share, job->step[i].force);
    p->torque = tl_madd(p->torque, share, job->step[i].torque);
  }
  for (size_t i = 0; i < n; ++i)
    s->rows[i].at = s->rows[i].is_done ? s->rows[i].at : s->rows[i].next;
}

talus_status tl_implicit_search(tl_implicit *job) {
  const size_t n = job->crowd->model->bodies;
  const tl_arena_mark mark = job->mark;
  search s = {.job = job};
  /* Looks of this search release the arena down to job->mark, so memory of the search is taken
   * before the mark. The direction is known, and only the contacts of the last look are still
   * used. */
  TL_TAKE(job->crowd->arena, n, &s.of);
  TL_TAKE(job->crowd->arena, n, &s.rows);
  find_islands(&s);
  find_slopes(&s);
  for (size_t i = 0; i < n; ++i)
    s.rows[i] = (island){.first = s.rows[i].slope,
                         .next = 1,
                         .lo_slope = s.rows[i].slope,
                         .hi = INFINITY,
                         .hi_slope = INFINITY};
  job->mark = tl_arena_get_mark(job->crowd->arena);
  go_on(&s);
  TL_TRY(tl_implicit_look(job));
  for (int k = 0; k < TRIES && !look_round(&s); ++k) {
    TL_GO_ON(job->crowd->cancel);
    go_on(&s);
    TL_TRY(tl_implicit_look(job));
  }
  for (size_t i = 0; i < n; ++i)
    job->careful[i] = s.rows[s.of[i]].is_short ? PATIENT
                      : job->careful[i] > 0    ? (uint8_t)(job->careful[i] - 1)
                                               : 0;
  job->mark = mark;
  return TALUS_OK;
}
