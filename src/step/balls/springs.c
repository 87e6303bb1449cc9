/* The list of neighbours: takes springs from the old list or from the contacts into the new
 * list. */
#include "step/balls/list.h"

/* -1 if the candidate's owner is the contact's b: a contact's spring is that of b against a, the
 * list's that of other against owner. */
static talus_real sign_of(const tl_ball_list *list, size_t k) {
  return list->slot.data[list->owner.data[list->canonical.data[k]]] == list->near.data[k].a
             ? TL_R(1)
             : TL_R(-1);
}

static uint32_t side_of(const tl_ball_list *list, size_t k) {
  const uint32_t wall = list->near.data[k].wall;
  return wall == TL_NONE ? 0 : list->flats.data[wall].side;
}

static void take_range(void *context, size_t begin, size_t end) {
  const tl_old_springs *job = context;
  const tl_ball_list *list = job->list;
  for (size_t k = begin; k < end; ++k) {
    const uint32_t c = list->canonical.data[k];
    const tl_ball_spring *s = &list->spring.data[c];
    const talus_real sign = sign_of(list, k);
    job->data[k] = (tl_old_spring){list->near.data[k].a,
                                   list->near.data[k].b,
                                   side_of(list, k),
                                   {sign * s->slip[0], sign * s->slip[1], sign * s->slip[2]},
                                   list->at.data[c] == 0 ? 0 : s->stiffness};
  }
}

/* Does the same if no list is valid: contacts are in the same order. */
static talus_status take_from_contacts(const tl_crowd *crowd, const tl_contacts *contacts,
                                       tl_old_springs *job) {
  job->count = tl_contacts_have_springs(contacts) ? contacts->count : 0;
  TL_TAKE(crowd->arena, job->count, &job->data);
  for (size_t i = 0; i < job->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    const tl_spring *s = &contacts->springs.data[i];
    job->data[i] = (tl_old_spring){c->a,
                                   c->b,
                                   c->feature_a > 0 ? c->feature_a : c->feature_b,
                                   {s->slip.x, s->slip.y, s->slip.z},
                                   tl_abs(s->stiffness)};
  }
  return TALUS_OK;
}

/* Takes contacts with walls of the general code. */
static talus_status take_walls(const tl_model *model, const tl_contacts *contacts,
                               tl_ball_list *list) {
  tl_contacts *walls = &list->wall_contacts;
  walls->count = 0;
  walls->springs.count = 0;
  const bool springs = tl_contacts_have_springs(contacts);
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    const bool a = tl_balls_is_one(model, c->a), b = tl_balls_is_one(model, c->b);
    if ((a && b) || tl_ball_is_flat(model, a ? c->a : c->b, a ? c->b : c->a))
      continue;
    TL_TRY(tl_array_push(walls, *c));
    const tl_spring none = {0};
    TL_TRY(tl_array_push(&walls->springs, springs ? contacts->springs.data[i] : none));
  }
  return TALUS_OK;
}

talus_status tl_balls_take_springs(const tl_crowd *crowd, const tl_balls *balls,
                                   tl_old_springs *springs) {
  const tl_model *model = balls->model;
  if (!tl_balls_hold(balls)) {
    TL_TRY(take_from_contacts(crowd, balls->contacts, springs));
    return take_walls(model, balls->contacts, springs->list);
  }
  springs->count = springs->list->canonical.count;
  TL_TAKE(crowd->arena, springs->count, &springs->data);
  tl_for(&model->par, springs->count, 2048, take_range, springs);
  return TALUS_OK;
}

/* True if a spring comes before the candidate in canonical order. */
static bool is_before(const tl_ball_list *list, const tl_old_spring *s, size_t k) {
  const tl_ball_near *near = &list->near.data[k];
  if (s->a != near->a)
    return s->a < near->a;
  return s->b != near->b ? s->b < near->b : s->side < side_of(list, k);
}

/* Finds the begin of the range by binary search, then walks through both lists together. */
static void lay_range(void *context, size_t begin, size_t end) {
  const tl_old_springs *job = context;
  tl_ball_list *list = job->list;
  size_t at = 0, end_at = job->count;
  while (at < end_at) {
    const size_t middle = at + (end_at - at) / 2;
    if (is_before(list, &job->data[middle], begin))
      at = middle + 1;
    else
      end_at = middle;
  }
  for (size_t k = begin; k < end; ++k) {
    const uint32_t c = list->canonical.data[k];
    const tl_ball_near *near = &list->near.data[k];
    while (at < job->count && is_before(list, &job->data[at], k))
      at++;
    const tl_old_spring *s = at < job->count ? &job->data[at] : NULL;
    const bool found =
        s && s->a == near->a && s->b == near->b && s->side == side_of(list, k) && s->stiffness != 0;
    const talus_real sign = sign_of(list, k);
    list->at.data[c] = found ? 1 : 0; /* a nonzero effect, until forces are found */
    list->spring.data[c] =
        found ? (tl_ball_spring){{sign * s->slip[0], sign * s->slip[1], sign * s->slip[2]},
                                 s->stiffness}
              : (tl_ball_spring){{0, 0, 0}, 0};
  }
}

void tl_balls_lay_springs(const tl_model *model, tl_old_springs *springs) {
  tl_for(&model->par, springs->list->near.count, 2048, lay_range, springs);
}
