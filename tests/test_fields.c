/* The lists of crowd/fields.h: every field is seen in every use that its flags name.
 *
 * The tests walk the lists, so that a line that is added there is tested here. */
#include "check.h"
#include "contact/history.h"
#include "output/checkpoint.h"
#include "output_fixture.h"
#include "world/world.h"

/* Bytes that tell which row, list and field they are of; never all zero. */
static unsigned char pattern(size_t row, int list, int field, size_t byte) {
  return (unsigned char)(1 + (row * 131 + (size_t)list * 37 + (size_t)field * 11 + byte * 3) % 251);
}

static void fill(void *to, size_t size, size_t row, int list, int field) {
  for (size_t k = 0; k < size; ++k)
    ((unsigned char *)to)[k] = pattern(row, list, field, k);
}

static bool is_filled(const void *data, size_t size, size_t row, int list, int field) {
  for (size_t k = 0; k < size; ++k)
    if (((const unsigned char *)data)[k] != pattern(row, list, field, k))
      return false;
  return true;
}

static bool is_zero(const void *data, size_t size) {
  for (size_t k = 0; k < size; ++k)
    if (((const unsigned char *)data)[k] != 0)
      return false;
  return true;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void check_rows(const void *arrays, const tl_field *fields, int n) {
  for (int f = 0; f < n; ++f) {
    const unsigned char *rows = tl_field_rows(arrays, &fields[f]);
    CHECK_MSG(is_filled(rows, fields[f].bytes, 0, 0, f) &&
                  is_filled(rows + fields[f].bytes, fields[f].bytes, 2, 0, f) &&
                  is_zero(rows + 4 * fields[f].bytes, fields[f].bytes),
              "%s", fields[f].name);
  }
}

static void grow_and_move(void *arrays, const tl_field *fields, int n) {
  for (int f = 0; f < n; ++f)
    CHECK_OK(tl_field_wake(arrays, &fields[f], 3));
  for (int f = 0; f < n; ++f)
    for (size_t row = 0; row < 3; ++row)
      fill(tl_field_rows(arrays, &fields[f]) + row * fields[f].bytes, fields[f].bytes, row, 0, f);
  CHECK_OK(tl_fields_resize(arrays, fields, n, 3, 5));
  tl_fields_move(arrays, fields, n, 1, 2);
  check_rows(arrays, fields, n);
  CHECK_OK(tl_fields_resize(arrays, fields, n, 5, 0));
}

TEST(every_field_of_bodies_grows_and_moves) {
  tl_state state = {0};
  tl_properties property = {0};
  grow_and_move(&state, tl_state_fields, TL_STATE_FIELD_COUNT);
  grow_and_move(&property, tl_property_fields, TL_PROPERTY_FIELD_COUNT);
}

TEST(every_field_of_bodies_is_hashed_as_its_flags_say) {
  rich r = make_rich();
  talus_world *world = r.world;
  for (int f = 0; f < TL_STATE_FIELD_COUNT; ++f) {
    const tl_field *field = &tl_state_fields[f];
    CHECK_OK(tl_field_wake(&world->state, field, world->capacity));
    const uint64_t hash = talus_world_hash(world);
    tl_field_rows(&world->state, field)[3 * field->bytes] ^= 1;
    CHECK_MSG((talus_world_hash(world) != hash) == ((field->flags & TL_HASHED) != 0), "%s",
              field->name);
  }
  talus_world_destroy(world);
}

static int count_shown(const void *arrays, const tl_field *fields, int n, const talus_view *view) {
  for (int f = 0; f < n; ++f)
    if (tl_field_rows(arrays, &fields[f]) == view->data) {
      CHECK_MSG(fields[f].flags & TL_VISIBLE, "%s", fields[f].name);
      CHECK(view->columns == fields[f].columns && (int)view->scalar == fields[f].scalar);
      return 1;
    }
  return 0;
}

TEST(every_field_of_bodies_can_be_mapped_as_its_flags_say) {
  rich r = make_rich();
  talus_world *world = r.world;
  int visible = 0;
  for (int f = 0; f < TL_STATE_FIELD_COUNT; ++f)
    visible += (tl_state_fields[f].flags & TL_VISIBLE) != 0;
  for (int f = 0; f < TL_PROPERTY_FIELD_COUNT; ++f)
    visible += (tl_property_fields[f].flags & TL_VISIBLE) != 0;
  CHECK_EQ_U64(visible, TALUS_FIELDS);
  for (int f = 0; f < TALUS_FIELDS; ++f) {
    talus_view view;
    CHECK_OK(talus_view_map(world, (talus_field)f, TALUS_READ, &view));
    CHECK(count_shown(&world->state, tl_state_fields, TL_STATE_FIELD_COUNT, &view) +
              count_shown(&world->model.property, tl_property_fields, TL_PROPERTY_FIELD_COUNT,
                          &view) ==
          1);
    CHECK_OK(talus_view_unmap(world, &view));
  }
  talus_world_destroy(world);
}

/* ---- contacts -------------------------------------------------------------------------------- */

enum { CONTACTS = 6 };

static unsigned char *cell(const tl_contacts *set, int record, int field, size_t row) {
  const tl_record *r = &tl_contact_records[record];
  return (unsigned char *)tl_contacts_array(set, r).data + row * r->bytes + r->fields[field].offset;
}

static bool is_key(int record, int field) {
  return record == 0 &&
         tl_contact_records[record].fields[field].offset <= offsetof(tl_contact, feature_b);
}

/* Contacts of body 0 with others, `step` slots apart, every field of every record filled. */
static tl_contacts full_set(uint32_t step) {
  tl_contacts set = {0};
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    tl_any_array array = {0};
    CHECK_OK(tl_array_set_count(&array.data, &array.count, &array.capacity, CONTACTS,
                                tl_contact_records[r].bytes));
    memset(array.data, 0, CONTACTS * tl_contact_records[r].bytes);
    tl_contacts_set_array(&set, &tl_contact_records[r], array);
    for (int f = 0; f < tl_contact_records[r].count; ++f)
      for (size_t i = 0; i < CONTACTS; ++i)
        fill(cell(&set, r, f, i), tl_contact_records[r].fields[f].bytes, step * i, r, f);
  }
  for (size_t i = 0; i < CONTACTS; ++i) {
    set.data[i].a = 0, set.data[i].b = (uint32_t)(1 + step * i);
    set.data[i].feature_a = set.data[i].feature_b = 0;
  }
  return set;
}

TEST(every_field_of_contacts_follows_its_contact_when_others_go) {
  tl_contacts set = full_set(1);
  uint32_t new_slot[CONTACTS + 1] = {0};
  for (uint32_t i = 1, next = 1; i <= CONTACTS; ++i)
    new_slot[i] = i % 3 == 1 ? TL_NONE : next++;
  for (uint32_t i = 0; i < CONTACTS; i += 2) {
    const tl_hit hit = {i, {TL_R(i), 0, 0}};
    CHECK_OK(tl_array_push(&set.hits, hit));
  }
  tl_contacts_renumber(&set, new_slot);
  static const size_t kept[] = {1, 2, 4, 5};
  CHECK_EQ_U64(set.hits.count, 2);
  for (size_t i = 0; i < 2; ++i) /* 0, 2, 4 were hit */
    CHECK(set.hits.data[i].contact == 1 + i && set.hits.data[i].impulse.x == TL_R(2 + 2 * i));
  CHECK_EQ_U64(set.count, 4);
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    CHECK_EQ_U64(tl_contacts_array(&set, &tl_contact_records[r]).count, 4);
    for (int f = 0; f < tl_contact_records[r].count; ++f)
      for (size_t i = 0; i < 4 && !is_key(r, f); ++i)
        CHECK_MSG(
            is_filled(cell(&set, r, f, i), tl_contact_records[r].fields[f].bytes, kept[i], r, f),
            "%s/%s", tl_contact_records[r].name, tl_contact_records[r].fields[f].name);
  }
  tl_contacts_clear(&set);
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r)
    CHECK_EQ_U64(tl_contacts_array(&set, &tl_contact_records[r]).count, 0);
  tl_contacts_release(&set);
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r)
    CHECK(tl_contacts_array(&set, &tl_contact_records[r]).data == NULL);
  CHECK(set.hits.data == NULL);
}

/* Whether `at` is the field `from`, times `ratio` where it is an impulse. */
static bool is_carried(const unsigned char *at, const unsigned char *from, const tl_field *field,
                       talus_real ratio) {
  if (!(field->flags & TL_IMPULSE))
    return memcmp(at, from, field->bytes) == 0;
  bool same = true;
  for (size_t k = 0; k < field->bytes; k += sizeof(talus_real)) {
    talus_real x;
    memcpy(&x, from + k, sizeof x);
    x *= ratio;
    same &= memcmp(at + k, &x, sizeof x) == 0;
  }
  return same;
}

/* Contact i of `after` has the key of 2 i before where i is even, and a new one where it is odd. */
static void check_carried(const tl_contacts *before, const tl_contacts *after, int r, int f,
                          talus_real ratio) {
  const tl_record *record = &tl_contact_records[r];
  const tl_field *field = &record->fields[f];
  const bool carried = field->flags & TL_CARRIED;
  if (is_key(r, f) || tl_contacts_array(after, record).count == 0)
    return;
  for (size_t i = 0; i < CONTACTS; ++i) {
    const unsigned char *at = cell(after, r, f, i);
    const size_t from = i / 2;
    const bool same = i % 2 == 0 && from < CONTACTS;
    if (carried && same)
      CHECK_MSG(is_carried(at, cell(before, r, f, from), field, ratio), "%s/%s", record->name,
                field->name);
    else if (carried || r > 0)
      CHECK_MSG(is_zero(at, field->bytes), "%s/%s", record->name, field->name);
    else
      CHECK_MSG(is_filled(at, field->bytes, i, r, f), "%s/%s", record->name, field->name);
  }
}

/* From a step of length dt_before to one of length dt. */
static void check_all_carried(double dt_before, double dt) {
  tl_contacts before = full_set(2), after = full_set(1), same = full_set(2);
  const talus_real ratio = dt_before > 0 ? (talus_real)(dt / dt_before) : 1;
  before.dt = dt_before;
  after.dt = dt;
  const tl_model model = {.law_kinds = TL_LAW_STATIC | TL_LAW_ROLLING,
                          .solve = {.kind = TALUS_SOLVE_PENALTY},
                          .par = {.threads = 1}};
  tl_history_carry(&model, &before, &after, 0);
  CHECK_OK(tl_history_lay(&model, &before, &after));
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    bool any = r == 0;
    for (int f = 0; f < tl_contact_records[r].count; ++f) {
      any |= (tl_contact_records[r].fields[f].flags & TL_CARRIED) != 0;
      check_carried(&before, &after, r, f, ratio);
    }
    /* What nothing is carried of is laid by who makes it. */
    CHECK_EQ_U64(tl_contacts_array(&after, &tl_contact_records[r]).count, any ? CONTACTS : 0);
    CHECK(memcmp(tl_contacts_array(&before, &tl_contact_records[r]).data,
                 tl_contacts_array(&same, &tl_contact_records[r]).data,
                 CONTACTS * tl_contact_records[r].bytes) == 0);
  }
  tl_contacts_release(&before);
  tl_contacts_release(&after);
  tl_contacts_release(&same);
}

TEST(every_field_of_contacts_is_carried_as_its_flags_say) {
  check_all_carried(0, 1e-3);
  check_all_carried(1e-3, 1e-3);
}

TEST(impulses_are_carried_in_the_ratio_of_the_steps) {
  check_all_carried(1e-3, 0.5e-3);
  check_all_carried(1e-3, 0.7e-3);
}

TEST(contacts_have_no_records_that_the_model_does_not_need) {
  tl_contacts before = full_set(1), after = full_set(1);
  const tl_model model = {.par = {.threads = 1}};
  CHECK_OK(tl_history_lay(&model, &before, &after));
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r)
    CHECK_EQ_U64(tl_contacts_array(&after, &tl_contact_records[r]).count, r == 0 ? CONTACTS : 0);
  tl_contacts_release(&before);
  tl_contacts_release(&after);
}

/* ---- files ----------------------------------------------------------------------------------- */

#if TALUS_HAVE_HDF5

/* Finite numbers, small whole ones and truths, as the scalar is. */
static void fill_scalars(unsigned char *to, const tl_field *field, size_t row) {
  for (int k = 0; k < field->columns; ++k) {
    const size_t value = (row * 3 + (size_t)k) % 7 + 1;
    const double d = 0.125 * (double)value;
    const float s = (float)d;
    const uint32_t u = (uint32_t)value;
    const uint64_t w = value;
    if (field->scalar == TALUS_FLOAT64)
      memcpy(to + (size_t)k * sizeof d, &d, sizeof d);
    else if (field->scalar == TALUS_FLOAT32)
      memcpy(to + (size_t)k * sizeof s, &s, sizeof s);
    else if (field->scalar == TALUS_UINT32)
      memcpy(to + (size_t)k * sizeof u, &u, sizeof u);
    else if (field->scalar == TALUS_UINT64)
      memcpy(to + (size_t)k * sizeof w, &w, sizeof w);
    else
      to[k] = row % 2 == 0;
  }
}

/* Balls of springs in a tank with contacts that have everything, whatever their model. */
static talus_world *full_world(void) {
  rich r = make_rich();
  talus_world *world = r.world;
  age(&r);
  CHECK(world->contacts.count > 3);
  world->model.solve.kind = TALUS_SOLVE_PENALTY;
  world->joints.all.count = 0;
  world->contacts.hits.count = 0;
  for (int f = 0; f < TL_STATE_FIELD_COUNT; ++f) {
    const tl_field *field = &tl_state_fields[f];
    CHECK_OK(tl_field_wake(&world->state, field, world->capacity));
    if (field->flags & TL_LAZY)
      for (size_t i = 0; i < world->model.bodies; ++i)
        fill_scalars(tl_field_rows(&world->state, field) + i * field->bytes, field, i);
  }
  for (int rec = 0; rec < TL_CONTACT_RECORD_COUNT; ++rec) {
    const tl_record *record = &tl_contact_records[rec];
    tl_any_array array = tl_contacts_array(&world->contacts, record);
    CHECK_OK(tl_array_set_count(&array.data, &array.count, &array.capacity, world->contacts.count,
                                record->bytes));
    tl_contacts_set_array(&world->contacts, record, array);
    for (int f = 0; f < record->count; ++f)
      for (size_t i = 0; i < world->contacts.count && !is_key(rec, f); ++i)
        fill_scalars(cell(&world->contacts, rec, f, i), &record->fields[f], i);
  }
  return world;
}

static void check_fields(const void *x, const void *y, const tl_field *fields, int n,
                         size_t bodies) {
  for (int f = 0; f < n; ++f) {
    const unsigned char *saved = tl_field_rows(x, &fields[f]),
                        *loaded = tl_field_rows(y, &fields[f]);
    if ((fields[f].flags & TL_SAVED) && saved)
      CHECK_MSG(loaded && memcmp(saved, loaded, bodies * fields[f].bytes) == 0, "%s",
                fields[f].name);
  }
}

TEST(every_field_is_in_a_checkpoint_as_its_flags_say) {
  talus_world *world = full_world(), *loaded;
  for (uint32_t i = 1; i < world->contacts.count; i += 2) {
    const tl_hit hit = {i, {0, TL_R(i), 1}};
    CHECK_OK(tl_array_push(&world->contacts.hits, hit));
  }
  CHECK_OK(talus_world_save(world, "fields.hdf"));
  CHECK_OK(talus_world_load("fields.hdf", &loaded));
  const size_t bodies = world->model.bodies;
  CHECK_EQ_U64(loaded->contacts.hits.count, world->contacts.hits.count);
  for (size_t i = 0; i < world->contacts.count; ++i) {
    const talus_vec3 p = tl_contacts_impulse(&world->contacts, i);
    const talus_vec3 q = tl_contacts_impulse(&loaded->contacts, i);
    CHECK(memcmp(&p, &q, sizeof p) == 0);
  }
  check_fields(&world->state, &loaded->state, tl_state_fields, TL_STATE_FIELD_COUNT, bodies);
  check_fields(&world->model.property, &loaded->model.property, tl_property_fields,
               TL_PROPERTY_FIELD_COUNT, bodies);
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    const tl_record *record = &tl_contact_records[r];
    CHECK_EQ_U64(tl_contacts_array(&loaded->contacts, record).count, world->contacts.count);
    for (int f = 0; f < record->count; ++f)
      for (size_t i = 0; i < world->contacts.count; ++i) {
        const size_t size = record->fields[f].bytes;
        const unsigned char *got = cell(&loaded->contacts, r, f, i);
        CHECK_MSG(record->fields[f].flags & TL_SAVED
                      ? memcmp(got, cell(&world->contacts, r, f, i), size) == 0
                      : is_zero(got, size),
                  "%s/%s", record->name, record->fields[f].name);
      }
  }
  talus_world_destroy(world);
  talus_world_destroy(loaded);
}

TEST(every_field_of_contacts_is_in_contact_files_as_its_flags_say) {
  talus_world *world = full_world();
  CHECK_OK(talus_world_write_contacts(world, "fields-contacts.hdf"));
  const bytes file = read_bytes("fields-contacts.hdf");
  tl_h5_in in;
  CHECK_OK(tl_h5_open(&in, "fields-contacts.hdf", file.size));
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r)
    for (int f = 0; f < tl_contact_records[r].count; ++f) {
      const tl_field *field = &tl_contact_records[r].fields[f];
      char name[96];
      bool is_there;
      snprintf(name, sizeof name, "contacts/%s", field->name);
      CHECK_OK(tl_h5_has(&in, name, &is_there));
      if (field->flags & TL_VISIBLE)
        CHECK_MSG(is_there, "%s", name);
      else if (!is_key(r, f) && strcmp(field->name, "impulse") != 0) /* part of the other */
        CHECK_MSG(!is_there, "%s", name);
    }
  tl_h5_close(&in);
  free(file.data);
  talus_world_destroy(world);
}

#endif

/* ---- joints ---------------------------------------------------------------------------------- */

TEST(every_field_of_joints_goes_into_a_step_and_comes_out_of_it) {
  tl_joints joints = {.apart_stale = true};
  CHECK_OK(tl_array_resize(&joints.all, 2));
  memset(joints.all.data, 0, 2 * sizeof *joints.all.data);
  for (int f = 0; f < TL_JOINT_FIELD_COUNT; ++f)
    for (size_t i = 0; i < 2; ++i)
      fill((unsigned char *)&joints.all.data[i] + tl_joint_fields[f].offset,
           tl_joint_fields[f].bytes, i, 0, f);
  for (size_t i = 0; i < 2; ++i)
    joints.all.data[i].broken = i == 1;
  CHECK_OK(tl_joints_prepare(&joints));
  tl_joints_begin(&joints, 1e-3, joints.after.data);
  tl_joint before[2];
  memcpy(before, joints.all.data, sizeof before);
  for (int f = 0; f < TL_JOINT_FIELD_COUNT; ++f)
    for (size_t i = 0; i < 2; ++i)
      memset((unsigned char *)&joints.all.data[i] + tl_joint_fields[f].offset, 0,
             tl_joint_fields[f].bytes);
  tl_joints_take(&joints, 1e-3);
  for (int f = 0; f < TL_JOINT_FIELD_COUNT; ++f)
    for (size_t i = 0; i < 2; ++i)
      CHECK_MSG(memcmp((unsigned char *)&joints.all.data[i] + tl_joint_fields[f].offset,
                       (unsigned char *)&before[i] + tl_joint_fields[f].offset,
                       tl_joint_fields[f].bytes) == 0,
                "%s", tl_joint_fields[f].name);
  tl_joints_begin(&joints, 0.5e-3, joints.after.data);
  for (size_t i = 0; i < 2; ++i) {
    talus_real half[TL_JOINT_ROWS];
    for (int r = 0; r < TL_JOINT_ROWS; ++r)
      half[r] = before[i].impulse[r] * (talus_real)0.5;
    CHECK(memcmp(half, joints.after.data[i].impulse, sizeof half) == 0);
  }
  tl_joints_free(&joints);
}

#if TALUS_HAVE_HDF5

TEST(every_field_of_joints_is_in_a_checkpoint) {
  talus_world_def def = talus_world_def_default();
  talus_world *world, *loaded;
  CHECK_OK(talus_world_create(&def, &world));
  talus_shape ball = add_shape(world, "ball", TALUS_SPHERE, 0.1, 0, 0, 0, 0);
  talus_material rock = add_material(world, "rock", 0.5, 0);
  talus_joint_def joint = talus_joint_def_default();
  talus_body_def body = place(TALUS_FREE, ball, rock, 0, 0, 0);
  for (int i = 0; i < 2; ++i) {
    body.position.x = i;
    CHECK_OK(talus_world_add_body(world, &body, &joint.a));
    joint.at.x = joint.to.x = i;
    CHECK_OK(talus_world_add_joint(world, &joint, NULL));
  }
  for (int f = 0; f < TL_JOINT_FIELD_COUNT; ++f)
    for (size_t i = 0; i < 2; ++i)
      fill_scalars((unsigned char *)&world->joints.all.data[i] + tl_joint_fields[f].offset,
                   &tl_joint_fields[f], i);
  CHECK_OK(talus_world_save(world, "joints.hdf"));
  CHECK_OK(talus_world_load("joints.hdf", &loaded));
  for (int f = 0; f < TL_JOINT_FIELD_COUNT; ++f)
    for (size_t i = 0; i < 2; ++i)
      CHECK_MSG(memcmp((unsigned char *)&world->joints.all.data[i] + tl_joint_fields[f].offset,
                       (unsigned char *)&loaded->joints.all.data[i] + tl_joint_fields[f].offset,
                       tl_joint_fields[f].bytes) == 0,
                "%s", tl_joint_fields[f].name);
  talus_world_destroy(world);
  talus_world_destroy(loaded);
}

#endif

TEST_MAIN()
