/* Where spheres and boxes touch a container: the rule at the top of kernels/collide_container.h. */
#include "test_collide.h"

/* ---- sphere against container --------------------------------------------------------------- */

/* In front of every wall that is there, a container is nothing but rectangles. */
TEST(sphere_in_a_container_touches_each_wall_at_its_nearest_place) {
  int touching = 0, rims = 0;
  for (uint64_t serial = 0; serial < 8000; ++serial) {
    tl_random random = tl_random_start(5, 0, serial);
    const tl_shape tank = random_shape(&random, TALUS_CONTAINER);
    const tl_shape ball = make(TALUS_SPHERE, uniform(&random, 0.05, 0.6), 0, 0, 0, 0);
    const tl_posed a = random_pose(&random, &ball, 0), b = random_pose(&random, &tank, 2);
    const talus_real margin = TL_R(uniform(&random, 0, 0.2));
    const ld radius = (ld)ball.size[0] * (ld)a.scale;
    lvec place[6];
    bool in_front = true;
    uint32_t expected = 0;
    for (int wall = 0; wall < 6; ++wall) {
      bool inner;
      place[wall] = nearest_on_face(&b, wall, &inner);
      if (tank.open >> wall & 1)
        continue;
      in_front = in_front && inner;
      if (l_length(place[wall]) - radius <= (ld)margin)
        expected |= 1u << wall;
    }
    if (!in_front)
      continue;
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, margin, p);
    uint32_t got = 0;
    for (int i = 0; i < count; ++i) {
      const uint32_t wall = p[i].feature_b;
      CHECK(wall < 6 && p[i].feature_a == 0 && got >> wall == 0);
      got |= 1u << wall;
      const ld distance = l_length(place[wall]);
      if (distance > 1e-3L)
        check_sphere_point(&p[i], radius, distance, l_scale(place[wall], -1 / distance), serial);
      const lvec axis = l_rotate(b.rotation, lv(wall / 2 == 0, wall / 2 == 1, wall / 2 == 2));
      rims += fabsl(l_dot(axis, l_of3(p[i].normal))) < 0.9L;
    }
    CHECK_EQ_U64(got, expected);
    touching += count;
  }
  CHECK(touching > 1000 && rims > 100);
}

/* Far enough behind a wall to be outside of it, the nearest contact is the nearest place on any
 * rectangle, and no contact claims a place that is nearer. */
TEST(sphere_outside_a_container_touches_its_nearest_place) {
  int touching = 0;
  for (uint64_t serial = 0; serial < 8000; ++serial) {
    tl_random random = tl_random_start(6, 0, serial);
    const tl_shape tank = random_shape(&random, TALUS_CONTAINER);
    const tl_shape ball = make(TALUS_SPHERE, uniform(&random, 0.2, 0.6), 0, 0, 0, 0);
    const tl_posed a = random_pose(&random, &ball, 0), b = random_pose(&random, &tank, 3);
    const ld radius = (ld)ball.size[0] * (ld)a.scale;
    ld best = HUGE_VALL;
    lvec nearest = {0};
    bool outside = false, between = false;
    for (int wall = 0; wall < 6; ++wall) {
      if (tank.open >> wall & 1)
        continue;
      bool inner;
      const lvec place = nearest_on_face(&b, wall, &inner);
      const lvec axis = l_rotate(b.rotation, lv(wall / 2 == 0, wall / 2 == 1, wall / 2 == 2));
      const ld behind = -0.5L * (ld)tank.size[wall / 2] * (ld)b.scale -
                        (wall % 2 ? 1 : -1) * l_dot(axis, l_of(b.position));
      outside = outside || behind >= 0.5L * radius;
      between = between || (behind > 0 && behind < 0.5L * radius);
      if (l_length(place) < best)
        best = l_length(place), nearest = place;
    }
    if (!outside || between)
      continue;
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, 0, p);
    int first = 0;
    for (int i = 1; i < count; ++i)
      first = p[i].gap < p[first].gap ? i : first;
    CHECK_MSG((count > 0) == (best <= radius), "case %" PRIu64, serial);
    if (count > 0)
      check_sphere_point(&p[first], radius, best, l_scale(nearest, -1 / best), serial);
    touching += count > 0;
  }
  CHECK(touching > 200);
}

/* A tank of 2 m, open at the top, and a sphere of 0.2 m at (x, y, z) from its middle. */
static int touch_tank(double x, double y, double z, talus_real margin, tl_point *p) {
  const tl_shape ball = make(TALUS_SPHERE, 0.2, 0, 0, 0, 0);
  const tl_shape tank = make(TALUS_CONTAINER, 2, 2, 2, 0, TALUS_SIDE_TOP);
  const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  const tl_posed b = posed(&tank, 1, tl_dvec3(-x, -y, -z), tl_quat_identity());
  return tl_narrow_pair(&a, &b, margin, p);
}

TEST(sphere_in_a_corner_touches_three_walls) {
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(touch_tank(0.8, -0.8, -0.8, TL_R(1e-9), p), 3);
  CHECK(p[0].feature_b == 1 && p[0].normal.x == 1);
  CHECK(p[1].feature_b == 2 && p[1].normal.y == -1);
  CHECK(p[2].feature_b == 4 && p[2].normal.z == -1);
  for (int i = 0; i < 3; ++i)
    CHECK_NEAR(p[i].gap, 0, 1e-15);
}

TEST(open_top_is_open) {
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(touch_tank(0, 0, 0.99, 0, p), 0);    /* through the top */
  CHECK_EQ_U64(touch_tank(0.95, 0, 1.25, 0, p), 0); /* above the rim: no invisible wall */
  CHECK_EQ_U64(touch_tank(1.3, 0, 5, 0, p), 0);     /* beside and above */
  CHECK_EQ_U64(touch_tank(1.3, 0, 0, 0, p), 0);     /* falling outside */
  CHECK_EQ_U64(touch_tank(0, 0, -1.3, 0, p), 0);    /* below */
}

TEST(sphere_rests_on_the_rim_and_rolls_over_it) {
  tl_point p[TL_NARROW_MAX_POINTS];
  for (int i = 0; i <= 18; ++i) { /* from straight inside, over the top, to straight outside */
    const double angle = TL_PI * i / 18, x = 1 - 0.19 * cos(angle), z = 1 + 0.19 * sin(angle);
    CHECK_EQ_U64(touch_tank(x, 0, z, 0, p), 1);
    CHECK_EQ_U64(p[0].feature_b, 1);
    CHECK_NEAR(p[0].gap, -0.01, REAL_TOLERANCE);
    CHECK_NEAR(p[0].normal.x, cos(angle), 1e-12 + REAL_TOLERANCE);
    CHECK_NEAR(p[0].normal.z, -sin(angle), 1e-12 + REAL_TOLERANCE);
  }
}

TEST(sunken_sphere_is_pushed_back_until_half_a_radius_behind) {
  tl_point p[TL_NARROW_MAX_POINTS];
  for (int i = 0; i < 100; ++i) {
    const double behind = 0.2 * (i - 40) / 60.0;
    const bool inside = behind < 0.1;
    CHECK_EQ_U64(touch_tank(1 + behind, 0, 0, 0, p), 1);
    CHECK(p[0].feature_b == 1 && p[0].normal.x == (inside ? 1 : -1));
    CHECK_NEAR(p[0].gap, inside ? -behind - 0.2 : behind - 0.2, REAL_TOLERANCE);
  }
}

/* Sunk into the floor and a wall at once, the floor still pushes straight up. */
TEST(sunken_sphere_in_a_corner_is_pushed_squarely) {
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(touch_tank(1.05, 0, -1.03, 0, p), 2);
  CHECK(p[0].feature_b == 1 && p[0].normal.x == 1 && p[0].normal.z == 0);
  CHECK(p[1].feature_b == 4 && p[1].normal.z == -1 && p[1].normal.x == 0);
  CHECK_NEAR(p[0].gap, -0.25, REAL_TOLERANCE);
  CHECK_NEAR(p[1].gap, -0.23, REAL_TOLERANCE);
}

TEST(sphere_outside_touches_the_outer_side_and_edge_once) {
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(touch_tank(1.15, 0.9, -0.9, TL_R(0.2), p), 1); /* not the hidden walls */
  CHECK(p[0].feature_b == 1 && p[0].normal.x == -1);
  CHECK_EQ_U64(touch_tank(-0.9, 1.15, 0, TL_R(0.2), p), 1);
  CHECK(p[0].feature_b == 3 && p[0].normal.y == -1);
  CHECK_EQ_U64(touch_tank(1.12, 0, -1.12, 0, p), 1); /* the lower outer edge */
  CHECK_EQ_U64(p[0].feature_b, 1);
  CHECK_NEAR(p[0].normal.x, -sqrt(0.5), REAL_TOLERANCE);
  CHECK_NEAR(p[0].normal.z, sqrt(0.5), REAL_TOLERANCE);
  CHECK_EQ_U64(touch_tank(1.11, 1.11, -1.11, 0, p), 1); /* the lower outer corner */
  CHECK_NEAR(p[0].normal.y, -sqrt(1.0 / 3), REAL_TOLERANCE);
}

/* ---- box against container ------------------------------------------------------------------ */

TEST(box_in_a_container_touches_with_its_vertices) {
  int touching = 0, several = 0;
  for (uint64_t serial = 0; serial < 5000; ++serial) {
    tl_random random = tl_random_start(7, 0, serial);
    const tl_shape box = random_shape(&random, TALUS_BOX);
    tl_shape tank = random_shape(&random, TALUS_CONTAINER);
    tank.open = 0;
    const tl_posed a = random_pose(&random, &box, 0), b = random_pose(&random, &tank, 1.5);
    const talus_real margin = TL_R(uniform(&random, 0, 0.1));
    ld gap[6][8];
    lvec inward[6];
    int expected = 0;
    bool whole = true; /* the box's centre is in front of every wall */
    for (int wall = 0; wall < 6; ++wall) {
      const ld side = wall % 2 ? 1 : -1;
      inward[wall] =
          l_scale(l_rotate(b.rotation, lv(wall / 2 == 0, wall / 2 == 1, wall / 2 == 2)), -side);
      const lvec middle =
          l_madd(l_of(b.position), -0.5L * (ld)tank.size[wall / 2] * (ld)b.scale, inward[wall]);
      whole = whole && l_dot(inward[wall], middle) < 0;
      int within = 0;
      for (int k = 0; k < 8; ++k) {
        gap[wall][k] = l_dot(inward[wall], l_sub(box_vertex(&a, k), middle));
        within += gap[wall][k] <= (ld)margin;
      }
      expected += within < 4 ? within : 4;
    }
    if (!whole)
      continue;
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, margin, p);
    CHECK_EQ_U64(count, expected);
    for (int i = 0; i < count; ++i) {
      const uint32_t k = p[i].feature_a, wall = p[i].feature_b;
      CHECK(k < 8 && wall < 6);
      CHECK(i == 0 || p[i - 1].feature_a < k ||
            (p[i - 1].feature_a == k && p[i - 1].feature_b < wall));
      check_point(&p[i], l_madd(box_vertex(&a, (int)k), -0.5L * gap[wall][k], inward[wall]),
                  l_scale(inward[wall], -1), gap[wall][k], serial);
    }
    touching += count > 0;
    several += count > 8;
  }
  CHECK(touching > 500 && several > 50);
}

static int box_in_tank(double x, double z, talus_real margin, tl_point *p) {
  const tl_shape box = make(TALUS_BOX, 0.4, 0.4, 0.2, 0, 0);
  const tl_shape tank = make(TALUS_CONTAINER, 2, 2, 2, 0, TALUS_SIDE_TOP);
  const tl_posed a = posed(&box, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  const tl_posed b = posed(&tank, 1, tl_dvec3(-x, 0, -z), tl_quat_identity());
  return tl_narrow_pair(&a, &b, margin, p);
}

TEST(box_keeps_all_its_walls_in_a_corner) {
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(box_in_tank(0.8 + 1e-6, -0.9 - 1e-6, 0, p), 8); /* sunk a little into both */
  int floor = 0, wall = 0;
  for (int i = 0; i < 8; ++i) {
    CHECK_NEAR(p[i].gap, -1e-6, 1e-12);
    floor += p[i].feature_b == 4 && p[i].normal.z == -1 && (p[i].feature_a & 4) == 0;
    wall += p[i].feature_b == 1 && p[i].normal.x == 1 && (p[i].feature_a & 1) == 1;
  }
  CHECK(floor == 4 && wall == 4);
}

TEST(box_vertices_above_the_rim_touch_nothing) {
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(box_in_tank(0.81, 0.95, 0, p), 2); /* half above: the lower two only */
  CHECK(p[0].feature_a == 1 && p[0].feature_b == 1 && p[1].feature_a == 3 && p[1].feature_b == 1);
  CHECK_EQ_U64(box_in_tank(0.9, 1.2, 0, p), 0); /* above the rim, leaning out */
  CHECK_EQ_U64(box_in_tank(1.3, 0, 0, p), 0);   /* outside */
  CHECK_EQ_U64(box_in_tank(0, 0.95, 0, p), 0);  /* through the open top */
}

TEST(thin_box_sunk_beyond_its_middle_is_pushed_back) {
  const tl_shape plate = make(TALUS_BOX, 1, 1, 0.01, 0, 0);
  const tl_shape tank = make(TALUS_CONTAINER, 2, 2, 2, 0, 0);
  const tl_posed a = posed(&plate, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  tl_point p[TL_NARROW_MAX_POINTS];
  tl_posed b = posed(&tank, 1, tl_dvec3(0, 0, 1.002), tl_quat_identity());
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, p), 4);
  CHECK(p[0].normal.z == -1 && p[0].feature_a == 0);
  CHECK_NEAR(p[0].gap, -0.007, REAL_TOLERANCE);
  b.position.z = 1.004; /* more than half its half-thickness behind: outside */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, p), 4);
  CHECK(p[0].normal.z == 1 && p[0].feature_a == 4);
  CHECK_NEAR(p[0].gap, -0.001, REAL_TOLERANCE);
}

TEST_MAIN()
