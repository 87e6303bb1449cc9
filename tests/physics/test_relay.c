/* What is pushed within a step meets what lies behind it in the same step, and which contacts there
 * are does not depend on who looks. */
#include "base/random.h"
#include "rig.h"
#include "world/world.h"

typedef struct how {
  const char *name;
  talus_solve_kind kind;
  talus_ccp_method method;
} how;

static const how ways[] = {{"gauss-seidel", TALUS_SOLVE_CCP, TALUS_GAUSS_SEIDEL},
                           {"jacobi", TALUS_SOLVE_CCP, TALUS_JACOBI},
                           {"apgd", TALUS_SOLVE_CCP, TALUS_APGD},
                           {"impulse", TALUS_SOLVE_IMPULSE, TALUS_GAUSS_SEIDEL}};
#define WAYS (sizeof ways / sizeof *ways)

static talus_world *make_world(const how *way, double dt, double g) {
  talus_world_def def = rig_def(dt);
  def.gravity = rig_vec(0, 0, -g);
  def.solve.kind = way->kind;
  def.solve.method = way->method;
  return rig_world(&def);
}

static double deepest(const talus_world *world) {
  static talus_contact contacts[4096];
  size_t count;
  double most = 0;
  CHECK_OK(talus_world_contacts(world, contacts, 4096, &count));
  for (size_t i = 0; i < count && i < 4096; ++i)
    most = fmax(most, -(double)contacts[i].gap);
  return most;
}

/* ---- cards ----------------------------------------------------------------------------------- */

/* A card of 0.2 mm over a plate of 1 mm, struck by a ball at 8 m/s off its centre. */
static void strike_card(const how *way, double dt, double gap, bool is_fixed) {
  talus_world *world = make_world(way, dt, G);
  const talus_material m = rig_material(world, 0.3, 0);
  const double plate_z = 1, thick = 1e-3, card = 2e-4, r = 0.02;
  const talus_body plate =
      rig_body(world, is_fixed ? TALUS_FIXED : TALUS_FREE,
               rig_shape(world, TALUS_BOX, 0.3, 0.3, thick, 0), m, 0, 0, plate_z);
  const talus_body body =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_BOX, 0.09, 0.06, card, 0), m, 0, 0,
               plate_z + 0.5 * (thick + card) + gap);
  const double top = plate_z + 0.5 * thick + card + gap;
  const talus_body ball = rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, r, 0, 0, 0), m,
                                   0.01, 0.005, top + r + 0.4 * 8 * dt);
  CHECK_OK(talus_body_set_velocity(world, ball, rig_vec(0, 0, -8), rig_vec(0, 0, 0)));
  double unsolved = 0;
  for (int n = 0; n < 20; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    const double over = rig_info(world, body).position.z - rig_info(world, plate).position.z;
    unsolved += dt * rig_report(world).residual_max; /* m: what the solver answers for */
    CHECK_MSG(over > 0.5 * thick - unsolved && over > 0.2 * thick,
              "%s, dt %g, gap %g, step %d: the card is at %g mm over the plate", way->name, dt, gap,
              n, 1e3 * over);
    CHECK(rig_info(world, ball).position.z - rig_info(world, plate).position.z > 0.5 * thick);
  }
  talus_world_destroy(world);
}

TEST(card_that_is_struck_stays_above_the_plate) {
  SKIP_IF_SHORT();
  static const double dts[] = {5e-3, 1e-3, 2e-4}, gaps[] = {0, 1e-6, 1e-5, 1e-4, 1e-3};
  for (size_t w = 0; w < WAYS; ++w)
    for (size_t d = 0; d < 3; ++d)
      for (size_t g = 0; g < 5; ++g)
        for (int fixed = 0; fixed < 2; ++fixed)
          strike_card(&ways[w], dts[d], gaps[g], fixed == 1);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Equal spheres of radius 1 cm with gaps between them, along a slanted line; the first comes in. */
static void strike_line(const how *way, double dt, double gap, double restitution) {
  enum { COUNT = 12 };
  const double r = 0.01, speed = 8, dir[3] = {0.6, 0.48, 0.64};
  talus_world *world = make_world(way, dt, 0);
  const talus_material m = rig_material(world, 0.3, restitution);
  const talus_shape shape = rig_shape(world, TALUS_SPHERE, r, 0, 0, 0);
  talus_body body[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    const double at = i == 0 ? -0.3 * speed * dt : i * (2 * r + gap) - gap;
    body[i] = rig_body(world, TALUS_FREE, shape, m, at * dir[0], at * dir[1], at * dir[2]);
  }
  CHECK_OK(talus_body_set_velocity(
      world, body[0], rig_vec(speed * dir[0], speed * dir[1], speed * dir[2]), rig_vec(0, 0, 0)));
  for (int n = 0; n < 40; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    for (int i = 1; i < COUNT; ++i) {
      const talus_dvec3 x = rig_info(world, body[i - 1]).position;
      const talus_dvec3 y = rig_info(world, body[i]).position;
      const double apart = (y.x - x.x) * dir[0] + (y.y - x.y) * dir[1] + (y.z - x.z) * dir[2];
      CHECK_MSG(apart > 2 * r - 0.01 * r,
                "%s, dt %g, gap %g, e %g, step %d: spheres %d and %d are %g radii apart", way->name,
                dt, gap, restitution, n, i - 1, i, apart / r);
    }
  }
  talus_world_destroy(world);
}

TEST(sphere_in_a_line_does_not_enter_the_next) {
  static const double gaps[] = {0, 1e-6, 1e-4, 1e-3, 3e-3};
  for (size_t w = 0; w < WAYS; ++w)
    for (size_t g = 0; g < 5; ++g) {
      strike_line(&ways[w], 1e-3, gaps[g], 0);
      strike_line(&ways[w], 4e-3, gaps[g], 0);
    }
}

TEST(sphere_in_a_line_that_bounces_does_not_enter_the_next) {
  static const double gaps[] = {0, 1e-6, 1e-4, 1e-3, 3e-3};
  for (size_t g = 0; g < 5; ++g) {
    strike_line(&ways[0], 1e-3, gaps[g], 1);
    strike_line(&ways[0], 1e-3, gaps[g], 0.5);
    strike_line(&ways[3], 1e-3, gaps[g], 0.5);
  }
}

TEST(heavy_ball_drives_a_light_one_no_further_than_the_wall) {
  for (size_t w = 0; w < WAYS; ++w) {
    talus_world *world = make_world(&ways[w], 1e-3, 0);
    const talus_material m = rig_material(world, 0, 0);
    const talus_body wall =
        rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_BOX, 1, 1, 1e-3, 0), m, 0, 0, -5e-4);
    const talus_body light = rig_body(
        world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 2e-3, 0, 0, 0), m, 0, 0, 2e-3 + 5e-4);
    const talus_body heavy = rig_body(
        world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.006, 0, 0, 0), m, 0, 0, 0.006 + 0.006);
    CHECK_OK(talus_body_set_velocity(world, heavy, rig_vec(0, 0, -20), rig_vec(0, 0, 0)));
    for (int n = 0; n < 10; ++n)
      CHECK_OK(talus_world_step(world, 1));
    CHECK_MSG(rig_info(world, light).position.z > 0.5 * 2e-3, "%s: the light ball is at %g",
              ways[w].name, rig_info(world, light).position.z);
    (void)wall;
    talus_world_destroy(world);
  }
}

/* What lies under a card that is pushed is not seen by the card's speed, but by the cart that
 * comes: also when a joint is between. */
TEST(kinematic_hammer_drives_no_card_through_the_next) {
  for (size_t w = 0; w < WAYS; ++w) {
    talus_world *world = make_world(&ways[w], 2e-3, 0);
    const talus_material m = rig_material(world, 0.3, 0);
    const talus_shape card = rig_shape(world, TALUS_BOX, 0.1, 0.1, 5e-4, 0);
    talus_body body[5];
    for (int i = 0; i < 5; ++i)
      body[i] = rig_body(world, TALUS_FREE, card, m, 0, 0, -2e-3 * i);
    talus_body_def def = talus_body_def_default();
    def.kind = TALUS_KINEMATIC;
    def.shape = rig_shape(world, TALUS_BOX, 0.2, 0.2, 0.02, 0);
    def.material = m;
    def.position = (talus_dvec3){0, 0, 0.015};
    def.motion.velocity = rig_vec(0, 0, -6);
    talus_body hammer;
    CHECK_OK(talus_world_add_body(world, &def, &hammer));
    for (int n = 0; n < 10; ++n) {
      CHECK_OK(talus_world_step(world, 1));
      for (int i = 1; i < 5; ++i)
        CHECK_MSG(rig_info(world, body[i]).position.z < rig_info(world, body[i - 1]).position.z,
                  "%s, step %d: card %d is above card %d", ways[w].name, n, i, i - 1);
      CHECK_MSG(deepest(world) < 5e-6, "%s, step %d: %g m deep", ways[w].name, n, deepest(world));
    }
    talus_world_destroy(world);
  }
}

/* ---- who looks ------------------------------------------------------------------------------- */

static double draw(tl_random *random) { return tl_random_unit(random); }

/* A loose crowd of many kinds, thrown about, with `add` on top of every velocity. */
static talus_world *make_crowd(uint64_t seed, talus_vec3 add, int kinds) {
  enum { COUNT = 60 };
  tl_random random = tl_random_start(seed, 99, 0);
  talus_world_def def = rig_def(2e-3);
  def.solve.iterations = 1;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.3, seed % 2 ? 0.5 : 0);
  const double d = 0.01 + 0.01 * draw(&random);
  const talus_shape shapes[] = {rig_shape(world, TALUS_SPHERE, d, 0, 0, 0),
                                rig_shape(world, TALUS_ELLIPSOID, d, 0.7 * d, 0.5 * d, 0),
                                rig_shape(world, TALUS_CAPSULE, 0.5 * d, 2 * d, 0, 0),
                                rig_shape(world, TALUS_BOX, 2 * d, 1.5 * d, 0.3 * d, 0),
                                rig_shape(world, TALUS_CYLINDER, 0.7 * d, d, 0, 0)};
  for (int i = 0; i < COUNT; ++i) {
    talus_body_def body = talus_body_def_default();
    body.shape = shapes[i % kinds];
    body.material = m;
    body.position = (talus_dvec3){0.2 * draw(&random), 0.2 * draw(&random), 0.2 * draw(&random)};
    const double angle = 6 * draw(&random), fast = draw(&random) < 0.2 ? 6 : 0.1;
    body.rotation = (talus_quat){(talus_real)cos(angle), (talus_real)(0.6 * sin(angle)), 0,
                                 (talus_real)(0.8 * sin(angle))};
    body.velocity = rig_vec((double)add.x + fast * (draw(&random) - 0.5),
                            (double)add.y + fast * (draw(&random) - 0.5),
                            (double)add.z + fast * (draw(&random) - 0.5));
    body.spin = rig_vec(10 * (draw(&random) - 0.5), 10 * (draw(&random) - 0.5), 0);
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  CHECK_OK(talus_world_step(world, 1));
  return world;
}

/* Pairs that contacts are of: the points of some kinds depend on how far is looked, which is still
 * a matter of who looks. */
static size_t drop_points(talus_contact *contacts, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i)
    if (kept == 0 || contacts[i].body_a != contacts[kept - 1].body_a ||
        contacts[i].body_b != contacts[kept - 1].body_b)
      contacts[kept++] = contacts[i];
  return kept;
}

static size_t find_pairs_seen(uint64_t seed, talus_vec3 add, int kinds, talus_contact *contacts) {
  size_t count;
  talus_world *world = make_crowd(seed, add, kinds);
  CHECK_OK(talus_world_contacts(world, contacts, 4096, &count));
  talus_world_destroy(world);
  return kinds > 2 ? drop_points(contacts, count) : count;
}

static void check_who_looks(int kinds, uint64_t seeds) {
  static talus_contact own[4096], other[4096];
  static const double speeds[] = {1, 10, 1000};
  size_t total = 0, apart = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const size_t count = find_pairs_seen(seed, rig_vec(0, 0, 0), kinds, own);
    for (int k = 0; k < 3; ++k) {
      const talus_vec3 add = rig_vec(0.48 * speeds[k], -0.6 * speeds[k], 0.64 * speeds[k]);
      const size_t again = find_pairs_seen(seed, add, kinds, other);
      CHECK_MSG(count == again, "seed %d: %zu contacts at rest, %zu at %g m/s", (int)seed, count,
                again, speeds[k]);
      for (size_t i = 0; i < count; ++i)
        CHECK_MSG(own[i].body_a == other[i].body_a && own[i].body_b == other[i].body_b,
                  "seed %d, contact %zu, at %g m/s", (int)seed, i, speeds[k]);
    }
    total += count;
    for (size_t i = 0; i < count; ++i)
      apart += own[i].gap > 0;
  }
  CHECK_MSG(total > 10 * seeds && apart > seeds, "%zu contacts, %zu apart", total, apart);
}

TEST(contacts_are_the_same_whoever_looks) { check_who_looks(2, 40); }

TEST(contacts_of_patches_are_the_same_whoever_looks) { check_who_looks(5, 8); }

/* ---- what it costs --------------------------------------------------------------------------- */

/* A heap of balls in a box, at rest. */
static talus_world *make_heap(int count, talus_body *bullet) {
  talus_world_def def = talus_world_def_default();
  def.threads = 1;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.4, 0);
  const double r = 0.01;
  talus_shape_def walls = talus_shape_def_default();
  talus_shape container;
  walls.kind = TALUS_CONTAINER;
  walls.size[0] = walls.size[1] = 0.2, walls.size[2] = 2;
  CHECK_OK(talus_world_add_shape(world, &walls, &container));
  rig_body(world, TALUS_FIXED, container, m, 0, 0, 1);
  tl_random random = tl_random_start(5, 99, 0);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, r, 0, 0, 0);
  for (int i = 0; i < count; ++i)
    rig_body(world, TALUS_FREE, ball, m, 0.021 * (i % 8 - 3.5) + 1e-3 * draw(&random),
             0.021 * (i / 8 % 8 - 3.5) + 1e-3 * draw(&random), 0.011 + 0.021 * (i / 64));
  *bullet =
      rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 5e-3, 0, 0, 0), m, 0, 0, 1.9);
  CHECK_OK(talus_body_set_velocity(world, *bullet, rig_vec(0, 0, 0), rig_vec(0, 0, 0)));
  return world;
}

TEST(heap_at_rest_pushes_nobody_and_a_bullet_only_what_is_in_its_way) {
  SKIP_IF_SHORT();
  enum { COUNT = 1024 };
  talus_body bullet;
  talus_world *world = make_heap(COUNT, &bullet);
  CHECK_OK(talus_world_step(world, 1000));
  size_t pushed = 0, relayed = 0;
  for (int n = 0; n < 20; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    pushed += world->last.pushed;
    relayed += world->last.relayed;
  }
  CHECK_MSG(pushed < 100 && relayed < 200, "%zu pushed, %zu pairs in 20 steps", pushed, relayed);
  const size_t contacts = rig_report(world).contacts_near;
  CHECK_OK(talus_body_set_pose(world, bullet, (talus_dvec3){0.003, 0.002, 0.4},
                               (talus_quat){1, 0, 0, 0}));
  CHECK_OK(talus_body_set_velocity(world, bullet, rig_vec(0, 0, -50), rig_vec(0, 0, 0)));
  size_t most = 0, total = 0;
  for (int n = 0; n < 12; ++n) {
    CHECK_OK(talus_world_step(world, 1));
    most = world->last.relayed > most ? world->last.relayed : most;
    total += world->last.relayed;
    CHECK_MSG((double)rig_report(world).contacts_near < 1.25 * (double)contacts,
              "%zu contacts, %zu at rest", rig_report(world).contacts_near, contacts);
  }
  CHECK_MSG(total > 50 && most < 2 * world->last.pairs, "%zu pairs in a step, %zu in all", most,
            total);
  talus_world_destroy(world);
}

TEST_MAIN()
