/* Probes: means over time of forces, torques, counts, energies and mass flow, on hand-made steps.
 */
#include "flow/place.h"
#include "flow_fixture.h"

typedef struct bench {
  fixture f;
  tl_flow flow;
  tl_contacts contacts;
} bench;

static bench bench_make(void) {
  bench b = {.f = fixture_make(8)};
  fixture_sphere(&b.f, 0.5);
  return b;
}

static void bench_free(bench *b) {
  tl_array_free(&b->contacts);
  tl_flow_release(&b->flow);
  fixture_free(&b->f);
}

static uint32_t body(bench *b, double x, double y, double z, uint32_t flags) {
  return fixture_body(&b->f, (talus_shape){0}, x, y, z, flags);
}

static void touch(bench *b, uint32_t first, uint32_t second, talus_dvec3 point,
                  talus_vec3 impulse) {
  const tl_contact contact = {.a = first, .b = second, .point = point, .impulse = impulse};
  CHECK_OK(tl_array_push(&b->contacts, contact));
}

static uint32_t probe_on(bench *b, uint32_t slot, uint32_t record) {
  const talus_probe_def def = {.on_body = true, .record = record};
  uint32_t row;
  CHECK_OK(tl_flow_add_probe(&b->flow, &def, b->f.model.property.uid[slot], 0, &row));
  return row;
}

static uint32_t probe_in(bench *b, talus_region region, uint32_t record) {
  const talus_probe_def def = {.region = region, .record = record};
  uint32_t row;
  CHECK_OK(tl_flow_add_probe(&b->flow, &def, 0, 0, &row));
  return row;
}

static void begin(bench *b) { tl_flow_begin_step(&b->flow, &b->f.model, &b->f.state); }

/* The end of a step of length dt that works in place, like the world's. */
static void end(bench *b, double t0, double dt) {
  const tl_crowd crowd = {.model = &b->f.model,
                          .count = b->f.model.bodies,
                          .t0 = t0,
                          .t1 = t0 + dt,
                          .dt = dt,
                          .in = &b->f.state,
                          .out = &b->f.state};
  tl_flow_probe(&b->flow, &crowd, &b->contacts);
}

/* A step in which nothing moves. */
static void step(bench *b, double t0, double dt) {
  begin(b);
  end(b, t0, dt);
}

static talus_probe_values finish(bench *b, uint32_t row, double now) {
  talus_probe_values values;
  tl_probe_finish(&b->flow.probes.data[row], now, &values);
  return values;
}

TEST(force_is_impulse_over_time_and_acts_both_ways) {
  bench b = bench_make();
  body(&b, 0, 0, 0, TL_FLAG_FIXED), body(&b, 0, 0, 1, 0), body(&b, 0, 0, 2, 0);
  const uint32_t middle = probe_on(&b, 1, TALUS_RECORD_FORCE),
                 low = probe_on(&b, 0, TALUS_RECORD_FORCE);
  touch(&b, 0, 1, tl_dvec3(0, 0, 0.5), tl_vec3(0, TL_R(0.5), 3));
  touch(&b, 1, 2, tl_dvec3(0, 0, 1.5), tl_vec3(0, 0, 1));
  step(&b, 0, 0.5);
  b.contacts.data[0].impulse = tl_vec3(0, 0, 5);
  b.contacts.count = 1;
  step(&b, 0.5, 0.25);
  talus_probe_values v = finish(&b, middle, 0.75);
  CHECK_NEAR(v.from, 0, 0);
  CHECK_NEAR(v.to, 0.75, 0);
  CHECK_NEAR(v.force[1], 0.5 / 0.75, 1e-6);
  CHECK_NEAR(v.force[2], (3 - 1 + 5) / 0.75, 1e-6);
  CHECK_NEAR(v.torque[0], 0, 0); /* not asked for */
  v = finish(&b, low, 0.75);
  CHECK_NEAR(v.force[2], -8 / 0.75, 1e-6);
  /* The interval is over: a new one begins with nothing. */
  v = finish(&b, middle, 0.75);
  CHECK_NEAR(v.from, 0.75, 0);
  CHECK_NEAR(v.force[2], 0, 0);
  step(&b, 0.75, 0.25);
  CHECK_NEAR(finish(&b, middle, 1).force[2], 20, 1e-6);
  bench_free(&b);
}

TEST(torque_is_about_the_centre_when_the_contact_was_found) {
  bench b = bench_make();
  body(&b, 0, 0, 0, TL_FLAG_FIXED), body(&b, 1, 2, 3, 0);
  const uint32_t row = probe_on(&b, 1, TALUS_RECORD_TORQUE);
  touch(&b, 0, 1, tl_dvec3(1, 2.5, 3), tl_vec3(2, 0, 0));
  step(&b, 0, 1);
  /* (0, 0.5, 0) x (2, 0, 0) */
  CHECK_NEAR(finish(&b, row, 1).torque[2], -1, 1e-6);
  /* The step has moved the body in place, by dt v and a correction; the arm is the same. */
  begin(&b);
  b.f.state.velocity[1] = tl_vec3(0, TL_R(0.25), 0);
  b.f.state.position[1].y += 0.25 + 0.125;
  end(&b, 1, 1);
  CHECK_NEAR(finish(&b, row, 2).torque[2], -1, 1e-6);
  /* Springs look for contacts where the bodies have moved to. */
  b.f.model.solve.kind = TALUS_SOLVE_PENALTY;
  begin(&b);
  b.f.state.position[1].y = 2.25;
  end(&b, 2, 1);
  CHECK_NEAR(finish(&b, row, 3).torque[2], -0.5, 1e-6);
  bench_free(&b);
}

/* ---- whole steps ----------------------------------------------------------------------------- */

/* Torque about the centre of a ball that lies in a smooth corner, 1 mm deep in the walls: no force
 * has an arm, however fast it slides along and whatever takes it out of the walls. */
static void check_smooth_corner(talus_solve_kind kind) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  uint32_t probe;
  talus_probe_values v;
  def.dt = 1e-3;
  def.threads = 1;
  def.solve.kind = kind;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def smooth = talus_material_def_default();
  smooth.friction = 0;
  talus_material m;
  CHECK_OK(talus_world_add_material(world, &smooth, &m));
  talus_shape_def wall = talus_shape_def_default(), ball = wall;
  wall.kind = TALUS_PLANE;
  wall.size[0] = wall.size[1] = wall.size[3] = 0, wall.size[2] = 1;
  ball.kind = TALUS_SPHERE, ball.size[0] = 0.1;
  talus_body_def body = talus_body_def_default();
  body.material = m, body.kind = TALUS_FIXED;
  CHECK_OK(talus_world_add_shape(world, &wall, &body.shape));
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  wall.size[2] = 0, wall.size[0] = 1;
  CHECK_OK(talus_world_add_shape(world, &wall, &body.shape));
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  body.kind = TALUS_FREE;
  CHECK_OK(talus_world_add_shape(world, &ball, &body.shape));
  body.position = (talus_dvec3){0.099, 0, 0.099};
  body.velocity = tl_vec3(0, 5, 0);
  talus_probe_def on = {.on_body = true, .record = TALUS_RECORD_FORCE | TALUS_RECORD_TORQUE};
  CHECK_OK(talus_world_add_body(world, &body, &on.body));
  CHECK_OK(talus_world_add_probe(world, &on, &probe));
  for (int i = 0; i < 20; ++i) {
    CHECK_OK(talus_world_step(world, 1));
    CHECK_OK(talus_probe_read(world, probe, &v));
    for (int k = 0; k < 3; ++k)
      CHECK_MSG(fabs(v.torque[k]) < 1e-5 * (1 + fabs(v.force[0]) + fabs(v.force[2])),
                "step %d: torque %d is %g N m at %g and %g N", i, k, v.torque[k], v.force[0],
                v.force[2]);
  }
  CHECK(v.force[2] > 0);
  talus_world_destroy(world);
}

TEST(a_smooth_ball_feels_no_torque_by_complementarity) { check_smooth_corner(TALUS_SOLVE_CCP); }
TEST(a_smooth_ball_feels_no_torque_by_springs) { check_smooth_corner(TALUS_SOLVE_PENALTY); }
TEST(a_smooth_ball_feels_no_torque_by_impulses) { check_smooth_corner(TALUS_SOLVE_IMPULSE); }

/* ---- torque, by hand ------------------------------------------------------------------------- */

TEST(separate_states_give_the_same_torque) {
  bench b = bench_make();
  body(&b, 0, 0, 0, TL_FLAG_FIXED), body(&b, 1, 2, 3, 0);
  const uint32_t row = probe_on(&b, 1, TALUS_RECORD_TORQUE | TALUS_RECORD_ENERGY);
  touch(&b, 0, 1, tl_dvec3(1, 2.5, 3), tl_vec3(2, 0, 0));
  fixture after = fixture_make(8);
  after.state.position[1] = tl_dvec3(7, 7, 7);
  after.state.rotation[1] = tl_quat_identity();
  after.state.velocity[1] = tl_vec3(0, 0, 3);
  const tl_crowd crowd = {.model = &b.f.model,
                          .count = 2,
                          .t0 = 0,
                          .t1 = 1,
                          .dt = 1,
                          .in = &b.f.state,
                          .out = &after.state};
  tl_flow_probe(&b.flow, &crowd, &b.contacts);
  const talus_probe_values v = finish(&b, row, 1);
  CHECK_NEAR(v.torque[2], -1, 1e-6);
  CHECK_NEAR(v.energy, 4.5 * (double)b.f.model.property.mass[1], 1e-3);
  fixture_free(&after);
  bench_free(&b);
}

TEST(arms_reach_through_a_periodic_border) {
  bench b = bench_make();
  fixture_periodic(&b.f, 10, true, false, false);
  body(&b, 9.8, 0, 0, 0), body(&b, 0.6, 0, 0, 0);
  const uint32_t left = probe_on(&b, 0, TALUS_RECORD_TORQUE),
                 right = probe_on(&b, 1, TALUS_RECORD_TORQUE);
  touch(&b, 0, 1, tl_dvec3(10.2, 0, 0), tl_vec3(0, 1, 0)); /* in the image of a */
  step(&b, 0, 1);
  CHECK_NEAR(finish(&b, left, 1).torque[2], -0.4, 1e-6);
  CHECK_NEAR(finish(&b, right, 1).torque[2], -0.4, 1e-6);
  bench_free(&b);
}

/* Whichever of the two has the lower uid, and with it the image that the point is in. */
TEST(arms_of_a_static_body_reach_through_a_periodic_border) {
  bench b = bench_make();
  fixture_periodic(&b.f, 10, true, false, false);
  body(&b, 9.8, 0, 0, TL_FLAG_FIXED), body(&b, 0.6, 0, 0, 0), body(&b, 9.8, 0, 0, TL_FLAG_FIXED);
  const uint32_t first = probe_on(&b, 0, TALUS_RECORD_TORQUE),
                 last = probe_on(&b, 2, TALUS_RECORD_TORQUE);
  touch(&b, 0, 1, tl_dvec3(10.2, 0, 0), tl_vec3(0, 1, 0));
  touch(&b, 1, 2, tl_dvec3(0.2, 0, 0), tl_vec3(0, -1, 0));
  step(&b, 0, 1);
  CHECK_NEAR(finish(&b, first, 1).torque[2], -0.4, 1e-6);
  CHECK_NEAR(finish(&b, last, 1).torque[2], -0.4, 1e-6);
  bench_free(&b);
}

TEST(energy_of_a_body_is_translation_and_rotation) {
  bench b = bench_make();
  const talus_shape brick = fixture_shape(&b.f, TALUS_BOX, 1, 2, 3, 0);
  const uint32_t slot = fixture_body(&b.f, brick, 0, 0, 0, 0);
  const uint32_t row = probe_on(&b, slot, TALUS_RECORD_ENERGY);
  /* Turned so that the body's x axis is the world's z axis. */
  b.f.state.rotation[slot] = tl_quat_from_axis_angle(tl_vec3(0, 1, 0), TL_R(-TL_PI / 2));
  b.f.state.velocity[slot] = tl_vec3(3, 0, 4);
  b.f.state.spin[slot] = tl_vec3(0, 0, 2);
  step(&b, 0, 0.1);
  const double mass = 6000, moment = mass * (4 + 9) / 12;
  CHECK_NEAR(finish(&b, row, 0.1).energy, 0.5 * mass * 25 + 0.5 * moment * 4, 0.02);
  bench_free(&b);
}

TEST(a_removed_body_reads_zero_and_the_others_are_still_found) {
  bench b = bench_make();
  body(&b, 0, 0, 0, TL_FLAG_FIXED), body(&b, 0, 0, 1, 0), body(&b, 0, 0, 2, 0);
  const uint32_t gone = probe_on(&b, 1, TALUS_RECORD_FORCE),
                 kept = probe_on(&b, 2, TALUS_RECORD_FORCE);
  tl_fields_move(&b.f.model.property, tl_property_fields, TL_PROPERTY_FIELD_COUNT, 1, 2);
  b.f.model.bodies = 2;
  touch(&b, 0, 1, tl_dvec3(0, 0, 0.5), tl_vec3(0, 0, 3));
  step(&b, 0, 1);
  CHECK_NEAR(finish(&b, gone, 1).force[2], 0, 0);
  CHECK_NEAR(finish(&b, kept, 1).force[2], 3, 1e-6);
  bench_free(&b);
}

TEST(regions_count_weigh_and_measure_flow) {
  bench b = bench_make();
  for (int i = 0; i < 4; ++i)
    body(&b, i, 0, 0, 0);
  body(&b, 0, 0, 0, TL_FLAG_FIXED);
  b.f.state.velocity[0] = tl_vec3(1, 2, 3);
  b.f.state.velocity[1] = tl_vec3(1, 0, -1);
  b.f.state.velocity[3] = tl_vec3(9, 9, 9);
  const double mass = (double)b.f.model.property.mass[0];
  const uint32_t all = TALUS_RECORD_COUNT | TALUS_RECORD_ENERGY | TALUS_RECORD_MASS_FLOW;
  const uint32_t row = probe_in(&b, fixture_box(-0.5, -1, -2, 1.5, 1, 2), all);
  const uint32_t count = probe_in(&b, fixture_box(-0.5, -1, -2, 1.5, 1, 2), TALUS_RECORD_COUNT);
  step(&b, 0, 0.25);
  b.f.state.position[1].x = 50; /* has left for the second, three times as long step */
  step(&b, 0.25, 0.75);
  const talus_probe_values v = finish(&b, row, 1);
  CHECK_NEAR(v.count, 0.25 * 2 + 0.75 * 1, 1e-12);
  CHECK_NEAR(v.mass_flow[0], mass * (0.25 * 2 + 0.75 * 1) / 2, 1e-3);
  CHECK_NEAR(v.mass_flow[1], mass * 2 / 2, 1e-3);
  CHECK_NEAR(v.mass_flow[2], mass * (0.25 * 2 + 0.75 * 3) / 4, 1e-3);
  CHECK_NEAR(v.energy, 0.5 * mass * (14 + 0.25 * 2), 1e-2);
  const talus_probe_values c = finish(&b, count, 1);
  CHECK_NEAR(c.count, 1.25, 1e-12);
  CHECK(c.energy == 0 && c.mass_flow[0] == 0);
  bench_free(&b);
}

TEST(a_body_tells_where_it_is_and_how_it_moved) {
  bench b = bench_make();
  body(&b, 1, 2, 3, 0);
  const uint32_t row = probe_on(&b, 0,
                                TALUS_RECORD_POSITION | TALUS_RECORD_ROTATION |
                                    TALUS_RECORD_VELOCITY | TALUS_RECORD_SPIN);
  b.f.state.velocity[0] = tl_vec3(1, 0, 0);
  b.f.state.spin[0] = tl_vec3(0, 4, 0);
  step(&b, 0, 0.25);
  b.f.state.velocity[0] = tl_vec3(5, 0, 0);
  b.f.state.position[0].x = 7;
  step(&b, 0.25, 0.75);
  const talus_probe_values v = finish(&b, row, 1);
  CHECK(v.position[0] == 7 && v.position[2] == 3 && v.rotation[0] == 1 && v.rotation[3] == 0);
  CHECK_NEAR(v.velocity[0], 0.25 * 1 + 0.75 * 5, 1e-6);
  CHECK_NEAR(v.spin[1], 4, 1e-6);
  bench_free(&b);
}

/* A column under 30 N on an area of 4 m2. */
TEST(stress_is_force_times_arm_over_volume) {
  bench b = bench_make();
  body(&b, 0, 0, 0, TL_FLAG_FIXED), body(&b, 0, 0, 1, 0), body(&b, 0, 0, 2, 0);
  const uint32_t row = probe_in(&b, fixture_box(-1, -1, 0.5, 1, 1, 1.5),
                                TALUS_RECORD_STRESS | TALUS_RECORD_COORDINATION);
  touch(&b, 0, 1, tl_dvec3(0, 0, 0.5), tl_vec3(0, 0, 3));
  touch(&b, 1, 2, tl_dvec3(0, 0, 1.5), tl_vec3(0, 0, 2));
  touch(&b, 1, 2, tl_dvec3(0, 0, 1.5), tl_vec3(0, 0, 1)); /* of the same pair */
  step(&b, 0, 0.1);
  talus_probe_values v = finish(&b, row, 0.1);
  CHECK_NEAR(v.stress[2], 30.0 / 4, 1e-5);
  CHECK(v.stress[0] == 0 && v.stress[3] == 0 && v.kinetic_stress[0] == 0);
  CHECK_NEAR(v.coordination, 2, 1e-12);
  touch(&b, 1, 2, tl_dvec3(0.5, 0, 1),
        tl_vec3(0, 0, 1)); /* shear: half of it, as it is symmetric */
  step(&b, 0.1, 0.1);
  v = finish(&b, row, 0.2);
  CHECK_NEAR(v.stress[4], 0.5 * 0.5 * 10 / 4, 1e-6);
  bench_free(&b);
}

TEST(motion_about_the_mean_makes_stress) {
  bench b = bench_make();
  for (int i = 0; i < 2; ++i)
    body(&b, 0, 0, i, 0), b.f.state.velocity[i] = tl_vec3(i == 0 ? 7 : 9, 3, 0);
  const double mass = (double)b.f.model.property.mass[0];
  const uint32_t row = probe_in(&b, fixture_box(-1, -1, -1, 1, 1, 1), TALUS_RECORD_STRESS);
  step(&b, 0, 0.5);
  const talus_probe_values v = finish(&b, row, 0.5);
  CHECK_NEAR(v.kinetic_stress[0], 2 * mass / 8, 1e-3);
  CHECK_NEAR(v.kinetic_stress[1], 0, 1e-3);
  CHECK_NEAR(v.kinetic_stress[3], 0, 1e-3);
  bench_free(&b);
}

TEST(bodies_fill_space_and_are_counted_by_size) {
  bench b = bench_make();
  const double sizes[] = {0.4, 0.5, 1};
  const talus_probe_def def = {.region = fixture_box(-1, -1, -1, 1, 1, 1),
                               .record = TALUS_RECORD_SOLID_FRACTION | TALUS_RECORD_SIZES,
                               .sizes = sizes,
                               .size_count = 3};
  uint32_t row;
  CHECK_OK(tl_flow_add_probe(&b.flow, &def, 0, 0, &row));
  body(&b, 0, 0, 0, 0), body(&b, 1, 0, 0, 0), body(&b, 0, 0, 1.5, 0); /* whole, half, none */
  b.f.model.property.scale[0] = TL_R(0.5);
  step(&b, 0, 0.5);
  const talus_probe_values v = finish(&b, row, 0.5);
  const double ball = 4.0 / 3 * 3.14159265358979 * 0.125;
  CHECK_NEAR(v.solid_fraction, (ball / 8 + ball / 2) / 8, 1e-9);
  CHECK(v.counts[0] == 1 && v.counts[1] == 0 && v.counts[2] == 1 && v.counts[3] == 0);
  bench_free(&b);
}

TEST(impossible_probes_are_refused_by_name) {
  tl_flow flow = {0};
  uint32_t row;
  talus_probe_def def = {.name = "outlet", .region = fixture_box(0, 0, 0, 1, 1, 1)};
#define CHECK_REFUSED(text) CHECK_FAILS(tl_flow_add_probe(&flow, &def, 0, 0, &row), (text))
  def.on_body = true, def.record = TALUS_RECORD_FORCE, def.size_count = 1000;
  CHECK_REFUSED("1000");
  def.on_body = false, def.record = 0, def.size_count = 0;
  CHECK_REFUSED("probe 'outlet': say what to record");
  def.record = 1u << 20;
  CHECK_REFUSED("say what to record");
  def.record = TALUS_RECORD_FORCE;
  CHECK_REFUSED("the rest needs a body");
  def.on_body = true, def.record = TALUS_RECORD_FORCE | TALUS_RECORD_COUNT;
  CHECK_REFUSED("the rest needs a region");
  def.on_body = false, def.record = TALUS_RECORD_COUNT | TALUS_RECORD_MASS_FLOW;
  def.region = (talus_region){.kind = TALUS_REGION_SPHERE, .radius = 1};
  CHECK_REFUSED("use a box as the region");
  def.region = fixture_box(0, 0, 0, 1, 1, 0);
  CHECK_REFUSED("the region is flat");
  def.region = fixture_box(0, 0, 0, 1, -1, 1);
  CHECK_REFUSED("inside out along y");
  def.region = fixture_box(0, 0, 0, 1, 1, 1);
  def.record |= TALUS_RECORD_SIZES;
  CHECK_REFUSED("has 0 sizes; to record sizes it takes 1 to 15 radii");
  const double falling[] = {2, 1};
  def.sizes = falling, def.size_count = 2;
  CHECK_REFUSED("size 1 is 1 m; radii must be positive, finite and rise");
  def.size_count = 1;
  CHECK_OK(tl_flow_add_probe(&flow, &def, 0, 0, &row));
  CHECK_REFUSED("there is a probe of that name already");
#undef CHECK_REFUSED
  CHECK_EQ_U64(flow.probes.count, 1);
  const size_t held = tl_memory_count().bytes;
  tl_flow_release(&flow);
  CHECK(tl_memory_count().bytes < held);
}

TEST_MAIN()
