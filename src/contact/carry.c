/* Persistence: the impulses of one step are where the next one starts.
 *
 * Slots are in uid order (removal keeps it, new bodies come last), so (a, b, features) by slot
 * sorts like the canonical key by uid. */
#include "contact/contact.h"

typedef struct carry_job {
  const tl_carry *carry;
  tl_contacts *contacts;
} carry_job;

static bool is_zero(talus_vec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }

/* Contacts without impulse are left out: what is not found is zero anyway. */
static bool is_worth_it(const tl_contacts *contacts, bool touches, size_t i) {
  if (!is_zero(contacts->data[i].impulse))
    return true;
  return touches &&
         (contacts->touches.data[i].state != 0 || !is_zero(contacts->touches.data[i].torque));
}

talus_status tl_contact_take_carry(const tl_model *model, const tl_scope *scope,
                                   const tl_contacts *contacts, tl_carry *carry) {
  (void)model;
  const bool touches = tl_contacts_have_touches(contacts);
  carry->count = 0;
  carry->touches = NULL;
  for (size_t i = 0; i < contacts->count; ++i)
    carry->count += is_worth_it(contacts, touches, i);
  TL_TAKE(scope->arena, carry->count, &carry->data);
  if (touches)
    TL_TAKE(scope->arena, carry->count, &carry->touches);
  size_t next = 0;
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    if (!is_worth_it(contacts, touches, i))
      continue;
    carry->data[next] = (tl_carried){c->a, c->b, c->feature_a, c->feature_b, c->impulse};
    if (touches)
      carry->touches[next] = contacts->touches.data[i];
    next++;
  }
  return TALUS_OK;
}

/* Order of two keys: negative, zero or positive. */
static int compare_key(const tl_carried *k, const tl_contact *c) {
  if (k->a != c->a)
    return k->a < c->a ? -1 : 1;
  if (k->b != c->b)
    return k->b < c->b ? -1 : 1;
  if (k->feature_a != c->feature_a)
    return k->feature_a < c->feature_a ? -1 : 1;
  if (k->feature_b != c->feature_b)
    return k->feature_b < c->feature_b ? -1 : 1;
  return 0;
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
    if (job->contacts->touches.count > 0)
      job->contacts->touches.data[i] =
          found && carry->touches ? carry->touches[lo] : (tl_touch){{0, 0, 0}, 0};
  }
}

talus_status tl_contact_carry_over(const tl_model *model, const tl_carry *carry,
                                   tl_contacts *contacts) {
  carry_job job = {carry, contacts};
  TL_TRY(tl_array_resize(&contacts->touches, model->law_kinds != 0 ? contacts->count : 0));
  tl_for(&model->par, contacts->count, 1024, match_range, &job);
  return TALUS_OK;
}

void tl_contact_renumber(tl_contacts *contacts, const uint32_t *new_slot) {
  const bool touches = tl_contacts_have_touches(contacts);
  size_t kept = 0;
  for (size_t i = 0; i < contacts->count; ++i) {
    tl_contact c = contacts->data[i];
    c.a = new_slot[c.a];
    c.b = new_slot[c.b];
    if (c.a == TL_NONE || c.b == TL_NONE)
      continue;
    if (touches)
      contacts->touches.data[kept] = contacts->touches.data[i];
    contacts->data[kept++] = c;
  }
  contacts->count = kept;
  contacts->touches.count = touches ? kept : 0;
}
