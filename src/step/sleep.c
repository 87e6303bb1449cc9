#include "joint/joint.h"
#include "step/sleep.h"

#include <math.h>

#include "contact/history.h"
#include "contact/island.h"
#include "narrow/narrow.h"

/* True if a body has been slow for sleep.time, and for at least one step, when the step begins.
 * Times of fixed steps are rounded, by much less than the tolerance of a millionth of a step. */
static bool is_drowsy(const tl_crowd *crowd, size_t slot) {
  const tl_model *model = crowd->model;
  return (crowd->in->sleep_flags[slot] & TL_SLEEP_SLOW) &&
         (crowd->t0 - crowd->in->slow_since[slot]) / crowd->dt >=
             model->sleep.time / crowd->dt - 1e-6;
}

/* Lists pairs of bodies that joints and forces of zones hold together. */
static talus_status find_links(const tl_crowd *crowd, tl_pairs *links) {
  *links = (tl_pairs){0};
  if (crowd->joints)
    TL_TRY(tl_joints_pairs(crowd->joints, crowd->arena, links));
  if (!crowd->bonds || crowd->bonds->count == 0)
    return TALUS_OK;
  tl_pair *all;
  TL_TAKE(crowd->arena, links->count + crowd->bonds->count, &all);
  if (links->count > 0)
    memcpy(all, links->data, links->count * sizeof *all);
  memcpy(all + links->count, crowd->bonds->data, crowd->bonds->count * sizeof *all);
  *links = (tl_pairs){all, links->count + crowd->bonds->count};
  return TALUS_OK;
}

/* ---- waking ---------------------------------------------------------------------------------- */

typedef struct wake_job {
  const tl_model *model;
  const tl_crowd *crowd;
  const tl_pair *pairs;
  const talus_real *margins;
  uint8_t *is_hit; /* by pair */
} wake_job;

static void test_pairs(void *context, size_t begin, size_t end) {
  const wake_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_pair *pair = &job->pairs[i];
    job->is_hit[i] = tl_find_disturbed(job->model, job->crowd->in, pair->a, pair->b) != TL_NONE &&
                     tl_narrow_meets(job->crowd, pair, job->margins);
  }
}

/* Clears marks of a step that failed midway; true if some body sleeps. */
static bool has_sleepers(const tl_model *model, const tl_state *state) {
  uint32_t all = 0;
  for (size_t i = 0; i < model->bodies; ++i) {
    state->sleep_flags[i] &= ~TL_SLEEP_FALLING;
    all |= state->sleep_flags[i];
  }
  return all & TL_SLEEP_ASLEEP;
}

/* Marks the islands of all bodies that are disturbed; true if there are any. Labels are made for
 * the first of them. */
static bool mark_islands(const wake_job *job, size_t pairs, const tl_contacts *contacts,
                         const tl_pairs *links, uint32_t *label, uint8_t *is_marked) {
  const tl_model *model = job->model;
  const tl_state *state = job->crowd->in;
  const size_t touching = pairs + contacts->count;
  bool any = false;
  for (size_t i = 0; i < touching + links->count; ++i) {
    uint32_t slot = TL_NONE;
    if (i >= touching)
      slot =
          tl_find_disturbed(model, state, links->data[i - touching].a, links->data[i - touching].b);
    else if (i >= pairs)
      slot =
          tl_find_disturbed(model, state, contacts->data[i - pairs].a, contacts->data[i - pairs].b);
    else if (job->is_hit[i])
      slot = tl_find_disturbed(model, state, job->pairs[i].a, job->pairs[i].b);
    if (slot == TL_NONE)
      continue;
    if (!any) {
      tl_island_label(model, contacts, links, label);
      memset(is_marked, 0, model->bodies);
    }
    any = true;
    is_marked[label[slot]] = 1;
  }
  return any;
}

talus_status tl_sleep_wake(const tl_crowd *crowd, const tl_pairs *pairs, const talus_real *margins,
                           const tl_contacts *contacts) {
  const tl_model *model = crowd->model;
  if (!has_sleepers(model, crowd->in))
    return TALUS_OK;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  wake_job job = {model, crowd, pairs->data, margins, NULL};
  uint32_t *label;
  uint8_t *is_marked;
  tl_pairs links;
  TL_TRY(find_links(crowd, &links));
  TL_TAKE(crowd->arena, pairs->count, &job.is_hit);
  TL_TAKE(crowd->arena, model->bodies, &label);
  TL_TAKE(crowd->arena, model->bodies, &is_marked);
  tl_for(&model->par, pairs->count, 1024, test_pairs, &job);
  if (mark_islands(&job, pairs->count, contacts, &links, label, is_marked))
    for (size_t i = 0; i < model->bodies; ++i)
      if ((crowd->in->sleep_flags[i] & TL_SLEEP_ASLEEP) && is_marked[label[i]])
        crowd->in->sleep_flags[i] = 0;
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* True if the first body wakes the second. */
static bool rouse(const tl_model *model, const tl_state *state, uint32_t a, uint32_t b) {
  if (a == TL_NONE || b == TL_NONE || tl_body_is_static(model, a) || tl_body_is_static(model, b) ||
      tl_is_asleep(state, a) || !tl_is_asleep(state, b))
    return false;
  state->sleep_flags[b] = 0;
  return true;
}

talus_status tl_sleep_rouse(const tl_crowd *crowd, const tl_contacts *contacts) {
  const tl_model *model = crowd->model;
  const tl_state *state = crowd->in;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  tl_pairs links;
  TL_TRY(find_links(crowd, &links));
  for (bool any = true; any;) {
    any = false;
    for (size_t i = 0; i < contacts->count + links.count; ++i) {
      const tl_contact *c = i < contacts->count ? &contacts->data[i] : NULL;
      const tl_pair *link = c ? NULL : &links.data[i - contacts->count];
      const uint32_t a = c ? c->a : link->a, b = c ? c->b : link->b;
      any |= rouse(model, state, a, b) || rouse(model, state, b, a);
    }
  }
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* ---- the contact set ------------------------------------------------------------------------- */

/* Contacts of sleeping bodies mostly follow each other, so runs of them are copied at once. */
talus_status tl_sleep_keep(const tl_crowd *crowd, const tl_contacts *before, tl_contacts *after) {
  const tl_model *model = crowd->model;
  TL_TRY(tl_array_reserve(after, before->count));
  const tl_contact *rows = before->data;
  for (size_t i = 0; i < before->count;) {
    size_t end = i;
    while (end < before->count && tl_pair_is_dormant(model, crowd->in, rows[end].a, rows[end].b))
      ++end;
    tl_history_keep(before, i, end - i, after);
    i = end + 1;
  }
  return TALUS_OK;
}

void tl_sleep_drop_pairs(const tl_crowd *crowd, tl_pairs *pairs) {
  const tl_model *model = crowd->model;
  size_t kept = 0;
  for (size_t i = 0; i < pairs->count; ++i) {
    const tl_pair pair = pairs->data[i];
    if (!tl_pair_is_dormant(model, crowd->in, pair.a, pair.b))
      pairs->data[kept++] = pair;
  }
  pairs->count = kept;
}

/* Compares by bodies only: all contacts of a pair are in the same set. */
static bool precedes(const tl_contact *x, const tl_contact *y) {
  return x->a != y->a ? x->a < y->a : x->b < y->b;
}

talus_status tl_sleep_merge(const tl_crowd *crowd, tl_contacts *contacts, size_t kept) {
  tl_contact *rows = contacts->data;
  size_t fresh = contacts->count - kept, to = contacts->count;
  if (kept == 0 || fresh == 0 || precedes(&rows[kept - 1], &rows[kept]))
    return TALUS_OK;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  tl_contact *aside;
  TL_TAKE(crowd->arena, fresh, &aside);
  memcpy(aside, rows + kept, fresh * sizeof *aside);
  while (fresh > 0) /* from the back, into the free room behind the kept ones */
    rows[--to] =
        kept > 0 && precedes(&aside[fresh - 1], &rows[kept - 1]) ? rows[--kept] : aside[--fresh];
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* ---- falling asleep -------------------------------------------------------------------------- */

enum { RESTLESS = 1, SUPPORTED = 2 };

static bool is_pushing(const tl_contact *c) { return tl_length2(c->impulse) > 0; }

/* Records what a contact with a static body means for the island of the other body. */
static void judge_contact(const tl_model *model, const tl_state *state, const tl_contact *c,
                          const uint32_t *label, uint8_t *verdict) {
  const bool static_a = tl_body_is_static(model, c->a);
  if (!static_a && !tl_body_is_static(model, c->b))
    return;
  uint8_t *of_island = &verdict[label[static_a ? c->b : c->a]];
  if (tl_is_stirring_static(model, state, static_a ? c->a : c->b))
    *of_island |= RESTLESS;
  else if (is_pushing(c))
    *of_island |= SUPPORTED;
}

/* True if a joint works even without motion of its bodies: its motor is on, though it may be
 * blocked, or its spring pulls, though a damper may slow it down. A motor with speed 0 is a
 * brake. */
static bool is_working(const tl_model *model, const tl_joint *joint) {
  if (joint->motor != TALUS_MOTOR_NONE &&
      !(joint->motor == TALUS_MOTOR_SPEED && joint->motor_target == 0))
    return true;
  const bool turns = joint->kind == TALUS_JOINT_REVOLUTE || joint->about;
  const double length = turns ? 1 : (double)tl_joint_length_of(model, joint);
  return joint->stiffness > 0 && fabs(joint->value - joint->rest) > 1e-6 * length;
}

/* Records what a joint means for the island of its bodies. A joint to the ground, or to a body that
 * does not move, supports the island like a contact that pushes. */
static void judge_joint(const tl_model *model, const tl_state *state, const tl_joint *joint,
                        const uint32_t *label, uint8_t *verdict) {
  const bool free_a = joint->a != TL_NONE && !tl_body_is_static(model, joint->a);
  const bool free_b = joint->b != TL_NONE && !tl_body_is_static(model, joint->b);
  uint8_t *of_island = &verdict[label[free_a ? joint->a : joint->b]];
  const uint32_t held_by = free_a ? joint->b : joint->a;
  if (is_working(model, joint))
    *of_island |= RESTLESS;
  if (free_a && free_b)
    return;
  if (held_by != TL_NONE && tl_is_stirring_static(model, state, held_by))
    *of_island |= RESTLESS;
  else if (tl_length2(joint->force) > 0 || tl_length2(joint->torque) > 0)
    *of_island |= SUPPORTED;
}

/* A zone about a body that moves is at work on those near it. */
static void judge_bond(const tl_model *model, const tl_state *state, tl_pair bond,
                       const uint32_t *label, uint8_t *verdict) {
  const bool static_a = tl_body_is_static(model, bond.a);
  if (tl_is_stirring_static(model, state, static_a ? bond.a : bond.b))
    verdict[label[static_a ? bond.b : bond.a]] |= RESTLESS;
}

static bool has_candidates(const tl_crowd *crowd) {
  const tl_model *model = crowd->model;
  for (size_t i = 0; i < model->bodies; ++i)
    if (is_drowsy(crowd, i))
      return true;
  return false;
}

talus_status tl_sleep_fall(const tl_crowd *crowd, const tl_contacts *contacts) {
  const tl_model *model = crowd->model;
  const tl_state *state = crowd->in;
  if (!has_candidates(crowd))
    return TALUS_OK;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  uint32_t *label;
  uint8_t *verdict;
  TL_TAKE(crowd->arena, model->bodies, &label);
  TL_TAKE(crowd->arena, model->bodies, &verdict);
  tl_pairs links;
  TL_TRY(find_links(crowd, &links));
  tl_island_label(model, contacts, &links, label);
  memset(verdict, 0, model->bodies);
  for (size_t i = 0; i < model->bodies; ++i)
    if (!tl_body_is_static(model, i) && !is_drowsy(crowd, i))
      verdict[label[i]] |= RESTLESS;
  for (size_t i = 0; i < contacts->count; ++i)
    judge_contact(model, state, &contacts->data[i], label, verdict);
  for (size_t i = 0; crowd->joints && i < crowd->joints->all.count; ++i)
    if (tl_joint_acts(&crowd->joints->all.data[i]))
      judge_joint(model, state, &crowd->joints->all.data[i], label, verdict);
  for (size_t i = 0; crowd->bonds && i < crowd->bonds->count; ++i)
    judge_bond(model, state, crowd->bonds->data[i], label, verdict);
  for (size_t i = 0; i < model->bodies; ++i)
    if (!tl_body_is_static(model, i) && verdict[label[i]] == SUPPORTED)
      state->sleep_flags[i] |= TL_SLEEP_FALLING;
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* ---- which bodies are slow ------------------------------------------------------------------- */

typedef struct watch_job {
  const tl_model *model;
  const tl_crowd *crowd;
} watch_job;

static void watch_range(void *context, size_t begin, size_t end) {
  const watch_job *job = context;
  const tl_model *model = job->model;
  const tl_state *in = job->crowd->in, *out = job->crowd->out;
  const talus_real speed = (talus_real)model->sleep.speed;
  for (size_t i = begin; i < end; ++i) {
    uint32_t *sleep_flags = &out->sleep_flags[i];
    if (*sleep_flags & TL_SLEEP_ASLEEP)
      continue;
    const talus_real radius = tl_body_shape(model, i)->radius * model->property.scale[i];
    const talus_real turning = radius * tl_length(out->spin[i]);
    const bool slow =
        !tl_body_is_static(model, i) && tl_length(out->velocity[i]) < speed && turning < speed;
    const bool was_slow = *sleep_flags & TL_SLEEP_SLOW;
    *sleep_flags = slow ? TL_SLEEP_SLOW : 0;
    out->slow_since[i] = !slow ? 0 : was_slow ? in->slow_since[i] : job->crowd->t0;
  }
}

void tl_sleep_watch(const tl_crowd *crowd) {
  const tl_model *model = crowd->model;
  watch_job job = {model, crowd};
  tl_for(&model->par, model->bodies, TL_BLOCK, watch_range, &job);
}
