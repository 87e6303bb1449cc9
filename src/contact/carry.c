/* Persistence: the impulses of one step are where the next one starts.
 *
 * Slots are in uid order (removal keeps it, new bodies come last), so (a, b, features) by slot
 * sorts like the canonical key by uid. */
#include "contact/contact.h"

#include "crowd/rest.h"

typedef struct carry_job {
  const tl_carry *carry;
  tl_contacts *contacts;
} carry_job;

static bool is_pushing(const tl_contact *c) {
  return c->impulse.x != 0 || c->impulse.y != 0 || c->impulse.z != 0;
}

typedef struct copy_job {
  const tl_contact *from;
  tl_carried *to;
} copy_job;

static tl_carried carried(const tl_contact *c) {
  return (tl_carried){c->a, c->b, c->feature_a, c->feature_b, c->impulse};
}

static void copy_range(void *context, size_t begin, size_t end) {
  const copy_job *job = context;
  for (size_t i = begin; i < end; ++i)
    job->to[i] = carried(&job->from[i]);
}

/* Contacts without impulse are left out: what is not found is zero anyway. So are those of sleeping
 * bodies, which stay in the set. */
static bool is_to_carry(const tl_model *model, const tl_state *state, const tl_contact *c) {
  return is_pushing(c) && !tl_rest_is_dormant(model, state, c->a, c->b);
}

talus_status tl_contacts_trim(tl_contacts *contacts) {
  if (++contacts->steps < TL_ARENA_MEMORY)
    return TALUS_OK;
  const size_t wanted = contacts->recent + contacts->recent / 32;
  contacts->steps = 0;
  contacts->recent = 0;
  if (wanted == 0 || wanted > contacts->capacity / 16 * 15)
    return TALUS_OK;
  void *data = contacts->data;
  TL_TRY(tl_resize(&data, contacts->capacity * sizeof *contacts->data,
                   wanted * sizeof *contacts->data));
  contacts->data = data;
  contacts->capacity = wanted;
  return TALUS_OK;
}

talus_status tl_contact_take_carry(const tl_model *model, const tl_scope *scope,
                                   const tl_contacts *contacts, tl_carry *carry) {
  if (!scope->in->rest) { /* nobody sleeps: all of them, which all threads can copy */
    carry->count = contacts->count;
    TL_TAKE(scope->arena, carry->count, &carry->data);
    copy_job job = {contacts->data, carry->data};
    tl_for(&model->par, carry->count, 1024, copy_range, &job);
    return TALUS_OK;
  }
  carry->count = 0;
  for (size_t i = 0; i < contacts->count; ++i)
    carry->count += is_to_carry(model, scope->in, &contacts->data[i]);
  TL_TAKE(scope->arena, carry->count, &carry->data);
  tl_carried *next = carry->data;
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    if (is_to_carry(model, scope->in, c))
      *next++ = carried(c);
  }
  return TALUS_OK;
}

static int compare_key(const tl_carried *k, const tl_contact *c) {
  return tl_contact_compare(k->a, k->b, k->feature_a, k->feature_b, c);
}

/* Binary search for where the range starts, then both lists are walked together. */
static void match_range(void *context, size_t begin, size_t end) {
  const carry_job *job = context;
  const tl_carry *carry = job->carry;
  size_t lo = 0, hi = carry->count;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (compare_key(&carry->data[mid], &job->contacts->data[begin]) < 0)
      lo = mid + 1;
    else
      hi = mid;
  }
  for (size_t i = begin; i < end; ++i) {
    tl_contact *c = &job->contacts->data[i];
    while (lo < carry->count && compare_key(&carry->data[lo], c) < 0)
      lo++;
    const bool found = lo < carry->count && compare_key(&carry->data[lo], c) == 0;
    c->impulse = found ? carry->data[lo].impulse : tl_vec3(0, 0, 0);
  }
}

void tl_contact_carry_over(const tl_model *model, const tl_carry *carry, tl_contacts *contacts) {
  carry_job job = {carry, contacts};
  tl_for(&model->par, contacts->count, 1024, match_range, &job);
}

void tl_contact_renumber(tl_contacts *contacts, const uint32_t *new_slot) {
  const bool touches = tl_contacts_have_touches(contacts);
  const bool springs = tl_contacts_have_springs(contacts);
  const bool hits = contacts->hits.count == contacts->count;
  size_t kept = 0;
  for (size_t i = 0; i < contacts->count; ++i) {
    tl_contact c = contacts->data[i];
    c.a = new_slot[c.a];
    c.b = new_slot[c.b];
    if (c.a == TL_NONE || c.b == TL_NONE)
      continue;
    if (touches)
      contacts->touches.data[kept] = contacts->touches.data[i];
    if (springs)
      contacts->springs.data[kept] = contacts->springs.data[i];
    if (hits)
      contacts->hits.data[kept] = contacts->hits.data[i];
    contacts->data[kept++] = c;
  }
  contacts->count = kept;
  contacts->touches.count = touches ? kept : 0;
  contacts->springs.count = springs ? kept : 0;
  contacts->hits.count = hits ? kept : 0;
}
