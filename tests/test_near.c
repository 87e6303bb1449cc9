/* Neighbours of hard spheres (step/hard/near.h): the same bits as by a broad phase, whatever
 * happens in between. */
#include "world/world.h"

#include "elastic_fixture.h"
#include "kernels/rotation.h"

#include <string.h>

typedef enum scene { IN_A_NOZZLE, IN_A_BOX, OF_GROUPS, SCENES } scene;

static const double profile[6][2] = {{0, 2.2},  {2, 2.2},  {6, 1.95},
                                     {7, 1.95}, {11, 2.2}, {14, 2.2}};

/* Handles, in the order of slots: the same in both worlds of a test. */
static talus_body bodies[4000];
static size_t body_count;

static void add_nozzle(talus_world *world, talus_body_def body) {
  talus_shape_def shape = talus_shape_def_default();
  shape.kind = TALUS_REVOLVED;
  shape.points = profile[0];
  shape.point_count = 6;
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  body.kind = TALUS_FIXED;
  CHECK_OK(talus_world_add_body(world, &body, &bodies[0]));
  body_count = 1;
}

/* Balls on a lattice of `pitch` within a cylinder about z, two radii wide from its ends. */
static void add_balls(talus_world *world, talus_body_def ball, scene which, double pitch) {
  uint64_t seed = 11;
  uint32_t group[2] = {0, 0};
  CHECK_OK(talus_world_group(world, "one", &group[0]));
  CHECK_OK(talus_world_group(world, "other", &group[1]));
  if (which == OF_GROUPS)
    CHECK_OK(talus_world_ignore_groups(world, group[0], group[1]));
  for (double z = 0.5; z < 13.5; z += pitch)
    for (double y = -1.6; y < 1.7; y += pitch)
      for (double x = -1.6; x < 1.7; x += pitch) {
        if (x * x + y * y > 1.7 * 1.7)
          continue;
        const talus_dvec3 v = {next_random(&seed) - 0.5, next_random(&seed) - 0.5,
                               next_random(&seed) + 0.5};
        ball.scale = which == IN_A_BOX && next_random(&seed) < 0.3 ? 0.6 : 1;
        ball.group = group[next_random(&seed) < 0.5];
        bodies[body_count++] =
            add_ball(world, ball, ball.scale < 1 ? 0.5 : 1, (talus_dvec3){x, y, z}, v);
      }
}

static talus_world *make_scene(scene which, way how, double skin, int threads) {
  talus_world_def def = elastic_def(how, 0.006);
  talus_body_def ball, wall;
  def.skin = skin;
  def.threads = threads;
  if (which == IN_A_BOX)
    def.gravity.z = -1;
  talus_world *world = elastic_world(&def, 0.16, how == BY_PUBLISHED ? 1 : 0.98, &ball);
  wall = ball;
  body_count = 0;
  if (which == IN_A_BOX) {
    wall.position = (talus_dvec3){0.1, 0, 7};
    wall.rotation = (talus_quat){(talus_real)0.8, 0, 0, (talus_real)0.6};
    add_wall(world, wall, TALUS_CONTAINER, 6, 6, 14.5, 0);
    wall.position = (talus_dvec3){2.4, 0, 7};
    add_wall(world, wall, TALUS_BOX, 0.5, 0.5, 9, 0);
    wall.position = (talus_dvec3){-2.2, 0, 7};
    add_wall(world, wall, TALUS_SPHERE, 0.4, 0, 0, 0);
  } else {
    add_nozzle(world, wall);
  }
  add_balls(world, ball, which, 0.45);
  return world;
}

/* The state and all contacts, to the bit. */
static bool is_same(const talus_world *a, const talus_world *b) {
  const tl_contacts *x = &a->contacts, *y = &b->contacts;
  bool same = talus_world_hash(a) == talus_world_hash(b) && x->count == y->count;
  for (size_t i = 0; same && i < x->count; ++i) {
    const tl_contact *p = &x->data[i], *q = &y->data[i];
    same = p->a == q->a && p->b == q->b && p->feature_a == q->feature_a &&
           p->feature_b == q->feature_b && memcmp(&p->point, &q->point, sizeof p->point) == 0 &&
           memcmp(&p->normal, &q->normal, sizeof p->normal) == 0 && p->gap == q->gap &&
           memcmp(&p->impulse, &q->impulse, sizeof p->impulse) == 0;
  }
  return same;
}

static int steps_of_test(void) { return getenv("TALUS_TEST_SHORT") ? 50 : 120; }

TEST(neighbours_that_are_kept_give_the_contacts_of_a_broad_phase) {
  for (int which = 0; which < SCENES; ++which)
    for (int how = BY_HARD_SHELL; how <= BY_PUBLISHED; ++how) {
      talus_world *kept = make_scene((scene)which, (way)how, -1, 2);
      talus_world *anew = make_scene((scene)which, (way)how, 0, 1);
      for (int step = 0; step < steps_of_test(); ++step) {
        CHECK_OK(talus_world_step(kept, 1));
        CHECK_OK(talus_world_step(anew, 1));
        CHECK_MSG(is_same(kept, anew), "scene %d, way %d, step %d", which, how, step);
      }
      const tl_near *near = &kept->broad_cache.near;
      CHECK(report_of(kept).collisions > 40 && report_of(kept).outside == 0);
      CHECK_MSG(near->finds > 1 && (int)near->finds < steps_of_test() / 4, "%u finds", near->finds);
      CHECK_EQ_U64(anew->broad_cache.near.finds, 0);
      talus_world_destroy(kept);
      talus_world_destroy(anew);
    }
}

/* What is told of pairs depends on the state, not on when candidates were found. */
TEST(a_list_that_is_found_anew_tells_the_same) {
  talus_world *kept = make_scene(IN_A_NOZZLE, BY_HARD_SHELL, -1, 3);
  talus_world *forgetful = make_scene(IN_A_NOZZLE, BY_HARD_SHELL, -1, 1);
  for (int step = 0; step < steps_of_test(); ++step) {
    tl_broad_forget(&forgetful->broad_cache);
    CHECK_OK(talus_world_step(kept, 1));
    CHECK_OK(talus_world_step(forgetful, 1));
    const talus_report a = report_of(kept), b = report_of(forgetful);
    CHECK(is_same(kept, forgetful) && a.pairs == b.pairs && a.wall_tests == b.wall_tests &&
          a.wall_pairs == b.wall_pairs && a.contact_work == b.contact_work);
  }
  CHECK(report_of(kept).wall_tests > 0);
  talus_world_destroy(kept);
  talus_world_destroy(forgetful);
}

/* ---- changes by hand ------------------------------------------------------------------------- */

static void disturb(talus_world *world, int step) {
  const talus_quat upright = {1, 0, 0, 0};
  if (step == 20) { /* the wall moves */
    CHECK_OK(talus_body_set_pose(world, bodies[0], (talus_dvec3){0.05, 0, 0}, upright));
  } else if (step == 30) { /* one jumps next to another */
    const talus_dvec3 x = world->state.position[300];
    CHECK_OK(talus_body_set_pose(world, bodies[5], (talus_dvec3){x.x + 0.3, x.y, x.z}, upright));
  } else if (step == 40) {
    CHECK_OK(talus_world_remove_body(world, bodies[100]));
  } else if (step == 50) { /* far faster than all others */
    CHECK_OK(talus_body_set_velocity(world, bodies[7], (talus_vec3){(talus_real)2.5, 0, 0},
                                     (talus_vec3){0, 0, 0}));
  } else if (step == 55) {
    talus_body_def ball = talus_body_def_default();
    const talus_dvec3 x = world->state.position[200];
    ball.shape = info_of(world, bodies[5]).shape;
    ball.mass = 1;
    ball.position = (talus_dvec3){x.x, x.y + 0.31, x.z};
    CHECK_OK(talus_world_add_body(world, &ball, NULL));
  }
}

TEST(what_is_changed_by_hand_is_noticed) {
  talus_world *kept = make_scene(IN_A_NOZZLE, BY_HARD_SHELL, -1, 2);
  talus_world *anew = make_scene(IN_A_NOZZLE, BY_HARD_SHELL, 0, 2);
  for (int step = 0; step < 90; ++step) {
    disturb(kept, step);
    disturb(anew, step);
    CHECK_OK(talus_world_step(kept, 1));
    CHECK_OK(talus_world_step(anew, 1));
    CHECK_MSG(is_same(kept, anew), "step %d", step);
  }
  CHECK(kept->broad_cache.near.finds > 3);
  talus_world_destroy(kept);
  talus_world_destroy(anew);
}

TEST(periodic_boxes_and_few_balls_go_the_general_way) {
  double length;
  talus_world_def def = elastic_def(BY_HARD_SHELL, 0.005);
  talus_world *world = make_gas(def, 500, 0.2, &length);
  CHECK_OK(talus_world_step(world, 5));
  CHECK_EQ_U64(world->broad_cache.near.finds, 0);
  talus_world_destroy(world);
  talus_body_def ball;
  world = elastic_world(&def, 0.5, 1, &ball);
  add_ball(world, ball, 1, (talus_dvec3){-0.51, 0, 0}, (talus_dvec3){1, 0, 0});
  add_ball(world, ball, 1, (talus_dvec3){0.51, 0, 0}, (talus_dvec3){0, 0, 0});
  CHECK_OK(talus_world_step(world, 10));
  CHECK_EQ_U64(report_of(world).collisions, 1);
  CHECK_EQ_U64(world->broad_cache.near.finds, 0);
  talus_world_destroy(world);
}

TEST(neighbours_take_no_memory_once_warm) {
  talus_world *world = make_scene(IN_A_NOZZLE, BY_HARD_SHELL, -1, 2);
  CHECK_OK(talus_world_step(world, 300));
  const unsigned finds = world->broad_cache.near.finds;
  const uint64_t before = tl_memory_count().allocations;
  CHECK_OK(talus_world_step(world, 60));
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  CHECK(world->broad_cache.near.finds > finds);
  talus_world_destroy(world);
}

/* step/move.c leaves the rotation of a ball out that was never turned and does not spin. */
TEST(a_ball_without_spin_is_not_turned_by_a_bit) {
  const talus_real zeros[2] = {0, (talus_real)-0.0};
  const talus_quat unturned = {1, 0, 0, 0};
  for (int i = 0; i < 8; ++i) {
    talus_quat q = unturned;
    talus_vec3 w = {zeros[i & 1], zeros[i >> 1 & 1], zeros[i >> 2 & 1]};
    const talus_vec3 was = w;
    tl_free_rotation(&q, &w, (talus_vec3){(talus_real)0.1, (talus_real)0.1, (talus_real)0.1},
                     (talus_real)0.01);
    CHECK(memcmp(&q, &unturned, sizeof q) == 0 && memcmp(&w, &was, sizeof w) == 0);
  }
}

TEST_MAIN()
