/* Bodies of another world, by talus_world_take. */
#include <talus/scene.h>

#include "check.h"
#include "joint/joint.h"
#include "world/world.h"

static talus_solve_kind kind = TALUS_SOLVE_CCP;
static talus_step_kind step = TALUS_STEP_FIXED;

static talus_world *make_world(double dt) {
  talus_world_def def = talus_world_def_default();
  def.solve.kind = kind;
  def.step = step;
  def.dt = dt;
  def.threads = 1;
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  return world;
}

static talus_body add(talus_world *world, const char *name, talus_body_def def) {
  talus_body body;
  def.name = name;
  CHECK_OK(talus_world_add_body(world, &def, &body));
  return body;
}

/* A floor, three balls in a row on it that push one another, and a hanging arm. */
static talus_world *make_old(double dt) {
  talus_world *world = make_world(dt);
  talus_shape_def plane = talus_shape_def_default(), ball = plane;
  plane.kind = TALUS_PLANE, plane.size[2] = 1;
  ball.size[0] = 0.1;
  talus_body_def floor = talus_body_def_default(), grain = floor;
  talus_material_def stone = talus_material_def_default();
  stone.name = "stone";
  CHECK_OK(talus_world_add_shape(world, &plane, &floor.shape));
  CHECK_OK(talus_world_add_shape(world, &ball, &grain.shape));
  CHECK_OK(talus_world_add_material(world, &stone, &grain.material));
  CHECK_OK(talus_world_group(world, "grains", &grain.group));
  floor.material = grain.material;
  floor.kind = TALUS_FIXED;
  add(world, "floor", floor);
  for (int i = 0; i < 3; ++i) {
    char name[16];
    snprintf(name, sizeof name, "ball%d", i);
    grain.position = (talus_dvec3){0.19999 * i, 0, 0.1};
    grain.force = (talus_vec3){i == 0 ? 1 : i == 2 ? -1 : 0, 0, 0};
    add(world, name, grain);
  }
  if (kind == TALUS_SOLVE_PENALTY)
    return world;
  grain.position = (talus_dvec3){5, 0, 5};
  grain.force = (talus_vec3){0, 0, 0};
  talus_joint_def joint = talus_joint_def_default();
  joint.b = add(world, "arm", grain);
  joint.kind = TALUS_JOINT_REVOLUTE;
  joint.axis = (talus_vec3){0, 1, 0};
  joint.at = joint.to = (talus_dvec3){4.5, 0, 5};
  joint.name = "hinge";
  CHECK_OK(talus_world_add_joint(world, &joint, NULL));
  return world;
}

static void check_bits(void) {
  talus_world *old = make_old(1e-3), *world = make_world(1e-3);
  CHECK_OK(talus_world_step(old, 50));
  const talus_take_def all = {0};
  CHECK_OK(talus_world_take(world, old, &all));
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(old));
  CHECK_OK(talus_world_step(old, 50));
  CHECK_OK(talus_world_step(world, 50));
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(old));
  talus_world_destroy(world);
  talus_world_destroy(old);
}

TEST(taken_world_goes_on_with_the_same_bits) { check_bits(); }

TEST(taken_world_keeps_the_stiffness_that_was_chosen) {
  kind = TALUS_SOLVE_PENALTY;
  check_bits();
  kind = TALUS_SOLVE_CCP;
}

static talus_report report_of(talus_world *world) {
  talus_report r;
  CHECK_OK(talus_world_report(world, &r));
  return r;
}

/* What springs hold when a world is taken was pressed into them before. */
TEST(taken_springs_are_no_gain_of_implicit_steps) {
  const talus_take_def all = {0};
  kind = TALUS_SOLVE_PENALTY, step = TALUS_STEP_IMPLICIT;
  check_bits();
  for (int from = 0; from < 2; ++from) {
    step = from == 0 ? TALUS_STEP_IMPLICIT : TALUS_STEP_FIXED;
    talus_world *old = make_old(1e-3);
    step = TALUS_STEP_IMPLICIT;
    talus_world *world = make_world(1e-3);
    CHECK_OK(talus_world_step(old, 50));
    const talus_report before = report_of(old);
    CHECK_OK(talus_world_take(world, old, &all));
    CHECK_OK(talus_world_step(world, 1));
    const talus_report after = report_of(world);
    CHECK(before.elastic_energy > 0);
    CHECK(fabs(after.step_loss) < 0.1 * before.elastic_energy);
    talus_world_destroy(world);
    talus_world_destroy(old);
  }
  kind = TALUS_SOLVE_CCP, step = TALUS_STEP_FIXED;
}

TEST(what_is_not_chosen_stays_behind_with_its_joints_and_contacts) {
  talus_world *old = make_old(1e-3), *world = make_world(1e-3);
  CHECK_OK(talus_world_step(old, 50));
  const char *const names[] = {"floor", "ball0", "ball1"};
  const talus_selection some = {.names = names, .name_count = 3};
  const talus_take_def def = {.only = &some, .only_count = 1};
  CHECK_OK(talus_world_take(world, old, &def));
  CHECK_EQ_U64(talus_world_body_count(world), 3);
  CHECK_EQ_U64(talus_world_joint_count(world), 0);
  size_t contacts;
  talus_contact contact[8];
  CHECK_OK(talus_world_contacts(world, contact, 8, &contacts));
  CHECK(contacts >= 2 && contacts < old->contacts.count); /* on the floor at least */
  for (size_t i = 0; i < contacts; ++i)
    CHECK(contact[i].body_b <= 3 && (contact[i].body_a > 1 || contact[i].impulse.z > 0));
  talus_world_destroy(world);
  talus_world_destroy(old);
}

/* The first world's impulses are of its own steps; those of the second are made of that length. */
TEST(impulses_of_worlds_with_other_steps_keep_their_forces) {
  talus_world *slow = make_old(1e-3), *fast = make_old(2.5e-4), *world = make_world(5e-4);
  CHECK_OK(talus_world_step(slow, 50));
  CHECK_OK(talus_world_step(fast, 200));
  talus_body body;
  const char *const names[] = {"floor", "ball0", "ball1", "ball2", "arm"};
  const char *const old[] = {"f", "0", "1", "2", "a"};
  const talus_take_def all = {0};
  CHECK_OK(talus_world_take(world, slow, &all));
  for (int i = 0; i < 5; ++i) { /* names are unique: rename the others */
    CHECK_OK(talus_world_find_body(fast, names[i], &body));
    memcpy(fast->names.data[i].name, old[i], 2);
  }
  CHECK_OK(tl_world_index_names(fast));
  memcpy(fast->joints.all.data[0].name, "h", 2);
  const double impulse = (double)fast->joints.all.data[0].impulse[0];
  CHECK_OK(talus_world_take(world, fast, &all));
  CHECK_EQ_U64(talus_world_joint_count(world), 2);
  CHECK_NEAR((double)world->joints.all.data[1].impulse[0], 4 * impulse, 1e-5 * fabs(impulse));
  const size_t half = world->contacts.count / 2;
  CHECK_EQ_U64(world->contacts.count, 2 * half);
  for (size_t i = 0; i < half; ++i)
    CHECK_NEAR((double)world->contacts.data[half + i].impulse.z,
               (double)world->contacts.data[i].impulse.z, 0.02 * 41 * 1e-3);
  talus_world_destroy(world);
  talus_world_destroy(fast);
  talus_world_destroy(slow);
}

TEST(changes_are_laid_over_one_another) {
  talus_world *old = make_old(1e-3), *world = make_world(1e-3);
  talus_material_def ice = talus_material_def_default();
  talus_material material;
  talus_body body;
  talus_body_info info;
  ice.name = "ice";
  CHECK_OK(talus_world_add_material(world, &ice, &material));
  const char *const grains[] = {"grains"}, *const first[] = {"ball0"};
  const talus_motion up = {.velocity = {0, 0, 1}};
  const talus_change changes[] = {
      {.who = {.groups = grains, .group_count = 1}, .sets_kind = true, .kind = TALUS_FIXED},
      {.who = {.names = first, .name_count = 1},
       .material = &material,
       .sets_kind = true,
       .kind = TALUS_KINEMATIC,
       .motion = &up}};
  const talus_take_def def = {.changes = changes, .change_count = 2};
  CHECK_OK(talus_world_take(world, old, &def));
  CHECK_OK(talus_world_find_body(world, "ball1", &body));
  CHECK_OK(talus_world_get_body(world, body, &info));
  CHECK_EQ_U64(info.kind, TALUS_FIXED);
  CHECK_OK(talus_world_find_body(world, "ball0", &body));
  CHECK_OK(talus_world_step(world, 100));
  CHECK_OK(talus_world_get_body(world, body, &info));
  CHECK_EQ_U64(info.kind, TALUS_KINEMATIC);
  CHECK_EQ_U64(info.material.index, material.index);
  CHECK_NEAR(info.position.z, 0.2, 1e-9);
  talus_world_destroy(world);
  talus_world_destroy(old);
}

TEST(what_cannot_be_taken_leaves_the_world_as_it_was) {
  talus_world *old = make_old(1e-3), *world = make_old(1e-3);
  const char *const wrong[] = {"bal0"};
  const talus_selection some = {.names = wrong, .name_count = 1};
  const talus_take_def none = {.only = &some, .only_count = 1}, all = {0};
  const uint64_t hash = talus_world_hash(world);
  CHECK_EQ_U64(talus_world_take(world, old, &none), TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "did you mean `ball0`?"));
  CHECK_EQ_U64(talus_world_take(world, old, &all), TALUS_ERROR_INVALID); /* names clash */
  CHECK_EQ_U64(talus_world_take(world, world, &all), TALUS_ERROR_INVALID);
  CHECK_EQ_U64(talus_world_hash(world), hash);
  CHECK_OK(talus_world_step(world, 3));
  talus_world_destroy(world);
  talus_world_destroy(old);
}

TEST_MAIN()
