/* Loads over time: courses of forces, torques and motors; presses; that they are saved. */
#include "check.h"
#include "world/world.h"

static talus_world *make_world(talus_solve_kind kind, talus_body *ball) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.gravity = (talus_vec3){0, 0, 0};
  def.solve.kind = kind;
  def.threads = 1;
  CHECK_OK(talus_world_create(&def, &world));
  talus_shape_def shape = talus_shape_def_default();
  talus_material_def stone = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  stone.stiffness = 1e3;
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  CHECK_OK(talus_world_add_material(world, &stone, &body.material));
  body.mass = 2;
  CHECK_OK(talus_world_add_body(world, &body, ball));
  return world;
}

static double speed_of(talus_world *world, talus_body body) {
  talus_body_info info;
  CHECK_OK(talus_world_get_body(world, body, &info));
  return (double)info.velocity.x;
}

static const double ramp[] = {0, 0, 0, 0, 0.1, 20, 0, 0, 0.2, 20, 0, 0};

TEST(a_course_is_held_beyond_its_ends_and_can_be_taken_away) {
  talus_body ball;
  for (int kind = TALUS_SOLVE_CCP; kind <= TALUS_SOLVE_IMPULSE; ++kind) {
    talus_world *world = make_world((talus_solve_kind)kind, &ball);
    CHECK_OK(talus_body_set_course(world, ball, TALUS_LOAD_FORCE, ramp, 3));
    CHECK_OK(talus_world_step(world, 100));
    CHECK_NEAR(speed_of(world, ball), 0.5 * 0.1 * 20 / 2, 1e-5);
    CHECK_OK(talus_world_step(world, 200));
    CHECK_NEAR(speed_of(world, ball), (0.5 * 0.1 + 0.2) * 20 / 2, 1e-4);
    const double last[] = {0, 0, 0, 0}; /* another one replaces it */
    CHECK_OK(talus_body_set_course(world, ball, TALUS_LOAD_FORCE, last, 1));
    CHECK_OK(talus_world_step(world, 10));
    CHECK_NEAR(speed_of(world, ball), 2.5, 1e-4);
    CHECK_OK(talus_body_set_course(world, ball, TALUS_LOAD_FORCE, NULL, 0));
    CHECK(world->courses.count == 0 && world->course_values.count == 0);
    CHECK_OK(talus_body_set_force(world, ball, (talus_vec3){20, 0, 0}, (talus_vec3){0, 0, 0}));
    CHECK_OK(talus_world_step(world, 10));
    CHECK_NEAR(speed_of(world, ball), 2.6, 1e-4);
    talus_world_destroy(world);
  }
}

TEST(a_motor_that_starts_wakes_its_bodies) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.sleep.speed = 0.01, def.sleep.time = 0.05;
  CHECK_OK(talus_world_create(&def, &world));
  talus_shape_def shape = talus_shape_def_default();
  talus_material_def stone = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  talus_joint_def hinge = talus_joint_def_default();
  talus_joint joint;
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  CHECK_OK(talus_world_add_material(world, &stone, &body.material));
  CHECK_OK(talus_world_add_body(world, &body, &hinge.b));
  hinge.kind = TALUS_JOINT_REVOLUTE;
  hinge.axis = (talus_vec3){0, 0, 1};
  hinge.motor = TALUS_MOTOR_SPEED;
  CHECK_OK(talus_world_add_joint(world, &hinge, &joint));
  const double speed[] = {0, 0, 0.5, 0, 0.6, 2};
  CHECK_OK(talus_joint_set_course(world, joint, speed, 3));
  CHECK_OK(talus_world_step(world, 400));
  talus_report report;
  CHECK_OK(talus_world_report(world, &report));
  CHECK_EQ_U64(report.asleep, 1);
  CHECK_OK(talus_world_step(world, 400));
  talus_body_info info;
  CHECK_OK(talus_world_get_body(world, hinge.b, &info));
  CHECK_NEAR((double)info.spin.z, 2, 1e-3);
  talus_world_destroy(world);
}

TEST(a_course_goes_with_its_body) {
  talus_body ball, other;
  talus_body_def body = talus_body_def_default();
  talus_world *world = make_world(TALUS_SOLVE_CCP, &ball);
  body.position.x = 9;
  CHECK_OK(talus_world_add_body(world, &body, &other));
  const double turn[] = {0, 0, 0, 1};
  CHECK_OK(talus_body_set_course(world, ball, TALUS_LOAD_FORCE, ramp, 3));
  CHECK_OK(talus_body_set_course(world, other, TALUS_LOAD_TORQUE, turn, 1));
  CHECK_OK(talus_world_remove_body(world, ball));
  CHECK_OK(talus_world_step(world, 2));
  CHECK(world->courses.count == 1 && world->course_values.count == 4);
  CHECK(world->courses.data[0].first == 0 && world->courses.data[0].kind == TL_COURSE_TORQUE);
  talus_world_destroy(world);
}

TEST(what_is_no_course_is_refused) {
  talus_body ball;
  talus_world *world = make_world(TALUS_SOLVE_CCP, &ball);
  const double back[] = {1, 0, 0, 0, 1, 0, 0, 0}, wild[] = {0, NAN, 0, 0};
  CHECK(talus_body_set_course(world, ball, TALUS_LOAD_FORCE, back, 2) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "the times must rise"));
  CHECK(talus_body_set_course(world, ball, TALUS_LOAD_FORCE, wild, 1) == TALUS_ERROR_INVALID);
  CHECK(talus_body_set_course(world, ball, (talus_load)7, ramp, 1) == TALUS_ERROR_INVALID);
  CHECK(talus_joint_set_course(world, (talus_joint){5}, ramp, 1) == TALUS_ERROR_STALE);
  talus_press_def press = {.axis = {0, 0, -1}, .max_speed = 1};
  CHECK(talus_body_press(world, ball, &press) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "it presses with 0 N"));
  press.force = 1, press.max_speed = 0;
  CHECK(talus_body_press(world, ball, &press) == TALUS_ERROR_INVALID);
  CHECK_EQ_U64(world->courses.count, 0);
  talus_table table;
  CHECK(talus_course_read("none.csv", 3, &table) == TALUS_ERROR_INVALID);
  CHECK(talus_course_read("none.csv", 2, &table) == TALUS_ERROR_IO);
  talus_world_destroy(world);
}

TEST(a_saved_world_goes_on_with_its_courses) {
  if (!TALUS_HAVE_HDF5)
    SKIP("built without HDF5");
  talus_body ball;
  for (int kind = TALUS_SOLVE_CCP; kind <= TALUS_SOLVE_PENALTY; ++kind) {
    talus_world *world = make_world((talus_solve_kind)kind, &ball), *loaded;
    const double course[] = {0, 0, 0.2, 50};
    const talus_press_def press = {
        .axis = {1, 0, 0}, .max_speed = 0.3, .course = course, .rows = 2};
    CHECK_OK(talus_body_press(world, ball, &press));
    CHECK_OK(talus_world_step(world, 40));
    CHECK_OK(talus_world_save(world, "course.hdf"));
    CHECK_OK(talus_world_load("course.hdf", &loaded));
    CHECK_OK(talus_world_step(world, 100));
    CHECK_OK(talus_world_step(loaded, 100));
    CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(loaded));
    CHECK_NEAR(speed_of(world, ball), 0.3, 1e-4); /* nothing is in its way */
    talus_world_destroy(loaded);
    talus_world_destroy(world);
  }
}

TEST_MAIN()
