/* What contacts remember beside impulses (tl_touch), from one set to the next.
 *
 * Apart from carry.c: it concerns only models with laws that need it, and takes all contacts, those
 * of sleeping bodies too, because the set may be put together anew around them. */
#include "contact/contact.h"

static bool is_worth_it(const tl_touch *touch) {
  return touch->state != 0 || touch->torque.x != 0 || touch->torque.y != 0 || touch->torque.z != 0;
}

talus_status tl_contact_take_touches(const tl_scope *scope, const tl_contacts *contacts,
                                     tl_touches *touches) {
  *touches = (tl_touches){0};
  if (!tl_contacts_have_touches(contacts))
    return TALUS_OK;
  size_t count = 0;
  for (size_t i = 0; i < contacts->count; ++i)
    count += is_worth_it(&contacts->touches.data[i]);
  TL_TAKE(scope->arena, count, &touches->data);
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    if (is_worth_it(&contacts->touches.data[i]))
      touches->data[touches->count++] =
          (tl_touched){c->a, c->b, c->feature_a, c->feature_b, contacts->touches.data[i]};
  }
  return TALUS_OK;
}

static int compare_key(const tl_touched *k, const tl_contact *c) {
  return tl_contact_compare(k->a, k->b, k->feature_a, k->feature_b, c);
}

/* Whether any point of the contact's pair was bonded. *at: the first entry not before the pair. A
 * ball that rolls over an edge has points of other keys from step to step, and one bond. */
static bool is_pair_bonded(const tl_touches *touches, const tl_contact *c, size_t *at) {
  const tl_touched *all = touches->data;
  while (*at < touches->count && (all[*at].a < c->a || (all[*at].a == c->a && all[*at].b < c->b)))
    ++*at;
  for (size_t k = *at; k < touches->count && all[k].a == c->a && all[k].b == c->b; ++k)
    if (all[k].touch.state & TL_TOUCH_BONDED)
      return true;
  return false;
}

static void lay_bonds(const tl_touches *touches, tl_contacts *contacts) {
  bool bonded = false;
  size_t at = 0;
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    if (i == 0 || c[-1].a != c->a || c[-1].b != c->b)
      bonded = is_pair_bonded(touches, c, &at);
    if (bonded)
      contacts->touches.data[i].state |= TL_TOUCH_BONDED;
  }
}

talus_status tl_contact_lay_touches(const tl_model *model, const tl_touches *touches,
                                    tl_contacts *contacts) {
  TL_TRY(tl_array_resize(&contacts->touches, model->law_kinds != 0 ? contacts->count : 0));
  size_t at = 0;
  for (size_t i = 0; i < contacts->touches.count; ++i) {
    const tl_contact *c = &contacts->data[i];
    while (at < touches->count && compare_key(&touches->data[at], c) < 0)
      at++;
    const bool found = at < touches->count && compare_key(&touches->data[at], c) == 0;
    contacts->touches.data[i] = found ? touches->data[at].touch : (tl_touch){{0, 0, 0}, 0};
  }
  if (model->law_kinds & TL_LAW_COHESION)
    lay_bonds(touches, contacts);
  return TALUS_OK;
}
