/* Where two shapes touch: every pair of kinds against slow references. Containers are in
 * test_collide_container.c. */
#include "test_collide.h"

/* ---- sphere against sphere and plane -------------------------------------------------------- */

TEST(sphere_sphere_matches_the_formula) {
  int touching = 0;
  for (uint64_t serial = 0; serial < 4000; ++serial) {
    tl_random random = tl_random_start(1, 0, serial);
    const tl_shape ball_a = random_shape(&random, TALUS_SPHERE);
    const tl_shape ball_b = random_shape(&random, TALUS_SPHERE);
    tl_posed a = random_pose(&random, &ball_a, 0), b = random_pose(&random, &ball_b, 2);
    const talus_real margin = TL_R(uniform(&random, 0, 0.5));
    const ld ra = (ld)ball_a.size[0] * (ld)a.scale, rb = (ld)ball_b.size[0] * (ld)b.scale;
    const lvec to_b = l_of(b.position);
    const ld gap = l_length(to_b) - ra - rb;
    tl_point p;
    const int count = tl_narrow_pair(&a, &b, margin, &p);
    CHECK_EQ_U64(count, gap <= (ld)margin);
    if (count == 0)
      continue;
    const lvec n = l_scale(to_b, 1 / l_length(to_b));
    const lvec surface_a = l_scale(n, ra), surface_b = l_madd(to_b, -rb, n);
    check_point(&p, l_scale(l_add(surface_a, surface_b), 0.5L), n, gap, serial);
    CHECK(p.feature_a == 0 && p.feature_b == 0);
    touching++;
  }
  CHECK(touching > 1000 && touching < 3900);
}

TEST(coincident_spheres_part_along_z) {
  const tl_shape ball = make(TALUS_SPHERE, 1, 0, 0, 0, 0);
  const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  for (int i = 0; i < 2; ++i) { /* the same, and so near that squares vanish */
    const tl_posed b = posed(&ball, 2, tl_dvec3(i * 1e-170, 0, 0), tl_quat_identity());
    tl_point p;
    CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1);
    CHECK(p.normal.x == 0 && p.normal.y == 0 && p.normal.z == 1 && p.gap == -3);
    CHECK_NEAR(p.point.z, -0.5, 0); /* midway between +1 and -2 */
  }
}

TEST(sphere_plane_matches_the_formula) {
  int touching = 0;
  for (uint64_t serial = 0; serial < 4000; ++serial) {
    tl_random random = tl_random_start(2, 0, serial);
    const tl_shape ball = random_shape(&random, TALUS_SPHERE);
    const tl_shape plane = random_shape(&random, TALUS_PLANE);
    const tl_posed a = random_pose(&random, &ball, 0), b = random_pose(&random, &plane, 3);
    const talus_real margin = TL_R(uniform(&random, 0, 0.5));
    /* Matter where n.x < d in the shape's own frame, whose lengths are multiplied by the scale. */
    const lvec n = l_rotate(b.rotation, lv(plane.size[0], plane.size[1], plane.size[2]));
    const ld distance = l_dot(n, l_scale(l_of(b.position), -1)) - (ld)plane.size[3] * (ld)b.scale;
    const ld radius = (ld)ball.size[0] * (ld)a.scale;
    tl_point p;
    const int count = tl_narrow_pair(&a, &b, margin, &p);
    CHECK_EQ_U64(count, distance - radius <= (ld)margin);
    if (count == 1)
      check_sphere_point(&p, radius, distance, n, serial);
    touching += count;
  }
  CHECK(touching > 1000 && touching < 3900);
}

TEST(plane_has_its_matter_below) {
  const tl_shape ball = make(TALUS_SPHERE, 0.5, 0, 0, 0, 0);
  const tl_shape plane = make(TALUS_PLANE, 0, 0, 2, 1, 0); /* z < 0.5 */
  const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  tl_point p;
  tl_posed b = posed(&plane, 1, tl_dvec3(7, 8, -1), tl_quat_identity());
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1); /* touching exactly */
  CHECK(p.gap == 0 && p.normal.z == -1 && p.point.z == -0.5 && p.point.x == 0 && p.point.y == 0);
  b.scale = 3; /* its surface is now at -1 + 3/2 */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1);
  CHECK(p.gap == -1 && p.normal.z == -1);
  b.position.z = 1e6; /* deep down is still pushed up */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1);
  CHECK(p.gap < -1e6 && p.normal.z == -1);
}

/* ---- sphere against box --------------------------------------------------------------------- */

/* Signed distance of the origin from the surface of the box, the unit vector away from it, and how
 * much farther the second nearest face is. */
static ld box_distance(const tl_posed *box, lvec *away, ld *lead) {
  ld best = HUGE_VALL, second = HUGE_VALL;
  lvec nearest = {0};
  bool inside = true;
  for (int face = 0; face < 6; ++face) {
    bool inner;
    const lvec place = nearest_on_face(box, face, &inner);
    const ld distance = l_length(place);
    inside = inside && inner;
    if (distance < best)
      second = best, best = distance, nearest = place;
    else if (distance < second)
      second = distance;
  }
  *lead = second - best;
  *away = l_scale(nearest, (inside ? 1 : -1) / best);
  return inside ? -best : best;
}

TEST(sphere_box_matches_the_nearest_face) {
  int touching = 0, inside = 0;
  for (uint64_t serial = 0; serial < 6000; ++serial) {
    tl_random random = tl_random_start(3, 0, serial);
    const tl_shape ball = random_shape(&random, TALUS_SPHERE);
    const tl_shape box = random_shape(&random, TALUS_BOX);
    const tl_posed a = random_pose(&random, &ball, 0), b = random_pose(&random, &box, 2);
    const talus_real margin = TL_R(uniform(&random, 0, 0.5));
    lvec away;
    ld lead;
    const ld distance = box_distance(&b, &away, &lead), radius = (ld)ball.size[0] * (ld)a.scale;
    tl_point p;
    const int count = tl_narrow_pair(&a, &b, margin, &p);
    CHECK_EQ_U64(count, distance - radius <= (ld)margin);
    if (count == 0 || fabsl(distance) < 1e-3L || (distance < 0 && lead < 1e-6L))
      continue; /* on the surface and at ties the normal is not defined well enough to compare */
    check_sphere_point(&p, radius, distance, away, serial);
    CHECK(p.feature_a == 0 && p.feature_b == 0);
    touching++;
    inside += distance < 0;
  }
  CHECK(touching > 2000 && inside > 100);
}

TEST(sphere_centre_in_a_box_leaves_by_the_first_nearest_face) {
  const tl_shape ball = make(TALUS_SPHERE, 0.25, 0, 0, 0, 0);
  const tl_shape cube = make(TALUS_BOX, 2, 2, 2, 0, 0);
  const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  tl_point p;
  tl_posed b = posed(&cube, 1, tl_dvec3(0, 0, 0), tl_quat_identity()); /* all six tie */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1);
  CHECK(p.normal.x == -1 && p.gap == TL_R(-1.25));
  b.position = tl_dvec3(0.5, 0.5, 0); /* left and front tie */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1);
  CHECK(p.normal.x == 1 && p.gap == TL_R(-0.75));
  b.position = tl_dvec3(0, 0, -1); /* the centre lies on the top */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, &p), 1);
  CHECK(p.normal.z == -1 && p.gap == TL_R(-0.25) && p.point.z == -0.125);
}

TEST(sphere_touches_face_edge_and_vertex_of_a_box) {
  const tl_shape ball = make(TALUS_SPHERE, 1, 0, 0, 0, 0);
  const tl_shape cube = make(TALUS_BOX, 2, 2, 2, 0, 0);
  const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  static const struct {
    talus_dvec3 box;
    double gap, n[3];
  } cases[] = {
      {{-2, 0.5, 0}, 0, {-1, 0, 0}},
      {{1.6, 1.8, 0.3}, 0, {0.6, 0.8, 0}}, /* 0.6^2 + 0.8^2 = 1 */
      {{1 + 2.0 / 3, -1 - 2.0 / 3, 1 + 1.0 / 3}, 0, {2.0 / 3, -2.0 / 3, 1.0 / 3}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const tl_posed b = posed(&cube, 1, cases[i].box, tl_quat_identity());
    tl_point p;
    CHECK_EQ_U64(tl_narrow_pair(&a, &b, TL_R(1e-6), &p), 1);
    CHECK_NEAR(p.gap, cases[i].gap, REAL_TOLERANCE);
    CHECK_NEAR(p.normal.x, cases[i].n[0], REAL_TOLERANCE);
    CHECK_NEAR(p.normal.y, cases[i].n[1], REAL_TOLERANCE);
    CHECK_NEAR(p.normal.z, cases[i].n[2], REAL_TOLERANCE);
    CHECK_NEAR(p.point.x, cases[i].n[0], 1e-12);
  }
}

/* ---- box against plane ---------------------------------------------------------------------- */

TEST(box_plane_gives_the_vertices_within_the_margin) {
  int counts[5] = {0}, crowded = 0;
  for (uint64_t serial = 0; serial < 6000; ++serial) {
    tl_random random = tl_random_start(4, 0, serial);
    const tl_shape box = random_shape(&random, TALUS_BOX);
    const tl_shape plane = random_shape(&random, TALUS_PLANE);
    const tl_posed a = random_pose(&random, &box, 0), b = random_pose(&random, &plane, 2);
    const talus_real margin = TL_R(uniform(&random, 0, 0.3));
    const lvec n = l_rotate(b.rotation, lv(plane.size[0], plane.size[1], plane.size[2]));
    ld gap[8];
    int within = 0, deepest = 0;
    for (int k = 0; k < 8; ++k) {
      gap[k] =
          l_dot(n, l_sub(box_vertex(&a, k), l_of(b.position))) - (ld)plane.size[3] * (ld)b.scale;
      within += gap[k] <= (ld)margin;
      deepest = gap[k] < gap[deepest] ? k : deepest;
    }
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, margin, p);
    CHECK_EQ_U64(count, within < 4 ? within : 4);
    bool has_deepest = count == 0;
    for (int i = 0; i < count; ++i) {
      const int k = (int)p[i].feature_a;
      CHECK(k < 8 && p[i].feature_b == 0 && (i == 0 || p[i - 1].feature_a < p[i].feature_a));
      check_point(&p[i], l_madd(box_vertex(&a, k), -0.5L * gap[k], n), l_scale(n, -1), gap[k],
                  serial);
      has_deepest = has_deepest || k == deepest;
    }
    CHECK(has_deepest);
    counts[count]++;
    crowded += within > 4;
  }
  CHECK(counts[0] > 100 && counts[1] > 100 && counts[2] > 100 && counts[3] > 100 && crowded > 100);
}

TEST(box_flat_on_a_plane_stands_on_its_four_lower_vertices) {
  const tl_shape box = make(TALUS_BOX, 1, 2, 0.5, 0, 0);
  const tl_shape plane = make(TALUS_PLANE, 0, 0, 1, 0, 0);
  const tl_posed b = posed(&plane, 1, tl_dvec3(0, 0, -0.25), tl_quat_identity());
  for (int turn = 0; turn < 8; ++turn) {
    const talus_quat q = tl_quat_from_axis_angle(tl_vec3(0, 0, 1), TL_R(0.7 * turn));
    const tl_posed a = posed(&box, 1, tl_dvec3(0, 0, 0), q);
    for (int wide = 0; wide < 2; ++wide) { /* a margin of 10 m holds all eight */
      tl_point p[TL_NARROW_MAX_POINTS];
      CHECK_EQ_U64(tl_narrow_pair(&a, &b, wide ? 10 : 0, p), 4);
      for (uint32_t i = 0; i < 4; ++i) {
        CHECK(p[i].feature_a == i && p[i].gap == 0 && p[i].normal.z == -1);
        CHECK_NEAR(p[i].point.z, -0.25, 0);
        CHECK_NEAR(hypot(p[i].point.x, p[i].point.y), hypot(0.5, 1), 1e-15);
      }
    }
  }
}

/* A plate thinner than the margin, tilted a little: the deepest four would be an edge twice over,
 * lower and upper side; what is wanted is the side that will land. */
TEST(tilted_plate_keeps_the_face_that_will_land) {
  const tl_shape plate = make(TALUS_BOX, 2, 2, 0.01, 0, 0);
  const tl_shape plane = make(TALUS_PLANE, 0, 0, 1, 0, 0);
  const talus_quat q = tl_quat_from_axis_angle(tl_vec3(0, 1, 0), TL_R(0.05));
  const tl_posed a = posed(&plate, 1, tl_dvec3(0, 0, 0), q);
  const tl_posed b = posed(&plane, 1, tl_dvec3(0, 0, -0.1), tl_quat_identity());
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, TL_R(0.3), p), 4);
  for (uint32_t i = 0; i < 4; ++i)
    CHECK_EQ_U64(p[i].feature_a, i);
}

/* ---- every pair ----------------------------------------------------------------------------- */

static const talus_shape_kind pairs_of_kinds[][2] = {
    {TALUS_SPHERE, TALUS_SPHERE},    {TALUS_SPHERE, TALUS_BOX}, {TALUS_SPHERE, TALUS_PLANE},
    {TALUS_SPHERE, TALUS_CONTAINER}, {TALUS_BOX, TALUS_PLANE},  {TALUS_BOX, TALUS_CONTAINER}};
enum { PAIRS_OF_KINDS = sizeof pairs_of_kinds / sizeof *pairs_of_kinds };

TEST(table_knows_what_it_has) {
  for (int i = 0; i < TALUS_SHAPE_KINDS; ++i)
    for (int j = 0; j < TALUS_SHAPE_KINDS; ++j) {
      const bool either = tl_narrow_table[i][j] || tl_narrow_table[j][i];
      const int room = tl_narrow_capacity((talus_shape_kind)i, (talus_shape_kind)j);
      CHECK((room > 0) == either && room <= TL_NARROW_MAX_POINTS);
      if (tl_narrow_table[i][j])
        CHECK(!tl_narrow_swapped((talus_shape_kind)i, (talus_shape_kind)j));
    }
  const tl_shape plane = make(TALUS_PLANE, 0, 0, 1, 0, 0);
  const tl_posed b = posed(&plane, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK(tl_narrow_pair(&b, &b, 0, p) == -1); /* neither is ever free */
}

TEST(swapping_the_bodies_mirrors_the_points) {
  int touching = 0;
  for (uint64_t serial = 0; serial < 3000; ++serial) {
    tl_random random = tl_random_start(8, 0, serial);
    const talus_shape_kind *kinds = pairs_of_kinds[serial % PAIRS_OF_KINDS];
    const tl_shape shape_a = random_shape(&random, kinds[0]);
    const tl_shape shape_b = random_shape(&random, kinds[1]);
    const tl_posed a = random_pose(&random, &shape_a, 0), b = random_pose(&random, &shape_b, 1.5);
    tl_posed first = b, second = a;
    first.position = tl_dvec3(0, 0, 0);
    second.position = tl_dscale(b.position, -1);
    tl_point p[TL_NARROW_MAX_POINTS], q[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, TL_R(0.1), p);
    CHECK_EQ_U64(tl_narrow_pair(&first, &second, TL_R(0.1), q), count);
    CHECK(count <= tl_narrow_capacity(kinds[1], kinds[0]));
    for (int i = 0; i < count; ++i) {
      int j = 0;
      while (j < count && (q[j].feature_a != p[i].feature_b || q[j].feature_b != p[i].feature_a))
        ++j;
      CHECK(j < count);
      CHECK(q[j].gap == p[i].gap);
      CHECK(l_distance(l_of3(q[j].normal), l_scale(l_of3(p[i].normal), -1)) <= 1e-15);
      CHECK(l_distance(l_add(l_of(q[j].point), l_of(b.position)), l_of(p[i].point)) <= 1e-14);
      CHECK(i == 0 || q[i - 1].feature_a < q[i].feature_a ||
            (q[i - 1].feature_a == q[i].feature_a && q[i - 1].feature_b < q[i].feature_b));
    }
    touching += count;
  }
  CHECK(touching > 1000);
}

/* Turning both bodies about a common centre turns the points with them. In float the turned
 * quaternions are rounded, and with them the places of things a metre or two away. */
TEST(turning_the_world_turns_the_points) {
  const double tolerance = TALUS_SINGLE ? 4e-6 : 1e-12;
  int touching = 0;
  for (uint64_t serial = 0; serial < 3000; ++serial) {
    tl_random random = tl_random_start(9, 0, serial);
    const talus_shape_kind *kinds = pairs_of_kinds[serial % PAIRS_OF_KINDS];
    const tl_shape shape_a = random_shape(&random, kinds[0]);
    const tl_shape shape_b = random_shape(&random, kinds[1]);
    const tl_posed a = random_pose(&random, &shape_a, 0), b = random_pose(&random, &shape_b, 1.5);
    const talus_quat turn = random_quat(&random);
    const tl_frame frame = tl_frame_from_quat(turn);
    tl_posed c = a, d = b;
    c.rotation = tl_quat_mul(turn, a.rotation), d.rotation = tl_quat_mul(turn, b.rotation);
    d.position = tl_frame_to_world(&frame, b.position);
    tl_point p[TL_NARROW_MAX_POINTS], q[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, TL_R(0.1), p);
    if (tl_narrow_pair(&c, &d, TL_R(0.1), q) != count) {
      CHECK(TALUS_SINGLE); /* a point at the very edge of the margin */
      continue;
    }
    for (int i = 0; i < count; ++i) {
      CHECK(p[i].feature_a == q[i].feature_a && p[i].feature_b == q[i].feature_b);
      CHECK_NEAR(q[i].gap, p[i].gap, tolerance);
      CHECK(l_distance(l_of(q[i].point), l_rotate(turn, l_of(p[i].point))) <= tolerance);
      CHECK(l_distance(l_of3(q[i].normal), l_rotate(turn, l_of3(p[i].normal))) <=
            (TALUS_SINGLE ? 1e-4 : 1e-10)); /* near an edge a small arm turns fast */
    }
    touching += count;
  }
  CHECK(touching > 1000);
}

/* gap <= margin, and the margin itself counts. */
TEST(margin_is_inclusive) {
  const tl_shape ball = make(TALUS_SPHERE, 0.5, 0, 0, 0, 0), box = make(TALUS_BOX, 1, 1, 1, 0, 0);
  const tl_shape plane = make(TALUS_PLANE, 1, 0, 0, 0, 0);
  const tl_shape tank = make(TALUS_CONTAINER, 4, 4, 4, 0, 0);
  /* All of these have a gap of 0.25 along x, in numbers without rounding. */
  const struct {
    const tl_shape *a, *b;
    double x;
    int points;
  } cases[] = {{&ball, &ball, 1.25, 1},  {&ball, &box, 1.25, 1},   {&ball, &plane, -0.75, 1},
               {&ball, &tank, -1.25, 1}, {&box, &plane, -0.75, 4}, {&box, &tank, -1.25, 4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const tl_posed a = posed(cases[i].a, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
    const tl_posed b = posed(cases[i].b, 1, tl_dvec3(cases[i].x, 0, 0), tl_quat_identity());
    tl_point p[TL_NARROW_MAX_POINTS];
    CHECK_EQ_U64(tl_narrow_pair(&a, &b, TL_R(0.25), p), cases[i].points);
    CHECK(p[0].gap == TL_R(0.25));
    CHECK_EQ_U64(tl_narrow_pair(&a, &b, TL_R(0.25 - 1e-6), p), 0);
  }
}

TEST_MAIN()
