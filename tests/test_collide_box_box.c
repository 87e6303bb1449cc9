/* Box against box: the 15 axes against a search over directions and against nearest places in long
 * double, the manifold against the corners it must have. */
#include "kernels/collide_box_box.h"
#include "test_collide.h"

static int both(const tl_posed *a, const tl_posed *b, double margin, tl_point *out) {
  return tl_narrow_pair(a, b, TL_R(margin), out);
}

/* Separation of two boxes along n: how far all of b is beyond all of a. */
static ld separation(const tl_posed *a, const tl_posed *b, lvec n) {
  ld most_a = -HUGE_VALL, least_b = HUGE_VALL;
  for (int k = 0; k < 8; ++k) {
    most_a = fmaxl(most_a, l_dot(n, box_vertex(a, k)));
    least_b = fminl(least_b, l_dot(n, l_add(l_of(b->position), box_vertex(b, k))));
  }
  return least_b - most_a;
}

static ld deepest(const tl_point *p, int count) {
  ld least = HUGE_VALL;
  for (int i = 0; i < count; ++i)
    least = fminl(least, (ld)p[i].gap);
  return least;
}

/* Whether a place is in the box grown by `slack`. */
static bool within(const tl_posed *box, lvec place, ld slack) {
  const talus_quat q = tl_quat_conj(box->rotation);
  const lvec x = l_rotate(q, l_sub(place, l_of(box->position)));
  const ld scale = 0.5L * (ld)box->scale;
  return fabsl(x.x) <= scale * (ld)box->shape->size[0] + slack &&
         fabsl(x.y) <= scale * (ld)box->shape->size[1] + slack &&
         fabsl(x.z) <= scale * (ld)box->shape->size[2] + slack;
}

TEST(box_box_depth_is_the_least_over_directions) {
  int touching = 0;
  for (uint64_t serial = 0; serial < 1500; ++serial) {
    tl_random random = tl_random_start(20, 0, serial);
    const tl_shape box_a = random_shape(&random, TALUS_BOX),
                   box_b = random_shape(&random, TALUS_BOX);
    const tl_posed a = random_pose(&random, &box_a, 0), b = random_pose(&random, &box_b, 1);
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = both(&a, &b, 0, p);
    ld best = -HUGE_VALL; /* a lower bound of the signed distance, by directions alone */
    for (int k = 0; k < 400; ++k) {
      const lvec n = l_of(tl_dunit(tl_dvec3(tl_random_normal(&random), tl_random_normal(&random),
                                            tl_random_normal(&random))));
      best = fmaxl(best, separation(&a, &b, n));
    }
    if (count == 0) {
      CHECK_MSG(best > -0.3L, "case %" PRIu64 ": apart, yet no direction parts them", serial);
      continue;
    }
    const ld gap = deepest(p, count);
    CHECK_MSG(gap <= 0 && gap >= best - 1e-6L, "case %" PRIu64 ": gap %Lg, a direction has %Lg",
              serial, gap, best);
    CHECK_NEAR(separation(&a, &b, l_of3(p[0].normal)), gap, 1e-6);
    touching++;
  }
  CHECK(touching > 700);
}

TEST(box_box_points_lie_in_both_boxes) {
  for (uint64_t serial = 0; serial < 3000; ++serial) {
    tl_random random = tl_random_start(21, 0, serial);
    const tl_shape box_a = random_shape(&random, TALUS_BOX),
                   box_b = random_shape(&random, TALUS_BOX);
    const tl_posed a = random_pose(&random, &box_a, 0), b = random_pose(&random, &box_b, 1);
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = both(&a, &b, 0.01, p);
    CHECK(count <= TL_MANIFOLD_MAX);
    for (int i = 0; i < count; ++i) {
      CHECK(p[i].gap <= TL_R(0.01));
      CHECK_NEAR(l_length(l_of3(p[i].normal)), 1, 4 * REAL_TOLERANCE);
      /* The surface point of the deepest is in the other's shadow; all middles are near both. */
      const ld slack = fabsl((ld)p[i].gap) + 1e-5L;
      CHECK_MSG(within(&a, l_of(p[i].point), slack) && within(&b, l_of(p[i].point), slack),
                "case %" PRIu64 ", point %d, gap %g", serial, i, (double)p[i].gap);
      for (int k = 0; k < i; ++k)
        CHECK(p[k].feature_a < p[i].feature_a ||
              (p[k].feature_a == p[i].feature_a && p[k].feature_b < p[i].feature_b));
    }
  }
}

TEST(box_box_swapped_is_mirrored) {
  for (uint64_t serial = 0; serial < 2000; ++serial) {
    tl_random random = tl_random_start(22, 0, serial);
    const tl_shape box_a = random_shape(&random, TALUS_BOX),
                   box_b = random_shape(&random, TALUS_BOX);
    const tl_posed a = random_pose(&random, &box_a, 0);
    tl_posed b = random_pose(&random, &box_b, 1.2);
    tl_point p[TL_NARROW_MAX_POINTS], q[TL_NARROW_MAX_POINTS];
    const int count = both(&a, &b, 0.05, p);
    const talus_dvec3 to_b = b.position;
    tl_posed first = b, second = a;
    first.position = tl_dvec3(0, 0, 0), second.position = tl_dscale(to_b, -1);
    CHECK_EQ_U64(both(&first, &second, 0.05, q), count);
    for (int i = 0; i < count; ++i) {
      int match = -1;
      for (int k = 0; k < count; ++k)
        if (l_distance(l_of(p[i].point), l_of(tl_dadd(q[k].point, to_b))) < 1e-5)
          match = k;
      CHECK_MSG(match >= 0, "case %" PRIu64 ": point %d has no counterpart", serial, i);
      CHECK_NEAR(p[i].gap, q[match].gap, 1e-6);
      CHECK(l_distance(l_of3(p[i].normal), l_scale(l_of3(q[match].normal), -1)) < 1e-5);
    }
  }
}

TEST(bricks_flush_on_each_other_share_their_four_corners) {
  const tl_shape brick = make(TALUS_BOX, 0.4, 0.2, 0.1, 0, 0);
  const tl_posed a = posed(&brick, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  tl_point first[TL_NARROW_MAX_POINTS], p[TL_NARROW_MAX_POINTS];
  for (uint64_t serial = 0; serial < 200; ++serial) { /* shaken by what rounding could do */
    tl_random random = tl_random_start(23, 0, serial);
    const talus_dvec3 jitter = anywhere(&random, 1e-9);
    const talus_vec3 turn = tl_narrow(anywhere(&random, 1e-8));
    const tl_posed b =
        posed(&brick, 1, tl_dadd(tl_dvec3(0, 0, 0.1), jitter), tl_quat_from_rotation_vector(turn));
    CHECK_EQ_U64(both(&a, &b, 1e-6, p), 4);
    for (int i = 0; i < 4; ++i) {
      CHECK_NEAR(fabs(p[i].point.x), 0.2, 1e-8);
      CHECK_NEAR(fabs(p[i].point.y), 0.1, 1e-8);
      CHECK_NEAR(p[i].normal.z, 1, 1e-6);
      CHECK_NEAR(p[i].gap, 0, 1e-7);
      if (serial == 0)
        first[i] = p[i];
      CHECK(p[i].feature_a == first[i].feature_a && p[i].feature_b == first[i].feature_b);
    }
  }
}

TEST(brick_across_two_others_touches_what_they_share) {
  const tl_shape brick = make(TALUS_BOX, 0.4, 0.2, 0.1, 0, 0);
  const tl_posed a = posed(&brick, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  const tl_posed b = posed(&brick, 1, tl_dvec3(0.2, 0, 0.1), tl_quat_identity());
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(both(&a, &b, 1e-6, p), 4);
  for (int i = 0; i < 4; ++i) {
    CHECK(fabs(p[i].point.x) < 1e-12 || fabs(p[i].point.x - 0.2) < 1e-12);
    CHECK_NEAR(fabs(p[i].point.y), 0.1, 1e-12);
  }
}

TEST(crossed_edges_touch_in_one_point) {
  const tl_shape cube = make(TALUS_BOX, 1, 1, 1, 0, 0);
  const talus_real h = TL_R(0.5 * TL_PI / 4), s = tl_sin(h), c = tl_cos(h);
  const tl_posed a = posed(&cube, 1, tl_dvec3(0, 0, 0), tl_quat(c, s, 0, 0)); /* edge along x up */
  const double top = sqrt(0.5);
  tl_point p[TL_NARROW_MAX_POINTS];
  for (int k = 0; k < 2; ++k) { /* a little apart, a little deep */
    const double gap = k ? -0.01 : 0.01;
    const tl_posed b = posed(&cube, 1, tl_dvec3(0, 0, 2 * top + gap), tl_quat(c, 0, s, 0));
    CHECK_EQ_U64(both(&a, &b, 0.02, p), 1);
    CHECK_NEAR(p[0].gap, gap, 1e-6);
    CHECK_NEAR(p[0].normal.z, 1, 1e-6);
    CHECK_NEAR(p[0].point.x, 0, 1e-6);
    CHECK_NEAR(p[0].point.z, top + gap / 2, 1e-6);
  }
}

TEST(box_in_a_box_leaves_by_the_nearest_face) {
  const tl_shape large = make(TALUS_BOX, 2, 3, 4, 0, 0),
                 small = make(TALUS_BOX, 0.2, 0.2, 0.2, 0, 0);
  const tl_posed a = posed(&large, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  tl_point p[TL_NARROW_MAX_POINTS];
  tl_posed b = posed(&small, 1, tl_dvec3(0.7, 0.1, 0.3), tl_quat_identity());
  CHECK_EQ_U64(both(&a, &b, 0, p), 4);
  CHECK(p[0].normal.x == 1 && fabs((double)p[0].gap + 0.4) < 1e-6);
  b.position = tl_dvec3(0, 0, 0); /* coincident centres */
  const int count = both(&a, &b, 0, p);
  CHECK(count >= 1);
  CHECK_NEAR(fabs((double)p[0].normal.x), 1, 0);
  CHECK_NEAR(p[0].gap, -1.1, 1e-6);
}

/* Two bricks flat on each other, of which one sticks out sideways by a hair and leans a little: the
 * answer of the axes is that of the certified search, to the bias for faces. Boxes that overlap,
 * lie on each other or are a little apart. */
TEST(flat_bricks_have_the_contacts_of_the_search) {
  const tl_shape brick = make(TALUS_BOX, 1, 1, 1, 0, 0);
  const int cases = getenv("TALUS_SOAK") ? 100000 : 1000;
  int alike = 0;
  for (int serial = 0; serial < cases; ++serial) {
    tl_random random = tl_random_start(24, 0, (uint64_t)serial);
    const double hair = tl_random_unit(&random) < 0.2 ? 0 : 1e-3, lean = 2e-3;
    const double across = tl_random_unit(&random) < 0.5 ? 0.525 : 0;
    const talus_dvec3 shift = anywhere(&random, hair);
    const tl_posed a =
        posed(&brick, 1, tl_dvec3(0, 0, 0),
              tl_quat_from_rotation_vector(tl_narrow(anywhere(&random, hair > 0 ? lean : 1e-12))));
    const tl_posed b =
        posed(&brick, 1, tl_dadd(tl_dvec3(across, 0, 1), shift),
              tl_quat_from_rotation_vector(tl_narrow(anywhere(&random, hair > 0 ? lean : 1e-12))));
    tl_point p[TL_NARROW_MAX_POINTS], q[TL_NARROW_MAX_POINTS];
    const int count = both(&a, &b, 0.01, p);
    const int wanted = tl_narrow_convex(&a, &b, NULL, TL_R(0.01), q);
    CHECK(count >= 1 && wanted >= 1);
    CHECK_MSG(fabsl(deepest(p, count) - deepest(q, wanted)) < 1e-6L, "case %d: gaps %Lg and %Lg",
              serial, deepest(p, count), deepest(q, wanted));
    CHECK_NEAR(separation(&a, &b, l_of3(p[0].normal)), deepest(p, count), 1e-6);
    alike += count == wanted && l_distance(l_of3(p[0].normal), l_of3(q[0].normal)) < 1e-5;
  }
  CHECK_MSG(alike > cases / 2, "%d of %d have the same normal", alike, cases);
}

/* ---- axes and faces, written plainly ----------------------------------------------------------
 */

/* The 15 axes one after the other, every root and division done. */
static double plain_axis(const tl_box *a, const tl_box *b, double normal[3], int edges[2]) {
  const talus_dvec3 d = tl_frame_to_local(&a->frame, tl_dsub(b->position, a->position));
  const double t[3] = {d.x, d.y, d.z};
  double r[3][3], best = -DBL_MAX, lead = TL_BOX_EDGE_BIAS * fmin(tl_box_size(a), tl_box_size(b));
  for (int j = 0; j < 3; ++j) {
    const talus_dvec3 axis = tl_frame_to_local(&a->frame, tl_frame_axis(&b->frame, j));
    r[0][j] = axis.x, r[1][j] = axis.y, r[2][j] = axis.z;
  }
  edges[0] = edges[1] = -1;
  for (int i = 0; i < 3; ++i) {
    const double s = fabs(t[i]) - a->half[i] - b->half[0] * fabs(r[i][0]) -
                     b->half[1] * fabs(r[i][1]) - b->half[2] * fabs(r[i][2]);
    if (s > best)
      best = s, normal[0] = normal[1] = normal[2] = 0, normal[i] = t[i] < 0 ? -1 : 1;
  }
  for (int j = 0; j < 3; ++j) {
    const double along = t[0] * r[0][j] + t[1] * r[1][j] + t[2] * r[2][j];
    const double s = fabs(along) - b->half[j] - a->half[0] * fabs(r[0][j]) -
                     a->half[1] * fabs(r[1][j]) - a->half[2] * fabs(r[2][j]);
    if (s > best + 1e-12 * (a->half[0] + b->half[j])) {
      best = s;
      for (int i = 0; i < 3; ++i)
        normal[i] = along < 0 ? -r[i][j] : r[i][j];
    }
  }
  for (int e = 0; e < 9; ++e) {
    const int i = e / 3, j = e % 3;
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    const double length = sqrt(r[i1][j] * r[i1][j] + r[i2][j] * r[i2][j]);
    const double along = (t[i2] * r[i1][j] - t[i1] * r[i2][j]) / length;
    const double reach = (a->half[i1] * fabs(r[i2][j]) + a->half[i2] * fabs(r[i1][j]) +
                          b->half[j1] * fabs(r[i][j2]) + b->half[j2] * fabs(r[i][j1])) /
                         length;
    if (!(length * length > 1e-10) || !(fabs(along) - reach > best + lead))
      continue;
    best = fabs(along) - reach, lead = 0, edges[0] = i, edges[1] = j;
    normal[i] = 0;
    normal[i1] = (along < 0 ? 1 : -1) * r[i2][j] / length;
    normal[i2] = (along < 0 ? -1 : 1) * r[i1][j] / length;
  }
  return best;
}

static tl_box random_box(tl_random *random, bool level) {
  const talus_dvec3 half = tl_dadd(tl_dvec3(0.5, 0.5, 0.5), anywhere(random, level ? 0 : 0.45));
  const talus_quat q =
      level ? tl_quat_from_rotation_vector(tl_narrow(anywhere(random, 1e-4))) : random_quat(random);
  return (tl_box){anywhere(random, 1.2), tl_frame_from_quat(q), {half.x, half.y, half.z}};
}

/* Of random boxes, and of cubes nearly parallel, where edges are all but as good as faces. */
TEST(axes_that_lose_clearly_change_no_bit_of_the_answer) {
  const int cases = getenv("TALUS_SOAK") ? 100000 : 3000;
  int of_edges = 0;
  for (int serial = 0; serial < cases; ++serial) {
    tl_random random = tl_random_start(25, 0, (uint64_t)serial);
    const bool level = serial % 2 == 0;
    const tl_box a = random_box(&random, level), b = random_box(&random, level);
    double quick[3] = {0}, plain[3] = {0};
    int quick_edges[2], plain_edges[2];
    const double s = tl_box_box_axis(&a, &b, DBL_MAX, quick, quick_edges);
    const double t = plain_axis(&a, &b, plain, plain_edges);
    CHECK(s == t && memcmp(quick, plain, sizeof quick) == 0 &&
          memcmp(quick_edges, plain_edges, sizeof quick_edges) == 0);
    of_edges += plain_edges[0] >= 0;
  }
  CHECK_MSG(of_edges > cases / 20, "%d cases of edges", of_edges);
}

TEST(a_face_in_the_world_is_the_box_s_own_face_turned) {
  for (uint64_t serial = 0; serial < 500; ++serial) {
    tl_random random = tl_random_start(26, 0, serial);
    const tl_box box = random_box(&random, false);
    const talus_dvec3 d = tl_dunit(anywhere(&random, 1));
    tl_patch patch, own;
    tl_box_patch(&box, d, &patch);
    tl_box_face_patch(box.half, tl_frame_to_local(&box.frame, d), &own);
    CHECK(patch.count == 4 && own.count == 4 && patch.number == own.number);
    for (int k = 0; k < 4; ++k) {
      const talus_dvec3 at = tl_dadd(box.position, tl_frame_to_world(&box.frame, own.vertex[k]));
      CHECK(at.x == patch.vertex[k].x && at.y == patch.vertex[k].y && at.z == patch.vertex[k].z);
    }
  }
}

TEST_MAIN()
