/* The contact set as data: what the lists of fields.h make of contacts.
 *
 * A set has one record of each contact and, beside it, arrays of what only some models need. It is
 * in canonical order: by uid of a, uid of b, feature of a, feature of b. Slots are in uid order
 * (removal keeps it, new bodies come last), so keys by slot sort like keys by uid.
 *
 * A step reads the set of the last step and writes another one (contact/history.h). */
#ifndef TL_CONTACTS_H
#define TL_CONTACTS_H

#include "crowd/fields.h"
#include "kernels/vec3.h"

/* The state of a contact, where laws have one to remember. */
enum {
  TL_CONTACT_STUCK = 1,  /* pressed together, and friction held it */
  TL_CONTACT_SLID = 2,   /* pressed together, and friction could not hold it */
  TL_CONTACT_BONDED = 4, /* cohesion pulled, or they touched; the same for all points of a pair */
  TL_CONTACT_STATES = 8
};

#define TL_RECORD_MEMBER(name, type, columns, scalar, flags) type name;
typedef struct tl_contact {
  TL_CONTACT_FIELDS(TL_RECORD_MEMBER)
} tl_contact;
typedef struct tl_law_state {
  TL_LAW_STATE_FIELDS(TL_RECORD_MEMBER)
} tl_law_state;
typedef struct tl_spring {
  TL_SPRING_FIELDS(TL_RECORD_MEMBER)
} tl_spring;
#undef TL_RECORD_MEMBER

/* What impacts gave to a contact (solve/impact/impact.h), which the next step does not start from.
 * Few contacts have it, so that it has no array of the set's length. */
typedef struct tl_hit {
  uint32_t contact;
  talus_vec3 impulse; /* N s on b */
} tl_hit;

#define TL_RECORD_ARRAY(name, type, FIELDS) TL_ARRAY(type) name;
typedef struct tl_contacts {
  tl_contact *data; /* these three as in TL_ARRAY */
  size_t count, capacity;
  TL_CONTACT_RECORDS(TL_RECORD_ARRAY)
  TL_ARRAY(tl_hit) hits; /* ascending by contact */
  double dt;             /* s: of the step whose impulses these are; 0: not known */
  size_t recent;         /* most of the counts of the last `steps` steps */
  int steps;
} tl_contacts;
#undef TL_RECORD_ARRAY

/* An array of a set as data, for code that loops over them. */
typedef struct tl_record {
  const char *name;
  size_t bytes; /* of one record */
  const tl_field *fields;
  int count;     /* of fields */
  size_t offset; /* of the TL_ARRAY within tl_contacts */
} tl_record;

#define TL_RECORD_ONE(name, type, FIELDS) +1
enum { TL_CONTACT_RECORD_COUNT = 1 TL_CONTACT_RECORDS(TL_RECORD_ONE) };
#undef TL_RECORD_ONE

/* The first is that of every contact, "contacts". */
extern const tl_record tl_contact_records[TL_CONTACT_RECORD_COUNT];

/* Any TL_ARRAY; got and set by memcpy, because its pointer is of another type. */
typedef struct tl_any_array {
  void *data;
  size_t count, capacity;
} tl_any_array;

static inline tl_any_array tl_contacts_array(const tl_contacts *contacts, const tl_record *record) {
  tl_any_array array;
  memcpy(&array, (const unsigned char *)contacts + record->offset, sizeof array);
  return array;
}
static inline void tl_contacts_set_array(tl_contacts *contacts, const tl_record *record,
                                         tl_any_array array) {
  memcpy((unsigned char *)contacts + record->offset, &array, sizeof array);
}

static inline bool tl_contacts_have_springs(const tl_contacts *contacts) {
  return contacts->count > 0 && contacts->springs.count == contacts->count;
}

static inline bool tl_contacts_have_law_states(const tl_contacts *contacts) {
  return contacts->count > 0 && contacts->law_states.count == contacts->count;
}

/* All that contact i gave to b in the last step, N s. */
talus_vec3 tl_contacts_impulse(const tl_contacts *contacts, size_t i);

/* Nothing touches, and nothing is remembered. */
void tl_contacts_clear(tl_contacts *contacts);
void tl_contacts_release(tl_contacts *contacts);

/* Contact i of a set behind those of another one; what only some models have goes along. */
talus_status tl_contacts_append(tl_contacts *to, const tl_contacts *from, size_t i);

/* Before a set is found anew (count is 0): gives back room that TL_ARENA_MEMORY steps did not need,
 * as the arena does: an impact has a quarter more contacts than the heap that comes of it. */
talus_status tl_contacts_trim(tl_contacts *contacts);

static inline void tl_contacts_swap(tl_contacts *x, tl_contacts *y) {
  const tl_contacts z = *x;
  *x = *y;
  *y = z;
}

/* After bodies were removed: renumbers slots, dropping contacts whose new_slot[slot] is TL_NONE. */
void tl_contacts_renumber(tl_contacts *contacts, const uint32_t *new_slot);

/* The first contact whose body a is in this slot or a later one; the count where there is none. */
static inline size_t tl_contacts_first_of(const tl_contacts *contacts, uint32_t slot) {
  size_t lo = 0, hi = contacts->count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (contacts->data[middle].a < slot)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

/* Where the key (slots a, b and their features) stands to that of a contact in canonical order:
 * negative before it, zero the same, positive behind it. */
static inline int tl_contact_compare(uint32_t a, uint32_t b, uint32_t feature_a, uint32_t feature_b,
                                     const tl_contact *c) {
  if (a != c->a)
    return a < c->a ? -1 : 1;
  if (b != c->b)
    return b < c->b ? -1 : 1;
  if (feature_a != c->feature_a)
    return feature_a < c->feature_a ? -1 : 1;
  if (feature_b != c->feature_b)
    return feature_b < c->feature_b ? -1 : 1;
  return 0;
}

#endif
