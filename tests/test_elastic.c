/* Hard spheres: two and three of them in closed form, walls, gravity, losses, what is refused. */
#include "elastic_fixture.h"

#define EXACT    (TALUS_SINGLE ? 2e-6 : 1e-14)
#define APPROACH 4.0 /* m/s: speed at which two meet, of which velocities are exact to EXACT */

/* ---- two bodies ------------------------------------------------------------------------------ */

typedef struct closed_form {
  long double va[3], vb[3];
} closed_form;

/* Velocities after two spheres of radius r met, with normal and approach at the true moment. */
static closed_form collide(long double ma, long double mb, const double xa[3], const double xb[3],
                           const double va[3], const double vb[3], long double r) {
  long double d[3], u[3], dd = 0, du = 0, uu = 0;
  for (int k = 0; k < 3; ++k) {
    d[k] = (long double)xb[k] - xa[k], u[k] = (long double)vb[k] - va[k];
    dd += d[k] * d[k], du += d[k] * u[k], uu += u[k] * u[k];
  }
  const long double t = (dd - 4 * r * r) / (sqrtl(du * du - uu * (dd - 4 * r * r)) - du);
  long double n[3], approach = 0;
  for (int k = 0; k < 3; ++k) {
    n[k] = (d[k] + t * u[k]) / (2 * r);
    approach -= u[k] * n[k];
  }
  closed_form after;
  for (int k = 0; k < 3; ++k) {
    after.va[k] = va[k] - 2 * mb / (ma + mb) * approach * n[k];
    after.vb[k] = vb[k] + 2 * ma / (ma + mb) * approach * n[k];
  }
  return after;
}

static void check_two(way how, double mass, double aside) {
  talus_body_def ball;
  const talus_world_def def = elastic_def(how, how == BY_HARD_SHELL ? 1e-7 : 0.5);
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
  const double start = how == BY_HARD_SHELL ? -0.50000001 : -2;
  const double xa[3] = {start - (how == BY_HARD_SHELL ? 0.5 : 0), aside, 0};
  const double xb[3] = {0, 0, 0.25 * aside};
  const double va[3] = {3, 0, 0}, vb[3] = {-1, 0.5 * aside, 0};
  const talus_body a = add_ball(world, ball, 1, (talus_dvec3){xa[0], xa[1], xa[2]},
                                (talus_dvec3){va[0], va[1], va[2]});
  const talus_body b = add_ball(world, ball, mass, (talus_dvec3){xb[0], xb[1], xb[2]},
                                (talus_dvec3){vb[0], vb[1], vb[2]});
  const closed_form want = collide(1, mass, xa, xb, va, vb, 0.5L);
  CHECK_OK(talus_world_step(world, 2));
  const talus_body_info ia = info_of(world, a), ib = info_of(world, b);
  const double got_a[3] = {(double)ia.velocity.x, (double)ia.velocity.y, (double)ia.velocity.z};
  const double got_b[3] = {(double)ib.velocity.x, (double)ib.velocity.y, (double)ib.velocity.z};
  for (int k = 0; k < 3; ++k) {
    CHECK_NEAR(got_a[k], (double)want.va[k], APPROACH * EXACT);
    CHECK_NEAR(got_b[k], (double)want.vb[k], APPROACH * EXACT);
  }
  CHECK_EQ_U64(report_of(world).collisions, 1);
  talus_world_destroy(world);
}

TEST(two_spheres_of_any_mass_ratio_collide_as_the_closed_form_says) {
  static const double masses[] = {1e-6, 1e-3, 1, 1e3, 1e6};
  for (int i = 0; i < 5; ++i)
    for (int how = BY_EVENTS; how <= BY_SOFT_SHELL; ++how) {
      check_two((way)how, masses[i], 0);
      check_two((way)how, masses[i], 0.6);
      check_two((way)how, masses[i], 0.9);
    }
}

/* The hard shell acts where they overlap, up to u dt late: head-on that changes no direction. */
TEST(hard_shells_head_on_give_the_same_velocities) {
  static const double masses[] = {1e-6, 1, 1e6};
  for (int i = 0; i < 3; ++i)
    for (int how = BY_HARD_SHELL; how <= BY_PUBLISHED; ++how) {
      talus_body_def ball;
      const talus_world_def def = elastic_def((way)how, 1e-3);
      talus_world *world = elastic_world(&def, 0.5, 1, &ball);
      const talus_body a =
          add_ball(world, ball, 1, (talus_dvec3){-0.6, 0, 0}, (talus_dvec3){3, 0, 0});
      const talus_body b =
          add_ball(world, ball, masses[i], (talus_dvec3){0.6, 0, 0}, (talus_dvec3){-1, 0, 0});
      CHECK_OK(talus_world_step(world, 100));
      const double sum = 1 + masses[i];
      CHECK_NEAR(info_of(world, a).velocity.x, 3 - 8 * masses[i] / sum, APPROACH * EXACT);
      CHECK_NEAR(info_of(world, b).velocity.x, -1 + 8 / sum, APPROACH * EXACT);
      CHECK_EQ_U64(report_of(world).collisions, 1);
      talus_world_destroy(world);
    }
}

static double place_after(double dt) {
  talus_body_def ball;
  const talus_world_def def = elastic_def(BY_HARD_SHELL, dt);
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
  const talus_body a = add_ball(world, ball, 1, (talus_dvec3){-0.75, 0, 0}, (talus_dvec3){1, 0, 0});
  add_ball(world, ball, 1, (talus_dvec3){0.75, 0.4, 0}, (talus_dvec3){-1, 0, 0});
  CHECK_OK(talus_world_step(world, (uint64_t)(1 / dt + 0.5)));
  const double y = info_of(world, a).position.y;
  talus_world_destroy(world);
  return y;
}

TEST(the_hard_shell_is_of_first_order_in_dt) {
  talus_body_def ball;
  const talus_world_def def = elastic_def(BY_EVENTS, 1);
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
  const talus_body a = add_ball(world, ball, 1, (talus_dvec3){-0.75, 0, 0}, (talus_dvec3){1, 0, 0});
  add_ball(world, ball, 1, (talus_dvec3){0.75, 0.4, 0}, (talus_dvec3){-1, 0, 0});
  CHECK_OK(talus_world_step(world, 1));
  const double exact = info_of(world, a).position.y;
  talus_world_destroy(world);
  /* The error is dt times how far into the step they touched: on average over many dt it halves. */
  double coarse = 0, fine = 0;
  for (int i = 0; i < 20; ++i) {
    coarse += fabs(place_after(1.0 / (100 + i)) - exact) / 20;
    fine += fabs(place_after(1.0 / (800 + 8 * i)) - exact) / 20;
  }
  CHECK_MSG(coarse / fine > 4 && coarse / fine < 16, "errors %g and %g", coarse, fine);
  CHECK(fine < 2e-3);
}

/* ---- three bodies ---------------------------------------------------------------------------- */

/* The ball meets two touching ones at the same moment: by events the one that was added first is
 * hit first. */
TEST(a_ball_into_two_touching_ones_keeps_momentum_and_energy) {
  for (int how = BY_EVENTS; how <= BY_HARD_SHELL; ++how) {
    talus_body_def ball;
    const talus_world_def def = elastic_def((way)how, how == BY_HARD_SHELL ? 1e-3 : 1);
    talus_world *world = elastic_world(&def, 0.5, 1, &ball);
    talus_body body[3];
    body[0] = add_ball(world, ball, 1, (talus_dvec3){-1.2, 0, 0}, (talus_dvec3){1, 0, 0});
    body[1] = add_ball(world, ball, 1, (talus_dvec3){0, 0.5, 0}, (talus_dvec3){0, 0, 0});
    body[2] = add_ball(world, ball, 1, (talus_dvec3){0, -0.5, 0}, (talus_dvec3){0, 0, 0});
    CHECK_OK(talus_world_step(world, how == BY_HARD_SHELL ? 1000 : 1));
    const talus_report r = report_of(world);
    CHECK_NEAR(r.kinetic_energy, 0.5, 2 * EXACT);
    CHECK_NEAR(r.momentum[0], 1, 4 * EXACT);
    CHECK_NEAR(r.momentum[1], 0, 4 * EXACT);
    CHECK(r.collisions >= 2);
    for (int i = 0; i < 3; ++i)
      for (int k = i + 1; k < 3; ++k) {
        const talus_body_info a = info_of(world, body[i]), b = info_of(world, body[k]);
        const double dx = b.position.x - a.position.x, dy = b.position.y - a.position.y;
        const double near =
            dx * (double)(b.velocity.x - a.velocity.x) + dy * (double)(b.velocity.y - a.velocity.y);
        CHECK(dx * dx + dy * dy > 1.0001 || near > -1e-12);
      }
    if (how == BY_EVENTS) /* u = 1 along 30 degrees: cos^2 = 3/4, then the rest hits the other */
      CHECK(info_of(world, body[1]).velocity.x > info_of(world, body[2]).velocity.x);
    talus_world_destroy(world);
  }
}

/* ---- gravity, losses, walls ------------------------------------------------------------------ */

TEST(a_ball_under_gravity_bounces_for_ever_to_the_same_height) {
  talus_body_def ball;
  talus_world_def def = elastic_def(BY_EVENTS, 0.037);
  def.gravity = (talus_vec3){0, 0, TALUS_SINGLE ? -8 : (talus_real)-9.81};
  talus_world *world = elastic_world(&def, 0.1, 1, &ball);
  add_wall(world, ball, TALUS_PLANE, 0, 0, 1, 0);
  const talus_body a = add_ball(world, ball, 1, (talus_dvec3){0, 0, 1.1}, (talus_dvec3){0.5, 0, 0});
  const double energy = report_of(world).kinetic_energy + report_of(world).potential_energy;
  CHECK_OK(talus_world_step(world, 5000));
  const talus_report r = report_of(world);
  CHECK_NEAR(r.kinetic_energy + r.potential_energy, energy, (TALUS_SINGLE ? 1e-3 : 1e-12) * energy);
  const double g = TALUS_SINGLE ? 8 : 9.81, period = 2 * sqrt(2 / g), time = 5000 * 0.037;
  CHECK_NEAR((double)r.collisions, floor(time / period + 0.5), TALUS_SINGLE ? 1 : 0);
  double since = fmod(time + 0.5 * period, period) - 0.5 * period; /* from the top */
  if (!TALUS_SINGLE)
    CHECK_NEAR(info_of(world, a).position.z, 1.1 - 0.5 * g * since * since, 1e-9);
  CHECK_NEAR(info_of(world, a).position.x, 0.5 * time, 1e-9);
  CHECK_EQ_U64(r.outside, 0);
  talus_world_destroy(world);
}

TEST(what_restitution_takes_is_in_the_ledger_and_a_ball_comes_to_lie) {
  for (int how = BY_EVENTS; how <= BY_HARD_SHELL; ++how) {
    talus_body_def ball;
    talus_world_def def = elastic_def((way)how, 1e-3);
    def.gravity = (talus_vec3){0, 0, -8};
    talus_world *world = elastic_world(&def, 0.1, 0.5, &ball);
    add_wall(world, ball, TALUS_PLANE, 0, 0, 1, 0);
    const talus_body a = add_ball(world, ball, 2, (talus_dvec3){0, 0, 0.6}, (talus_dvec3){0, 0, 0});
    const double energy = report_of(world).potential_energy;
    CHECK_OK(talus_world_step(world, 2000));
    const talus_report r = report_of(world);
    if (how == BY_EVENTS)
      CHECK_NEAR(r.kinetic_energy + r.potential_energy - r.contact_work, energy,
                 (TALUS_SINGLE ? 1e-4 : 1e-10) * energy);
    CHECK_NEAR(info_of(world, a).position.z, 0.1, how == BY_EVENTS ? 1e-6 : 1e-3);
    CHECK(r.contact_work < -0.9 * 2 * 8 * 0.5 && r.contact_work > -1.1 * 2 * 8 * 0.5);
    talus_world_destroy(world);
  }
}

/* How far a point is from a box of half edges h, inside negative. */
static double from_box(talus_dvec3 x, double hx, double hy, double hz) {
  const double q[3] = {fabs(x.x) - hx, fabs(x.y) - hy, fabs(x.z) - hz};
  const double out = sqrt(pow(fmax(q[0], 0), 2) + pow(fmax(q[1], 0), 2) + pow(fmax(q[2], 0), 2));
  return out > 0 ? out : fmax(q[0], fmax(q[1], q[2]));
}

static void check_boxed(double gravity, uint32_t open) {
  talus_body_def ball;
  talus_world_def def = elastic_def(BY_EVENTS, 0.01);
  def.gravity = (talus_vec3){0, 0, (talus_real)gravity};
  talus_world *world = elastic_world(&def, 0.05, 1, &ball);
  add_wall(world, ball, TALUS_CONTAINER, 2, 2, 2, open);
  add_wall(world, ball, TALUS_BOX, 0.6, 0.5, 0.4, 0);
  talus_body_def post = ball;
  post.position = (talus_dvec3){0.6, 0.6, 0.6};
  add_wall(world, post, TALUS_SPHERE, 0.2, 0, 0, 0);
  talus_body body[40];
  uint64_t seed = 3;
  for (int i = 0; i < 40; ++i) {
    const talus_dvec3 at = {-0.9 + 0.2 * (i % 8), -0.9 + 0.2 * (i / 8), -0.8};
    const talus_dvec3 v = {next_random(&seed) - 0.5, next_random(&seed) - 0.5,
                           1 + next_random(&seed)};
    body[i] = add_ball(world, ball, 1, at, v);
  }
  const talus_report before = report_of(world);
  for (int step = 0; step < (check_is_short() ? 100 : 1000); ++step) {
    CHECK_OK(talus_world_step(world, 1));
    for (int i = 0; i < 40; ++i) {
      const talus_dvec3 x = info_of(world, body[i]).position;
      CHECK_MSG(from_box(x, 0.3, 0.25, 0.2) > 0.05 - 1e-9, "body %d in the box, step %d", i, step);
      CHECK_MSG(sqrt(pow(x.x - 0.6, 2) + pow(x.y - 0.6, 2) + pow(x.z - 0.6, 2)) > 0.25 - 1e-9,
                "body %d in the post", i);
      if (open == 0)
        CHECK_MSG(from_box(x, 1, 1, 1) < -0.05 + 1e-9, "body %d outside, step %d", i, step);
    }
  }
  const talus_report r = report_of(world);
  const double energy = before.kinetic_energy + before.potential_energy;
  CHECK_NEAR(r.kinetic_energy + r.potential_energy, energy,
             (TALUS_SINGLE ? 1e-4 : 1e-11) * before.kinetic_energy);
  CHECK_EQ_U64(r.outside, 0);
  CHECK(r.collisions > (open || check_is_short() ? 10 : 100));
  talus_world_destroy(world);
}

TEST(faces_edges_and_corners_of_boxes_and_posts_keep_balls_out) {
  check_boxed(0, 0);
  check_boxed(-2, 0);
  check_boxed(0, TALUS_SIDE_TOP);
}

TEST(a_piston_that_comes_gives_energy) {
  for (int how = BY_EVENTS; how <= BY_SOFT_SHELL; ++how) {
    talus_body_def ball;
    const talus_world_def def = elastic_def((way)how, 0.25);
    talus_world *world = elastic_world(&def, 0.1, 1, &ball);
    talus_shape_def plane = talus_shape_def_default();
    talus_body_def piston = ball;
    plane.kind = TALUS_PLANE, plane.size[0] = 0, plane.size[2] = 1;
    CHECK_OK(talus_world_add_shape(world, &plane, &piston.shape));
    piston.kind = TALUS_KINEMATIC;
    piston.motion.velocity.z = 1;
    CHECK_OK(talus_world_add_body(world, &piston, NULL));
    const talus_body a =
        add_ball(world, ball, 2, (talus_dvec3){0, 0, 1.1}, (talus_dvec3){0, 0, -1});
    CHECK_OK(talus_world_step(world, 4));
    CHECK_NEAR(info_of(world, a).velocity.z, 3, 10 * EXACT);
    CHECK_NEAR(info_of(world, a).position.z, 0.6 + 3 * 0.5, TALUS_SINGLE ? 1e-5 : 1e-12);
    CHECK_NEAR(report_of(world).contact_work, 8, TALUS_SINGLE ? 1e-4 : 1e-12);
    talus_world_destroy(world);
  }
}

TEST(groups_that_ignore_each_other_fly_through) {
  talus_body_def ball;
  const talus_world_def def = elastic_def(BY_EVENTS, 1);
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
  uint32_t group;
  CHECK_OK(talus_world_group(world, "ghosts", &group));
  CHECK_OK(talus_world_ignore_groups(world, group, group));
  ball.group = group;
  const talus_body a = add_ball(world, ball, 1, (talus_dvec3){-1, 0, 0}, (talus_dvec3){1, 0, 0});
  add_ball(world, ball, 1, (talus_dvec3){1, 0, 0}, (talus_dvec3){-1, 0, 0});
  CHECK_OK(talus_world_step(world, 2));
  CHECK_NEAR(info_of(world, a).position.x, 1, 1e-6);
  CHECK_EQ_U64(report_of(world).collisions, 0);
  talus_world_destroy(world);
}

TEST(loads_push_and_turn_and_are_in_the_ledger) {
  for (int how = BY_SOFT_SHELL; how <= BY_HARD_SHELL; ++how) {
    talus_body_def ball;
    const talus_world_def def = elastic_def((way)how, 0.01);
    talus_world *world = elastic_world(&def, 0.5, 1, &ball);
    ball.force.x = 2;
    ball.torque.z = 1;
    const talus_body a = add_ball(world, ball, 1, (talus_dvec3){0, 0, 0}, (talus_dvec3){0, 1, 0});
    const double energy = report_of(world).kinetic_energy;
    CHECK_OK(talus_world_step(world, 100));
    const talus_report r = report_of(world);
    CHECK_NEAR(info_of(world, a).velocity.x, 2, TALUS_SINGLE ? 1e-5 : 1e-12);
    CHECK_NEAR(info_of(world, a).spin.z, 10, TALUS_SINGLE ? 1e-4 : 1e-12); /* I = 0.1 */
    CHECK_NEAR(r.kinetic_energy - energy, r.load_work, TALUS_SINGLE ? 1e-4 : 1e-12);
    talus_world_destroy(world);
  }
}

/* ---- what is missed by distance -------------------------------------------------------------- */

TEST(the_hard_shell_misses_the_share_that_the_formula_says) {
  /* k = u dt / 2 s: of chords through a disc, those shorter than u dt are seen by chance. */
  uint64_t seed = 11;
  const double k = 0.5;
  const int n = check_is_short() ? 20000 : 400000;
  int missed = 0;
  for (int i = 0; i < n; ++i) {
    const double half =
        sqrt(1 - next_random(&seed));        /* chord over diameter, any impact parameter */
    missed += next_random(&seed) * k > half; /* the grid of steps, anywhere */
  }
  const double share = k * k / 3;
  CHECK_NEAR((double)missed / n, share, 5 * sqrt(share / n));
}

/* Chords that no step falls into; symmetric: into whose first half, where bodies come nearer. */
static void check_missed(way how, double dt) {
  talus_body_def ball;
  const talus_world_def def = elastic_def(how, dt);
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
  const int n = check_is_short() ? 300 : 3000;
  uint64_t seed = 5;
  talus_body *fast = malloc((size_t)n * sizeof *fast);
  for (int i = 0; i < n; ++i) {
    const double x = 40.0 * (i % 15), y = 40.0 * (i / 15 % 15), z = 40.0 * (i / 225);
    const double far = sqrt(next_random(&seed)), turn = 6.283185307179586 * next_random(&seed);
    add_ball(world, ball, 1, (talus_dvec3){x, y, z}, (talus_dvec3){0, 0, 0});
    fast[i] = add_ball(
        world, ball, 1,
        (talus_dvec3){x - 5 - next_random(&seed), y + far * cos(turn), z + far * sin(turn)},
        (talus_dvec3){0, 0, 0});
  }
  CHECK_OK(talus_world_step(world, 1));
  const talus_vec3 v = {10, 0, 0}, none = {0, 0, 0};
  for (int i = 0; i < n; ++i)
    CHECK_OK(talus_body_set_velocity(world, fast[i], v, none));
  CHECK_OK(talus_world_step(world, (uint64_t)(1.4 / dt + 0.5)));
  const talus_report r = report_of(world);
  CHECK(r.hasty > 0);
  CHECK_NEAR(1 - (double)r.collisions / n, 1.0 / 12, 5 * sqrt(1.0 / 12 / n));
  free(fast);
  talus_world_destroy(world);
}

TEST(a_world_of_hard_shells_misses_as_many_and_symmetric_ones_four_times_that) {
  check_missed(BY_PUBLISHED, 0.1);   /* u dt / 2 s = 0.5 */
  check_missed(BY_HARD_SHELL, 0.05); /* u dt / s = 0.5 */
}

/* ---- what is refused ------------------------------------------------------------------------- */

TEST(settings_that_do_not_go_together_are_refused) {
  talus_world *world;
  talus_world_def def = talus_world_def_default();
  def.step = TALUS_STEP_EVENT;
  CHECK_REFUSED(talus_world_create(&def, &world), TALUS_ERROR_INVALID,
                "works only with solve: elastic");
  def = elastic_def(BY_PUBLISHED, 1e-3);
  def.solve.shell = TALUS_SHELL_SOFT;
  CHECK_REFUSED(talus_world_create(&def, &world), TALUS_ERROR_INVALID,
                "works only with shell: hard");
  def = elastic_def(BY_EVENTS, 1e-3);
  def.solve.shell = TALUS_SHELL_HARD;
  CHECK_REFUSED(talus_world_create(&def, &world), TALUS_ERROR_INVALID,
                "works only with step: fixed");
  def = elastic_def(BY_EVENTS, 1e-3);
  def.sleep.speed = 1;
  CHECK_REFUSED(talus_world_create(&def, &world), TALUS_ERROR_INVALID, "sleep does not work");
}

TEST(a_step_too_long_for_the_hard_shell_is_refused_with_the_largest) {
  talus_body_def ball;
  const talus_world_def def = elastic_def(BY_HARD_SHELL, 0.1);
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
  add_ball(world, ball, 1, (talus_dvec3){0, 0, 0}, (talus_dvec3){1, 0, 0});
  add_ball(world, ball, 1, (talus_dvec3){3, 0, 0}, (talus_dvec3){-1, 0, 0});
  /* u = sqrt(2): dt <= sqrt(3e-3) / sqrt(2). */
  CHECK_REFUSED(talus_world_step(world, 1), TALUS_ERROR_INVALID, "take dt <= 0.0387 s");
  talus_world_destroy(world);
}

TEST(bodies_that_are_no_hard_spheres_are_refused_by_name) {
  talus_body_def ball;
  const talus_world_def def = elastic_def(BY_EVENTS, 0.1);
  talus_world *world = elastic_world(&def, 0.5, 1, &ball);
  talus_body_def brick = ball;
  talus_shape_def box = talus_shape_def_default();
  talus_body made;
  box.kind = TALUS_BOX, box.size[0] = box.size[1] = box.size[2] = 1;
  CHECK_OK(talus_world_add_shape(world, &box, &brick.shape));
  brick.name = "brick";
  CHECK_OK(talus_world_add_body(world, &brick, &made));
  CHECK_REFUSED(talus_world_step(world, 1), TALUS_ERROR_UNSUPPORTED, "'brick' is a box");
  CHECK_OK(talus_world_remove_body(world, made));
  ball.lock = TALUS_LOCK_Z;
  CHECK_OK(talus_world_add_body(world, &ball, &made));
  CHECK_REFUSED(talus_world_step(world, 1), TALUS_ERROR_UNSUPPORTED, "has a `lock`");
  CHECK_OK(talus_world_remove_body(world, made));
  ball.lock = 0;
  ball.force.x = 1;
  CHECK_OK(talus_world_add_body(world, &ball, &made));
  CHECK_REFUSED(talus_world_step(world, 1), TALUS_ERROR_UNSUPPORTED, "events support only gravity");
  talus_joint_def joint = talus_joint_def_default();
  joint.a = made;
  CHECK_OK(talus_world_add_joint(world, &joint, NULL));
  CHECK_REFUSED(talus_world_step(world, 1), TALUS_ERROR_UNSUPPORTED, "1 joints");
  talus_world_destroy(world);
}

/* A long step, in which the point of an impact is far from where the ball was and will be. */
TEST(central_impacts_turn_nobody) {
  for (int how = 0; how < 2; ++how) {
    talus_body_def ball;
    talus_probe_def def = {.on_body = true, .record = TALUS_RECORD_FORCE | TALUS_RECORD_TORQUE};
    talus_probe_values got;
    uint32_t probe;
    const talus_world_def settings = elastic_def(how ? BY_EVENTS : BY_SOFT_SHELL, 2);
    talus_world *world = elastic_world(&settings, 0.5, 1, &ball);
    def.body = add_ball(world, ball, 1, (talus_dvec3){-2, 0.3, 0}, (talus_dvec3){3, 0, 0});
    add_ball(world, ball, 1, (talus_dvec3){0, 0, 0}, (talus_dvec3){-1, 0, 0});
    CHECK_OK(talus_world_add_probe(world, &def, &probe));
    CHECK_OK(talus_world_step(world, 1));
    CHECK_OK(talus_probe_read(world, probe, &got));
    CHECK(fabs(got.force[0]) > 0.1);
    for (int k = 0; k < 3; ++k)
      CHECK_NEAR(got.torque[k], 0, 1e-6);
    talus_world_destroy(world);
  }
}

TEST_MAIN()
