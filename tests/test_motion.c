/* Scripted motion: pose and velocity against closed forms, sums, tables and their files, what a
 * moving body does to others, and bad motions. */
#include "kernels/motion.h"
#include "world/motion_file.h"
#include "physics/rig.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

typedef struct stage {
  talus_world *world;
  talus_material material;
  talus_shape ball;
} stage;

static stage make_stage(double dt, int threads) {
  talus_world_def def = rig_def(dt);
  def.threads = threads;
  stage s = {.world = rig_world(&def)};
  s.material = rig_material(s.world, 0.5, 0);
  s.ball = rig_shape(s.world, TALUS_SPHERE, 0.1, 0, 0, 0);
  return s;
}

static talus_body add_moving(stage *s, const talus_motion *motion, double x, double y, double z) {
  talus_body_def def = talus_body_def_default();
  talus_body body;
  def.kind = TALUS_KINEMATIC;
  def.shape = s->ball;
  def.material = s->material;
  def.position = (talus_dvec3){x, y, z};
  def.motion = *motion;
  CHECK_OK(talus_world_add_body(s->world, &def, &body));
  return body;
}

/* ---- closed forms ---------------------------------------------------------------------------- */

TEST(a_turn_about_an_axis_through_a_point_has_the_exact_velocity_field) {
  stage s = make_stage(1e-3, 1);
  const talus_motion spin = {.spin = rig_vec(0, 0, 2), .is_through = true, .through = {1, 0, 0}};
  const talus_body body = add_moving(&s, &spin, 4, 0, 1); /* 3 m from the axis */
  for (int n = 0; n <= 2000; n += 100) {
    const double a = 2 * n * 1e-3, e = BY_PRECISION(1e-12, 2e-6);
    const talus_body_info now = rig_info(s.world, body);
    CHECK_NEAR(now.position.x, 1 + 3 * cos(a), 1e-12);
    CHECK_NEAR(now.position.y, 3 * sin(a), 1e-12);
    CHECK_NEAR(now.position.z, 1, 0);
    CHECK_NEAR(now.velocity.x, -6 * sin(a), e);
    CHECK_NEAR(now.velocity.y, 6 * cos(a), e);
    CHECK_NEAR(now.spin.z, 2, 0);
    CHECK_NEAR(fabs((double)now.rotation.w), fabs(cos(a / 2)), e);
    CHECK_OK(talus_world_step(s.world, 100));
  }
  talus_world_destroy(s.world);
}

TEST(a_swing_turns_to_and_fro_and_stands_still_outside_its_time) {
  stage s = make_stage(1e-3, 1);
  const talus_motion swing = {.swing = rig_vec(0, 0.5, 0),
                              .frequency = 3,
                              .phase = 0.4,
                              .is_through = true,
                              .through = {0, 0, 2},
                              .from_time = 0.1,
                              .until = 0.6};
  const talus_body body = add_moving(&s, &swing, 0, 0, 0);
  for (int n = 0; n <= 800; n += 20) {
    const double time = n * 1e-3, t = fmin(fmax(time, 0.1), 0.6) - 0.1, w = 2 * PI * 3;
    const double a = 0.5 * (sin(w * t + 0.4) - sin(0.4));
    const double rate = time >= 0.1 && time < 0.6 ? 0.5 * w * cos(w * t + 0.4) : 0;
    const talus_body_info now = rig_info(s.world, body);
    /* Hangs 2 m below the axis y: turns towards -x for a positive angle. */
    CHECK_NEAR(now.position.x, -2 * sin(a), 1e-6);
    CHECK_NEAR(now.position.z, 2 - 2 * cos(a), 1e-6);
    CHECK_NEAR(now.spin.y, rate, BY_PRECISION(1e-9, 2e-5));
    CHECK_NEAR(now.velocity.x, -2 * cos(a) * rate, BY_PRECISION(1e-6, 1e-4));
    CHECK_OK(talus_world_step(s.world, 20));
  }
  talus_world_destroy(s.world);
}

TEST(later_motions_carry_along_the_axes_of_those_before) {
  stage s = make_stage(1e-2, 1);
  const talus_motion shake = {.amplitude = rig_vec(0, 0, 0.2), .frequency = 1};
  const talus_motion drum = {
      .spin = rig_vec(0, 1, 0), .is_through = true, .through = {0, 0, 1}, .next = &shake};
  const talus_body body = add_moving(&s, &drum, 0, 0, 0);
  CHECK_OK(talus_world_step(s.world, 130));
  const double t = 1.3, lift = 0.2 * sin(2 * PI * t);
  const talus_body_info now = rig_info(s.world, body);
  CHECK_NEAR(now.position.x, -sin(t), BY_PRECISION(1e-12, 1e-7));
  CHECK_NEAR(now.position.z, 1 - cos(t) + lift, BY_PRECISION(1e-12, 1e-7));
  CHECK_NEAR(now.velocity.x, -cos(t), BY_PRECISION(1e-12, 1e-6));
  CHECK_NEAR(now.velocity.z, sin(t) + 0.2 * 2 * PI * cos(2 * PI * t), BY_PRECISION(1e-12, 2e-6));
  talus_world_destroy(s.world);
}

/* Whatever is summed: the velocity is the derivative of the position, and the spin that of the
 * rotation. */
TEST(velocity_and_spin_are_derivatives_of_the_pose) {
  const double poses[] = {0,   0, 0,   0, 1, 0, 0,    0,   0.4, 1, 0,   -1, 0.9, 0.3, 0.2, 0,
                          0.5, 1, 0.3, 2, 0, 1, -0.1, 0.3, 1.5, 0, 0.5, 0,  -1,  0,   0.4, 0};
  const double angles[] = {0, 0, 0.3, 9, 0.7, 1, 2, 4};
  for (int smooth = 0; smooth < 2; ++smooth) {
    const tl_motion_term terms[2] = {{.spin = rig_vec(1, 2, 3),
                                      .swing = rig_vec(0, 1, -1),
                                      .amplitude = rig_vec(1, 2, 0),
                                      .velocity = rig_vec(0, 0, 4),
                                      .frequency = 2,
                                      .phase = 1,
                                      .is_through = 1,
                                      .through = {1, 2, 3},
                                      .until = INFINITY,
                                      .table_kind = TALUS_TABLE_POSES,
                                      .rows = 4,
                                      .is_smooth = (uint32_t)smooth},
                                     {.table_kind = TALUS_TABLE_ABOUT,
                                      .axis = {0, 0.6, 0.8},
                                      .is_through = 1,
                                      .through = {-1, 0, 2},
                                      .table = 32,
                                      .rows = 4,
                                      .from = 0.0531,
                                      .until = 1.2,
                                      .is_smooth = (uint32_t)smooth}};
    double values[40];
    memcpy(values, poses, sizeof poses);
    memcpy(values + 32, angles, sizeof angles);
    for (int i = 0; i < 4; ++i) { /* as the world stores them */
      double *q = values + 8 * i + 4;
      const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
      const bool side = i > 0 && q[0] * q[-8] + q[1] * q[-7] + q[2] * q[-6] + q[3] * q[-5] < 0;
      for (int k = 0; k < 4; ++k)
        q[k] /= side ? -length : length;
    }
    const talus_dvec3 x0 = {0.3, 0.2, 0.1};
    const talus_quat q0 = tl_quat_identity();
    for (double t = 0.013; t < 1.7; t += 0.037) {
      const double e = 1e-6;
      const tl_moving a = tl_motion_at(x0, q0, terms, 2, values, t - e),
                      b = tl_motion_at(x0, q0, terms, 2, values, t),
                      c = tl_motion_at(x0, q0, terms, 2, values, t + e);
      const talus_dvec3 v = tl_dscale(tl_dsub(c.position, a.position), 0.5 / e);
      const talus_dvec3 w = tl_dscale(tl_dquat_between(a.rotation, c.rotation), 0.5 / e);
      CHECK_MSG(tl_dlength(tl_dsub(v, b.velocity)) < 1e-6 * (1 + tl_dlength(v)), "t %g", t);
      CHECK_MSG(tl_dlength(tl_dsub(w, b.spin)) < 1e-6 * (1 + tl_dlength(w)), "t %g", t);
    }
  }
}

/* ---- tables ---------------------------------------------------------------------------------- */

TEST(tables_are_straight_or_smooth_between_rows_and_hold_beyond) {
  double rows[41][2], worst[2] = {0, 0};
  for (int i = 0; i < 41; ++i)
    rows[i][0] = i * 0.025, rows[i][1] = sin(6 * rows[i][0]);
  for (int smooth = 0; smooth < 2; ++smooth) {
    stage s = make_stage(1e-3, 1);
    const talus_motion motion = {.table_kind = TALUS_TABLE_ALONG,
                                 .axis = rig_vec(0, 0, 7), /* need not be unit */
                                 .table = rows[0],
                                 .rows = 41,
                                 .is_smooth = smooth != 0};
    const talus_body body = add_moving(&s, &motion, 0, 0, 3);
    for (int n = 0; n <= 1100; ++n) {
      const double t = n < 1000 ? n * 1e-3 : 1;
      const talus_body_info now = rig_info(s.world, body);
      worst[smooth] = fmax(worst[smooth], fabs(now.position.z - 3 - sin(6 * t)));
      if (n > 1000)
        CHECK(now.velocity.z == 0);
      CHECK_OK(talus_world_step(s.world, 1));
    }
    talus_world_destroy(s.world);
  }
  /* Straight: f'' h^2 / 8 = 36 * 0.025^2 / 8; the cubic is of third order. */
  CHECK_MSG(worst[0] > 2.4e-3 && worst[0] < 2.9e-3, "straight: %g", worst[0]);
  CHECK_MSG(worst[1] < 3e-4, "smooth: %g", worst[1]);
}

TEST(a_linear_table_of_poses_turns_evenly_the_shorter_way) {
  /* A quarter turn, the second quaternion given with the other sign and not of unit length. */
  const double rows[2][8] = {{0, 0, 0, 0, 2, 0, 0, 0}, {1, 1, 2, 3, -3, 0, 0, -3}};
  stage s = make_stage(1e-2, 1);
  const talus_motion motion = {.table_kind = TALUS_TABLE_POSES, .table = rows[0], .rows = 2};
  const talus_body body = add_moving(&s, &motion, 0, 0, 0);
  CHECK_OK(talus_world_step(s.world, 50));
  const talus_body_info half = rig_info(s.world, body);
  CHECK_NEAR(half.rotation.z, sin(PI / 8), BY_PRECISION(1e-14, 1e-6));
  CHECK_NEAR(half.spin.z, PI / 2, BY_PRECISION(1e-12, 1e-5));
  CHECK_NEAR(half.position.y, 1, 1e-12);
  CHECK_NEAR(half.velocity.z, 3, BY_PRECISION(1e-12, 1e-5));
  talus_world_destroy(s.world);
}

static char said[512];
static void listen(void *context, int level, const char *line) {
  (void)context, (void)level;
  if (strstr(line, "table"))
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", line);
}

TEST(the_end_of_a_table_is_told_once) {
  talus_world_def def = rig_def(1e-2);
  def.log = listen;
  stage s = {.world = rig_world(&def)};
  s.material = rig_material(s.world, 0.5, 0);
  s.ball = rig_shape(s.world, TALUS_SPHERE, 0.1, 0, 0, 0);
  const double rows[2][2] = {{0, 0}, {0.3, 1}};
  const talus_motion motion = {.table_kind = TALUS_TABLE_ALONG,
                               .axis = rig_vec(1, 0, 0),
                               .table = rows[0],
                               .rows = 2,
                               .from_time = 0.2};
  add_moving(&s, &motion, 0, 0, 0);
  said[0] = '\0';
  CHECK_OK(talus_world_step(s.world, 40));
  CHECK_STR(said, "");
  CHECK_OK(talus_world_step(s.world, 40));
  CHECK(strstr(said, "body 1: the table of its motion ended at t = 0.5 s; it holds the last row"));
  CHECK(strchr(said, '\n') == said + strlen(said) - 1);
  talus_world_destroy(s.world);
}

/* ---- files ----------------------------------------------------------------------------------- */

static talus_status parse(const char *text, tl_motion_values *values, talus_motion_table *kind) {
  return tl_motion_parse("t.csv", text, strlen(text), values, kind);
}

TEST(table_files_are_read_by_their_heading) {
  tl_motion_values v = {0};
  talus_motion_table kind;
  CHECK_OK(
      parse("# comment\ntime, x,y ,z\r\n\n0,1,2,3\n  # more\n 1 , -1e-3,+2,.5\r\n", &v, &kind));
  CHECK(kind == TALUS_TABLE_PLACES && v.count == 8 && v.data[5] == -1e-3 && v.data[7] == 0.5);
  CHECK_OK(parse("time,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0", &v, &kind));
  CHECK(kind == TALUS_TABLE_POSES && v.count == 8);
  CHECK_OK(parse("time,displacement\n0,3\n", &v, &kind));
  CHECK(kind == TALUS_TABLE_ALONG && v.data[1] == 3);
  CHECK_OK(parse("time,degrees\n0,180\n1,-90\n", &v, &kind));
  CHECK(kind == TALUS_TABLE_ABOUT);
  CHECK_NEAR(v.data[1], PI, 1e-15);
  CHECK_NEAR(v.data[3], -PI / 2, 1e-15);
  tl_array_free(&v);
}

TEST(damaged_table_files_are_refused_with_the_line) {
  static const struct {
    const char *text, *why;
  } bad[] = {
      {"", "t.csv:1: the table is empty"},
      {"# only a comment\n", "t.csv:2: the table is empty"},
      {"0,1,2,3\n", "t.csv:1:1: the heading is not"},
      {"time,x,y\n0,1,2\n", "t.csv:1:1: the heading is not"},
      {"time,x,y,z,qw,qx,qy,qz,more\n", "t.csv:1:1: the heading is not"},
      {"time,x,y,z\n", "the table has no rows"},
      {"time,x,y,z\n0,0,0,0\n1,2,3\n", "t.csv:3:6: the row has 3 numbers; the heading names 4"},
      {"time,angle\n0,0,0\n", "t.csv:2:5: the row has 3 numbers; the heading names 2"},
      {"time,angle\n0,one\n", "t.csv:2:3: `one` in column `angle` is not a number"},
      {"time,angle\n0,nan\n", "t.csv:2:3: `nan` in column `angle` is not a number"},
      {"time,angle\n0,1e999\n", "t.csv:2:3: `1e999`"},
      {"time,angle\n0,\n", "t.csv:2:3: `` in column"},
      {"time,angle\n0,0\n\n0,1\n", "t.csv:4:1: time 0 s is not after 0 s"},
      {"time,x,y,z,qw,qx,qy,qz\n0,0,0,0,0,0,0,0\n", "t.csv:2:1: qw, qx, qy, qz have a length of 0"},
      {"time,x,y,z,qw,qx,qy,qz\n0,0,0,0,1e200,0,0,0\n",
       "t.csv:2:1: qw, qx, qy, qz have a length of inf"},
  };
  tl_motion_values v = {0};
  talus_motion_table kind;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    CHECK_MSG(parse(bad[i].text, &v, &kind) == TALUS_ERROR_FORMAT, "%s", bad[i].text);
    CHECK_MSG(strstr(talus_last_error(), bad[i].why) != NULL, "'%s' in: %s", bad[i].why,
              talus_last_error());
    CHECK(v.count == 0);
  }
  tl_array_free(&v);
  talus_table table;
  CHECK(talus_table_read("not/there.csv", &table) == TALUS_ERROR_IO);
  CHECK(strstr(talus_last_error(), "not/there.csv") && table.data == NULL);
}

TEST(all_mistakes_of_a_table_come_at_once_with_their_lines) {
  tl_motion_values v = {0};
  talus_motion_table kind;
  CHECK(parse("time,angle\n0,zero\n1,2,3\n2,1\n  2 , x1\n1.5,0\n3,4\n", &v, &kind) ==
        TALUS_ERROR_FORMAT);
  CHECK_STR(talus_last_error(),
            "t.csv:2:3: `zero` in column `angle` is not a number\n  0,zero\n    ^\n"
            "t.csv:3:5: the row has 3 numbers; the heading names 2 columns\n  1,2,3\n      ^\n"
            "t.csv:5:7: `x1` in column `angle` is not a number\n    2 , x1\n        ^\n"
            "t.csv:6:1: time 1.5 s is not after 2 s, that of the row before; the times must "
            "rise\n  1.5,0\n  ^");
  tl_array_free(&v);
}

/* ---- what it does to others ------------------------------------------------------------------ */

TEST(a_shaking_table_carries_what_friction_can_hold) {
  /* Horizontal shaking at A w^2 = 2 m/s2: friction 0.5 holds (4.9), friction 0.1 does not (0.98).
   */
  for (int slippery = 0; slippery < 2; ++slippery) {
    talus_world_def def = rig_def(5e-4);
    talus_world *world = rig_world(&def);
    stage s = {.world = world, .material = rig_material(world, slippery ? 0.1 : 0.5, 0)};
    s.ball = rig_shape(world, TALUS_BOX, 2, 2, 0.1, 0);
    const double w = 2 * PI * 2, amplitude = 2 / (w * w);
    const talus_motion shake = {
        .amplitude = rig_vec(amplitude, 0, 0), .frequency = 2, .phase = PI / 2};
    const talus_body table = add_moving(&s, &shake, 0, 0, -0.05);
    const talus_body box = rig_body(
        world, TALUS_FREE, rig_shape(world, TALUS_BOX, 0.3, 0.3, 0.1, 0), s.material, 0, 0, 0.05);
    double slip = 0;
    for (int n = 0; n < 2000; n += 10) {
      CHECK_OK(talus_world_step(world, 10));
      slip = fmax(slip, fabs(rig_info(world, box).position.x - rig_info(world, table).position.x));
    }
    CHECK_MSG(slippery ? slip > 5e-3 : slip < BY_PRECISION(1e-9, 1e-4), "it slips by %g m", slip);
    talus_world_destroy(world);
  }
}

TEST(a_box_on_a_turntable_off_the_axis_goes_round_with_it) {
  talus_world_def def = rig_def(1e-3);
  talus_world *world = rig_world(&def);
  stage s = {.world = world, .material = rig_material(world, 0.8, 0)};
  s.ball = rig_shape(world, TALUS_BOX, 1, 1, 0.1, 0);
  /* The plate's own centre is 2 m from the axis. */
  const talus_motion turn = {.spin = rig_vec(0, 0, 1), .is_through = true, .through = {-2, 0, 0}};
  add_moving(&s, &turn, 0, 0, -0.05);
  const talus_body box = rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 0.3, 0.3, 0.1, 0),
                                  s.material, 0.1, 0, 0.05);
  CHECK_OK(talus_body_set_velocity(world, box, rig_vec(0, 2.1, 0), rig_vec(0, 0, 1)));
  CHECK_OK(talus_world_step(world, 1571));
  const talus_body_info now = rig_info(world, box);
  const double r = hypot(now.position.x + 2, now.position.y);
  CHECK_NEAR(atan2(now.position.y, now.position.x + 2), 1.571, 3e-3);
  CHECK_NEAR(r, 2.1, 5e-3);
  CHECK_NEAR(now.spin.z, 1, 1e-2);
  talus_world_destroy(world);
}

/* ---- the same bits --------------------------------------------------------------------------- */

static uint64_t run_heap(int threads, const char *save_at) {
  stage s = make_stage(1e-3, threads);
  const double rows[4][4] = {
      {0, 0, 0, 0}, {0.05, 0.02, 0, 0}, {0.1, -0.02, 0, 0.03}, {0.2, 0, 0, 0}};
  const talus_motion table = {
      .table_kind = TALUS_TABLE_PLACES, .table = rows[0], .rows = 4, .is_smooth = true};
  const talus_motion tilt = {
      .swing = rig_vec(0.1, 0, 0), .frequency = 5, .is_through = true, .next = &table};
  s.ball = rig_shape(s.world, TALUS_CONTAINER, 0.6, 0.6, 2, 0);
  add_moving(&s, &tilt, 0, 0, 1);
  const talus_shape grain = rig_shape(s.world, TALUS_SPHERE, 0.05, 0, 0, 0);
  for (int i = 0; i < 80; ++i)
    rig_body(s.world, TALUS_FREE, grain, s.material, 0.12 * (i % 4 - 1.5) + 0.001 * i,
             0.12 * (i / 4 % 4 - 1.5), 0.1 + 0.12 * (i / 16));
  CHECK_OK(talus_world_step(s.world, 60));
  if (save_at) {
    CHECK_OK(talus_world_save(s.world, save_at));
    talus_world_destroy(s.world);
    CHECK_OK(talus_world_load(save_at, &s.world));
  }
  CHECK_OK(talus_world_step(s.world, 90));
  const uint64_t hash = talus_world_hash(s.world);
  talus_world_destroy(s.world);
  return hash;
}

TEST(threads_and_a_restart_in_the_middle_of_a_table_change_no_bit) {
  const uint64_t one = run_heap(1, NULL);
  CHECK_EQ_U64(run_heap(3, NULL), one);
  if (strstr(talus_features(), "hdf5"))
    CHECK_EQ_U64(run_heap(2, "motion.hdf"), one);
}

/* ---- bad motions ----------------------------------------------------------------------------- */

TEST(motions_that_cannot_be_followed_are_refused) {
  stage s = make_stage(1e-3, 1);
  const double falling[2][2] = {{1, 0}, {1, 1}}, broken[1][2] = {{0, NAN}},
               none[1][8] = {{0, 1, 2, 3, 0, 0, 0, 0}};
  talus_motion loop = {.spin = rig_vec(1, 0, 0)};
  loop.next = &loop;
  const struct {
    talus_motion motion;
    const char *why;
  } bad[] = {
      {{.swing = rig_vec(NAN, 0, 0)}, "not finite"},
      {{.through = {0, INFINITY, 0}}, "not finite"},
      {{.from_time = -1}, "from -1 s"},
      {{.from_time = 2, .until = 1}, "from 2 s until 1 s"},
      {{.until = NAN}, "until nan"},
      {{.table_kind = TALUS_TABLE_ALONG, .axis = rig_vec(0, 0, 1)}, "has 0 rows"},
      {{.table_kind = TALUS_TABLE_ABOUT, .table = falling[0], .rows = 2}, "axis of length 0"},
      {{.table_kind = TALUS_TABLE_ALONG, .table = falling[0], .rows = 2, .axis = rig_vec(1, 0, 0)},
       "row 1 of the table of its motion is at 1 s"},
      {{.table_kind = TALUS_TABLE_ALONG, .table = broken[0], .rows = 1, .axis = rig_vec(1, 0, 0)},
       "row 0 of the table of its motion is not finite"},
      {{.table_kind = TALUS_TABLE_POSES, .table = none[0], .rows = 1}, "has no rotation"},
      {{.table_kind = (talus_motion_table)9}, "unknown kind of table 9"},
      {loop, "more than 64"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    talus_body_def def = talus_body_def_default();
    def.kind = TALUS_KINEMATIC;
    def.shape = s.ball;
    def.material = s.material;
    def.motion = bad[i].motion;
    CHECK_MSG(talus_world_add_body(s.world, &def, NULL) == TALUS_ERROR_INVALID, "%zu", i);
    CHECK_MSG(strstr(talus_last_error(), bad[i].why) != NULL, "'%s' in: %s", bad[i].why,
              talus_last_error());
  }
  CHECK_EQ_U64(talus_world_body_count(s.world), 0);
  talus_world_destroy(s.world);
}

TEST_MAIN()
