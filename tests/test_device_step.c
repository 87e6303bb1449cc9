/* Worlds that step on a device: physics, what stays there, what goes home, and who takes the steps
 * that a device cannot. The device is `check` (the same code on the host), or what
 * TALUS_TEST_BACKEND names; then it is compared with `check` too. */
#include "device_compare.h"
#include "physics/rig.h"

/* A world on the device, which refuses what it cannot do there. */
static talus_world *make_on(talus_world_def def, talus_backend backend) {
  talus_world *world = NULL;
  def.backend = backend;
  def.no_fallback = true;
  CHECK_OK(talus_world_create(&def, &world));
  return world;
}

static talus_world_def settings(double dt) {
  talus_world_def def = talus_world_def_default();
  def.dt = dt;
  def.threads = 1;
  return def;
}

/* side^2 x layers spheres of 0.1 m, jittered, in a tank on a plane, and a box among them. */
static size_t pour(talus_world *world, size_t side, size_t layers) {
  const talus_material stone = rig_material(world, 0.3, 0);
  const double edge = 0.21 * (double)side, half = 0.5 * (double)(side - 1);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  const talus_shape block = rig_shape(world, TALUS_BOX, 0.16, 0.16, 0.16, 0);
  const talus_shape egg = rig_shape(world, TALUS_ELLIPSOID, 0.1, 0.08, 0.06, 0);
  rig_floor(world, stone);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, edge, edge, 10, 0), stone, 0, 0,
           5);
  size_t n = 0;
  for (size_t z = 0; z < layers; ++z)
    for (size_t y = 0; y < side; ++y)
      for (size_t x = 0; x < side; ++x, ++n)
        rig_body(world, TALUS_FREE,
                 n % 7 == 3   ? block
                 : n % 5 == 1 ? egg
                              : ball,
                 stone, 0.205 * ((double)x - half) + 0.001 * (double)(n % 3),
                 0.205 * ((double)y - half), 0.11 + 0.21 * (double)z);
  return n;
}

static uint64_t hash_after(talus_backend backend, uint64_t steps) {
  talus_world *world = make_on(settings(2e-3), backend);
  (void)pour(world, 4, 3);
  CHECK_OK(talus_world_step(world, steps));
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

TEST(a_heap_presses_with_its_weight_and_nothing_sinks) {
  talus_world *world = make_on(settings(2e-3), backend_of_test());
  (void)pour(world, 3, 4);
  CHECK_OK(talus_world_step(world, check_is_short() ? 150 : 400));
  const talus_report report = rig_report(world);
  double weight = 0, push = 0;
  static talus_contact contacts[4096];
  size_t count;
  CHECK_OK(talus_world_contacts(world, contacts, 4096, &count));
  for (size_t i = 0; i < count; ++i)
    push += contacts[i].body_a <= 2 ? (double)contacts[i].impulse.z : 0; /* of floor and tank */
  for (size_t i = 3; i <= report.bodies; ++i) {
    talus_body body;
    CHECK_OK(talus_world_body_at(world, i - 1, &body));
    weight += rig_info(world, body).mass * G;
  }
  CHECK_EQ_U64(report.sunk, 0);
  CHECK_EQ_U64(report.unconverged, 0);
  CHECK(report.overlap_max < 1e-3);
  CHECK_NEAR(push / (weight * 2e-3), 1, check_is_short() ? 0.5 : 0.01);
  CHECK(report.kinetic_energy < (check_is_short() ? 1 : 1e-3));
  talus_world_destroy(world);
}

/* The ledger: what energy is left is what contacts took, but for what stepping in time leaves. */
TEST(energy_goes_where_contacts_took_it) {
  SKIP_IF_SHORT();
  talus_world *world = make_on(settings(1e-3), backend_of_test());
  (void)pour(world, 3, 3);
  const talus_report before = rig_report(world);
  CHECK_OK(talus_world_step(world, 300));
  const talus_report after = rig_report(world);
  const double change = after.kinetic_energy + after.potential_energy - before.kinetic_energy -
                        before.potential_energy;
  CHECK(after.contact_work < 0);
  CHECK_NEAR(change, after.contact_work, 0.05 * fabs(after.contact_work));
  talus_world_destroy(world);
}

/* One problem, one solution: by other colours, in another order. */
TEST(velocities_of_a_step_are_those_of_the_cpu) {
  talus_world_def def = settings(2e-3);
  def.solve.friction = TALUS_FRICTION_CCP;
  def.solve.tolerance = BY_PRECISION(1e-9, 1e-6);
  def.solve.iterations = check_is_short() ? 2000 : 20000;
  def.solve.recovery = 0;
  def.solve.islands = false;
  talus_world *device = make_on(def, backend_of_test()), *cpu = make_on(def, TALUS_BACKEND_CPU);
  (void)pour(device, 3, 3);
  (void)pour(cpu, 3, 3);
  for (int k = 0; k < 12; ++k) {
    CHECK_OK(talus_world_step(device, 1));
    CHECK_OK(talus_world_step(cpu, 1));
  }
  for (size_t i = 0; i < 29; ++i) {
    talus_body a, b;
    CHECK_OK(talus_world_body_at(device, i, &a));
    CHECK_OK(talus_world_body_at(cpu, i, &b));
    const talus_vec3 x = rig_info(device, a).velocity, y = rig_info(cpu, b).velocity;
    const double most = BY_PRECISION(1e-6, 1e-2) * G * def.dt * 12;
    CHECK_NEAR(x.x, y.x, most);
    CHECK_NEAR(x.y, y.y, most);
    CHECK_NEAR(x.z, y.z, most);
  }
  talus_world_destroy(device);
  talus_world_destroy(cpu);
}

TEST(a_ball_slides_and_stops_as_friction_says) {
  SKIP_IF_SHORT();
  talus_world *world = make_on(settings(2e-3), backend_of_test());
  const talus_material stone = rig_material(world, 0.4, 0);
  rig_floor(world, stone);
  talus_body_def def = talus_body_def_default();
  def.shape = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  def.material = stone;
  def.position = (talus_dvec3){0, 0, 0.1};
  def.velocity = rig_vec(2, 0, 0);
  talus_body ball;
  CHECK_OK(talus_world_add_body(world, &def, &ball));
  CHECK_OK(talus_world_step(world, 100));
  CHECK_NEAR(rig_info(world, ball).velocity.x, 2 * 5.0 / 7, 0.01);
  talus_world_destroy(world);
}

TEST(boxes_stand_on_each_other) {
  SKIP_IF_SHORT();
  talus_world *world = make_on(settings(2e-3), backend_of_test());
  const talus_material stone = rig_material(world, 0.5, 0);
  const talus_shape block = rig_shape(world, TALUS_BOX, 0.4, 0.4, 0.4, 0);
  talus_body top = {0};
  rig_floor(world, stone);
  for (int k = 0; k < 6; ++k)
    top = rig_body(world, TALUS_FREE, block, stone, 0.01 * (k % 2), 0, 0.2 + 0.4 * k);
  CHECK_OK(talus_world_step(world, 250));
  const talus_body_info info = rig_info(world, top);
  CHECK_NEAR(info.position.z, 2.2, 2e-3);
  CHECK_NEAR(info.position.x, 0.01, 2e-3);
  talus_world_destroy(world);
}

/* Tiles of four spheres each. */
TEST(clumps_stand_on_each_other) {
  SKIP_IF_SHORT();
  static const double balls[] = {0.1,  0.1, 0, 0.1, 0.1,  -0.1, 0, 0.1,
                                 -0.1, 0.1, 0, 0.1, -0.1, -0.1, 0, 0.1};
  talus_world *world = make_on(settings(2e-3), backend_of_test());
  const talus_material stone = rig_material(world, 0.5, 0);
  const talus_shape_def def = {.kind = TALUS_CLUMP, .points = balls, .point_count = 4};
  talus_shape tile;
  talus_body top = {0};
  CHECK_OK(talus_world_add_shape(world, &def, &tile));
  rig_floor(world, stone);
  for (int k = 0; k < 3; ++k)
    top = rig_body(world, TALUS_FREE, tile, stone, 0, 0, 0.1 + 0.2 * k);
  CHECK_OK(talus_world_step(world, 30));
  const talus_body_info info = rig_info(world, top);
  CHECK_NEAR(info.position.z, 0.5, 2e-3);
  CHECK_NEAR(info.position.x, 0, 2e-3);
  CHECK_EQ_U64(rig_report(world).contacts, 12);
  talus_world_destroy(world);
}

TEST(periodic_axes_wrap_and_touch) {
  SKIP_IF_SHORT();
  talus_world_def def = settings(1e-3);
  def.gravity = rig_vec(0, 0, 0);
  def.domain = (talus_domain_def){
      .enabled = true, .periodic = {true, true, true}, .box = {{-1, -1, -1}, {1, 1, 1}}};
  talus_world *world = make_on(def, backend_of_test());
  const talus_material stone = rig_material(world, 0, 0);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.2, 0, 0, 0);
  talus_body_def body = talus_body_def_default();
  body.shape = ball, body.material = stone;
  body.position = (talus_dvec3){0.9, 0, 0}, body.velocity = rig_vec(1, 0, 0);
  talus_body a, b;
  CHECK_OK(talus_world_add_body(world, &body, &a));
  body.position = (talus_dvec3){-0.6, 0, 0}, body.velocity = rig_vec(0, 0, 0);
  CHECK_OK(talus_world_add_body(world, &body, &b));
  CHECK_OK(talus_world_step(world, 200));
  CHECK_NEAR(rig_info(world, a).velocity.x, 0.5, 1e-3);
  CHECK_NEAR(rig_info(world, b).velocity.x, 0.5, 1e-3);
  CHECK(rig_info(world, a).position.x < 0);
  talus_world_destroy(world);
}

/* ---- where rows are ---------------------------------------------------------------------------
 */

TEST(a_step_moves_a_few_numbers_and_rows_come_home_when_asked) {
  talus_world *world = make_on(settings(2e-3), backend_of_test());
  const size_t n = pour(world, 5, 4);
  talus_device_use use;
  CHECK_OK(talus_world_step(world, 1));
  talus_world_device_use(world, &use);
  const uint64_t first = use.moved_bytes;
  CHECK_OK(talus_world_step(world, 20));
  talus_world_device_use(world, &use);
  CHECK(use.device && !use.fallback);
  CHECK_EQ_U64(use.steps, 21);
  CHECK_EQ_U64(use.sent, 1);
  CHECK(use.step_bytes > 0 && use.step_bytes <= 4096);
  CHECK(use.moved_bytes - first <= 20 * 4096);
  CHECK(use.device_bytes > n * 100);
  const talus_report report = rig_report(world);
  CHECK_EQ_U64(report.steps, 21);
  CHECK_OK(talus_world_step(world, 3));
  talus_world_device_use(world, &use);
  CHECK_EQ_U64(use.sent, 1); /* who only looks sends nothing out again */
  CHECK_OK(talus_world_set_gravity(world, rig_vec(0, 0, -5)));
  CHECK_OK(talus_world_step(world, 3));
  talus_world_device_use(world, &use);
  CHECK_EQ_U64(use.sent, 2);
  talus_world_destroy(world);
}

TEST(looking_at_rows_changes_no_bit) {
  const uint64_t hash = hash_after(backend_of_test(), 60);
  talus_world *world = make_on(settings(2e-3), backend_of_test());
  (void)pour(world, 4, 3);
  for (int k = 0; k < 6; ++k) {
    CHECK_OK(talus_world_step(world, 10));
    (void)rig_report(world);
  }
  CHECK_EQ_U64(talus_world_hash(world), hash);
  talus_world_destroy(world);
}

TEST(a_world_that_went_home_and_back_has_the_same_bits) {
  const uint64_t hash = hash_after(backend_of_test(), 60);
  talus_world *world = make_on(settings(2e-3), backend_of_test());
  (void)pour(world, 4, 3);
  CHECK_OK(talus_world_step(world, 30));
  CHECK_OK(talus_world_set_backend(world, TALUS_BACKEND_CPU, false));
  CHECK_OK(talus_world_set_backend(world, backend_of_test(), true));
  CHECK_OK(talus_world_step(world, 30));
  CHECK_EQ_U64(talus_world_hash(world), hash);
  talus_world_destroy(world);
}

TEST(check_and_the_device_take_the_same_steps) {
  if (backend_of_test() == TALUS_BACKEND_CHECK)
    SKIP("TALUS_TEST_BACKEND names no other device");
  CHECK_EQ_U64(hash_after(backend_of_test(), 300), hash_after(TALUS_BACKEND_CHECK, 300));
  CHECK_EQ_U64(hash_after(backend_of_test(), 300), hash_after(backend_of_test(), 300));
}

/* ---- what a device cannot ---------------------------------------------------------------------
 */

static char said[4096];
static void remember(void *context, int level, const char *text) {
  (void)context, (void)level;
  if (strncmp(text, "backend:", 8) == 0)
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

static uint64_t bounce(talus_backend backend, talus_status *status, bool no_fallback) {
  talus_world_def def = settings(1e-3);
  talus_world *world = NULL;
  def.backend = backend;
  def.no_fallback = no_fallback;
  def.log = remember;
  CHECK_OK(talus_world_create(&def, &world));
  const talus_material rubber = rig_material(world, 0.3, 0.5);
  rig_floor(world, rubber);
  rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), rubber, 0, 0, 0.3);
  *status = talus_world_step(world, 400);
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

TEST(what_a_device_does_not_know_the_cpu_does_and_the_log_says_so_once) {
  talus_status status;
  said[0] = '\0';
  const uint64_t hash = bounce(TALUS_BACKEND_CPU, &status, false);
  CHECK_OK(status);
  CHECK_STR(said, "");
  CHECK_EQ_U64(bounce(backend_of_test(), &status, false), hash);
  CHECK_OK(status);
  const char *first = strstr(said, "does not know restitution");
  CHECK(first && !strstr(first + 1, "does not know"));
  (void)bounce(backend_of_test(), &status, true);
  CHECK(status == TALUS_ERROR_UNSUPPORTED);
  CHECK(strstr(talus_last_error(), "does not know restitution"));
}

TEST(a_body_that_cannot_be_is_named_and_the_state_before_stays) {
  talus_world *world = make_on(settings(1e-3), backend_of_test());
  const talus_material stone = rig_material(world, 0.3, 0);
  talus_body_def def = talus_body_def_default();
  def.shape = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  def.material = stone;
  def.name = "wild";
  def.force = rig_vec(1e20, 0, 0);
  talus_body body;
  rig_floor(world, stone);
  rig_body(world, TALUS_FREE, def.shape, stone, -3, 0, 0.1);
  def.position.z = 0.1;
  CHECK_OK(talus_world_add_body(world, &def, &body));
  const uint64_t hash = talus_world_hash(world);
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_DIVERGED);
  CHECK_MSG(strstr(talus_last_error(), "wild"), "%s", talus_last_error());
  CHECK_EQ_U64(talus_world_hash(world), hash);
  talus_world_destroy(world);
}

TEST_MAIN()
