/* A far memory, for tests: it takes every row away as soon as somebody has made it, and fills what
 * is left at home with 0xff, so that whoever touches rows without asking reads no numbers or writes
 * into the void. */
#ifndef TESTS_FAR_MEMORY_H
#define TESTS_FAR_MEMORY_H

#include "check.h"
#include "joint/joint.h"
#include "world/world.h"

typedef struct far_block {
  unsigned char *data;
  size_t bytes;
} far_block;

typedef struct far_memory {
  talus_world *world;
  far_block state[TL_STATE_FIELD_COUNT], property[TL_PROPERTY_FIELD_COUNT];
  tl_contacts contacts;
  far_block joints; /* whole records */
  uint64_t taken, brought;
  bool is_ended;
} far_memory;

static inline void far_keep(far_block *to, const void *from, size_t bytes) {
  free(to->data);
  to->data = malloc(bytes + 1);
  to->bytes = bytes;
  CHECK(to->data);
  if (bytes > 0)
    memcpy(to->data, from, bytes);
}

static inline void far_keep_array(tl_any_array *to, const tl_any_array *from, size_t bytes) {
  free(to->data);
  *to = *from;
  to->data = malloc(from->count * bytes + 1);
  CHECK(to->data);
  if (from->count > 0)
    memcpy(to->data, from->data, from->count * bytes);
}

static inline void far_spoil_array(tl_any_array *array, size_t bytes, bool hides) {
  if (array->count > 0)
    memset(array->data, 0xff, array->count * bytes);
  array->count = hides ? 0 : array->count;
}

static inline void far_keep_contacts(far_memory *far) {
  const tl_contacts *from = &far->world->contacts;
  tl_any_array array, kept;
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    const tl_record *record = &tl_contact_records[r];
    array = tl_contacts_array(from, record);
    kept = tl_contacts_array(&far->contacts, record);
    far_keep_array(&kept, &array, record->bytes);
    tl_contacts_set_array(&far->contacts, record, kept);
  }
  memcpy(&array, &from->hits, sizeof array);
  memcpy(&kept, &far->contacts.hits, sizeof kept);
  far_keep_array(&kept, &array, sizeof(tl_hit));
  memcpy(&far->contacts.hits, &kept, sizeof kept);
}

/* Every second time there seem to be no contacts at all. */
static inline void far_spoil_contacts(far_memory *far) {
  tl_contacts *contacts = &far->world->contacts;
  const bool hides = far->taken % 2 == 0;
  tl_any_array array;
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    array = tl_contacts_array(contacts, &tl_contact_records[r]);
    far_spoil_array(&array, tl_contact_records[r].bytes, hides);
    tl_contacts_set_array(contacts, &tl_contact_records[r], array);
  }
  memcpy(&array, &contacts->hits, sizeof array);
  far_spoil_array(&array, sizeof(tl_hit), hides);
  memcpy(&contacts->hits, &array, sizeof array);
}

static inline void far_spoil_joints(far_memory *far) {
  tl_joint *rows = far->world->joints.all.data;
  for (size_t i = 0; i < far->world->joints.all.count; ++i)
    for (int f = 0; f < TL_JOINT_FIELD_COUNT; ++f)
      memset((unsigned char *)&rows[i] + tl_joint_fields[f].offset, 0xff, tl_joint_fields[f].bytes);
}

static inline void far_keep_rows(const talus_world *world, const void *arrays,
                                 const tl_field *field, far_block *to) {
  const unsigned char *rows = tl_field_rows(arrays, field);
  far_keep(to, rows, rows ? world->model.bodies * field->bytes : 0);
}

static inline void far_spoil_rows(const talus_world *world, const void *arrays,
                                  const tl_field *field) {
  unsigned char *rows = tl_field_rows(arrays, field);
  if (rows)
    memset(rows, 0xff, world->capacity * field->bytes);
}

static inline void far_spoil(far_memory *far, tl_field_set fields) {
  talus_world *world = far->world;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    if (fields & tl_field_bit(&tl_state_fields[i]))
      far_spoil_rows(world, &world->state, &tl_state_fields[i]);
  for (int i = 0; i < TL_PROPERTY_FIELD_COUNT; ++i)
    if (fields & tl_field_bit(&tl_property_fields[i]))
      far_spoil_rows(world, &world->model.property, &tl_property_fields[i]);
  if (fields & TL_THE(contacts))
    far_spoil_contacts(far);
  if (fields & TL_THE(joints))
    far_spoil_joints(far);
}

/* Everything that is fresh at home. Of what is fresh here, too, only what is at home is spoilt: who
 * has written it without asking has written in vain. */
static inline void far_take(far_memory *far) {
  talus_world *world = far->world;
  const tl_field_set both = world->where.away & ~world->where.stale;
  if (both & ~TL_THE(tables)) {
    world->where.stale |= both & ~TL_THE(tables);
    far_spoil(far, both);
  }
  const tl_field_set fresh = ~world->where.stale & TL_THE_WHOLE;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    if (fresh & tl_field_bit(&tl_state_fields[i]))
      far_keep_rows(world, &world->state, &tl_state_fields[i], &far->state[i]);
  for (int i = 0; i < TL_PROPERTY_FIELD_COUNT; ++i)
    if (fresh & tl_field_bit(&tl_property_fields[i]))
      far_keep_rows(world, &world->model.property, &tl_property_fields[i], &far->property[i]);
  if (fresh & TL_THE(contacts)) { /* with all that goes with them */
    CHECK((fresh & TL_THE_CONTACTS) == TL_THE_CONTACTS);
    far_keep_contacts(far);
  }
  if (fresh & TL_THE(joints))
    far_keep(&far->joints, world->joints.all.data,
             world->joints.all.count * sizeof *world->joints.all.data);
  far_spoil(far, fresh);
  far->taken++;
  tl_made_away(&world->where, fresh & ~TL_THE(tables));
  tl_copied(&world->where, TL_THE(tables));
}

static inline void far_bring_array(tl_any_array *to, const tl_any_array *from, size_t bytes) {
  CHECK(from->count <= to->capacity);
  to->count = from->count;
  if (from->count > 0)
    memcpy(to->data, from->data, from->count * bytes);
}

static inline void far_bring_rows(const void *arrays, const tl_field *field,
                                  const far_block *from) {
  if (from->bytes > 0)
    memcpy(tl_field_rows(arrays, field), from->data, from->bytes);
}

static inline void far_bring_contacts(far_memory *far) {
  tl_contacts *to = &far->world->contacts;
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    tl_any_array array = tl_contacts_array(to, &tl_contact_records[r]);
    const tl_any_array kept = tl_contacts_array(&far->contacts, &tl_contact_records[r]);
    far_bring_array(&array, &kept, tl_contact_records[r].bytes);
    tl_contacts_set_array(to, &tl_contact_records[r], array);
  }
  tl_any_array hits, kept;
  memcpy(&hits, &to->hits, sizeof hits);
  memcpy(&kept, &far->contacts.hits, sizeof kept);
  far_bring_array(&hits, &kept, sizeof(tl_hit));
  memcpy(&to->hits, &hits, sizeof hits);
}

static inline talus_status far_bring(void *context, tl_field_set *fields) {
  far_memory *far = context;
  talus_world *world = far->world;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    if (*fields & tl_field_bit(&tl_state_fields[i]))
      far_bring_rows(&world->state, &tl_state_fields[i], &far->state[i]);
  for (int i = 0; i < TL_PROPERTY_FIELD_COUNT; ++i)
    if (*fields & tl_field_bit(&tl_property_fields[i]))
      far_bring_rows(&world->model.property, &tl_property_fields[i], &far->property[i]);
  if (*fields & TL_THE_CONTACTS) {
    far_bring_contacts(far);
    *fields |= TL_THE_CONTACTS;
  }
  tl_joint *joints = world->joints.all.data;
  if (*fields & TL_THE(joints))
    for (size_t i = 0; i < far->joints.bytes / sizeof *joints; ++i)
      for (int f = 0; f < TL_JOINT_FIELD_COUNT; ++f) {
        const size_t at = tl_joint_fields[f].offset;
        memcpy((unsigned char *)&joints[i] + at, far->joints.data + i * sizeof *joints + at,
               tl_joint_fields[f].bytes);
      }
  far->brought++;
  return TALUS_OK;
}

/* What is written at home no longer counts here, and nothing else does not. Contacts are a whole.
 */
static inline tl_field_set far_written(void *context, tl_field_set fields) {
  (void)context;
  return fields & TL_THE_CONTACTS ? fields | TL_THE_CONTACTS : fields;
}

static inline void far_let_go(void *context) { (void)context; }

static inline void far_end(void *context) {
  far_memory *far = context;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    free(far->state[i].data);
  for (int i = 0; i < TL_PROPERTY_FIELD_COUNT; ++i)
    free(far->property[i].data);
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r)
    free(tl_contacts_array(&far->contacts, &tl_contact_records[r]).data);
  free(far->contacts.hits.data);
  free(far->joints.data);
  *far = (far_memory){.is_ended = true};
}

/* A stage has written rows at home: in the middle of a step they are gone. */
static inline void far_hear(void *watcher, tl_field_set fields, bool at_home) {
  (void)fields;
  if (at_home)
    far_take(watcher);
}

static inline void far_begin(far_memory *far, talus_world *world) {
  static const tl_holder holder = {"far memory", far_bring, far_written, far_let_go, far_end};
  *far = (far_memory){.world = world};
  tl_hold(&world->where, &holder, far);
  world->where.told = far_hear;
  world->where.watcher = far;
  far_take(far);
}

#endif
