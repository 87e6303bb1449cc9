/* Contacts of bodies of any shape that a device finds are those of the CPU, byte for byte. */
#include <math.h>

#include "base/random.h"
#include "check.h"
#include "device_compare.h"

#define MOST 4000

static const double corners[] = {0,   0,   0,    1,   0.1, 0,   0.2, 0.9,  0,   0.3, 0.2, 0.8,
                                 0.9, 0.8, 0.15, 0.7, 0.1, 0.7, 0.1, 0.75, 0.7, 0.6, 0.6, 0.9};

static const double balls[] = {0, 0, 0, 0.35, 0.3, 0.1, 0, 0.3, -0.2, 0.25, 0.2, 0.28};

/* One of each kind that a device knows and that may be free. */
static const talus_shape_def solids[] = {
    {.kind = TALUS_SPHERE, .size = {0.5}},
    {.kind = TALUS_BOX, .size = {0.9, 0.7, 1.1}},
    {.kind = TALUS_ELLIPSOID, .size = {0.6, 0.4, 0.3}},
    {.kind = TALUS_CAPSULE, .size = {0.3, 0.7}},
    {.kind = TALUS_CYLINDER, .size = {0.4, 0.8}},
    {.kind = TALUS_CONE, .size = {0.5, 0.9}},
    {.kind = TALUS_SUPERELLIPSOID, .size = {0.5, 0.4, 0.6, 3, 2.5}},
    {.kind = TALUS_HULL, .points = corners, .point_count = sizeof corners / sizeof *corners / 3},
    {.kind = TALUS_CLUMP, .points = balls, .point_count = sizeof balls / sizeof *balls / 4},
    {.kind = TALUS_ELLIPSOID, .size = {0.5, 0.5, 0.5}},
    {.kind = TALUS_PLANE, .size = {0, 0.6, 0.8, -1}},
    {.kind = TALUS_CONTAINER, .size = {9, 9, 9}},
};
#define SOLIDS ((uint32_t)(sizeof solids / sizeof *solids))
#define FREE   (SOLIDS - 2)

static struct {
  double position[MOST][3], rotation[MOST][4], scale[MOST];
  uint32_t shape[MOST];
  uint8_t fixed[MOST];
} scene;

/* n bodies of the shapes first ... first + kinds - 1 in a cube of that edge. */
static talus_detect_bodies scatter(size_t n, uint32_t first, uint32_t kinds, double edge,
                                   uint64_t seed) {
  for (size_t i = 0; i < n; ++i) {
    tl_random r = tl_random_start(seed, 96, i);
    for (int k = 0; k < 3; ++k)
      scene.position[i][k] = edge * (tl_random_unit(&r) - 0.5);
    for (int k = 0; k < 4; ++k)
      scene.rotation[i][k] = tl_random_unit(&r) - 0.5;
    scene.scale[i] = 0.5 + tl_random_unit(&r);
    scene.shape[i] = first + (uint32_t)((double)kinds * tl_random_unit(&r));
    scene.fixed[i] = tl_random_unit(&r) < 0.1;
  }
  return (talus_detect_bodies){.count = n,
                               .position = &scene.position[0][0],
                               .shapes = solids,
                               .shape_count = SOLIDS,
                               .shape = scene.shape,
                               .scale = scene.scale,
                               .rotation = &scene.rotation[0][0],
                               .fixed = scene.fixed};
}

static void put(size_t row, uint32_t shape, double x, double y, double z) {
  const double place[3] = {x, y, z}, upright[4] = {1, 0, 0, 0};
  memcpy(scene.position[row], place, sizeof place);
  memcpy(scene.rotation[row], upright, sizeof upright);
  scene.scale[row] = 1;
  scene.shape[row] = shape;
  scene.fixed[row] = shape >= FREE;
}

TEST(contacts_of_all_kinds_in_pieces_agree) {
  const talus_detect_bodies bodies = scatter(check_is_short() ? 60 : 250, 0, SOLIDS, 5, 79);
  talus_detect_def def = talus_detect_def_default();
  for (def.pieces = 1; def.pieces <= 64; def.pieces *= 8)
    CHECK(compare(def, &bodies) > 50);
}

TEST(bodies_in_arrays_on_the_device_agree) {
  const talus_shape_def wall = {.kind = TALUS_REVOLVED, .size = {1, 1, 3}};
  talus_detect_bodies bodies = scatter(check_is_short() ? 60 : 300, 0, SOLIDS, 6, 77);
  compare_lent(talus_detect_def_default(), &bodies, false);
  bodies = scatter(40, 0, 1, 2, 78);
  talus_shape_def both[2] = {solids[0], wall}; /* by the CPU */
  bodies.shapes = both;
  bodies.shape_count = 2;
  scene.shape[0] = 1;
  scene.fixed[0] = 1;
  compare_lent(talus_detect_def_default(), &bodies, false);
}

TEST(every_kind_against_every_kind_agrees) {
  const size_t n = check_is_short() ? 40 : 150;
  for (uint32_t a = 0; a < FREE; ++a)
    for (uint32_t b = a; b < FREE; ++b) {
      const talus_detect_bodies bodies = scatter(n, 0, 1, cbrt(0.5 * (double)n), a * FREE + b);
      for (size_t i = 0; i < n; ++i)
        scene.shape[i] = i % 2 ? a : b;
      talus_detect_def def = talus_detect_def_default();
      def.broad = (a + b) % 4 == 0 ? TALUS_BROAD_AUTO : TALUS_BROAD_BINS; /* AUTO: by all three */
      CHECK(compare(def, &bodies) > n / 4);
    }
}

TEST(a_crowd_of_all_kinds_between_walls_agrees) {
  talus_detect_def def = talus_detect_def_default();
  const size_t n = check_is_short() ? 300 : 1500;
  for (uint64_t seed = 0; seed < 2; ++seed) {
    const talus_detect_bodies bodies = scatter(n, 0, FREE, 10, 100 + seed);
    put(0, FREE, 0, 0.3, 0.2);
    put(n / 2, FREE + 1, 0.1, 0, 0);
    put(n - 1, FREE, 0, 0, -2);
    scene.rotation[n - 1][1] = 0.5; /* a plane that is turned */
    def.margin = 0.05 * (double)seed;
    CHECK(compare(def, &bodies) > n);
    CHECK(compare_body_pairs(def, &bodies) > n);
  }
}

TEST(walls_alone_touch_nobody) {
  const talus_detect_bodies bodies = scatter(3, 0, FREE, 1, 3);
  for (size_t i = 0; i < 3; ++i)
    put(i, FREE, 0, 0, (double)i);
  CHECK_EQ_U64(compare(talus_detect_def_default(), &bodies), 0);
  put(1, 0, 0, 0, -1);
  CHECK_EQ_U64(compare(talus_detect_def_default(), &bodies), 2);
}

TEST(periodic_axes_agree_for_all_kinds) {
  talus_detect_def def = talus_detect_def_default();
  def.domain = (talus_domain_def){
      .enabled = true, .periodic = {true, false, true}, .box = {{-4, -4, -4}, {4, 4, 4}}};
  const talus_detect_bodies bodies = scatter(check_is_short() ? 250 : 500, 0, FREE, 9, 5);
  CHECK(compare(def, &bodies) > 100);
}

TEST(ellipsoids_agree_by_every_method) {
  talus_detect_def def = talus_detect_def_default();
  const size_t n = check_is_short() ? 200 : 1500;
  for (int method = 0; talus_ellipsoid_method_name((talus_ellipsoid_method)method); ++method) {
    def.narrow.ellipsoid = (talus_ellipsoid_method)method;
    const talus_detect_bodies bodies = scatter(n, 2, 1, 0.9 * cbrt((double)n), 6);
    for (size_t i = 0; i < n; i += 7)
      scene.shape[i] = i % 2 ? 0 : FREE - 1;
    CHECK(compare(def, &bodies) > n / 3);
  }
}

/* Stacked boxes have four points each: more than a pool that starts with none holds. */
TEST(stacked_boxes_agree) {
  const size_t m = check_is_short() ? 4 : 10, n = m * m * m;
  const talus_detect_bodies bodies = scatter(n, 1, 1, 1, 7);
  for (size_t i = 0; i < n; ++i)
    put(i, 1, 0.9 * (double)(i % m), 0.7 * (double)(i / m % m), 1.1 * (double)(i / m / m));
  CHECK(compare(talus_detect_def_default(), &bodies) >= 4 * m * m * (m - 1));
}

/* Two bricks of spheres within each other: hundreds of points, more than a thread holds. */
TEST(clumps_of_many_spheres_agree) {
  enum { SIDE = 5, BALLS = SIDE * SIDE * SIDE };
  static double brick[BALLS][4];
  for (size_t i = 0; i < BALLS; ++i) {
    const double ball[4] = {0.2 * (double)(i % SIDE), 0.2 * (double)(i / SIDE % SIDE),
                            0.2 * (double)(i / SIDE / SIDE), 0.12};
    memcpy(brick[i], ball, sizeof ball);
  }
  talus_shape_def shapes[SOLIDS];
  memcpy(shapes, solids, sizeof shapes);
  shapes[0] = (talus_shape_def){
      .kind = TALUS_CLUMP, .points = &brick[0][0], .point_count = BALLS, .volume = 0};
  talus_detect_bodies bodies = scatter(24, 0, 1, 1.6, 9);
  bodies.shapes = shapes;
  for (size_t i = 16; i < 24; ++i)
    scene.shape[i] = (uint32_t)i - 16; /* other kinds */
  put(3, FREE, 0, 0, 0);
  put(20, FREE + 1, 2, 2, 2);
  CHECK(compare(talus_detect_def_default(), &bodies) > 4000);
}

TEST(bodies_of_no_size_agree) {
  const talus_detect_bodies bodies = scatter(60, 0, FREE, 2, 8);
  for (size_t i = 0; i < 60; i += 3)
    scene.scale[i] = 0;
  CHECK(compare(talus_detect_def_default(), &bodies) > 0);
}

TEST(random_crowds_agree) {
  const uint64_t seeds = getenv("TALUS_SOAK") ? 500u : check_is_short() ? 2u : 8u;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    tl_random r = tl_random_start(seed, 95, 0);
    talus_detect_def def = talus_detect_def_default();
    const size_t n = 20 + (size_t)(200 * tl_random_unit(&r));
    const talus_detect_bodies bodies = scatter(n, 0, FREE, 3 + 6 * tl_random_unit(&r), 1000 + seed);
    for (size_t i = 0; i < n; ++i)
      scene.scale[i] *= pow(30, tl_random_unit(&r) - 0.5);
    if (seed % 2)
      put(n / 3, FREE + (uint32_t)(seed / 2 % 2), 0, 0, 0);
    def.margin = seed % 3 ? 0 : 0.1;
    compare(def, &bodies);
  }
}

TEST_MAIN()
