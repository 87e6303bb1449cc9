/* What a world knows of touching beside where bodies are: impulses to begin with, springs, sleep.
 */
#include "crowd/rest.h"
#include "world/borrow.h"

typedef struct ledger {
  talus_world *world;
  const talus_world *old;
  const tl_taken *taken;
  talus_real ratio; /* of the length of steps, for impulses */
} ledger;

/* Room for so many more contacts, in those arrays that the old set has or the new one needs. */
static talus_status reserve(const ledger *l, size_t more) {
  tl_contacts *to = &l->world->contacts;
  const size_t n = to->count + more;
  TL_TRY(tl_array_reserve(to, n));
  if (tl_contacts_have_touches(&l->old->contacts) || tl_contacts_have_touches(to))
    TL_TRY(tl_array_reserve(&to->touches, n));
  if (tl_contacts_have_springs(&l->old->contacts) || tl_contacts_have_springs(to))
    TL_TRY(tl_array_reserve(&to->springs, n));
  return TALUS_OK;
}

/* Contacts that were there without such a record get an empty one. */
static void open_records(const ledger *l) {
  tl_contacts *to = &l->world->contacts;
  const bool touches = tl_contacts_have_touches(&l->old->contacts),
             springs = tl_contacts_have_springs(&l->old->contacts);
  if (touches && to->touches.count < to->count)
    memset(to->touches.data, 0, to->count * sizeof *to->touches.data);
  if (touches)
    to->touches.count = to->count;
  if (springs && to->springs.count < to->count)
    memset(to->springs.data, 0, to->count * sizeof *to->springs.data);
  if (springs)
    to->springs.count = to->count;
}

static void copy_contact(const ledger *l, size_t i, bool touches, bool springs) {
  const tl_contacts *from = &l->old->contacts;
  tl_contacts *to = &l->world->contacts;
  tl_contact contact = from->data[i];
  contact.a = l->taken->slots.data[contact.a];
  contact.b = l->taken->slots.data[contact.b];
  contact.impulse = tl_scale(contact.impulse, l->ratio);
  if (touches) {
    tl_touch touch = {0};
    if (tl_contacts_have_touches(from))
      touch = from->touches.data[i];
    touch.torque = tl_scale(touch.torque, l->ratio);
    to->touches.data[to->touches.count++] = touch;
  }
  if (springs) {
    const tl_spring none = {0};
    to->springs.data[to->springs.count++] =
        tl_contacts_have_springs(from) ? from->springs.data[i] : none;
  }
  to->data[to->count++] = contact;
}

static bool is_kept(const ledger *l, const tl_contact *contact) {
  const uint32_t *slots = l->taken->slots.data;
  return slots[contact->a] != TL_NONE && slots[contact->b] != TL_NONE;
}

/* Slots keep their order, and those that are new come behind all others: so do keys. */
static talus_status copy_contacts(ledger *l) {
  const tl_contacts *from = &l->old->contacts;
  tl_contacts *to = &l->world->contacts;
  size_t more = 0;
  for (size_t i = 0; i < from->count; ++i)
    more += is_kept(l, &from->data[i]);
  if (more == 0)
    return TALUS_OK;
  TL_TRY(reserve(l, more));
  if (to->count == 0)
    to->dt = from->dt;
  l->ratio = tl_step_ratio(from->dt, to->dt);
  open_records(l);
  const bool touches = tl_contacts_have_touches(from) || tl_contacts_have_touches(to);
  const bool springs = tl_contacts_have_springs(from) || tl_contacts_have_springs(to);
  for (size_t i = 0; i < from->count; ++i)
    if (is_kept(l, &from->data[i]))
      copy_contact(l, i, touches, springs);
  return TALUS_OK;
}

/* Times are shifted: the new world begins anew. */
static void copy_sleep(const ledger *l) {
  const tl_state *from = &l->old->state;
  tl_state *to = &l->world->state;
  const double shift = talus_world_time(l->world) - talus_world_time(l->old);
  if (!from->rest || !to->rest || l->taken->is_changed)
    return;
  for (size_t i = 0; i < l->taken->slots.count; ++i) {
    const uint32_t slot = l->taken->slots.data[i];
    if (slot == TL_NONE)
      continue;
    to->rest[slot] = from->rest[i];
    to->slow_since[slot] = from->rest[i] & TL_REST_SLOW ? from->slow_since[i] + shift : 0;
  }
}

/* Those that touched a body which was left behind have lost their hold. */
static void wake_bereft(const ledger *l) {
  const tl_contacts *from = &l->old->contacts;
  const uint32_t *slots = l->taken->slots.data;
  tl_state *to = &l->world->state;
  for (size_t i = 0; to->rest && i < from->count; ++i) {
    const uint32_t a = slots[from->data[i].a], b = slots[from->data[i].b];
    const uint32_t left = a == TL_NONE ? b : b == TL_NONE ? a : TL_NONE;
    if (left != TL_NONE && !tl_body_is_static(&l->world->model, left))
      to->rest[left] = 0, to->slow_since[left] = 0;
  }
}

/* Forces with which the next step of springs begins. They count as long as nothing is changed. */
static void copy_pushes(const ledger *l) {
  const tl_state *from = &l->old->state;
  tl_state *to = &l->world->state;
  tl_penalty *penalty = &l->world->penalty;
  const tl_penalty *theirs = &l->old->penalty;
  const bool is_same = l->taken->is_all && !l->taken->is_changed &&
                       l->world->model.dt == l->old->model.dt && theirs->is_pushed;
  if (!is_same || !from->push || !to->push)
    return;
  for (size_t i = 0; i < l->taken->slots.count; ++i) {
    to->push[l->taken->slots.data[i]] = from->push[i];
    to->twist[l->taken->slots.data[i]] = from->twist[i];
  }
  penalty->stored = theirs->stored;
  penalty->damping = theirs->damping;
  penalty->friction = theirs->friction;
  penalty->auto_stiffness = theirs->auto_stiffness;
  penalty->is_pushed = penalty->is_borrowed = true;
}

talus_status tl_world_borrow_contacts(talus_world *world, const talus_world *old,
                                      const tl_taken *taken) {
  const talus_solve_def *now = &world->model.solve, *then = &old->model.solve;
  ledger l = {.world = world, .old = old, .taken = taken, .ratio = 1};
  if (now->kind != then->kind || (now->kind == TALUS_SOLVE_PENALTY && now->law != then->law))
    return TALUS_OK;
  TL_TRY(tl_need(&old->where, TL_THE_BODIES | TL_THE_CONTACTS, TL_READ));
  TL_TRY(tl_need(&world->where, TL_THE_BODIES | TL_THE_CONTACTS, TL_READ | TL_WRITE));
  TL_TRY(copy_contacts(&l));
  copy_sleep(&l);
  wake_bereft(&l);
  copy_pushes(&l);
  return TALUS_OK;
}
