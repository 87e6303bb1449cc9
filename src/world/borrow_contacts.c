/* Takes over what a world stores about contacts besides poses: impulses for the warm start,
 * springs, sleep. */
#include "crowd/asleep.h"
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
  if (tl_contacts_have_law_states(&l->old->contacts) || tl_contacts_have_law_states(to))
    TL_TRY(tl_array_reserve(&to->law_states, n));
  if (tl_contacts_have_springs(&l->old->contacts) || tl_contacts_have_springs(to))
    TL_TRY(tl_array_reserve(&to->springs, n));
  return TALUS_OK;
}

/* Contacts that were there without such a record get an empty one. */
static void open_records(const ledger *l) {
  tl_contacts *to = &l->world->contacts;
  const bool law_states = tl_contacts_have_law_states(&l->old->contacts),
             springs = tl_contacts_have_springs(&l->old->contacts);
  if (law_states && to->law_states.count < to->count)
    memset(to->law_states.data, 0, to->count * sizeof *to->law_states.data);
  if (law_states)
    to->law_states.count = to->count;
  if (springs && to->springs.count < to->count)
    memset(to->springs.data, 0, to->count * sizeof *to->springs.data);
  if (springs)
    to->springs.count = to->count;
}

static void copy_contact(const ledger *l, size_t i, bool law_states, bool springs) {
  const tl_contacts *from = &l->old->contacts;
  tl_contacts *to = &l->world->contacts;
  tl_contact contact = from->data[i];
  contact.a = l->taken->slots.data[contact.a];
  contact.b = l->taken->slots.data[contact.b];
  contact.impulse = tl_scale(contact.impulse, l->ratio);
  if (law_states) {
    tl_law_state law_state = {0};
    if (tl_contacts_have_law_states(from))
      law_state = from->law_states.data[i];
    law_state.torque = tl_scale(law_state.torque, l->ratio);
    to->law_states.data[to->law_states.count++] = law_state;
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

/* Slots keep their order, and new bodies come after all others; so keys stay sorted. */
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
  const bool law_states = tl_contacts_have_law_states(from) || tl_contacts_have_law_states(to);
  const bool springs = tl_contacts_have_springs(from) || tl_contacts_have_springs(to);
  for (size_t i = 0; i < from->count; ++i)
    if (is_kept(l, &from->data[i]))
      copy_contact(l, i, law_states, springs);
  return TALUS_OK;
}

/* Times are shifted: the new world begins anew. */
static void copy_sleep(const ledger *l) {
  const tl_state *from = &l->old->state;
  tl_state *to = &l->world->state;
  const double shift = talus_world_time(l->world) - talus_world_time(l->old);
  if (!from->sleep_flags || !to->sleep_flags || l->taken->is_changed)
    return;
  for (size_t i = 0; i < l->taken->slots.count; ++i) {
    const uint32_t slot = l->taken->slots.data[i];
    if (slot == TL_NONE)
      continue;
    to->sleep_flags[slot] = from->sleep_flags[i];
    to->slow_since[slot] = from->sleep_flags[i] & TL_SLEEP_SLOW ? from->slow_since[i] + shift : 0;
  }
}

/* Wakes bodies that touched a body which was not taken. */
static void wake_bereft(const ledger *l) {
  const tl_contacts *from = &l->old->contacts;
  const uint32_t *slots = l->taken->slots.data;
  tl_state *to = &l->world->state;
  for (size_t i = 0; to->sleep_flags && i < from->count; ++i) {
    const uint32_t a = slots[from->data[i].a], b = slots[from->data[i].b];
    const uint32_t left = a == TL_NONE ? b : b == TL_NONE ? a : TL_NONE;
    if (left != TL_NONE && !tl_body_is_static(&l->world->model, left))
      to->sleep_flags[left] = 0, to->slow_since[left] = 0;
  }
}

/* Takes over the forces with which the next step of springs begins. They are valid until something
 * changes. */
static void copy_pushes(const ledger *l) {
  const tl_state *from = &l->old->state;
  tl_state *to = &l->world->state;
  tl_penalty *penalty = &l->world->penalty;
  const tl_penalty *theirs = &l->old->penalty;
  const bool is_same = l->taken->is_all && !l->taken->is_changed &&
                       l->world->model.dt == l->old->model.dt &&
                       l->world->model.step == l->old->model.step && theirs->is_pushed;
  if (!is_same || !from->spring_force || !to->spring_force)
    return;
  for (size_t i = 0; i < l->taken->slots.count; ++i) {
    to->spring_force[l->taken->slots.data[i]] = from->spring_force[i];
    to->spring_torque[l->taken->slots.data[i]] = from->spring_torque[i];
  }
  penalty->pressed = theirs->pressed;
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
