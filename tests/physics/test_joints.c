/* Joints against what mechanics says: by the public interface. */
#include "joint_rig.h"

/* ---- pendulums ------------------------------------------------------------------------------- */

/* Time of 2 n half swings of a rod hung at its end, from where its angle passes 0. */
static double period(double dt, double start) {
  rig r = make(dt, 9.81);
  /* A thin rod of length 1, released at an angle `start` from hanging: joint angle 0 is there. */
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_BOX;
  shape.size[0] = 0.02, shape.size[1] = 0.02, shape.size[2] = 1;
  talus_body_def body = talus_body_def_default();
  CHECK_OK(talus_world_add_shape(r.world, &shape, &body.shape));
  body.material = r.material;
  body.position = (talus_dvec3){0.5 * sin(start), 0, -0.5 * cos(start)};
  body.rotation = (talus_quat){(talus_real)cos(start / 2), 0, (talus_real)-sin(start / 2), 0};
  talus_body rod;
  CHECK_OK(talus_world_add_body(r.world, &body, &rod));
  const talus_joint joint = hinge(&r, ground, rod, 0, 0, 0);
  double last = 0, first = -1, end = 0;
  int crossings = 0;
  for (int i = 1; crossings < 9; ++i) {
    CHECK_OK(talus_world_step(r.world, 1));
    const double angle = info_of(&r, joint).value - start; /* axis y turns z to x: sign */
    if (i > 1 && last * angle < 0) {
      const double at = dt * (i - 1 + fabs(last) / (fabs(last) + fabs(angle)));
      if (crossings++ == 0)
        first = at;
      end = at;
    }
    last = angle;
    CHECK(i < 20 / dt);
  }
  talus_world_destroy(r.world);
  return (end - first) / 4;
}

TEST(pendulum_swings_with_its_period_to_second_order) {
  const double start = 0.5;
  /* Physical pendulum: 2 pi sqrt(I / (m g d)) (1 + a^2/16 + 11 a^4/3072). */
  const double inertia = (1 + 0.02 * 0.02) / 12 + 0.25;
  const double small = 2 * PI * sqrt(inertia / (9.81 * 0.5));
  const double want =
      small * (1 + start * start / 16 + 11 * pow(start, 4) / 3072 + 173 * pow(start, 6) / 737280);
  const double coarse = fabs(period(0.02, start) - want);
  const double fine = fabs(period(0.005, start) - want);
  CHECK_MSG(coarse < 2e-3 * want, "off by %g of %g at 20 ms", coarse, want);
  CHECK_MSG(fine < 2e-4 * want, "off by %g of %g at 5 ms", fine, want);
}

TEST(double_pendulum_keeps_its_energy_and_its_joints) {
  SKIP_IF_SHORT();
  rig r = make(1e-3, 9.81);
  const talus_body one = add_box(&r, 0.25, 0, 0, 0.5, 0.05, 0.05, 1);
  const talus_body two = add_box(&r, 0.75, 0, 0, 0.5, 0.05, 0.05, 1);
  hinge(&r, ground, one, 0, 0, 0);
  hinge(&r, one, two, 0.5, 0, 0);
  const talus_report start = report_of(&r);
  const double scale = 9.81 * (0.5 + 1.5);
  double worst = 0, drift = 0;
  for (int i = 0; i < 100; ++i) {
    CHECK_OK(talus_world_step(r.world, 100));
    const talus_report now = report_of(&r);
    worst = fmax(worst, fabs(now.kinetic_energy + now.potential_energy - start.kinetic_energy -
                             start.potential_energy));
    drift = fmax(drift, now.joint_drift);
  }
  CHECK_MSG(worst < 0.02 * scale, "energy is off by %g of %g J", worst, scale);
  CHECK_MSG(drift < DRIFT * 0.5, "drift %g m", drift);
  talus_world_destroy(r.world);
}

/* ---- closed loops ---------------------------------------------------------------------------- */

static talus_joint driven(rig *r, talus_body b, double x, double z, double speed) {
  talus_joint_def def = joint_of(TALUS_JOINT_REVOLUTE, ground, b, x, 0, z, 0, -1, 0);
  def.motor = TALUS_MOTOR_SPEED;
  def.motor_target = speed;
  return add_joint(r, &def);
}

/* x(t) = R cos wt + sqrt(L^2 - R^2 sin^2 wt), crank R = 0.2, rod L = 0.5. */
TEST(slider_crank_follows_its_closed_form_over_a_turn) {
  rig r = make(1e-3, 9.81);
  const talus_body crank = add_box(&r, 0.1, 0, 0, 0.2, 0.02, 0.02, 0);
  const talus_body rod = add_box(&r, 0.45, 0, 0, 0.5, 0.02, 0.02, 0);
  const talus_body slider = add_box(&r, 0.7, 0, 0, 0.06, 0.06, 0.06, 0);
  const talus_joint motor = driven(&r, crank, 0, 0, 2 * PI);
  hinge(&r, crank, rod, 0.2, 0, 0);
  hinge(&r, rod, slider, 0.7, 0, 0);
  const talus_joint_def slide = joint_of(TALUS_JOINT_PRISMATIC, ground, slider, 0.7, 0, 0, 1, 0, 0);
  const talus_joint way = add_joint(&r, &slide);
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    CHECK_OK(talus_world_step(r.world, 1));
    const double angle = info_of(&r, motor).value;
    const double x = 0.2 * cos(angle) + sqrt(0.25 - 0.04 * sin(angle) * sin(angle));
    worst = fmax(worst, fabs(body_of(&r, slider).position.x - x));
    CHECK_NEAR(info_of(&r, way).value, x - 0.7, BY_PRECISION(1e-7, 1e-4));
  }
  CHECK_NEAR(info_of(&r, motor).value, 2 * PI, BY_PRECISION(1e-6, 1e-3)); /* turns are counted */
  CHECK_MSG(worst < BY_PRECISION(1e-7, 1e-4), "off by %g m", worst);
  CHECK(report_of(&r).joint_drift < DRIFT * 0.5);
  talus_world_destroy(r.world);
}

/* The loop of hinges is redundant, and the slider pushes a box along a floor: impulses that cancel
 * each other must stay small, because contacts see them one by one. */
TEST(redundant_loop_pushes_a_box_quietly) {
  talus_world_def world = talus_world_def_default();
  world.threads = 1;
  rig r;
  talus_material_def material = talus_material_def_default();
  r.world = rig_world(&world);
  CHECK_OK(talus_world_add_material(r.world, &material, &r.material));
  rig_floor(r.world, r.material);
  const talus_body crank = add_box(&r, 0.15, -0.06, 0.4, 0.4, 0.05, 0.1, 20);
  const talus_body rod = add_box(&r, 0.75, 0, 0.4, 1, 0.05, 0.06, 30);
  const talus_body slider = add_box(&r, 1.2, 0, 0.35, 0.2, 0.2, 0.4, 60);
  const talus_body box = add_box(&r, 1.46, 0, 0.15, 0.3, 0.3, 0.3, 20);
  talus_joint_def def = joint_of(TALUS_JOINT_REVOLUTE, ground, crank, 0, 0, 0.4, 0, -1, 0);
  def.motor = TALUS_MOTOR_SPEED, def.motor_target = -3, def.motor_max = 400;
  add_joint(&r, &def);
  hinge(&r, crank, rod, 0.3, 0, 0.4);
  hinge(&r, rod, slider, 1.2, 0, 0.4);
  def = joint_of(TALUS_JOINT_PRISMATIC, ground, slider, 1.2, 0, 0.4, 1, 0, 0);
  const talus_joint rail = add_joint(&r, &def);
  double most = 0;
  for (int i = 0; i < 2500; ++i) {
    CHECK_OK(talus_world_step(r.world, 1));
    most = fmax(most, fabs((double)info_of(&r, rail).force.y));
  }
  CHECK_MSG(most < BY_PRECISION(100, 2000), "%g N across the rail", most);
  CHECK(report_of(&r).joint_drift < BY_PRECISION(1e-6, 1e-3));
  CHECK(body_of(&r, box).position.x > 1.44 && body_of(&r, box).position.x < 1.7);
  talus_world_destroy(r.world);
}

/* Crank 0.2, coupler 0.6, rocker 0.5, ground 0.7 (Grashof): the end of the coupler is where two
 * circles meet. The third loop of hinges about y is redundant in two ways: a meaning all the same.
 */
TEST(four_bar_follows_its_closed_form_over_a_turn) {
  for (int direct = 0; direct < 2; ++direct) {
    solver = direct ? TALUS_JOINTS_DIRECT : TALUS_JOINTS_ITERATIVE;
    rig r = make(1e-3, 9.81);
    const double a = 0.2, b = 0.6, c = 0.5, d = 0.7;
    /* Start: crank along +x; the joint of coupler and rocker above. */
    const double dx = d - a, along = (b * b - c * c + dx * dx) / (2 * dx);
    const double px = a + along, pz = sqrt(b * b - along * along);
    talus_shape_def shape = talus_shape_def_default();
    shape.kind = TALUS_BOX, shape.size[1] = shape.size[2] = 0.02;
    const talus_body crank = add_box(&r, a / 2, 0, 0, a, 0.02, 0.02, 0);
    talus_body bars[2];
    const double ends[2][4] = {{a, 0, px, pz}, {d, 0, px, pz}}, lengths[2] = {b, c};
    for (int k = 0; k < 2; ++k) {
      talus_body_def def = talus_body_def_default();
      shape.size[0] = lengths[k];
      CHECK_OK(talus_world_add_shape(r.world, &shape, &def.shape));
      const double turn = -atan2(ends[k][3] - ends[k][1], ends[k][2] - ends[k][0]);
      def.material = r.material;
      def.position = (talus_dvec3){(ends[k][0] + ends[k][2]) / 2, 0, (ends[k][1] + ends[k][3]) / 2};
      def.rotation = (talus_quat){(talus_real)cos(turn / 2), 0, (talus_real)sin(turn / 2), 0};
      CHECK_OK(talus_world_add_body(r.world, &def, &bars[k]));
    }
    const talus_joint motor = driven(&r, crank, 0, 0, 2 * PI);
    hinge(&r, crank, bars[0], a, 0, 0);
    const talus_joint tip = hinge(&r, bars[0], bars[1], px, 0, pz);
    hinge(&r, ground, bars[1], d, 0, 0);
    double worst = 0;
    for (int i = 0; i < 1000; ++i) {
      CHECK_OK(talus_world_step(r.world, 1));
      const double angle = info_of(&r, motor).value;
      const double cx = a * cos(angle), cz = a * sin(angle);
      const double gx = d - cx, gz = -cz, g = hypot(gx, gz);
      const double m = (b * b - c * c + g * g) / (2 * g), h = sqrt(b * b - m * m);
      const talus_joint_info at = info_of(&r, tip);
      worst = fmax(worst, hypot(at.anchor.x - (cx + (m * gx - h * gz) / g),
                                at.anchor.z - (cz + (m * gz + h * gx) / g)));
    }
    CHECK_MSG(worst < BY_PRECISION(1e-6, 1e-3), "off by %g m", worst);
    talus_world_destroy(r.world);
  }
  solver = TALUS_JOINTS_AUTO;
}

/* ---- tops, momentum -------------------------------------------------------------------------- */

/* A disc on a horizontal axle, held at the other end: it goes round at m g l / (I3 w). */
TEST(heavy_top_precesses_at_its_rate) {
  rig r = make(2e-4, 9.81);
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_CYLINDER;
  shape.size[0] = 0.1, shape.size[1] = 0.02;
  talus_body_def body = talus_body_def_default();
  CHECK_OK(talus_world_add_shape(r.world, &shape, &body.shape));
  body.material = r.material;
  body.mass = 1;
  const double l = 0.2, spin = 200, i3 = 0.5 * 0.01, rate = 9.81 * l / (i3 * spin);
  body.position = (talus_dvec3){l, 0, 0};
  body.rotation = (talus_quat){(talus_real)sqrt(0.5), 0, (talus_real)sqrt(0.5), 0}; /* z to x */
  body.spin = (talus_vec3){(talus_real)spin, 0, (talus_real)rate};
  body.velocity = (talus_vec3){0, (talus_real)(rate * l), 0};
  talus_body disc;
  CHECK_OK(talus_world_add_body(r.world, &body, &disc));
  const talus_joint_def def = joint_of(TALUS_JOINT_SPHERICAL, ground, disc, 0, 0, 0, 0, 0, 1);
  add_joint(&r, &def);
  CHECK_OK(talus_world_step(r.world, 5000));
  const talus_dvec3 x = body_of(&r, disc).position;
  CHECK_NEAR(atan2(x.y, x.x), rate - 0 * PI, BY_PRECISION(2e-3, 2e-2));
  CHECK_NEAR(x.z, 0, 2e-3);
  CHECK_NEAR(hypot(hypot(x.x, x.y), x.z), l, BY_PRECISION(1e-6, 1e-4));
  talus_world_destroy(r.world);
}

/* Three bodies with a hinge, a ball joint and a spring, thrown spinning into empty space. */
TEST(isolated_mechanism_conserves_momentum) {
  for (int method = 0; method < 4; ++method) {
    talus_world_def def = talus_world_def_default();
    def.gravity = (talus_vec3){0, 0, 0};
    def.solve.method = (talus_ccp_method)method;
    def.solve.iterations = 7; /* far from converged: momentum does not care */
    def.threads = 1;
    rig r;
    talus_material_def material = talus_material_def_default();
    r.world = rig_world(&def);
    CHECK_OK(talus_world_add_material(r.world, &material, &r.material));
    talus_body b[3];
    for (int i = 0; i < 3; ++i) {
      b[i] = add_box(&r, 0.5 * i, 0, 0, 0.4, 0.1 + 0.1 * i, 0.15, 1 + i);
      CHECK_OK(talus_body_set_velocity(
          r.world, b[i], (talus_vec3){(talus_real)(0.3 * i), 1, (talus_real)(0.5 - i)},
          (talus_vec3){3, (talus_real)(-2 * i), 1}));
    }
    hinge(&r, b[0], b[1], 0.25, 0, 0);
    talus_joint_def ball = joint_of(TALUS_JOINT_SPHERICAL, b[1], b[2], 0.75, 0, 0, 0, 0, 1);
    add_joint(&r, &ball);
    ball = joint_of(TALUS_JOINT_SPRING, b[0], b[2], 0, 0.1, 0, 0, 0, 1);
    ball.to = (talus_dvec3){1, 0.2, 0};
    ball.stiffness = 500, ball.damping = 3;
    add_joint(&r, &ball);
    const talus_report start = report_of(&r);
    CHECK_OK(talus_world_step(r.world, 500));
    const talus_report end = report_of(&r);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(end.momentum[k], start.momentum[k], BY_PRECISION(1e-11, 1e-3));
      CHECK_NEAR(end.angular_momentum[k], start.angular_momentum[k], BY_PRECISION(1e-10, 1e-2));
    }
    talus_world_destroy(r.world);
  }
}

/* Two bodies that tumble through space with a joint between them, for every kind that does not act
 * against the ground: neither momentum changes, and the frames stay together for ten seconds. */
TEST(every_kind_keeps_momentum_and_holds_for_ten_seconds) {
  SKIP_IF_SHORT();
  for (int kind = 0; kind < TALUS_JOINT_GEAR; ++kind) {
    rig r = make(1e-3, 0);
    r.world->model.solve.tolerance = BY_PRECISION(1e-10, 1e-6);
    r.world->model.solve.iterations = BY_PRECISION(1000, 10);
    const talus_body one = add_box(&r, 0, 0, 0, 0.5, 0.2, 0.1, 2);
    const talus_body two = add_box(&r, 0.6, 0.1, 0, 0.4, 0.1, 0.3, 1);
    talus_joint_def def = joint_of((talus_joint_kind)kind, one, two, 0.3, 0.05, 0, 0.3, 0.2, 1);
    if (kind == TALUS_JOINT_UNIVERSAL)
      def.axis_b = (talus_vec3){1, 0, (talus_real)-0.3};
    if (kind == TALUS_JOINT_DISTANCE || kind == TALUS_JOINT_SPRING)
      def.to = (talus_dvec3){0.5, 0.1, 0.1};
    if (kind == TALUS_JOINT_SPRING || kind == TALUS_JOINT_PRISMATIC ||
        kind == TALUS_JOINT_CYLINDRICAL || kind == TALUS_JOINT_POINT_ON_LINE)
      def.stiffness = 200, def.damping = 0.5; /* or they would slide apart for ever */
    const talus_joint joint = add_joint(&r, &def);
    CHECK_OK(talus_body_set_velocity(r.world, one, (talus_vec3){0, (talus_real)0.2, 0},
                                     (talus_vec3){1, (talus_real)0.5, -1}));
    CHECK_OK(talus_body_set_velocity(r.world, two, (talus_vec3){(talus_real)0.1, 0, 0},
                                     (talus_vec3){-1, 1, 2}));
    const talus_report start = report_of(&r);
    double drift = 0;
    for (int i = 0; i < 100; ++i) {
      CHECK_OK(talus_world_step(r.world, 100));
      drift = fmax(drift, info_of(&r, joint).drift);
    }
    const talus_report end = report_of(&r);
    const char *name = talus_joint_kind_name((talus_joint_kind)kind);
    CHECK_MSG(drift < DRIFT * 0.25, "%s: drift %g m", name, drift);
    for (int k = 0; k < 3; ++k) {
      CHECK_MSG(fabs(end.momentum[k] - start.momentum[k]) < BY_PRECISION(1e-10, 2e-3),
                "%s: momentum %d changes by %g", name, k, end.momentum[k] - start.momentum[k]);
      CHECK_MSG(fabs(end.angular_momentum[k] - start.angular_momentum[k]) <
                    BY_PRECISION(1e-9, 2e-2),
                "%s: angular momentum %d changes by %g", name, k,
                end.angular_momentum[k] - start.angular_momentum[k]);
    }
    talus_world_destroy(r.world);
  }
}

TEST(redundant_joints_share_the_load) {
  rig r = make(1e-3, 9.81);
  const talus_body door = add_box(&r, 0.4, 0, 0, 0.8, 0.05, 1, 10);
  talus_joint_def def = joint_of(TALUS_JOINT_REVOLUTE, ground, door, 0, 0, 0.4, 0, 0, 1);
  const talus_joint upper = add_joint(&r, &def);
  def.at.z = def.to.z = -0.4;
  const talus_joint lower = add_joint(&r, &def);
  CHECK_OK(talus_world_step(r.world, 500));
  const talus_joint_info u = info_of(&r, upper), l = info_of(&r, lower);
  CHECK_NEAR((double)(u.force.z + l.force.z), 98.1, BY_PRECISION(1e-4, 1));
  if (sizeof(talus_real) == 8) /* in single the split wanders; docs/theory/joints.md */
    CHECK_NEAR(u.force.z, l.force.z, 0.1);
  CHECK_NEAR(body_of(&r, door).position.x, 0.4, BY_PRECISION(1e-7, 1e-4));
  talus_world_destroy(r.world);
}

TEST_MAIN()
