/* Detection on plain arrays: the same answer as two naive loops, from every broad phase. */
#include <float.h>

#include "base/memory.h"
#include "base/random.h"
#include "check.h"
#include <talus/detect.h>

#define MOST 4000

/* Gaps are float in the single build. */
#define GAP_TOLERANCE (sizeof(talus_real) == sizeof(double) ? 1e-14 : 2e-7)

typedef struct cloud {
  size_t n;
  double record[MOST][4]; /* x, y, z, r */
} cloud;

static cloud scene;

static talus_detect_bodies spheres_of(const cloud *from) {
  return (talus_detect_bodies){.count = from->n,
                               .position = &from->record[0][0],
                               .position_stride = 4,
                               .radius = &from->record[0][3],
                               .radius_stride = 4};
}

/* n spheres in a cube of that edge; radii from low to high. */
static void scatter(size_t n, double edge, double low, double high, uint64_t seed) {
  scene.n = n;
  for (size_t i = 0; i < n; ++i) {
    tl_random r = tl_random_start(seed, 99, i);
    for (int k = 0; k < 3; ++k)
      scene.record[i][k] = edge * (tl_random_unit(&r) - 0.5);
    scene.record[i][3] = low * pow(high / low, tl_random_unit(&r));
  }
}

/* ---- references ---------------------------------------------------------------------------- */

static bool boxes_overlap(const double a[4], const double b[4], double margin) {
  for (int k = 0; k < 3; ++k)
    if (a[k] - a[3] - 0.5 * margin > b[k] + b[3] + 0.5 * margin ||
        b[k] - b[3] - 0.5 * margin > a[k] + a[3] + 0.5 * margin)
      return false;
  return true;
}

static double gap_of(const double a[4], const double b[4]) {
  const double x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2];
  return sqrt(x * x + y * y + z * z) - (a[3] + b[3]);
}

/* Pairs in the order of two loops, which is the canonical one. */
static void check_pairs(const talus_pairs *found, double margin) {
  size_t at = 0;
  for (size_t i = 0; i < scene.n; ++i)
    for (size_t j = i + 1; j < scene.n; ++j)
      if (boxes_overlap(scene.record[i], scene.record[j], margin)) {
        CHECK_MSG(at < found->count && found->data[at].a == i && found->data[at].b == j,
                  "pair %zu-%zu is missing at place %zu of %zu", i, j, at, found->count);
        at++;
      }
  CHECK_EQ_U64(found->count, at);
}

static void check_contacts(const talus_contacts *found, double margin) {
  size_t at = 0;
  for (size_t i = 0; i < scene.n; ++i)
    for (size_t j = i + 1; j < scene.n; ++j) {
      const double gap = gap_of(scene.record[i], scene.record[j]);
      const bool sure = gap <= margin - GAP_TOLERANCE, perhaps = gap <= margin + GAP_TOLERANCE;
      const talus_row_contact *c = at < found->count ? &found->data[at] : NULL;
      const bool is_next = c && c->a == i && c->b == j;
      CHECK_MSG(is_next ? perhaps : !sure, "contact %zu-%zu of gap %g is %s", i, j, gap,
                is_next ? "too much" : "missing");
      if (!is_next)
        continue;
      CHECK_NEAR(c->gap, gap, GAP_TOLERANCE);
      at++;
    }
  CHECK_EQ_U64(found->count, at);
}

static int broad_kinds(void) {
  int n = 0;
  while (talus_broad_name((talus_broad_kind)n))
    n++;
  return n;
}

/* Every broad phase and 1 ... 4 threads: the first against the loops, the others bit for bit. */
static void check_scene(double margin) {
  const talus_detect_bodies bodies = spheres_of(&scene);
  talus_detect_def def = talus_detect_def_default();
  talus_pairs pairs, other_pairs;
  talus_contacts contacts, other;
  talus_detect_stats stats;
  def.margin = margin;
  def.broad = TALUS_BROAD_BRUTE;
  CHECK_OK(talus_find_pairs(&def, &bodies, &pairs, NULL));
  check_pairs(&pairs, margin);
  CHECK_OK(talus_find_contacts(&def, &bodies, &contacts, NULL));
  check_contacts(&contacts, margin);
  for (int kind = 0; kind < broad_kinds(); ++kind)
    for (int threads = 1; threads <= 4; ++threads) {
      def.broad = (talus_broad_kind)kind;
      def.threads = threads;
      CHECK_OK(talus_find_pairs(&def, &bodies, &other_pairs, &stats));
      CHECK_EQ_U64(other_pairs.count, pairs.count);
      CHECK_EQ_U64(stats.pairs, pairs.count);
      CHECK_MSG(pairs.count == 0 ||
                    memcmp(pairs.data, other_pairs.data, pairs.count * sizeof *pairs.data) == 0,
                "%s finds other pairs on %d threads", talus_broad_name(def.broad), threads);
      CHECK_OK(talus_find_contacts(&def, &bodies, &other, &stats));
      CHECK_EQ_U64(other.count, contacts.count);
      CHECK_MSG(contacts.count == 0 ||
                    memcmp(contacts.data, other.data, contacts.count * sizeof *contacts.data) == 0,
                "%s finds other contacts on %d threads", talus_broad_name(def.broad), threads);
      CHECK_EQ_U64(stats.pairs, pairs.count);
      CHECK_EQ_U64(stats.contacts, contacts.count);
      CHECK(stats.candidates >= stats.pairs && stats.pairs >= stats.contacts);
      talus_pairs_free(&other_pairs);
      talus_contacts_free(&other);
    }
  talus_pairs_free(&pairs);
  talus_contacts_free(&contacts);
}

/* ---- agreement ----------------------------------------------------------------------------- */

TEST(broad_phases_have_names_that_lead_back_to_them) {
  CHECK(broad_kinds() >= 7);
  for (int k = 0; k < broad_kinds(); ++k) {
    talus_broad_kind found;
    CHECK_OK(talus_broad_by_name(talus_broad_name((talus_broad_kind)k), &found));
    CHECK_EQ_U64(found, k);
  }
  talus_broad_kind found;
  CHECK(talus_broad_by_name("bin", &found) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "'bin' is not a broad phase: these are auto, bins, "));
}

TEST(none_and_one_touch_nothing) {
  scene.n = 0;
  check_scene(0);
  scatter(1, 1, 0.1, 0.1, 1);
  check_scene(0.5);
}

TEST(equal_spheres_agree_with_two_loops) {
  scatter(1500, 10, 0.5, 0.5, 2);
  check_scene(0);
  check_scene(0.2);
}

TEST(spheres_of_every_size_agree_with_two_loops) {
  scatter(1200, 10, 0.01, 1, 3);
  check_scene(0);
}

TEST(points_agree_with_two_loops) {
  scatter(800, 1, 1, 1, 4);
  for (size_t i = 0; i < scene.n; ++i) {
    scene.record[i][3] = 0;
    if (i % 5 == 1) /* some in the same place */
      memcpy(scene.record[i], scene.record[i - 1], sizeof scene.record[i]);
  }
  check_scene(0);
  check_scene(0.1);
}

/* Neighbours of a lattice touch up to rounding, in every direction: the gap decides, and boxes that
 * rounding has parted do not hide it. */
TEST(lattice_of_touching_spheres_has_every_contact_whose_gap_says_so) {
  const size_t m = 9;
  const double edges[] = {0.1, 1.0 / 3.0, 1e-3, 0.7};
  for (size_t e = 0; e < sizeof edges / sizeof *edges; ++e) {
    scene.n = m * m * m;
    for (size_t i = 0; i < scene.n; ++i) {
      const double x = (double)(i % m), y = (double)(i / m % m), z = (double)(i / m / m);
      const double place[4] = {x * edges[e] + 3, y * edges[e], z * edges[e] - 7, 0.5 * edges[e]};
      memcpy(scene.record[i], place, sizeof place);
    }
    talus_detect_bodies bodies = spheres_of(&scene);
    talus_contacts contacts;
    CHECK_OK(talus_find_contacts(NULL, &bodies, &contacts, NULL));
    check_contacts(&contacts, 0);
    size_t touching = 0;
    for (size_t i = 0; i < scene.n; ++i)
      for (size_t j = i + 1; j < scene.n; ++j)
        touching += gap_of(scene.record[i], scene.record[j]) <= 0;
    if (sizeof(talus_real) == sizeof(double))
      CHECK_EQ_U64(contacts.count, touching);
    talus_contacts_free(&contacts);
    talus_detect_def def = talus_detect_def_default();
    def.margin = 1e-6 * edges[e];
    CHECK_OK(talus_find_contacts(&def, &bodies, &contacts, NULL));
    CHECK_EQ_U64(contacts.count, 3 * m * m * (m - 1));
    talus_contacts_free(&contacts);
  }
}

TEST(spheres_far_from_the_origin_agree) {
  scatter(600, 10, 0.5, 0.6, 5);
  for (size_t i = 0; i < scene.n; ++i)
    scene.record[i][0] += 1e6;
  talus_detect_bodies bodies = spheres_of(&scene);
  talus_contacts contacts;
  CHECK_OK(talus_find_contacts(NULL, &bodies, &contacts, NULL));
  CHECK(contacts.count > 100);
  check_contacts(&contacts, 0);
  talus_contacts_free(&contacts);
}

/* ---- one contact --------------------------------------------------------------------------- */

TEST(contact_of_two_spheres_is_midway_with_the_normal_from_a_to_b) {
  const double x[6] = {1, 2, 3, 1, 2, 4.5}, r[2] = {1, 0.75};
  const talus_detect_bodies bodies = {.count = 2, .position = x, .radius = r};
  talus_contacts found;
  CHECK_OK(talus_find_contacts(NULL, &bodies, &found, NULL));
  CHECK_EQ_U64(found.count, 1);
  const talus_row_contact c = found.data[0];
  CHECK(c.a == 0 && c.b == 1);
  CHECK_NEAR(c.gap, -0.25, 1e-7);
  CHECK_NEAR(c.normal.z, 1, 0);
  CHECK(c.normal.x == 0 && c.normal.y == 0);
  CHECK_NEAR(c.point.z, 3.875, 1e-7); /* surfaces at 4 and 3.75 */
  CHECK(c.point.x == 1 && c.point.y == 2);
  talus_contacts_free(&found);
  CHECK(found.data == NULL && found.count == 0);
}

TEST(touching_counts_and_a_gap_above_the_margin_does_not) {
  double x[6] = {0, 0, 0, 2, 0, 0};
  const double r[2] = {1, 1};
  const talus_detect_bodies bodies = {.count = 2, .position = x, .radius = r};
  talus_detect_def def = talus_detect_def_default();
  for (int kind = 0; kind < broad_kinds(); ++kind) {
    talus_contacts found;
    talus_pairs pairs;
    def.broad = (talus_broad_kind)kind;
    for (int wide = 0; wide < 2; ++wide) {
      def.margin = wide ? 0.5 : 0;
      x[3] = wide ? 2.5 : 2;
      CHECK_OK(talus_find_contacts(&def, &bodies, &found, NULL));
      CHECK_EQ_U64(found.count, 1);
      talus_contacts_free(&found);
      CHECK_OK(talus_find_pairs(&def, &bodies, &pairs, NULL));
      CHECK_EQ_U64(pairs.count, 1);
      talus_pairs_free(&pairs);
      x[3] = nextafter(x[3], 3);
      CHECK_OK(talus_find_pairs(&def, &bodies, &pairs, NULL));
      CHECK_EQ_U64(pairs.count, 0);
      talus_pairs_free(&pairs);
      CHECK_OK(talus_find_contacts(&def, &bodies, &found, NULL));
      CHECK_EQ_U64(found.count, 0);
      talus_contacts_free(&found);
    }
  }
}

/* ---- shapes -------------------------------------------------------------------------------- */

static const talus_shape_def table[] = {
    {.kind = TALUS_SPHERE, .size = {0.5}},
    {.kind = TALUS_BOX, .size = {2, 2, 2}},
    {.kind = TALUS_PLANE, .size = {0, 0, 1, 0}},
};

TEST(spheres_touch_boxes_and_planes_of_a_table) {
  /* A cube turned by 45 degrees about z has a vertical edge at x = sqrt 2. */
  const double x[] = {0, 0, 3, sqrt(2) + 0.49, 0, 3, 0, 0, 0, 8, 0, 0.5};
  const double q[] = {
      2 * cos(atan(1) / 2), 0, 0, 2 * sin(atan(1) / 2), 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  const uint32_t rows[] = {1, 0, 2, 0};
  const double scale[] = {1, 1, 1, 1.2};
  const talus_detect_bodies bodies = {.count = 4,
                                      .position = x,
                                      .shapes = table,
                                      .shape_count = 3,
                                      .shape = rows,
                                      .scale = scale,
                                      .rotation = q};
  talus_contacts found;
  talus_detect_stats stats;
  CHECK_OK(talus_find_contacts(NULL, &bodies, &found, &stats));
  CHECK_EQ_U64(found.count, 2);
  CHECK(found.data[0].a == 0 && found.data[0].b == 1);
  CHECK_NEAR(found.data[0].gap, -0.01, 1e-6);
  CHECK_NEAR(found.data[0].normal.x, 1, 1e-6);
  CHECK(found.data[1].a == 2 && found.data[1].b == 3);
  CHECK_NEAR(found.data[1].gap, 0.5 - 0.6, 1e-6);
  CHECK_NEAR(found.data[1].normal.z, 1, 1e-6);
  CHECK_EQ_U64(stats.pairs, 4); /* the plane is with all three, and the cube with its ball */
  talus_contacts_free(&found);
}

TEST(fixed_bodies_make_no_pair_with_each_other) {
  const double x[9] = {0};
  const uint32_t rows[3] = {0, 0, 2};
  const uint8_t fixed[3] = {1, 0, 0};
  const talus_detect_bodies bodies = {
      .count = 3, .position = x, .shapes = table, .shape_count = 3, .shape = rows, .fixed = fixed};
  talus_pairs found;
  CHECK_OK(talus_find_pairs(NULL, &bodies, &found, NULL));
  CHECK_EQ_U64(found.count, 2); /* a plane is always fixed */
  CHECK(found.data[0].a == 0 && found.data[0].b == 1);
  CHECK(found.data[1].a == 1 && found.data[1].b == 2);
  talus_pairs_free(&found);
}

TEST(shapes_without_a_contact_function_are_refused_by_row) {
  const double x[6] = {0};
  const uint32_t rows[2] = {1, 1};
  const talus_detect_bodies bodies = {
      .count = 2, .position = x, .shapes = table, .shape_count = 3, .shape = rows};
  talus_contacts found;
  const talus_status status = talus_find_contacts(NULL, &bodies, &found, NULL);
  if (status == TALUS_OK) {
    talus_contacts_free(&found);
    SKIP("this version has a contact function for every pair");
  }
  CHECK(status == TALUS_ERROR_UNSUPPORTED && found.count == 0 && found.data == NULL);
  CHECK_MSG(strstr(talus_last_error(), "bodies 0 and 1"), "%s", talus_last_error());
}

/* ---- boxes --------------------------------------------------------------------------------- */

TEST(boxes_of_the_caller_pair_as_the_same_spheres_do) {
  static talus_box boxes[MOST];
  scatter(1000, 8, 0.1, 0.6, 6);
  for (size_t i = 0; i < scene.n; ++i) {
    const double *s = scene.record[i];
    boxes[i] = (talus_box){{s[0] - s[3], s[1] - s[3], s[2] - s[3]},
                           {s[0] + s[3], s[1] + s[3], s[2] + s[3]}};
  }
  for (int kind = 0; kind < broad_kinds(); ++kind) {
    talus_detect_def def = talus_detect_def_default();
    talus_pairs found;
    def.broad = (talus_broad_kind)kind;
    for (int wide = 0; wide < 2; ++wide) {
      def.margin = wide ? 0.25 : 0;
      CHECK_OK(talus_find_box_pairs(&def, boxes, scene.n, &found, NULL));
      check_pairs(&found, def.margin);
      talus_pairs_free(&found);
    }
  }
}

/* ---- periodic axes ------------------------------------------------------------------------- */

TEST(periodic_spheres_agree_with_loops_over_images) {
  scatter(400, 6, 0.2, 0.5, 7);
  talus_detect_def def = talus_detect_def_default();
  def.domain.enabled = def.domain.periodic[0] = def.domain.periodic[2] = true;
  def.domain.box = (talus_box){{-2, -1, -2.5}, {3, 1, 3}}; /* many lie outside of it */
  const double period[3] = {5, 0, 5.5};
  size_t expected = 0;
  for (size_t i = 0; i < scene.n; ++i)
    for (size_t j = i + 1; j < scene.n; ++j) {
      double square = 0;
      for (int k = 0; k < 3; ++k) {
        double d = scene.record[j][k] - scene.record[i][k];
        if (period[k] > 0)
          d -= period[k] * nearbyint(d / period[k]);
        square += d * d;
      }
      expected += sqrt(square) <= scene.record[i][3] + scene.record[j][3];
    }
  for (int kind = 0; kind < broad_kinds(); ++kind) {
    const talus_detect_bodies bodies = spheres_of(&scene);
    talus_contacts found;
    def.broad = (talus_broad_kind)kind;
    CHECK_OK(talus_find_contacts(&def, &bodies, &found, NULL));
    CHECK_EQ_U64(found.count, expected);
    talus_contacts_free(&found);
  }
  scene.record[33][3] = 1.3;
  const talus_detect_bodies bodies = spheres_of(&scene);
  talus_contacts found;
  CHECK(talus_find_contacts(&def, &bodies, &found, NULL) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "row 33: ") && strstr(talus_last_error(), "along x"), "%s",
            talus_last_error());
}

/* ---- a detector ---------------------------------------------------------------------------- */

TEST(detector_gives_the_same_call_after_call_without_new_memory) {
  talus_detector *detector;
  talus_detect_def def = talus_detect_def_default();
  def.margin = 0.1;
  CHECK_OK(talus_detector_create(&def, &detector));
  size_t bytes[5];
  for (int round = 0; round < 5; ++round) {
    scatter(1000, 9, 0.5, 0.5, 8);
    const talus_detect_bodies bodies = spheres_of(&scene);
    talus_contacts contacts;
    talus_pairs pairs;
    CHECK_OK(talus_detector_find_contacts(detector, &bodies, &contacts, NULL));
    check_contacts(&contacts, 0.1);
    CHECK_OK(talus_detector_find_pairs(detector, &bodies, &pairs, NULL));
    check_pairs(&pairs, 0.1);
    scatter(50, 2, 0.5, 0.5, 9);
    const talus_detect_bodies few = spheres_of(&scene);
    CHECK_OK(talus_detector_find_pairs(detector, &few, &pairs, NULL));
    check_pairs(&pairs, 0.1);
    talus_memory(&bytes[round], NULL);
  }
  CHECK_EQ_U64(bytes[4], bytes[2]);
  talus_detector_destroy(detector);
  talus_detector_destroy(NULL);
}

/* Two tetrahedra, the second above the first: the gap between them. */
static double gap_of_two(talus_detector *detector, const talus_shape_def *shapes, size_t count) {
  static const double position[6] = {0, 0, 0, 0.1, 0.1, 1.05};
  static const double rotation[8] = {1, 0, 0, 0, 1, 0, 0, 0};
  const uint32_t rows[2] = {0, (uint32_t)count - 1};
  const talus_detect_bodies bodies = {.count = 2,
                                      .position = position,
                                      .rotation = rotation,
                                      .shapes = shapes,
                                      .shape_count = count,
                                      .shape = rows};
  talus_contacts contacts;
  double least = HUGE_VAL;
  CHECK_OK(talus_detector_find_contacts(detector, &bodies, &contacts, NULL));
  for (size_t i = 0; i < contacts.count; ++i)
    least = fmin(least, (double)contacts.data[i].gap);
  return least;
}

TEST(shapes_that_change_are_made_anew_and_others_are_kept) {
  double low[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.1, 0.1, 1}};
  double high[4][3] = {{0, 0, 0}, {1, 0, 1}, {0, 1, 1}, {-1, -1, 1}};
  const uint32_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  talus_shape_def shapes[2] = {{.kind = TALUS_MESH,
                                .points = low[0],
                                .point_count = 4,
                                .triangles = faces[0],
                                .triangle_count = 4},
                               {.kind = TALUS_MESH,
                                .points = high[0],
                                .point_count = 4,
                                .triangles = faces[0],
                                .triangle_count = 4}};
  talus_detector *detector;
  talus_detect_def def = talus_detect_def_default();
  def.margin = 0.5;
  CHECK_OK(talus_detector_create(&def, &detector));
  for (int round = 0; round < 3; ++round)
    CHECK_NEAR(gap_of_two(detector, shapes, 2), 0.05, 1e-6);
  low[3][2] = 0.9; /* in place, the same pointer */
  CHECK_NEAR(gap_of_two(detector, shapes, 2), 0.15, 1e-6);
  shapes[0].rounding = 0.02;
  CHECK_NEAR(gap_of_two(detector, shapes, 2), 0.13, 1e-6);
  high[0][2] = 0.1;
  CHECK_NEAR(gap_of_two(detector, shapes, 2), 0.23, 1e-6);
  const double alone = gap_of_two(detector, shapes, 1); /* the second row is gone */
  CHECK(alone > 0.05 && alone < 0.2);
  shapes[1].triangle_count = 0;
  const uint32_t rows[2] = {0, 1};
  const double places[6] = {0}, turns[8] = {1, 0, 0, 0, 1};
  const talus_detect_bodies bad = {.count = 2,
                                   .position = places,
                                   .rotation = turns,
                                   .shapes = shapes,
                                   .shape_count = 2,
                                   .shape = rows};
  talus_contacts contacts;
  CHECK(talus_detector_find_contacts(detector, &bad, &contacts, NULL) == TALUS_ERROR_INVALID);
  shapes[1].triangle_count = 4;
  CHECK_NEAR(gap_of_two(detector, shapes, 2), 0.23, 1e-6);
  talus_detector_destroy(detector);
}

TEST(everything_is_freed) {
  size_t before, after;
  talus_memory(&before, NULL);
  scatter(500, 5, 0.5, 0.5, 10);
  const talus_detect_bodies bodies = spheres_of(&scene);
  talus_contacts contacts;
  talus_pairs pairs;
  CHECK_OK(talus_find_contacts(NULL, &bodies, &contacts, NULL));
  CHECK_OK(talus_find_pairs(NULL, &bodies, &pairs, NULL));
  talus_contacts_free(&contacts);
  talus_pairs_free(&pairs);
  scene.record[7][0] = NAN;
  CHECK(talus_find_contacts(NULL, &bodies, &contacts, NULL) == TALUS_ERROR_INVALID);
  talus_memory(&after, NULL);
  CHECK_EQ_U64(after, before);
}

TEST(stats_tell_the_phase_the_times_and_the_memory) {
  scatter(2000, 12, 0.5, 0.5, 11);
  const talus_detect_bodies bodies = spheres_of(&scene);
  talus_contacts contacts;
  talus_detect_stats stats;
  CHECK_OK(talus_find_contacts(NULL, &bodies, &contacts, &stats));
  CHECK(stats.broad != TALUS_BROAD_AUTO && stats.reason != NULL);
  CHECK(stats.broad_ms > 0 && stats.narrow_ms > 0 && stats.sort_ms >= 0 && stats.bounds_ms > 0);
  CHECK(stats.peak_bytes > 2000 * 48 + contacts.count * sizeof *contacts.data);
  CHECK(stats.peak_bytes < 2000 * 4096);
  talus_contacts_free(&contacts);
  talus_detect_def def = talus_detect_def_default();
  def.broad = TALUS_BROAD_BINS;
  talus_pairs pairs;
  CHECK_OK(talus_find_pairs(&def, &bodies, &pairs, &stats));
  CHECK(stats.broad == TALUS_BROAD_BINS && stats.reason == NULL && stats.narrow_ms == 0);
  talus_pairs_free(&pairs);
}

/* ---- bad input ----------------------------------------------------------------------------- */

static void refuses(const talus_detect_def *def, const talus_detect_bodies *bodies,
                    const char *words) {
  talus_contacts contacts = {.count = 1};
  talus_pairs pairs = {.count = 1};
  CHECK(talus_find_contacts(def, bodies, &contacts, NULL) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), words), "%s", talus_last_error());
  CHECK(contacts.count == 0 && contacts.data == NULL);
  CHECK(talus_find_pairs(def, bodies, &pairs, NULL) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), words), "%s", talus_last_error());
  CHECK(pairs.count == 0 && pairs.data == NULL);
}

TEST(rows_that_are_no_bodies_are_named) {
  const struct {
    size_t row;
    int column;
    double value;
    const char *words;
  } cases[] = {
      {3, 0, NAN, "row 3: its position (nan"},
      {199, 2, INFINITY, "row 199: its position"},
      {0, 1, -INFINITY, "row 0: its position"},
      {17, 3, -1e-9, "row 17: its radius is -1e-09"},
      {17, 3, NAN, "row 17: its radius is nan"},
      {5, 3, INFINITY, "row 5: its radius is inf"},
      {6, 0, 1.79e308, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    scatter(200, 5, 0.5, 0.5, 12);
    scene.record[cases[i].row][cases[i].column] = cases[i].value;
    const talus_detect_bodies bodies = spheres_of(&scene);
    if (*cases[i].words) {
      refuses(NULL, &bodies, cases[i].words);
      continue;
    }
    scene.record[6][3] = 1e308; /* each is a number, the corner is not */
    refuses(NULL, &bodies, "row 6: its box reaches beyond");
  }
}

TEST(definitions_that_mean_nothing_are_refused) {
  scatter(10, 5, 0.5, 0.5, 13);
  const talus_detect_bodies good = spheres_of(&scene);
  talus_detect_def def = talus_detect_def_default();
  def.margin = -1;
  refuses(&def, &good, "the margin is -1");
  def.margin = NAN;
  refuses(&def, &good, "the margin is nan");
  def = talus_detect_def_default();
  def.threads = -2;
  refuses(&def, &good, "threads is -2");
  def = talus_detect_def_default();
  def.broad = (talus_broad_kind)99;
  refuses(&def, &good, "broad phase 99 does not exist");
  def = talus_detect_def_default();
  def.domain.enabled = def.domain.periodic[1] = true;
  refuses(&def, &good, "along y");
}

/* Of a dump the last time step counts, whatever the ones before had. */
TEST(velocities_of_an_earlier_time_step_are_not_those_of_the_last) {
  static const char text[] = "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\n"
                             "ITEM: ATOMS id x y z radius vx vy vz\n1 0 0 0 1 5 6 7\n"
                             "ITEM: TIMESTEP\n1\nITEM: NUMBER OF ATOMS\n2\n"
                             "ITEM: ATOMS id x y z radius\n1 0 0 0 1\n2 3 0 0 1\n";
  talus_body_table read;
  CHECK_OK(talus_body_table_parse(text, sizeof text - 1, "a.dump", &read));
  CHECK(read.bodies.count == 2 && !read.velocity && !read.spin);
  talus_body_table_free(&read);
}

TEST(arrays_that_are_not_there_are_refused) {
  const double x[3] = {0, 0, 0}, r[1] = {1};
  const uint32_t rows[1] = {3};
  const double zero[4] = {0, 0, 0, 0};
  talus_detect_bodies bodies = {.count = 1, .radius = r};
  refuses(NULL, &bodies, "bodies.position is NULL");
  bodies = (talus_detect_bodies){.count = 1, .position = x};
  refuses(NULL, &bodies, "bodies.radius is NULL");
  bodies = (talus_detect_bodies){.count = 1, .position = x, .position_stride = 2, .radius = r};
  refuses(NULL, &bodies, "position_stride is 2");
  bodies = (talus_detect_bodies){.count = 1, .position = x, .shapes = table, .shape_count = 3};
  refuses(NULL, &bodies, "bodies.shape is NULL");
  bodies.shape = rows;
  refuses(NULL, &bodies, "row 0: its shape is 3, but there are 3 shapes");
  bodies.shape = (const uint32_t[]){1};
  bodies.rotation = zero;
  refuses(NULL, &bodies, "row 0: its rotation (0 0 0 0)");
  bodies.rotation = NULL;
  bodies.scale = (const double[]){-2};
  refuses(NULL, &bodies, "row 0: its scale is -2");
  bodies = (talus_detect_bodies){.count = (size_t)1 << 31, .position = x, .radius = r};
  refuses(NULL, &bodies, "2147483648 rows");
  const talus_shape_def flat = {.kind = TALUS_BOX, .size = {1, 0, 1}};
  bodies = (talus_detect_bodies){
      .count = 1, .position = x, .shapes = &flat, .shape_count = 1, .shape = (const uint32_t[]){0}};
  refuses(NULL, &bodies, "shape 0: ");
}

TEST(boxes_that_are_none_are_named) {
  talus_box boxes[3] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}};
  talus_pairs found;
  boxes[1].lo.y = 2;
  CHECK(talus_find_box_pairs(NULL, boxes, 3, &found, NULL) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "row 1: "), "%s", talus_last_error());
  boxes[1].lo.y = NAN;
  CHECK(talus_find_box_pairs(NULL, boxes, 3, &found, NULL) == TALUS_ERROR_INVALID);
  boxes[1].lo.y = 0;
  boxes[2].hi.x = INFINITY;
  CHECK(talus_find_box_pairs(NULL, boxes, 3, &found, NULL) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "row 2: "), "%s", talus_last_error());
}

/* Columns, shapes and messages in full: tests/cli/test_contacts.py. */
TEST(a_table_gives_the_bodies_it_names) {
  static const char text[] = "shape,x,y,z,a,b,c\nbox,0,0,0,1,1,1\n\nsphere,1.4,0,0,0.5,,\n";
  talus_body_table read;
  talus_contacts found;
  CHECK_OK(talus_body_table_parse(text, sizeof text - 1, "t.csv", &read));
  CHECK_EQ_U64(read.bodies.count, 2);
  CHECK_OK(talus_find_contacts(NULL, &read.bodies, &found, NULL));
  CHECK_EQ_U64(found.count, 1);
  CHECK_NEAR(found.data[0].gap, -0.1, 1e-6);
  talus_contacts_free(&found);
  talus_body_table_free(&read);
  talus_body_table_free(&read);
}

TEST(a_table_becomes_bodies_of_a_world) {
  static const char text[] = "0 0 1 0.5 1 0 0\n3,0,1,0.25,0,2,0\n";
  talus_body_table read;
  talus_world *world = NULL;
  const talus_world_def def = talus_world_def_default();
  talus_material material;
  talus_material_def rock = talus_material_def_default();
  talus_body body;
  talus_body_info info;
  CHECK_OK(talus_body_table_parse(text, sizeof text - 1, "t.txt", &read));
  CHECK(read.velocity && !read.spin && read.velocity[4] == 2);
  CHECK_OK(talus_world_create(&def, &world));
  CHECK_OK(talus_world_add_material(world, &rock, &material));
  talus_body_def like = talus_body_def_default();
  like.material = material;
  like.position.z = 1;
  CHECK(talus_world_add_table(world, &read, &like, 0) == TALUS_ERROR_INVALID);
  CHECK_OK(talus_world_add_table(world, &read, &like, 2));
  CHECK_EQ_U64(talus_world_body_count(world), 2);
  CHECK_OK(talus_world_body_at(world, 1, &body));
  CHECK_OK(talus_world_get_body(world, body, &info));
  CHECK(info.position.x == 6 && info.position.z == 3 && info.velocity.y == 4);
  talus_world_destroy(world);
  talus_body_table_free(&read);
}

TEST(a_table_with_mistakes_names_them_all_and_holds_nothing) {
  const size_t before = tl_memory_count().bytes;
  static const char text[] = "x,y,z,r\n0,0,0,-1\n0,0,0\n0,0,0,1\n";
  talus_body_table read;
  CHECK(talus_body_table_parse(text, sizeof text - 1, "t.csv", &read) == TALUS_ERROR_FORMAT);
  CHECK_STR(talus_last_error(),
            "t.csv:2:7: column 'r': -1 is not a radius: 0 or more, in metres\n  0,0,0,-1\n"
            "        ^\nt.csv:3:6: 3 fields, but the header names 4\n  0,0,0\n       ^");
  CHECK(!read.own && read.bodies.count == 0);
  CHECK_EQ_U64(tl_memory_count().bytes, before);
  CHECK(talus_body_table_read("not/there.csv", &read) == TALUS_ERROR_IO);
}

TEST_MAIN()
