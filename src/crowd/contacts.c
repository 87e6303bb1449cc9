#include "crowd/contacts.h"

/* ---- the table ------------------------------------------------------------------------------- */

#define FIELD(name, type, columns, scalar, flags)                                                  \
  {#name, sizeof(type), columns, scalar, flags, offsetof(ROW, name)},

#define ROW tl_contact
static const tl_field fields_of_contacts[] = {TL_CONTACT_FIELDS(FIELD)};
#undef ROW
#define ROW tl_law_state
static const tl_field fields_of_law_states[] = {TL_LAW_STATE_FIELDS(FIELD)};
#undef ROW
#define ROW tl_spring
static const tl_field fields_of_springs[] = {TL_SPRING_FIELDS(FIELD)};
#undef ROW
#undef FIELD

#define RECORD(name, type, offset)                                                                 \
  {                                                                                                \
#name, sizeof(type), fields_of_##name,                                                         \
        (int)(sizeof fields_of_##name / sizeof *fields_of_##name), offset                          \
  }
#define LAZY(name, type, FIELDS) RECORD(name, type, offsetof(tl_contacts, name)),
const tl_record tl_contact_records[TL_CONTACT_RECORD_COUNT] = {RECORD(contacts, tl_contact, 0),
                                                               TL_CONTACT_RECORDS(LAZY)};
#undef LAZY
#undef RECORD

_Static_assert(offsetof(tl_contacts, data) == offsetof(tl_any_array, data) &&
                   offsetof(tl_contacts, count) == offsetof(tl_any_array, count) &&
                   offsetof(tl_contacts, capacity) == offsetof(tl_any_array, capacity),
               "a set begins like a TL_ARRAY");

/* ---- the set --------------------------------------------------------------------------------- */

talus_vec3 tl_contacts_impulse(const tl_contacts *contacts, size_t i) {
  const talus_vec3 p = contacts->data[i].impulse;
  const tl_hit *hits = contacts->hits.data;
  size_t at = 0, above = contacts->hits.count;
  while (at < above) {
    const size_t middle = at + (above - at) / 2;
    if (hits[middle].contact < i)
      at = middle + 1;
    else
      above = middle;
  }
  return at < contacts->hits.count && hits[at].contact == i ? tl_add(p, hits[at].impulse) : p;
}

void tl_contacts_clear(tl_contacts *contacts) {
  contacts->count = contacts->hits.count = 0;
#define CLEAR(name, type, FIELDS) contacts->name.count = 0;
  TL_CONTACT_RECORDS(CLEAR)
#undef CLEAR
}

void tl_contacts_release(tl_contacts *contacts) {
  tl_array_free(contacts);
  tl_array_free(&contacts->hits);
#define RELEASE(name, type, FIELDS) tl_array_free(&contacts->name);
  TL_CONTACT_RECORDS(RELEASE)
#undef RELEASE
}

static bool is_plain(const tl_contacts *contacts) {
#define NONE_OF(name, type, FIELDS) &&contacts->name.count == 0
  return true TL_CONTACT_RECORDS(NONE_OF);
#undef NONE_OF
}

talus_status tl_contacts_append(tl_contacts *to, const tl_contacts *from, size_t i) {
  if (is_plain(from))
    return tl_array_push(to, from->data[i]);
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    const tl_record *record = &tl_contact_records[r];
    const tl_any_array all = tl_contacts_array(from, record);
    tl_any_array array = tl_contacts_array(to, record);
    if (r > 0 && (all.count == 0 || all.count != from->count))
      continue;
    TL_TRY(tl_array_grow(&array.data, &array.capacity, array.count + 1, record->bytes));
    memcpy((unsigned char *)array.data + array.count * record->bytes,
           (const unsigned char *)all.data + i * record->bytes, record->bytes);
    array.count++;
    tl_contacts_set_array(to, record, array);
  }
  return TALUS_OK;
}

static talus_status shrink(tl_any_array *array, size_t bytes, size_t wanted) {
  if (wanted > array->capacity / 16 * 15)
    return TALUS_OK;
  TL_TRY(tl_resize(&array->data, array->capacity * bytes, wanted * bytes));
  array->capacity = wanted;
  return TALUS_OK;
}

talus_status tl_contacts_trim(tl_contacts *contacts) {
  if (++contacts->steps < TL_ARENA_MEMORY)
    return TALUS_OK;
  const size_t wanted = contacts->recent + contacts->recent / 32;
  contacts->steps = 0;
  contacts->recent = 0;
  if (wanted == 0)
    return TALUS_OK;
  for (int i = 0; i < TL_CONTACT_RECORD_COUNT; ++i) {
    const tl_record *record = &tl_contact_records[i];
    tl_any_array array = tl_contacts_array(contacts, record);
    TL_TRY(shrink(&array, record->bytes, wanted));
    tl_contacts_set_array(contacts, record, array);
  }
  return TALUS_OK;
}

void tl_contacts_renumber(tl_contacts *contacts, const uint32_t *new_slot) {
#define IS_USED(name, type, FIELDS) const bool has_##name = contacts->name.count == contacts->count;
  TL_CONTACT_RECORDS(IS_USED)
#undef IS_USED
  size_t kept = 0, hit = 0, hits = 0;
  for (size_t i = 0; i < contacts->count; ++i) {
    tl_contact c = contacts->data[i];
    c.a = new_slot[c.a];
    c.b = new_slot[c.b];
    const bool was_hit = hit < contacts->hits.count && contacts->hits.data[hit].contact == i;
    hit += was_hit;
    if (c.a == TL_NONE || c.b == TL_NONE)
      continue;
    if (was_hit)
      contacts->hits.data[hits++] = (tl_hit){(uint32_t)kept, contacts->hits.data[hit - 1].impulse};
#define MOVE(name, type, FIELDS)                                                                   \
  if (has_##name)                                                                                  \
    contacts->name.data[kept] = contacts->name.data[i];
    TL_CONTACT_RECORDS(MOVE)
#undef MOVE
    contacts->data[kept++] = c;
  }
  contacts->count = kept;
  contacts->hits.count = hits;
#define END(name, type, FIELDS) contacts->name.count = has_##name ? kept : 0;
  TL_CONTACT_RECORDS(END)
#undef END
}
