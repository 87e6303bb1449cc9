/* What must not matter: where the scene is, how it is turned, which side of a periodic edge a body
 * is on, how many threads work. */
#include "base/random.h"
#include "rig.h"

typedef struct frame {
  double q[4]; /* unit */
  double shift[3];
} frame;

static void turn(const frame *f, const double in[3], double out[3]) {
  const double w = f->q[0], x = f->q[1], y = f->q[2], z = f->q[3];
  const double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                          {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                          {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
  for (int i = 0; i < 3; ++i)
    out[i] = r[i][0] * in[0] + r[i][1] * in[1] + r[i][2] * in[2];
}

/* Four spheres and a box dropped on a floor, all of it seen in a frame. */
static talus_world *make_heap(const frame *f) {
  talus_world_def def = rig_def(1e-3);
  const double down[3] = {0, 0, -G};
  double g[3];
  turn(f, down, g);
  def.gravity = rig_vec(g[0], g[1], g[2]);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.4, 0.2);
  const talus_shape kinds[3] = {rig_shape(world, TALUS_PLANE, 0, 0, 1, 0),
                                rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0),
                                rig_shape(world, TALUS_BOX, 0.3, 0.2, 0.15, 0)};
  static const double places[6][3] = {{0, 0, 0},           {0, 0, 0.12},   {0.05, 0.02, 0.33},
                                      {-0.04, 0.05, 0.55}, {0.6, 0, 0.15}, {0.03, -0.03, 0.8}};
  static const int shapes[6] = {0, 1, 1, 1, 2, 1};
  for (int i = 0; i < 6; ++i) {
    double x[3], v[3];
    const double velocity[3] = {0.1 * i, -0.05 * i, 0.2};
    turn(f, places[i], x);
    turn(f, velocity, v);
    talus_body_def body = talus_body_def_default();
    body.kind = i == 0 ? TALUS_FIXED : TALUS_FREE;
    body.shape = kinds[shapes[i]];
    body.material = m;
    body.position = (talus_dvec3){x[0] + f->shift[0], x[1] + f->shift[1], x[2] + f->shift[2]};
    body.rotation = (talus_quat){(talus_real)f->q[0], (talus_real)f->q[1], (talus_real)f->q[2],
                                 (talus_real)f->q[3]};
    if (i > 0)
      body.velocity = rig_vec(v[0], v[1], v[2]);
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  return world;
}

TEST(rotating_and_shifting_the_scene_changes_nothing) {
  const frame still = {{1, 0, 0, 0}, {0, 0, 0}};
  const double s = 1 / sqrt(0.49 + 0.09 + 0.25 + 0.04);
  const frame moved = {{0.7 * s, 0.3 * s, -0.5 * s, 0.2 * s}, {3, -7, 5}};
  talus_world *a = make_heap(&still), *b = make_heap(&moved);
  size_t contacts = 0;
  for (int n = 0; n < 200; ++n) {
    CHECK_OK(talus_world_step(a, 1));
    CHECK_OK(talus_world_step(b, 1));
    contacts += rig_report(a).contacts_near;
  }
  CHECK_MSG(contacts > 100, "only %zu contacts", contacts);
  for (size_t i = 0; i < 6; ++i) {
    talus_body body;
    CHECK_OK(talus_world_body_at(a, i, &body));
    const talus_body_info x = rig_info(a, body), y = rig_info(b, body);
    const double from[3] = {x.position.x, x.position.y, x.position.z};
    double to[3];
    turn(&moved, from, to);
    CHECK_NEAR(y.position.x, to[0] + moved.shift[0], BY_PRECISION(1e-10, 1e-3));
    CHECK_NEAR(y.position.y, to[1] + moved.shift[1], BY_PRECISION(1e-10, 1e-3));
    CHECK_NEAR(y.position.z, to[2] + moved.shift[2], BY_PRECISION(1e-10, 1e-3));
  }
  talus_world_destroy(a);
  talus_world_destroy(b);
}

/* Three balls in a row collide head on; in the second world across the edge of a periodic box. */
static talus_world *make_collision(double shift) {
  talus_world_def def = rig_def(1e-3);
  def.domain.enabled = true;
  def.domain.box = (talus_box){{0, 0, -1}, {4, 4, 4}};
  def.domain.periodic[0] = def.domain.periodic[1] = true;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.4, 0.5);
  rig_floor(world, m);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.2, 0, 0, 0);
  for (int i = 0; i < 3; ++i) {
    double x = 2 + 0.5 * (i - 1) + shift, y = 2 + shift + 0.03 * i;
    x -= 4 * floor(x / 4);
    y -= 4 * floor(y / 4);
    const talus_body body = rig_body(world, TALUS_FREE, ball, m, x, y, 0.2);
    CHECK_OK(talus_body_set_velocity(world, body, rig_vec(1 - i, 0.2 * i, 0), rig_vec(0, 0, i)));
  }
  return world;
}

TEST(body_crossing_a_periodic_edge_behaves_as_in_the_middle) {
  talus_world *middle = make_collision(0), *edge = make_collision(2);
  bool crossed = false;
  for (int n = 0; n < 800; ++n) {
    CHECK_OK(talus_world_step(middle, 1));
    CHECK_OK(talus_world_step(edge, 1));
    for (size_t i = 1; i < 4; ++i) {
      talus_body body;
      CHECK_OK(talus_world_body_at(middle, i, &body));
      const talus_body_info x = rig_info(middle, body), y = rig_info(edge, body);
      double dx = y.position.x - x.position.x - 2, dy = y.position.y - x.position.y - 2;
      dx -= 4 * floor(dx / 4 + 0.5);
      dy -= 4 * floor(dy / 4 + 0.5);
      CHECK_NEAR(dx, 0, BY_PRECISION(1e-10, 1e-4));
      CHECK_NEAR(dy, 0, BY_PRECISION(1e-10, 1e-4));
      CHECK_NEAR(y.velocity.x, (double)x.velocity.x, BY_PRECISION(1e-10, 1e-3));
      CHECK(y.position.x >= 0 && y.position.x < 4 && y.position.y >= 0 && y.position.y < 4);
      crossed |= fabs(y.position.x - x.position.x - 2) > 1;
    }
  }
  CHECK(crossed);
  talus_world_destroy(middle);
  talus_world_destroy(edge);
}

/* A few thousand spheres poured into a box; returns the hash after some steps. */
static uint64_t pour(int threads, talus_friction_model friction) {
  talus_world_def def = talus_world_def_default();
  def.threads = threads;
  def.solve.iterations = 20;
  def.solve.friction = friction;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0.2);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 1, 1, 4, 0), m, 0, 0, 2);
  talus_fill_def fill = talus_fill_def_default();
  fill.body.shape = rig_shape(world, TALUS_SPHERE, 0.03, 0, 0, 0);
  fill.body.material = m;
  fill.body.velocity = rig_vec(0, 0, -2);
  fill.in.kind = TALUS_REGION_BOX;
  fill.in.box = (talus_box){{-0.5, -0.5, 0}, {0.5, 0.5, 1.5}};
  fill.count = 2500;
  fill.size = (talus_size_def){.kind = TALUS_SIZE_UNIFORM, .low = 0.7, .high = 1.3};
  fill.seed = 5;
  CHECK_OK(talus_world_fill(world, &fill, NULL));
  CHECK_OK(talus_world_step(world, 250));
  CHECK(rig_report(world).contacts_near > 4200);
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

TEST(state_hash_is_the_same_for_any_number_of_threads) {
  SKIP_IF_SHORT();
  const uint64_t ncp = pour(1, TALUS_FRICTION_NCP), ccp = pour(1, TALUS_FRICTION_CCP);
  CHECK(ncp != ccp);
  CHECK_EQ_U64(pour(2, TALUS_FRICTION_NCP), ncp);
  CHECK_EQ_U64(pour(4, TALUS_FRICTION_NCP), ncp);
  CHECK_EQ_U64(pour(2, TALUS_FRICTION_CCP), ccp);
}

TEST_MAIN()
