#include "crowd/residency.h"

#include "crowd/contacts.h"

#define STATE_BIT(name, type, columns, scalar, flags) [TL_BIT_##name] = #name,
#define RECORD_BIT(name, type, FIELDS)                [TL_BIT_##name] = #name,
static const char *const names[TL_BITS] = {
    TL_STATE_FIELDS(STATE_BIT) TL_PROPERTY_FIELDS(STATE_BIT)[TL_BIT_contacts] = "contacts",
    TL_CONTACT_RECORDS(RECORD_BIT)[TL_BIT_hits] = "hits", [TL_BIT_joints] = "joints",
    [TL_BIT_tables] = "tables"};
#undef STATE_BIT
#undef RECORD_BIT

tl_field_set tl_field_bit(const tl_field *field) {
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    if (field == &tl_state_fields[i])
      return TL_THE(position) << i;
  return TL_THE(uid) << (field - tl_property_fields);
}

tl_field_set tl_fields_with(unsigned flags) {
  tl_field_set set = 0;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    set |= tl_state_fields[i].flags & flags ? tl_field_bit(&tl_state_fields[i]) : 0;
  for (int i = 0; i < TL_PROPERTY_FIELD_COUNT; ++i)
    set |= tl_property_fields[i].flags & flags ? tl_field_bit(&tl_property_fields[i]) : 0;
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r)
    for (int i = 0; i < tl_contact_records[r].count; ++i)
      set |= tl_contact_records[r].fields[i].flags & flags ? TL_THE(contacts) << r : 0;
  return set;
}

static void settle(tl_residency *where) {
  if (where->away == 0 && where->holder)
    where->holder->let_go(where->context);
}

static talus_status bring(tl_residency *where, tl_field_set fields) {
  tl_field_set brought = fields;
  const talus_status status = where->holder->bring(where->context, &brought);
  where->stale &= ~brought;
  TL_ASSERT(status != TALUS_OK || !(where->stale & fields));
  return status;
}

static talus_status refuse(tl_field_set lost) {
  int bit = 0;
  while (!(lost >> bit & 1))
    bit++;
  return tl_fail(TALUS_ERROR_MEMORY,
                 "%s of the last step are lost: there was no memory to store them; step once more "
                 "(springs along the surfaces then begin anew) or load the last checkpoint",
                 names[bit]);
}

talus_status tl_need_from(const tl_residency *asked, tl_field_set fields, unsigned access) {
  tl_residency *where = (tl_residency *)(uintptr_t)asked; /* as the header has it */
  const tl_field_set gone = (access & TL_WRITE) && where->away
                                ? where->holder->written(where->context, fields) & where->away
                                : 0;
  const tl_field_set missing = (fields | gone) & where->stale & where->away;
  if (missing)
    TL_TRY(bring(where, missing));
  if (gone) {
    where->away &= ~gone;
    settle(where);
  }
  const tl_field_set lost = fields & tl_lost(where);
  return lost && !(access & TL_OR_NONE) ? refuse(lost) : TALUS_OK;
}

void tl_hold(tl_residency *where, const tl_holder *holder, void *context) {
  TL_ASSERT(where->away == 0);
  if (where->holder)
    where->holder->end(where->context);
  where->holder = holder;
  where->context = context;
}

void tl_made_home(tl_residency *where, tl_field_set fields) {
  where->stale &= ~fields;
  if (where->away & fields) {
    where->away &= ~fields;
    settle(where);
  }
  if (where->told)
    where->told(where->watcher, fields, true);
}

void tl_made_away(tl_residency *where, tl_field_set fields) {
  where->away |= fields;
  where->stale |= fields;
  if (where->told && fields)
    where->told(where->watcher, fields, false);
}

void tl_copied(tl_residency *where, tl_field_set fields) {
  TL_ASSERT(!(fields & where->stale));
  where->away |= fields;
}

void tl_lose(tl_residency *where, tl_field_set fields) {
  if (!(where->away & fields))
    return;
  where->away &= ~fields;
  settle(where);
}

talus_status tl_let_go(tl_residency *where) {
  const tl_field_set missing = where->stale & where->away;
  if (missing)
    TL_TRY(bring(where, missing));
  tl_lose(where, TL_THE_WHOLE);
  return TALUS_OK;
}

void tl_residency_free(tl_residency *where) {
  if (where->holder)
    where->holder->end(where->context);
  *where = (tl_residency){0};
}
