/* Contacts from step to step: the last set is read, another one is written. */
#include "contact/history.h"
#include "check.h"
#include "penalty_heap.h"
#include "world/world.h"

/* ---- one step -------------------------------------------------------------------------------- */

static talus_world_def solver(int which) {
  talus_world_def def = talus_world_def_default();
  def.dt = 1e-3;
  def.threads = 1;
  if (which < 4)
    def.solve.method = (talus_ccp_method)which;
  else if (which == 4)
    def.solve.kind = TALUS_SOLVE_IMPULSE;
  else
    def = springs(TALUS_HERTZ, 1e-4, 1);
  return def;
}

static tl_contacts copy_of(const tl_contacts *set) {
  tl_contacts copy = {0};
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    const tl_record *record = &tl_contact_records[r];
    const tl_any_array from = tl_contacts_array(set, record);
    tl_any_array to = {0};
    CHECK_OK(tl_array_set_count(&to.data, &to.count, &to.capacity, from.count, record->bytes));
    if (from.count > 0)
      memcpy(to.data, from.data, from.count * record->bytes);
    tl_contacts_set_array(&copy, record, to);
  }
  return copy;
}

static void check_same(const tl_contacts *x, const tl_contacts *y) {
  for (int r = 0; r < TL_CONTACT_RECORD_COUNT; ++r) {
    const tl_record *record = &tl_contact_records[r];
    const tl_any_array a = tl_contacts_array(x, record), b = tl_contacts_array(y, record);
    CHECK_MSG(a.count == b.count, "%s: %zu and %zu", record->name, a.count, b.count);
    for (size_t i = 0; i < a.count; ++i)
      for (int f = 0; f < record->count; ++f) {
        const size_t at = i * record->bytes + record->fields[f].offset;
        CHECK_MSG(memcmp((unsigned char *)a.data + at, (unsigned char *)b.data + at,
                         record->fields[f].bytes) == 0,
                  "%s/%s", record->name, record->fields[f].name);
      }
  }
}

/* A heap with a chain in it, where there are joints. */
static talus_world *jointed_heap(int which) {
  const talus_world_def def = solver(which);
  talus_world *world = heap(&def, 60, true);
  if (def.solve.kind != TALUS_SOLVE_PENALTY) {
    talus_joint_def joint = talus_joint_def_default();
    CHECK_OK(talus_world_body_at(world, world->model.bodies - 1, &joint.a));
    joint.at = joint.to = world->state.position[world->model.bodies - 1];
    CHECK_OK(talus_world_add_joint(world, &joint, NULL));
  }
  CHECK_OK(talus_world_step(world, def.solve.kind == TALUS_SOLVE_PENALTY ? 1500 : 150));
  CHECK(world->contacts.count > 30);
  return world;
}

/* Returns the old one. */
static talus_vec3 set_spin(talus_world *world, size_t slot, talus_vec3 spin) {
  talus_body body;
  const talus_vec3 old = world->state.spin[slot];
  CHECK_OK(talus_world_body_at(world, slot, &body));
  CHECK_OK(talus_body_set_velocity(world, body, world->state.velocity[slot], spin));
  return old;
}

TEST(step_that_failed_is_as_if_it_had_not_been_tried) {
  for (int which = 0; which <= 5; ++which) {
    talus_world *world = jointed_heap(which), *other = jointed_heap(which);
    const size_t slot = world->model.bodies - 2;
    CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(other));
    tl_contacts before = copy_of(&world->contacts);
    const talus_vec3 old = set_spin(world, slot, tl_vec3(0, 0, TL_R(1e13)));
    CHECK(talus_world_step(world, 1) == TALUS_ERROR_DIVERGED);
    CHECK(talus_world_step(world, 1) == TALUS_ERROR_DIVERGED);
    check_same(&world->contacts, &before);
    set_spin(world, slot, old);
    set_spin(other, slot, old);
    CHECK_OK(talus_world_step(world, 20));
    CHECK_OK(talus_world_step(other, 20));
    CHECK_MSG(talus_world_hash(world) == talus_world_hash(other), "solver %d", which);
    check_same(&world->contacts, &other->contacts);
    tl_contacts_release(&before);
    talus_world_destroy(world);
    talus_world_destroy(other);
  }
}

TEST(contacts_of_the_last_step_are_not_written) {
  for (int which = 0; which <= 4; ++which) {
    const talus_world_def def = solver(which);
    talus_world *world = heap(&def, 60, true);
    CHECK_OK(talus_world_step(world, 150));
    tl_contacts before = copy_of(&world->contacts), first = {0}, second = {0};
    tl_state out = {0};
    CHECK_OK(tl_fields_resize(&out, tl_state_fields, TL_STATE_FIELD_COUNT, 0, world->model.bodies));
    tl_crowd crowd = {.model = &world->model,
                      .count = world->model.bodies,
                      .t0 = talus_world_time(world),
                      .t1 = talus_world_time(world) + def.dt,
                      .dt = def.dt,
                      .in = &world->state,
                      .out = &out,
                      .contacts_before = &world->contacts,
                      .arena = &world->arena,
                      .widths = &world->widths};
    for (int i = 0; i < 2; ++i) {
      tl_step_report report;
      CHECK_OK(tl_arena_reset(&world->arena));
      crowd.contacts_after = i == 0 ? &first : &second;
      CHECK_OK(tl_step_fixed(world->backend, &crowd, &report));
    }
    check_same(&world->contacts, &before);
    check_same(&first, &second);
    CHECK_OK(talus_world_step(world, 1));
    check_same(&world->contacts, &first);
    CHECK(memcmp(world->state.position, out.position, world->model.bodies * sizeof *out.position) ==
          0);
    CHECK_OK(tl_fields_resize(&out, tl_state_fields, TL_STATE_FIELD_COUNT, world->model.bodies, 0));
    tl_contacts_release(&before);
    tl_contacts_release(&first);
    tl_contacts_release(&second);
    talus_world_destroy(world);
  }
}

/* ---- two sets -------------------------------------------------------------------------------- */

/* ---- places ---------------------------------------------------------------------------------- */

static tl_contact corner(uint32_t feature, double x, double impulse) {
  return (tl_contact){.a = 0,
                      .b = 1,
                      .feature_a = feature,
                      .point = {x, 0, 0},
                      .normal = {0, 0, 1},
                      .impulse = {0, 0, (talus_real)impulse}};
}

/* A box on a box, by hand: corners that have changed their names, gone, come, or neither. */
TEST(impulse_goes_to_the_new_name_of_its_place) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_BOX, shape.size[0] = shape.size[1] = shape.size[2] = 1;
  const talus_material_def material = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  CHECK_OK(talus_world_add_material(world, &material, &body.material));
  for (int i = 0; i < 2; ++i, body.position.z += 1)
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  tl_contact old[] = {corner(2, 0.5, 1), corner(4, -0.5, 2), corner(6, 0.2, 3)};
  tl_contact now[] = {corner(1, 0.501, 9), corner(3, 0.499, 9), corner(4, -0.5, 9),
                      corner(5, -0.501, 9), corner(7, 0.3, 9)};
  const double want[] = {1, 0, 2, 0, 0}; /* one name for a place, keys first, 0.2 is not 0.3 */
  const tl_contacts before = {.data = old, .count = 3, .capacity = 3};
  tl_contacts after = {.data = now, .count = 5, .capacity = 5};
  tl_history_carry(&world->model, &before, &after, 0);
  for (int i = 0; i < 5; ++i)
    CHECK_NEAR((double)now[i].impulse.z, want[i], 0);
  world->model.substeps = 4; /* what is left goes to the nearest, however far */
  tl_history_carry(&world->model, &before, &after, 0);
  for (int i = 0; i < 5; ++i)
    CHECK_NEAR((double)now[i].impulse.z, i == 4 ? 3 : want[i], 0);
  world->model.substeps = 1;
  world->model.solve.kind = TALUS_SOLVE_PENALTY;
  tl_history_carry(&world->model, &before, &after, 0);
  CHECK(now[0].impulse.z == 0 && now[2].impulse.z == 2);
  talus_world_destroy(world);
}

TEST(set_that_is_written_has_the_room_of_the_other) {
  tl_contacts before = {0}, after = {0};
  CHECK_OK(tl_array_resize(&before, 100));
  CHECK_OK(tl_history_begin(&before, 0, &after));
  CHECK(after.count == 0 && after.capacity >= 100);
  const size_t capacity = after.capacity;
  before.count = 50;
  CHECK_OK(tl_history_begin(&before, 0, &after));
  CHECK_EQ_U64(after.capacity, capacity);
  tl_contacts_release(&before);
  tl_contacts_release(&after);
}

/* A ball that rolls over an edge has points of other keys from step to step, and one bond. */
TEST(bond_of_a_point_is_that_of_its_pair) {
  tl_contact old[] = {{.a = 1, .b = 2}, {.a = 1, .b = 3, .feature_a = 4}, {.a = 2, .b = 3}};
  tl_law_state touched[] = {{.state = TL_CONTACT_STUCK},
                            {.state = TL_CONTACT_BONDED | TL_CONTACT_SLID},
                            {.state = TL_CONTACT_BONDED}};
  tl_contact fresh[] = {{.a = 1, .b = 2},
                        {.a = 1, .b = 3, .feature_a = 4},
                        {.a = 1, .b = 3, .feature_a = 5},
                        {.a = 2, .b = 4}};
  const tl_contacts before = {
      .data = old, .count = 3, .law_states = {.data = touched, .count = 3, .capacity = 3}};
  tl_contacts after = {.data = fresh, .count = 4};
  const tl_model model = {.law_kinds = TL_LAW_COHESION, .par = {.threads = 1}};
  CHECK_OK(tl_history_lay(&model, &before, &after));
  static const uint32_t want[] = {TL_CONTACT_STUCK, TL_CONTACT_BONDED | TL_CONTACT_SLID,
                                  TL_CONTACT_BONDED, 0};
  for (size_t i = 0; i < 4; ++i)
    CHECK_EQ_U64(after.law_states.data[i].state, want[i]);
  tl_array_free(&after.law_states);
}

TEST_MAIN()
