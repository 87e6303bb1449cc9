/* Springs as the world sees them: restart, the critical step, refusals, bodies and materials that
 * come later. */
#include "penalty_heap.h"

#include <unistd.h>

TEST(restart_is_exact) {
  if (!TALUS_HAVE_HDF5)
    SKIP("built without HDF5");
  for (int k = 0; k < 4; ++k) {
    const talus_world_def def = springs(k & 1 ? TALUS_HERTZ : TALUS_LINEAR, 1e-4, 2);
    talus_world *world = heap(&def, 150, k >= 2), *again;
    CHECK_OK(talus_world_step(world, 500));
    CHECK_OK(talus_world_save(world, "springs.h5"));
    CHECK_OK(talus_world_load("springs.h5", &again));
    CHECK_OK(talus_world_step(world, 500));
    CHECK_OK(talus_world_step(again, 500));
    CHECK_EQ_U64(talus_world_hash(again), talus_world_hash(world));
    const talus_report a = report_of(world), b = report_of(again);
    CHECK(a.friction_work == b.friction_work && a.damping_work == b.damping_work &&
          a.elastic_energy == b.elastic_energy && a.contact_work == b.contact_work);
    CHECK(a.contacts > 20);
    talus_world_destroy(world);
    talus_world_destroy(again);
    unlink("springs.h5");
  }
}

/* ---- the critical step ----------------------------------------------------------------------- */

static char said[512];
static void hear(void *context, int level, const char *line) {
  (void)context;
  if (level <= 1)
    snprintf(said, sizeof said, "%s", line);
}

/* One ball of 1 kg on springs of 1e4 N/m: 2 sqrt(m / k) with the reduced mass is 14.1 ms. */
static talus_world *one_ball(double dt) {
  talus_world_def def = springs(TALUS_LINEAR, dt, 1);
  def.log = hear;
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def m = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  talus_shape_def shape = talus_shape_def_default();
  m.name = "rubber", m.stiffness = 1e4, m.restitution = 1;
  CHECK_OK(talus_world_add_material(world, &m, &body.material));
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  body.mass = 1;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  said[0] = 0;
  return world;
}

TEST(step_above_the_critical_one_is_refused_with_the_number) {
  talus_world *world = one_ball(0.02);
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "critical step of 0.0141421 s") &&
                strstr(talus_last_error(), "rubber") &&
                strstr(talus_last_error(), "step: {dt: 0.0035}"),
            "%s", talus_last_error());
  CHECK_EQ_U64(talus_world_steps(world), 0);
  talus_world_destroy(world);
}

TEST(step_near_the_critical_one_is_warned_about_once) {
  talus_world *world = one_ball(0.008);
  CHECK_OK(talus_world_step(world, 1));
  CHECK_MSG(strstr(said, "57 % of the critical step") && strstr(said, "step: {dt: 0.0035}"), "%s",
            said);
  CHECK_NEAR(report_of(world).critical_dt, 0.0141421, 1e-6);
  said[0] = 0;
  CHECK_OK(talus_world_step(world, 10));
  CHECK_STR(said, "");
  talus_world_destroy(world);
  world = one_ball(0.001);
  CHECK_OK(talus_world_step(world, 10));
  CHECK_STR(said, "");
  talus_world_destroy(world);
}

/* K h^2/4 + C h = 1, for normal springs of a pair or of 12 neighbours, and tangential ones of a
 * pair. */
TEST(dashpots_and_neighbours_shorten_the_critical_step) {
  for (int many = 0; many < 2; ++many) {
    const talus_world_def def = springs(TALUS_LINEAR, 1e-5, 1);
    talus_world *world;
    CHECK_OK(talus_world_create(&def, &world));
    talus_material_def m = talus_material_def_default();
    talus_body_def body = talus_body_def_default();
    talus_shape_def shape = talus_shape_def_default();
    m.stiffness = 1e4, m.restitution = 0.5;
    CHECK_OK(talus_world_add_material(world, &m, &body.material));
    CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
    body.mass = 1;
    for (int i = 0; i < (many ? 20 : 2); ++i) {
      body.position.x = 3 * i;
      CHECK_OK(talus_world_add_body(world, &body, NULL));
    }
    CHECK_OK(talus_world_step(world, 1));
    const double mass = 0.5, k = 1e4, kt = k * def.solve.tangential, heap = many ? 4 : 1;
    const double b = tl_spring_damping(0.5, false), h = report_of(world).critical_dt;
    const double along = heap * (k * h * h / 4 + b * sqrt(k * mass) * h) / mass;
    const double across = 3.5 * (kt * h * h / 4 + b * sqrt(kt * mass) * h) / mass;
    CHECK_NEAR(fmax(along, across), 1, 1e-6);
    talus_world_destroy(world);
  }
}

TEST(stiffness_is_chosen_for_the_step_where_none_is_given) {
  const talus_world_def def = springs(TALUS_LINEAR, 1e-3, 1);
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def m = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  talus_shape_def shape = talus_shape_def_default();
  CHECK_OK(talus_world_add_material(world, &m, &body.material));
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  body.mass = 2;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  CHECK_OK(talus_world_step(world, 1));
  CHECK(report_of(world).critical_dt * 0.4 >= 0.999e-3); /* restitution 0 made it softer */
  talus_world_destroy(world);
  CHECK_OK(talus_world_create(&def, &world));
  m.restitution = 1;
  CHECK_OK(talus_world_add_material(world, &m, &body.material));
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  CHECK_OK(talus_world_step(world, 1));
  CHECK_NEAR(world->penalty.auto_stiffness, 0.5 * 2 * 200.0 * 200.0, 1);
  CHECK_NEAR(report_of(world).critical_dt, 0.01, 1e-6);
  talus_world_destroy(world);
}

/* ---- refusals -------------------------------------------------------------------------------- */

TEST(what_springs_cannot_do_is_refused) {
  talus_world_def def = springs(TALUS_LINEAR, 1e-3, 1);
  talus_world *world;
  def.sleep.speed = 0.01;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "sleep does not work with penalty"));
  def.sleep.speed = 0;
  def.solve.tangential = 0;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "solve.tangential"));
  def = springs((talus_spring_law)7, 1e-3, 1);
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  def = springs(TALUS_LINEAR, 1e-3, 1);
  world = heap(&def, 2, false);
  CHECK(talus_world_set_sleep(world, (talus_sleep_def){0.01, 1}) == TALUS_ERROR_INVALID);
  talus_joint_def joint = talus_joint_def_default();
  joint.kind = TALUS_JOINT_SPRING;
  CHECK_OK(talus_world_body_at(world, 1, &joint.a));
  CHECK_OK(talus_world_body_at(world, 2, &joint.b));
  joint.to.x = 0.1, joint.stiffness = 1;
  CHECK_OK(talus_world_add_joint(world, &joint, NULL));
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_UNSUPPORTED);
  CHECK_MSG(strstr(talus_last_error(), "use solve: {kind: ccp}"), "%s", talus_last_error());
  talus_world_destroy(world);
}

TEST(materials_that_no_spring_is_made_of_are_refused) {
  talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def m = talus_material_def_default();
  talus_material material;
  m.poisson = 0.7;
  CHECK(talus_world_add_material(world, &m, &material) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "poisson is 0.7"));
  m.poisson = 0.3, m.young = -1;
  CHECK(talus_world_add_material(world, &m, &material) == TALUS_ERROR_INVALID);
  m.young = 1e7, m.stiffness = NAN;
  CHECK(talus_world_add_material(world, &m, &material) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "stiffness"));
  m.stiffness = 0, m.young = 0, m.name = "air";
  CHECK_OK(talus_world_add_material(world, &m, &material));
  talus_shape_def shape = talus_shape_def_default();
  talus_body_def body = talus_body_def_default();
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "'air' has no young"), "%s", talus_last_error());
  talus_world_destroy(world);
}

/* Laws are by pairs of materials: a material that comes later changes nothing for the others. */
TEST(material_that_comes_later_changes_nothing) {
  for (int mixed = 0; mixed < 2; ++mixed) {
    uint64_t hash[2];
    for (int late = 0; late < 2; ++late) {
      const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
      talus_world *world = heap(&def, 60, mixed);
      talus_material_def m = talus_material_def_default();
      talus_material third;
      m.young = 5e6;
      if (!late)
        CHECK_OK(talus_world_add_material(world, &m, &third));
      CHECK_OK(talus_world_step(world, 100));
      if (late)
        CHECK_OK(talus_world_add_material(world, &m, &third));
      CHECK_OK(talus_world_step(world, 100));
      hash[late] = talus_world_hash(world);
      talus_world_destroy(world);
    }
    CHECK_EQ_U64(hash[1], hash[0]);
  }
}

/* Every impact begins with an overlap that single precision does not see. */
/* A body that an emitter lets go of within the reach of another is pushed from its first kick on,
 * as one that was put there by hand. */
TEST(emitted_body_feels_what_is_within_reach_at_once) {
  talus_world_def def = springs(TALUS_NOBLE, 1e-4, 1);
  def.solve.reach = 0.02;
  talus_world *world[2];
  talus_body_def body = talus_body_def_default();
  for (int k = 0; k < 2; ++k) {
    talus_material_def m = talus_material_def_default();
    talus_shape_def shape = talus_shape_def_default();
    CHECK_OK(talus_world_create(&def, &world[k]));
    m.stiffness = 100;
    CHECK_OK(talus_world_add_material(world[k], &m, &body.material));
    shape.size[0] = 0.05;
    CHECK_OK(talus_world_add_shape(world[k], &shape, &body.shape));
    body.kind = TALUS_FIXED;
    CHECK_OK(talus_world_add_body(world[k], &body, NULL));
    body.kind = TALUS_FREE;
  }
  talus_emitter_def emitter = talus_emitter_def_default();
  emitter.body = body;
  emitter.rate = 100, emitter.until = 0.0101;
  emitter.from.kind = TALUS_REGION_BOX;
  emitter.from.box = (talus_box){{0, 0, 0.105}, {1e-6, 1e-6, 0.105001}};
  CHECK_OK(talus_world_add_emitter(world[0], &emitter));
  int steps = 0;
  for (; steps < 200 && talus_world_body_count(world[0]) == 1; ++steps)
    CHECK_OK(talus_world_step(world[0], 1));
  CHECK_EQ_U64(talus_world_body_count(world[0]), 2);
  CHECK_OK(talus_world_step(world[1], (uint64_t)steps));
  talus_body_info info;
  talus_body second;
  CHECK_OK(talus_world_body_at(world[0], 1, &second));
  CHECK_OK(talus_world_get_body(world[0], second, &info));
  body.position = info.position;
  CHECK_OK(talus_world_add_body(world[1], &body, NULL));
  for (int k = 0; k < 2; ++k)
    CHECK_OK(talus_world_step(world[k], 20));
  double v[2];
  for (int k = 0; k < 2; ++k) {
    CHECK_OK(talus_world_body_at(world[k], 1, &second));
    CHECK_OK(talus_world_get_body(world[k], second, &info));
    v[k] = (double)info.velocity.z;
  }
  CHECK(v[1] > 0.1); /* gravity alone: -0.02 */
  CHECK_NEAR(v[0], v[1], 0);
  talus_world_destroy(world[0]);
  talus_world_destroy(world[1]);
}

TEST(first_touch_is_never_below_zero) {
  for (int i = 0; i < 200; ++i) {
    const talus_world_def def = springs(TALUS_HERTZ, 1e-5, 1);
    talus_world *world = heap(&def, 0, false);
    talus_body_def body = talus_body_def_default();
    talus_shape_def shape = talus_shape_def_default();
    shape.size[0] = 0.02;
    CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
    talus_dvec3 at = {0, 0, 1};
    for (int k = 0; k < 2; ++k) {
      body.position = at;
      CHECK_OK(talus_world_add_body(world, &body, NULL));
      at.x += 0.04 * cos(0.01 * i) * (1 - 1e-10 * i),
          at.y += 0.04 * sin(0.01 * i) * (1 - 1e-10 * i);
    }
    CHECK_OK(talus_world_step(world, 3));
    talus_world_destroy(world);
  }
}

TEST_MAIN()
