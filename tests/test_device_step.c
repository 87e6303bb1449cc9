/* Worlds that step on a device: physics, what stays there, what goes home, and who takes the steps
 * that a device cannot. The device is `check` (the same code on the host), or what
 * TALUS_TEST_BACKEND names; then it is compared with `check` too. */
#include "backend/device.h"
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

/* ---- gradient methods --------------------------------------------------------------------------
 */

/* A heap that has fallen together, of balls alone or with boxes and eggs among them. Margins are
 * given, so that both have the same contacts; nothing is corrected, because lifts are sweeps. */
static uint64_t descend(talus_backend backend, talus_ccp_method method,
                        talus_friction_model friction, bool are_balls, talus_report *report) {
  talus_world_def def = settings(2e-3);
  def.margin = 0.02;
  def.solve.method = method;
  def.solve.friction = friction;
  def.solve.reduction = TALUS_REDUCTION_GATHER;
  def.solve.islands = false;
  def.solve.iterations = 15;
  def.solve.tolerance = 1e-6;
  def.solve.recovery = 0;
  talus_world *world = make_on(def, backend);
  if (are_balls) {
    const talus_material stone = rig_material(world, 0.3, 0);
    const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
    rig_floor(world, stone);
    for (int k = 0; k < 27; ++k)
      rig_body(world, TALUS_FREE, ball, stone, 0.19 * (k % 3) + 0.003 * (k % 5), 0.19 * (k / 3 % 3),
               0.1 + 0.1995 * (k / 9));
  } else
    (void)pour(world, 3, 3);
  for (size_t i = are_balls ? 1 : 2; i < rig_report(world).bodies; ++i) {
    talus_body body;
    CHECK_OK(talus_world_body_at(world, i, &body));
    CHECK_OK(talus_body_set_velocity(
        world, body, rig_vec(0.3 * (double)(i % 3) - 0.3, 0.2 * (double)(i % 5) - 0.4, -0.8),
        rig_vec(0, 0, 0)));
  }
  CHECK_OK(talus_world_step(world, are_balls ? 6 : 12));
  *report = rig_report(world);
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

TEST(gradient_methods_have_the_bits_of_the_cpu) {
  for (int method = TALUS_JACOBI; method <= TALUS_BB; ++method)
    for (int k = method % 2; k < 4; k += 3 - 2 * (method % 2)) {
      const talus_friction_model friction = k & 1 ? TALUS_FRICTION_CCP : TALUS_FRICTION_NCP;
      talus_report device, cpu;
      const uint64_t hash =
          descend(TALUS_BACKEND_CPU, (talus_ccp_method)method, friction, k < 2, &cpu);
      CHECK_MSG(descend(backend_of_test(), (talus_ccp_method)method, friction, k < 2, &device) ==
                    hash,
                "method %d, case %d: %zu and %zu contacts", method, k, device.contacts_near,
                cpu.contacts_near);
      CHECK_EQ_U64(device.contacts_near, cpu.contacts_near);
      CHECK_EQ_U64(device.iterations, cpu.iterations);
      CHECK_MSG(cpu.contacts_near > 20 && cpu.iterations >= 10,
                "method %d, case %d: %zu contacts, %d iterations", method, k, cpu.contacts_near,
                cpu.iterations);
      CHECK_NEAR(device.residual_rms / cpu.residual_rms, 1, 1e-6);
      CHECK(device.residual_max == cpu.residual_max);
    }
}

/* Rows have no colours until overlap is corrected. */
TEST(overlap_is_corrected_after_apgd) {
  SKIP_IF_SHORT();
  talus_world_def def = settings(2e-3);
  def.solve.method = TALUS_APGD;
  def.solve.iterations = 15;
  talus_world *world = make_on(def, backend_of_test());
  const talus_material stone = rig_material(world, 0.3, 0);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  rig_floor(world, stone);
  for (int k = 0; k < 8; ++k)
    rig_body(world, TALUS_FREE, ball, stone, 0.4 * (k % 4), 0.01 * k, k < 4 ? 0.09 : 0.28);
  CHECK_OK(talus_world_step(world, 1));
  CHECK(rig_report(world).overlap_max > 9e-3);
  CHECK_OK(talus_world_step(world, 24));
  CHECK_MSG(rig_report(world).overlap_max < 1e-3, "%g m", rig_report(world).overlap_max);
  CHECK(rig_report(world).kinetic_energy < 1);
  talus_world_destroy(world);
}

/* A world's contacts come in one piece: a smaller one is no remedy. */
TEST(a_step_without_room_for_its_contacts_does_not_speak_of_pieces) {
  talus_status status = TALUS_ERROR_MEMORY;
  if (backend_of_test() != TALUS_BACKEND_CHECK)
    SKIP("its memory has no limit");
  for (size_t bytes = 2000000; status == TALUS_ERROR_MEMORY && bytes < 60000000; bytes += 400000) {
    talus_world *world = make_on(settings(2e-3), TALUS_BACKEND_CHECK);
    const talus_material stone = rig_material(world, 0.3, 0);
    const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
    for (int k = 0; k < 150; ++k) /* 11,175 contacts: 0.8 MB */
      rig_body(world, TALUS_FREE, ball, stone, 0, 0, 1e-4 * k);
    tl_device_limit_check(bytes);
    status = talus_world_step(world, 1);
    tl_device_limit_check(SIZE_MAX);
    CHECK_MSG(status == TALUS_OK || !strstr(talus_last_error(), "pieces"), "%s",
              talus_last_error());
    talus_world_destroy(world);
  }
  CHECK_OK(status);
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

/* ---- impacts ----------------------------------------------------------------------------------
 */

static talus_body throw(talus_world * world, talus_shape shape, talus_material material,
                        talus_dvec3 at, talus_vec3 velocity) {
  talus_body_def def = talus_body_def_default();
  talus_body body;
  def.shape = shape, def.material = material;
  def.position = at, def.velocity = velocity;
  CHECK_OK(talus_world_add_body(world, &def, &body));
  return body;
}

/* Balls that hit a floor and each other one by one, with spin and friction. */
static uint64_t flights(talus_backend backend, uint64_t steps) {
  talus_world *world = make_on(settings(1e-3), backend);
  const talus_material rubber = rig_material(world, 0.3, 0.7);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  rig_floor(world, rubber);
  for (int k = 0; k < 4; ++k)
    (void) throw(world, ball, rubber, (talus_dvec3){2.0 * k, 0, 0.3 + 0.1 * k}, rig_vec(1, k, 0));
  (void) throw(world, ball, rubber, (talus_dvec3){1.0, 0.05, 0.35}, rig_vec(-3, 0, 0));
  CHECK_OK(talus_world_step(world, steps));
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

TEST(impacts_one_by_one_are_those_of_the_cpu_to_the_bit) {
  CHECK_EQ_U64(flights(backend_of_test(), 300), flights(TALUS_BACKEND_CPU, 300));
}

/* Four corners meet at one moment: they are reflected together, and the box does not turn. */
TEST(a_box_that_falls_flat_comes_back_flat) {
  talus_world *world = make_on(settings(1e-3), backend_of_test());
  const talus_material rubber = rig_material(world, 0.5, 0.5);
  rig_floor(world, rubber);
  const talus_body box = throw(world, rig_shape(world, TALUS_BOX, 0.4, 0.3, 0.2, 0), rubber,
                               (talus_dvec3){0, 0, 0.15}, rig_vec(0, 0, -2));
  CHECK_OK(talus_world_step(world, 60));
  const talus_body_info info = rig_info(world, box);
  CHECK_NEAR(info.spin.x, 0, BY_PRECISION(1e-9, 1e-3));
  CHECK_NEAR(info.spin.y, 0, BY_PRECISION(1e-9, 1e-3));
  CHECK(info.velocity.z > 0.4 && info.velocity.z < 1.1);
  talus_world_destroy(world);
}

/* Cradles: what comes in on one side leaves on the other, whichever meets first. */
TEST(a_row_of_balls_hands_on_its_momentum) {
  talus_world_def def = settings(1e-3);
  def.gravity = rig_vec(0, 0, 0);
  talus_world *world = make_on(def, backend_of_test());
  const talus_material steel = rig_material(world, 0, 1);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  talus_body row[6];
  for (int k = 0; k < 6; ++k)
    row[k] = throw(world, ball, steel, (talus_dvec3){k == 0 ? -0.01 : 0.2001 * k, 0, 0},
                   rig_vec(k == 0 ? 2 : 0, 0, 0));
  CHECK_OK(talus_world_step(world, 60));
  for (int k = 0; k < 6; ++k)
    CHECK_NEAR(rig_info(world, row[k]).velocity.x, k == 5 ? 2 : 0, BY_PRECISION(1e-9, 1e-4));
  talus_world_destroy(world);
}

/* All at once, with and without restitution: no energy is made, nobody sinks, and the fall costs
 * about what it costs on the CPU. */
static double fall(talus_backend backend, uint64_t steps) {
  talus_world *world = make_on(settings(1e-3), backend);
  const talus_material rubber = rig_material(world, 0.3, 0.6), clay = rig_material(world, 0.3, 0);
  const talus_material_law dull = {.friction = 0.3};
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0),
                    block = rig_shape(world, TALUS_BOX, 0.16, 0.16, 0.16, 0);
  CHECK_OK(talus_world_set_material_law(world, rubber, clay, &dull));
  rig_floor(world, rubber);
  for (int k = 0; k < 48; ++k)
    (void) throw(
        world, k % 5 == 2 ? block : ball, k % 3 == 0 ? clay : rubber,
        (talus_dvec3){0.21 * (k % 4) + 0.003 * (k % 5), 0.21 * (k / 4 % 4), 0.12 + 0.22 * (k / 16)},
        rig_vec(0.1 * (k % 7) - 0.3, 0.1 * (k % 5) - 0.2, -1 - 0.1 * (k % 3)));
  double had = INFINITY;
  for (uint64_t done = 0; done < steps; done += 10) {
    const talus_report report = rig_report(world);
    const double has = report.kinetic_energy + report.potential_energy;
    CHECK(has < had + 0.01 * fabs(had));
    CHECK_EQ_U64(report.sunk, 0);
    had = has;
    CHECK_OK(talus_world_step(world, 10));
  }
  CHECK(rig_report(world).contact_work < 0);
  talus_world_destroy(world);
  return had;
}

TEST(many_impacts_at_once_make_no_energy) {
  SKIP_IF_SHORT();
  const double device = fall(backend_of_test(), 150), cpu = fall(TALUS_BACKEND_CPU, 150);
  CHECK_NEAR(device / cpu, 1, 0.03);
}

/* ---- motions -----------------------------------------------------------------------------------
 */

static talus_body guide(talus_world *world, talus_shape shape, talus_material material,
                        talus_dvec3 at, const talus_motion *motion) {
  talus_body_def def = talus_body_def_default();
  talus_body body;
  def.shape = shape, def.material = material, def.kind = TALUS_KINEMATIC;
  def.position = at, def.motion = *motion;
  CHECK_OK(talus_world_add_body(world, &def, &body));
  return body;
}

/* A floor that rises, a bar that swings and sweeps, and balls between them. */
static void piston(talus_backend backend, talus_body_info *found) {
  talus_world *world = make_on(settings(1e-3), backend);
  const talus_material stone = rig_material(world, 0.5, 0.2);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  const talus_motion rise = {.velocity = rig_vec(0, 0, 0.5)};
  const talus_motion sweep = {.velocity = rig_vec(0, 0, 0.5),
                              .amplitude = rig_vec(0.2, 0, 0),
                              .frequency = 2,
                              .spin = rig_vec(0, 0, 1)};
  const talus_body floor =
      guide(world, rig_shape(world, TALUS_PLANE, 0, 0, 1, 0), stone, (talus_dvec3){0, 0, 0}, &rise);
  const talus_body bar = guide(world, rig_shape(world, TALUS_BOX, 0.2, 1, 0.4, 0), stone,
                               (talus_dvec3){0, 0, 0.25}, &sweep);
  const talus_body rider = throw(world, ball, stone, (talus_dvec3){1, 0, 0.1}, rig_vec(0, 0, 0.5));
  const talus_body hit = throw(world, ball, stone, (talus_dvec3){0.25, 0, 0.1}, rig_vec(0, 0, 0.5));
  const talus_body all[] = {floor, bar, rider, hit};
  CHECK_OK(talus_world_step(world, 200));
  for (int k = 0; k < 4; ++k)
    found[k] = rig_info(world, all[k]);
  talus_world_destroy(world);
}

TEST(bodies_that_follow_motions_carry_and_push_others) {
  talus_body_info device[4], cpu[4];
  piston(backend_of_test(), device);
  piston(TALUS_BACKEND_CPU, cpu);
  CHECK_NEAR(device[0].position.z, 0.1, 1e-12);
  CHECK_NEAR(device[2].position.z, 0.2, 1e-3);
  CHECK_NEAR(device[2].velocity.z, 0.5, 1e-2);
  CHECK(device[3].velocity.x > 0.5);
  for (int k = 0; k < 4; ++k) {
    CHECK_NEAR(device[k].position.x, cpu[k].position.x, k < 2 ? 0 : 0.01);
    CHECK_NEAR(device[k].position.y, cpu[k].position.y, k < 2 ? 0 : 0.01);
    CHECK_NEAR(device[k].position.z, cpu[k].position.z, k < 2 ? 0 : 2e-3);
  }
}

/* What a floor feels of an impact is in its contact: m (1 + e) v. */
TEST(impulses_of_impacts_come_home) {
  talus_world_def def = settings(1e-3);
  def.gravity = rig_vec(0, 0, 0);
  talus_world *world = make_on(def, backend_of_test());
  const talus_material rubber = rig_material(world, 0, 0.5);
  rig_floor(world, rubber);
  const talus_body ball = throw(world, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), rubber,
                                (talus_dvec3){0, 0, 0.1005}, rig_vec(0, 0, -1));
  const double mass = (double)rig_info(world, ball).mass;
  static talus_contact contacts[8];
  size_t count;
  CHECK_OK(talus_world_step(world, 1));
  CHECK_OK(talus_world_contacts(world, contacts, 8, &count));
  CHECK_EQ_U64(count, 1);
  CHECK_NEAR(contacts[0].impulse.z / (mass * 1.5), 1, BY_PRECISION(1e-9, 1e-4));
  CHECK_NEAR(rig_info(world, ball).velocity.z, 0.5, BY_PRECISION(1e-9, 1e-4));
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
  CHECK(fall(backend_of_test(), 150) == fall(TALUS_BACKEND_CHECK, 150));
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
  def.sleep = (talus_sleep_def){0.01, 0.1};
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
  const char *first = strstr(said, "does not know sleep");
  CHECK(first && !strstr(first + 1, "does not know"));
  (void)bounce(backend_of_test(), &status, true);
  CHECK(status == TALUS_ERROR_UNSUPPORTED);
  CHECK(strstr(talus_last_error(), "does not know sleep"));
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
