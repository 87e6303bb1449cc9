/* A new field is one line: this program is linked with a build of the library that has a field more
 * in each list of crowd/fields.h (TALUS_EXTRA_FIELDS), and sees them in every use. */
#include "physics/rig.h"
#include "output/h5.h"
#include "step/gathered.h"
#include "world/world.h"

#include <sys/stat.h>

#define BODIES 24

/* Numbers that tell the body, by its permanent uid, and the field. */
static uint32_t mark_of(uint64_t uid) { return (uint32_t)(1000 + uid); }
static talus_vec3 lazy_of(uint64_t uid) { return rig_vec((double)uid, 0.5, -1); }
static double passing_of(uint64_t uid) { return 0.25 * (double)uid; }
static uint64_t code_of(uint64_t uid) { return 77 * uid; }
static double unsaved_of(uint64_t uid) { return -3.0 * (double)uid; }

static const tl_field *lazy_field(void) {
  for (int f = 0; f < TL_STATE_FIELD_COUNT; ++f)
    if (strcmp(tl_state_fields[f].name, "extra_lazy") == 0)
      return &tl_state_fields[f];
  return NULL;
}

static void fill_body(talus_world *world, size_t slot) {
  const uint64_t uid = world->model.property.uid[slot];
  world->state.extra_mark[slot] = mark_of(uid);
  world->state.extra_lazy[slot] = lazy_of(uid);
  world->state.extra_passing[slot] = passing_of(uid);
  world->model.property.extra_code[slot] = code_of(uid);
  world->model.property.extra_unsaved[slot] = unsaved_of(uid);
}

/* Whether a row has the numbers of its body; of a body that was loaded those that are saved. */
static void check_body(const tl_state *state, const tl_properties *property, size_t row,
                       bool is_loaded) {
  const uint64_t uid = property->uid[row];
  const talus_vec3 lazy = lazy_of(uid);
  CHECK_EQ_U64(state->extra_mark[row], mark_of(uid));
  CHECK(memcmp(&state->extra_lazy[row], &lazy, sizeof lazy) == 0);
  CHECK(state->extra_passing[row] == (is_loaded ? 0 : passing_of(uid)));
  CHECK_EQ_U64(property->extra_code[row], code_of(uid));
  CHECK(property->extra_unsaved[row] == (is_loaded ? 0 : unsaved_of(uid)));
}

static void check_bodies(const talus_world *world, bool is_loaded) {
  for (size_t i = 0; i < world->model.bodies; ++i)
    check_body(&world->state, &world->model.property, i, is_loaded);
}

/* Boxes and balls with rolling resistance on a floor, two of them joined. */
static talus_world *make(talus_solve_kind kind) {
  talus_world_def def = talus_world_def_default();
  def.threads = 1;
  def.dt = kind == TALUS_SOLVE_PENALTY ? 1e-4 : 2e-3;
  def.solve.kind = kind;
  talus_world *world = rig_world(&def);
  talus_material_def rough = talus_material_def_default();
  rough.rolling = 0.005, rough.static_friction = 0.8;
  talus_material m;
  CHECK_OK(talus_world_add_material(world, &rough, &m));
  const talus_shape box = rig_shape(world, TALUS_BOX, 0.2, 0.2, 0.2, 0);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  rig_floor(world, m);
  CHECK_OK(tl_field_wake(&world->state, lazy_field(), world->capacity));
  talus_body last = {0}, body = {0};
  for (int i = 0; i < BODIES; ++i) {
    last = body;
    body = rig_body(world, TALUS_FREE, i % 2 ? ball : box, m, 0.3 * (i % 6), 0.3 * (i / 6), 0.1);
  }
  if (kind != TALUS_SOLVE_PENALTY) {
    talus_joint_def joint = talus_joint_def_default();
    joint.a = last, joint.b = body;
    joint.at = joint.to = rig_info(world, body).position;
    CHECK_OK(talus_world_add_joint(world, &joint, NULL));
  }
  for (size_t i = 0; i < world->model.bodies; ++i)
    fill_body(world, i);
  return world;
}

TEST(fields_of_bodies_grow_and_close_up) {
  talus_world *world = make(TALUS_SOLVE_CCP);
  talus_body gone[3];
  for (size_t i = 0; i < 3; ++i)
    CHECK_OK(talus_world_body_at(world, 2 + 3 * i, &gone[i]));
  for (size_t i = 0; i < 3; ++i)
    CHECK_OK(talus_world_remove_body(world, gone[i]));
  check_bodies(world, false);
  const size_t before = world->model.bodies;
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  const talus_material m = rig_material(world, 0.5, 0);
  for (int i = 0; i < 500; ++i)
    rig_body(world, TALUS_FREE, ball, m, 10 + i, 0, 0.1);
  for (size_t i = before; i < world->model.bodies; ++i) {
    CHECK(world->state.extra_mark[i] == 0 && world->state.extra_passing[i] == 0 &&
          world->state.extra_lazy[i].x == 0 && world->model.property.extra_code[i] == 0);
    fill_body(world, i);
  }
  check_bodies(world, false);
  talus_world_destroy(world);
}

TEST(fields_of_bodies_are_hashed_as_their_flags_say) {
  talus_world *world = make(TALUS_SOLVE_CCP);
  uint64_t hash = talus_world_hash(world);
  world->state.extra_passing[3] += 1, world->model.property.extra_code[3] += 1;
  CHECK(talus_world_hash(world) == hash);
  world->state.extra_mark[3] += 1;
  CHECK(talus_world_hash(world) != hash);
  hash = talus_world_hash(world);
  world->state.extra_lazy[3].y += 1;
  CHECK(talus_world_hash(world) != hash);
  talus_world_destroy(world);
}

/* A lazy field that is not in use is 0. */
TEST(a_lazy_field_is_hashed_as_zeros_before_it_is_in_use) {
  talus_world_def def = talus_world_def_default();
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 0, 0, 1);
  CHECK(!world->state.extra_lazy);
  const uint64_t hash = talus_world_hash(world);
  CHECK_OK(tl_field_wake(&world->state, lazy_field(), world->capacity));
  CHECK(talus_world_hash(world) == hash);
  talus_world_destroy(world);
}

TEST(fields_stay_with_their_bodies_in_steps) {
  static const talus_solve_kind kinds[] = {TALUS_SOLVE_CCP, TALUS_SOLVE_IMPULSE,
                                           TALUS_SOLVE_PENALTY};
  for (size_t k = 0; k < 3; ++k) {
    talus_world *world = make(kinds[k]);
    CHECK_OK(talus_world_step(world, 5));
    check_bodies(world, false);
    talus_world_destroy(world);
  }
}

TEST(fields_are_gathered_stepped_and_scattered) {
  static const talus_solve_kind kinds[] = {TALUS_SOLVE_CCP, TALUS_SOLVE_IMPULSE,
                                           TALUS_SOLVE_PENALTY};
  for (size_t k = 0; k < 3; ++k) {
    talus_world *world = make(kinds[k]);
    world->penalty.is_general = true;
    CHECK_OK(talus_world_step(world, 3));
    if (world->joints.all.count > 0)
      world->joints.all.data[0].extra_wear = 5;
    const tl_gathered_source source = {&world->model, &world->state, &world->contacts,
                                       &world->joints, &world->penalty};
    uint32_t slots[BODIES + 1];
    size_t n = 0;
    for (uint32_t i = 0; i < world->model.bodies; ++i)
      if (i % 3 != 1)
        slots[n++] = i;
    tl_gathered crowd = {0};
    CHECK_OK(tl_gather(&crowd, &source, slots, n));
    for (int step = 0; step < 3; ++step) {
      tl_step_report report;
      const double dt = world->model.dt;
      CHECK_OK(tl_gathered_step(&crowd, world->backend, 0, dt, dt, &report));
      for (size_t row = 0; row < n; ++row) {
        check_body(&crowd.before, &crowd.model.property, row, false);
        check_body(&crowd.after, &crowd.model.property, row, false);
      }
      tl_gathered_swap(&crowd);
    }
    tl_gathered_scatter(&crowd, &world->state, &world->joints);
    check_bodies(world, false);
    for (size_t i = 0; i < world->joints.all.count; ++i)
      CHECK(world->joints.all.data[i].extra_wear == 5);
    tl_gathered_free(&crowd);
    talus_world_destroy(world);
  }
}

static uint32_t age_of(const tl_contact *c) { return 10 + c->a + 100 * c->b + 7 * c->feature_b; }

static void fill_contacts(talus_world *world) {
  CHECK(world->contacts.count > BODIES && tl_contacts_have_law_states(&world->contacts));
  for (size_t i = 0; i < world->contacts.count; ++i) {
    tl_law_state *state = &world->contacts.law_states.data[i];
    state->extra_age = age_of(&world->contacts.data[i]);
    state->extra_push = rig_vec(state->extra_age, 1, 2);
    state->extra_guess = 9;
  }
}

/* share: length of the step over that of the last one. */
static void check_contacts(const tl_contacts *set, double share) {
  size_t carried = 0;
  for (size_t i = 0; i < set->count; ++i) {
    const tl_law_state *state = &set->law_states.data[i];
    const uint32_t age = age_of(&set->data[i]);
    CHECK(state->extra_guess == 0);
    if (state->extra_age == 0) /* a contact that is new */
      continue;
    carried++;
    CHECK_EQ_U64(state->extra_age, age);
    CHECK(state->extra_push.x == (talus_real)(age * share) &&
          state->extra_push.z == (talus_real)(2 * share));
  }
  CHECK(2 * carried > set->count);
}

TEST(fields_of_contacts_are_carried_as_their_flags_say) {
  static const talus_solve_kind kinds[] = {TALUS_SOLVE_CCP, TALUS_SOLVE_IMPULSE};
  for (size_t k = 0; k < 2; ++k) {
    talus_world *world = make(kinds[k]);
    CHECK_OK(talus_world_step(world, 100));
    fill_contacts(world);
    CHECK_OK(talus_world_step(world, 1));
    check_contacts(&world->contacts, 1);
    fill_contacts(world);
    const tl_gathered_source source = {&world->model, &world->state, &world->contacts,
                                       &world->joints, NULL};
    uint32_t slots[BODIES + 1];
    for (uint32_t i = 0; i <= BODIES; ++i)
      slots[i] = i;
    tl_gathered crowd = {0};
    tl_step_report report;
    CHECK_OK(tl_gather(&crowd, &source, slots, BODIES + 1));
    const double dt = 0.5 * world->model.dt;
    CHECK_OK(tl_gathered_step(&crowd, world->backend, 0, dt, dt, &report));
    check_contacts(&crowd.contacts_after, 0.5);
    tl_gathered_free(&crowd);
    talus_world_destroy(world);
  }
}

TEST(fields_of_contacts_are_in_files_as_their_flags_say) {
  talus_world *world = make(TALUS_SOLVE_CCP);
  CHECK_OK(talus_world_step(world, 100));
  fill_contacts(world);
  CHECK_OK(talus_world_write_contacts(world, "contacts.hdf"));
  struct stat about;
  CHECK(stat("contacts.hdf", &about) == 0);
  tl_h5_in in;
  bool is_there;
  uint32_t *ages = malloc(world->contacts.count * sizeof *ages);
  CHECK(ages);
  CHECK_OK(tl_h5_open(&in, "contacts.hdf", (uint64_t)about.st_size));
  CHECK_OK(tl_h5_read(&in, "contacts/extra_age", TL_H5_U32, world->contacts.count, 1, ages));
  for (size_t i = 0; i < world->contacts.count; ++i)
    CHECK_EQ_U64(ages[i], age_of(&world->contacts.data[i]));
  CHECK_OK(tl_h5_has(&in, "contacts/extra_push", &is_there));
  CHECK(!is_there);
  CHECK_OK(tl_h5_has(&in, "contacts/extra_guess", &is_there));
  CHECK(!is_there);
  tl_h5_close(&in);
  free(ages);
  talus_world_destroy(world);
}

TEST(fields_are_in_checkpoints_as_their_flags_say) {
  talus_world *world = make(TALUS_SOLVE_CCP), *loaded;
  CHECK_OK(talus_world_step(world, 100));
  fill_contacts(world);
  world->joints.all.data[0].extra_wear = 12.5;
  CHECK_OK(talus_world_save(world, "extra.hdf"));
  CHECK_OK(talus_world_load("extra.hdf", &loaded));
  CHECK_EQ_U64(loaded->model.bodies, world->model.bodies);
  check_bodies(loaded, true);
  CHECK_EQ_U64(loaded->contacts.count, world->contacts.count);
  for (size_t i = 0; i < world->contacts.count; ++i) {
    const tl_law_state *mine = &world->contacts.law_states.data[i],
                       *its = &loaded->contacts.law_states.data[i];
    CHECK(its->extra_age == mine->extra_age && its->extra_push.x == mine->extra_push.x &&
          its->extra_guess == 0);
  }
  CHECK(loaded->joints.all.data[0].extra_wear == 12.5);
  CHECK(talus_world_hash(loaded) == talus_world_hash(world));
  talus_world_destroy(world);
  talus_world_destroy(loaded);
}

TEST(fields_of_joints_stay_in_steps) {
  talus_world *world = make(TALUS_SOLVE_CCP);
  world->joints.all.data[0].extra_wear = 3;
  CHECK_OK(talus_world_step(world, 10));
  CHECK(world->joints.all.data[0].extra_wear == 3);
  talus_world_destroy(world);
}

/* Who keeps rows elsewhere knows every field by a bit of its own. */
TEST(fields_have_bits_of_their_own) {
  const tl_field_set set = TL_THE(extra_mark) | TL_THE(extra_lazy) | TL_THE(extra_passing) |
                           TL_THE(extra_code) | TL_THE(extra_unsaved);
  CHECK(__builtin_popcountll(set) == 5 && (set & ~TL_THE_BODIES) == 0);
  CHECK((tl_fields_with(TL_GHOST) & set) ==
        (TL_THE(extra_mark) | TL_THE(extra_code) | TL_THE(extra_unsaved)));
  CHECK((tl_fields_with(TL_STEPPED | TL_DEVICE) & set) == 0);
}

TEST_MAIN()
