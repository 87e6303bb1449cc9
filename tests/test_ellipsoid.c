/* Two ellipsoids: the kernels against a long-double reference, the paper's cases, and each other.
 *
 * TALUS_SLOW=1 looks at 10^6 pairs instead of 10^5. */
#include "check.h"
#include "base/isa.h"

#include "ellipsoid_random.h"
#include "ellipsoid_reference.h"
#include "narrow/ellipsoid.h"

static bool is_slow(void) {
  const char *slow = getenv("TALUS_SLOW");
  return slow && *slow && *slow != '0';
}

static const talus_quat quarter_turn = {TL_R(0.70710678118654752440), 0, 0,
                                        TL_R(0.70710678118654752440)};

/* Newton without the shortcut for spheres. */
static bool find(const tl_ellipsoid *a, const tl_ellipsoid *b, talus_dvec3 d, double margin,
                 tl_ell_contact *found) {
  tl_ell_outcome outcome = TL_ELL_UNSURE;
  if (tl_ellipsoid_class(a) != TL_ELL_NEEDS_CARE && tl_ellipsoid_class(b) != TL_ELL_NEEDS_CARE) {
    const tl_ell_pair p = tl_ellipsoid_pair(a, b, d);
    outcome = tl_ellipsoids_contact_quick(&p, margin, found);
  }
  if (outcome == TL_ELL_UNSURE)
    return tl_ellipsoids_contact_careful(a, b, d, margin, found);
  return outcome == TL_ELL_FOUND;
}

/* Sine of the angle between two normals. */
static double angle_between(ref_vec n, const tl_ell_contact *found) {
  const ref_vec c = {{found->normal.x, found->normal.y, found->normal.z}};
  const ref_vec x = ref_cross(n, c);
  return ref_dot(n, c) > 0 ? (double)sqrtl(ref_dot(x, x)) : 2;
}

/* ---- the paper ------------------------------------------------------------------------------- */

typedef struct paper_case {
  double half1[3], half2[3];
  bool turned1, turned2;
  talus_dvec3 d;
  double gap;
  talus_vec3 normal;
  talus_dvec3 point; /* from the first centre */
} paper_case;

static const paper_case table_1[6] = {
    {{3, 1, 2}, {6, 2, 4}, false, false, {0, 0, 0}, -3, {0, 1, 0}, {0, 0, 0}},
    {{3, 1, 2}, {12, 4, 8}, true, false, {0, 0, 0}, -7, {0, 1, 0}, {0, 0, 0}},
    {{3, 1, 2}, {3, 1, 2}, false, false, {5.8, 0, 0}, -0.2, {1, 0, 0}, {2.9, 0, 0}},
    {{3, 1, 2}, {1, 3, 2}, true, true, {4.2, 0, 0}, 0.2, {1, 0, 0}, {1.1, 0, 0}},
    {{3, 1, 2}, {1, 3, 2}, true, true, {3.8, 0, 0}, -0.2, {1, 0, 0}, {0.9, 0, 0}},
    {{3, 1, 2}, {3, 1, 2}, false, false, {6, 0, 0}, 0, {1, 0, 0}, {3, 0, 0}},
};

static tl_ellipsoid of_case(const double half[3], bool turned) {
  tl_ellipsoid e = {{half[0], half[1], half[2]}, tl_frame_from_quat((talus_quat){1, 0, 0, 0})};
  if (turned)
    e.frame = tl_frame_from_quat(quarter_turn);
  return e;
}

TEST(table_1_of_the_paper_with_signed_gaps_by_every_method) {
  for (int method = 0; method < 3; ++method)
    for (int i = 0; i < 6; ++i) {
      const paper_case *c = &table_1[i];
      const tl_ellipsoid a = of_case(c->half1, c->turned1), b = of_case(c->half2, c->turned2);
      for (int margin = 0; margin < 2; ++margin) {
        tl_point p;
        const int n = method == 0
                          ? tl_collide_ellipsoids_newton(&a, &b, c->d, margin, &p)
                          : tl_collide_ellipsoids_opm(&a, &b, c->d, margin, method == 2, &p);
        const bool expected = c->gap <= margin;
        /* A rotation in float is not exact: leave the tangent case some room there. */
        CHECK_MSG(n == expected, "method %d, case %d, margin %d: %d points", method, i + 1, margin,
                  n);
        if (n == 0)
          continue;
        CHECK_NEAR(p.gap, c->gap, TALUS_SINGLE ? 2e-6 : 4e-15);
        CHECK_NEAR(p.normal.x, c->normal.x, 1e-12);
        CHECK_NEAR(p.normal.y, c->normal.y, 1e-12);
        CHECK_NEAR(p.normal.z, c->normal.z, 1e-12);
        CHECK_NEAR(p.point.x, c->point.x, 2e-6);
        CHECK_NEAR(p.point.y, c->point.y, 2e-6);
        CHECK_NEAR(p.point.z, c->point.z, 2e-6);
      }
    }
}

TEST(gradient_and_hessian_of_opm_are_those_of_differences) {
  for (int i = 0; i < 200; ++i) {
    const tl_ellipsoid a = random_ellipsoid(5, 1), b = random_ellipsoid(5, 2);
    const tl_ell_pair p = tl_ellipsoid_pair(&a, &b, place_in_box(&a, &b));
    const double x[2] = {6 * uniform(), 2 * uniform() - 1}, e = 1e-5;
    const int pole = i % 3;
    const tl_opm at = tl_opm_at(&p, x[0], x[1], pole, true);
    for (int k = 0; k < 2; ++k) {
      const double dx = k == 0 ? e : 0, dy = k == 1 ? e : 0;
      const tl_opm hi = tl_opm_at(&p, x[0] + dx, x[1] + dy, pole, true);
      const tl_opm lo = tl_opm_at(&p, x[0] - dx, x[1] - dy, pole, true);
      CHECK_NEAR(at.gradient[k], (hi.f - lo.f) / (2 * e), 1e-7);
      CHECK_NEAR(at.hessian[k], (hi.gradient[k] - lo.gradient[k]) / (2 * e), 1e-6);
      CHECK_NEAR(at.hessian[2], (hi.gradient[1 - k] - lo.gradient[1 - k]) / (2 * e), 1e-6);
    }
  }
}

/* det(xi Q1 + Q2) = det(xi K1 + K2) h(xi): the monic quartic is minus h times det(xi + M1 K2). */
TEST(characteristic_polynomial_is_the_concave_function) {
  for (int i = 0; i < 1000; ++i) {
    const tl_ellipsoid a = random_ellipsoid(4, 1), b = random_ellipsoid(4, 1);
    const tl_ell_pair p = tl_ellipsoid_pair(&a, &b, place_in_box(&a, &b));
    double c[5];
    tl_chm_coefficients(&p, c);
    const double xi = exp(4 * uniform() - 2);
    const double g = (((xi + c[3]) * xi + c[2]) * xi + c[1]) * xi + c[0];
    const tl_ell_sym sum = tl_ell_sum(&p.m1, &p.m2, xi);
    const tl_ell_sym a1 = tl_ell_adjugate(&p.m1), a2 = tl_ell_adjugate(&p.m2);
    const tl_ell_sym as = tl_ell_adjugate(&sum);
    /* det(xi K1 + K2)/det K1 = det(M1 + xi M2)/det M2 */
    const double factor = tl_ell_det(&sum, &as) / tl_ell_det(&p.m2, &a2);
    const double h = tl_ell_look_at(p, xi).excess * (1 + xi);
    CHECK(c[0] > 0 && tl_ell_det(&p.m1, &a1) > 0);
    CHECK_NEAR(g / factor, -h, 1e-9 * (1 + xi + fabs(h)));
  }
}

/* ---- against the reference ------------------------------------------------------------------- */

typedef struct tally {
  int pairs, wrong, wrong_float, wrong_chm, deep, unsure_normal;
  double normal, gap;
} tally;

/* Normals are compared where the Hessian's smaller eigenvalue is at least 1e-6 of the size (below,
 * the common normal is not determined) and where the overlap is at most a quarter of the shortest
 * half axis (deeper, several minima compete: then the answer must be one of them, no worse than the
 * start). */
static void compare(const tl_ellipsoid *a, const tl_ellipsoid *b, talus_dvec3 d, double size,
                    const ref_result *r, tally *t) {
  tl_ell_contact found;
  CHECK(find(a, b, d, 1e9, &found));
  if (r->w > 0.25L * fminl(tl_ellipsoid_least(a), tl_ellipsoid_least(b))) {
    t->deep++;
    CHECK_MSG(found.w <= 1.1 * (double)r->start_w, "w %g above its start %g", found.w,
              (double)r->start_w);
    const tl_ell_width at =
        tl_ellipsoids_width(a, b, d, tl_dvec3(found.normal.x, found.normal.y, found.normal.z));
    CHECK_MSG(tl_dlength(at.t) <= 1e-7 * (tl_ellipsoid_most(a) + tl_ellipsoid_most(b)),
              "not stationary: %g", tl_dlength(at.t));
    return;
  }
  t->gap = fmax(t->gap, fabs((double)(found.w - r->w)) / size);
  if (r->least < 1e-6L * size)
    t->unsure_normal++;
  else
    t->normal = fmax(t->normal, angle_between(r->normal, &found));
}

/* `floor`: relative gap below which yes or no may be wrong. */
static void look_at_pair(const tl_ellipsoid *a, const tl_ellipsoid *b, talus_dvec3 d, double floor,
                         tally *t) {
  const double size = pair_size(a, b);
  const ref_result r = ref_contact(a, b, d);
  const double relative = fabs((double)r.w) / size;
  tl_ell_contact found;
  const bool touches = r.w >= 0, plain = tl_ellipsoid_class(a) != TL_ELL_NEEDS_CARE &&
                                         tl_ellipsoid_class(b) != TL_ELL_NEEDS_CARE;
  const tl_ell_pair p = tl_ellipsoid_pair(a, b, d);
  t->pairs++;
  if (relative > floor) {
    t->wrong += find(a, b, d, 0, &found) != touches;
    t->wrong += plain && tl_ellipsoids_overlap(&p) != touches;
  }
  const tl_ellf_pair pf = tl_ell_pair_to_float(&p, size);
  /* Input in float is off by 6e-8 of the larger body: what is asked of it is measured by that. */
  const double large = fabs((double)r.w) / fmax(tl_ellipsoid_most(a), tl_ellipsoid_most(b));
  if (large > 1e-6 && floor <= 1e-12)
    t->wrong_float += tl_ellipsoids_overlap_float(&pf) != touches;
  if (large > 1e-8 && plain)
    t->wrong_chm += tl_ellipsoids_overlap_chm(&p) != touches;
  compare(a, b, d, size, &r, t);
}

static tally look_at_many(double aspect, double floor, int count) {
  tally t = {0};
  for (int i = 0; i < count; ++i) {
    const tl_ellipsoid a = random_ellipsoid(aspect, 1);
    const tl_ellipsoid b = random_ellipsoid(aspect, pow(10, uniform() - 0.5));
    talus_dvec3 d = place_in_box(&a, &b);
    if (i % 4 != 0) { /* three of four at a gap of a decade from 1e-1 to 1e-12, of either sign */
      const double gap = pow(10, -1 - 11.5 * uniform()) * pair_size(&a, &b);
      d = place_at_gap(&a, &b, random_direction(), i % 2 ? gap : -gap);
    }
    look_at_pair(&a, &b, d, floor, &t);
  }
  printf(
      "  aspect %g, %d pairs: wrong %d, float %d, chm %d; normal %.1e rad, gap %.1e; %d deep, %d "
      "without a normal\n",
      aspect, t.pairs, t.wrong, t.wrong_float, t.wrong_chm, t.normal, t.gap, t.deep,
      t.unsure_normal);
  return t;
}

TEST(random_pairs_of_aspect_10_agree_with_long_double) {
  const tally t = look_at_many(10, 1e-12, is_slow() ? 700000 : 60000);
  CHECK(t.wrong == 0);
  CHECK(t.wrong_float == 0);
  CHECK(t.wrong_chm == 0);
  CHECK(t.normal <= 1e-8);
  CHECK(t.gap <= 1e-10);
  CHECK(t.unsure_normal <= t.pairs / 1000);
}

TEST(random_pairs_of_aspect_100_agree_with_long_double) {
  const tally t = look_at_many(100, 1e-9, is_slow() ? 300000 : 30000);
  CHECK(t.wrong == 0);
  CHECK(t.wrong_chm == 0);
  CHECK(t.normal <= 1e-6);
  CHECK(t.gap <= 1e-8);
  CHECK(t.unsure_normal <= t.pairs / 1000);
}

TEST(needles_and_plates_of_one_to_a_thousand_are_right) {
  const tally t = look_at_many(1000, 1e-9, is_slow() ? 30000 : 5000);
  CHECK(t.wrong == 0);
  CHECK(t.normal <= 1e-6);
  CHECK(t.gap <= 1e-8);
}

TEST(sizes_of_one_to_ten_thousand_are_right) {
  tally t = {0};
  for (int i = 0; i < 3000; ++i) {
    const tl_ellipsoid a = random_ellipsoid(5, i % 2 ? 1e4 : 1);
    const tl_ellipsoid b = random_ellipsoid(5, i % 2 ? 1 : 1e4);
    const double gap = pow(10, -1 - 6 * uniform());
    look_at_pair(&a, &b, place_at_gap(&a, &b, random_direction(), i % 3 ? gap : -gap), 1e-9, &t);
  }
  CHECK(t.wrong == 0);
  CHECK(t.wrong_chm == 0);
  CHECK(t.normal <= 1e-6);
  CHECK(t.gap <= 1e-8);
}

/* ---- special cases --------------------------------------------------------------------------- */

TEST(one_within_the_other_gives_the_centre_of_the_smaller) {
  for (int i = 0; i < 200; ++i) {
    const tl_ellipsoid small = random_ellipsoid(3, 0.1), large = random_ellipsoid(2, 3);
    const talus_dvec3 d = tl_dscale(random_direction(), 0.3 * uniform());
    tl_point p, q;
    CHECK(tl_collide_ellipsoids_newton(&small, &large, d, 0, &p) == 1);
    CHECK(p.point.x == 0 && p.point.y == 0 && p.point.z == 0);
    CHECK(p.gap < 0);
    CHECK(tl_collide_ellipsoids_newton(&large, &small, d, 0, &q) == 1);
    CHECK(q.point.x == d.x && q.point.y == d.y && q.point.z == d.z);
  }
}

TEST(coincident_bodies_part_along_their_shortest_axis) {
  for (int i = 0; i < 100; ++i) {
    tl_ellipsoid e = random_ellipsoid(5, 1);
    e.half[1] = 0.9 * tl_ellipsoid_least(&e);
    tl_point p;
    CHECK(tl_collide_ellipsoids_newton(&e, &e, tl_dvec3(0, 0, 0), 0, &p) == 1);
    const talus_dvec3 n = tl_widen(p.normal), axis = tl_frame_axis(&e.frame, 1);
    CHECK_NEAR(tl_ddot(n, axis), 1, 1e-6);
    CHECK_NEAR(p.gap, -2 * e.half[1], 1e-6);
  }
}

/* Centres on the long axis of both: the gradient of w is 0 along it, but they part sideways. */
TEST(a_saddle_on_a_common_axis_is_left) {
  const tl_ellipsoid a = {{0.5, 0.5, 1}, tl_frame_from_quat((talus_quat){1, 0, 0, 0})};
  const tl_ellipsoid b = {{0.4, 0.3, 0.9}, tl_frame_from_quat((talus_quat){1, 0, 0, 0})};
  tl_point p;
  CHECK(tl_collide_ellipsoids_newton(&a, &b, tl_dvec3(0, 0, 0.05), 0, &p) == 1);
  CHECK_NEAR(p.gap, -0.8, 0.01);
  CHECK(fabs((double)p.normal.y) > 0.9);
}

TEST(swapping_the_bodies_mirrors_the_contact) {
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    const tl_ellipsoid a = random_ellipsoid(8, 1), b = random_ellipsoid(8, 1.5);
    const talus_dvec3 d = place_at_gap(&a, &b, random_direction(), 0.04 * uniform() - 0.02);
    tl_ell_contact f, g;
    const bool one = find(&a, &b, d, 0.01, &f), two = find(&b, &a, tl_dscale(d, -1), 0.01, &g);
    CHECK(one == two || fabs(f.w + 0.01) < 1e-12);
    if (!one || !two)
      continue;
    compared++;
    CHECK_NEAR(f.w, g.w, 1e-13);
    CHECK_NEAR(f.normal.x, -g.normal.x, 1e-8);
    CHECK_NEAR(f.normal.y, -g.normal.y, 1e-8);
    CHECK_NEAR(f.normal.z, -g.normal.z, 1e-8);
  }
  CHECK(compared > 1000);
}

TEST(a_rigid_motion_of_both_moves_the_contact_with_them) {
  for (int i = 0; i < 2000; ++i) {
    const tl_ellipsoid a = random_ellipsoid(8, 1), b = random_ellipsoid(8, 1);
    const talus_dvec3 d = place_at_gap(&a, &b, random_direction(), -0.02 * uniform());
    const tl_frame turn = random_frame();
    tl_ellipsoid ta = a, tb = b;
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        ta.frame.m[r][c] = tb.frame.m[r][c] = 0;
        for (int k = 0; k < 3; ++k) {
          ta.frame.m[r][c] += turn.m[r][k] * a.frame.m[k][c];
          tb.frame.m[r][c] += turn.m[r][k] * b.frame.m[k][c];
        }
      }
    tl_ell_contact f, g;
    CHECK(find(&a, &b, d, 1e-9, &f) && find(&ta, &tb, tl_frame_to_world(&turn, d), 1e-9, &g));
    const talus_dvec3 n = tl_frame_to_world(&turn, tl_dvec3(f.normal.x, f.normal.y, f.normal.z));
    CHECK_NEAR(f.w, g.w, 1e-13);
    CHECK_NEAR(tl_dlength(tl_dsub(n, tl_dvec3(g.normal.x, g.normal.y, g.normal.z))), 0, 1e-8);
  }
}

TEST(a_small_motion_moves_the_contact_a_little) {
  for (int i = 0; i < 2000; ++i) {
    const tl_ellipsoid a = random_ellipsoid(4, 1), b = random_ellipsoid(4, 1);
    const double step = 1e-6;
    const talus_dvec3 d = place_at_gap(&a, &b, random_direction(), -0.01 * uniform());
    tl_ell_contact f, g;
    CHECK(find(&a, &b, d, 1, &f));
    CHECK(find(&a, &b, tl_dadd(d, tl_dscale(random_direction(), step)), 1, &g));
    const talus_dvec3 turn =
        tl_dvec3(f.normal.x - g.normal.x, f.normal.y - g.normal.y, f.normal.z - g.normal.z);
    CHECK(fabs(f.w - g.w) <= 1.01 * step);
    /* The normal turns by at most the motion over the least curvature radius, 1/16 here. */
    CHECK_MSG(tl_dlength(turn) <= 40 * step, "turned by %g", tl_dlength(turn));
  }
}

/* ---- lanes ----------------------------------------------------------------------------------- */

TEST(lanes_give_the_bits_of_one_pair_at_a_time) {
  static tl_ell_batch fast, slow;
  for (int round = 0; round < 300; ++round) {
    const tl_isa isa = (tl_isa)(round / 3 % TL_ISA_COUNT);
    const tl_isa before = tl_isa_use(tl_isa_has(isa) ? isa : TL_ISA_GENERIC);
    const double aspect = round % 3 == 0 ? 1.2 : (round % 3 == 1 ? 10 : 28);
    fast.count = 1 + (size_t)(uniform() * TL_ELL_BATCH);
    for (size_t i = 0; i < fast.count; ++i) {
      const tl_ellipsoid a = random_ellipsoid(aspect, 1), b = random_ellipsoid(aspect, 1);
      const tl_ell_row ra = tl_ellipsoid_row(&a), rb = tl_ellipsoid_row(&b);
      const talus_dvec3 d = round % 2
                                ? place_in_box(&a, &b)
                                : place_at_gap(&a, &b, random_direction(), 0.02 * uniform() - 0.01);
      tl_ell_batch_set(&fast, i, &ra, &rb, d, i % 5 ? 0.005 * uniform() : 0);
    }
    memcpy(&slow, &fast, sizeof slow);
    tl_ell_batch_run(&fast);
    tl_ell_scalar.run(&slow);
    tl_isa_use(before);
    for (size_t i = 0; i < fast.count; ++i) {
      CHECK_MSG(fast.outcome[i] == slow.outcome[i], "pair %zu: %d, not %d", i, fast.outcome[i],
                slow.outcome[i]);
      for (int k = 0; k < TL_ELL_RESULTS && fast.outcome[i] == TL_ELL_FOUND; ++k)
        CHECK_MSG(memcmp(&fast.out[k][i], &slow.out[k][i], sizeof(double)) == 0,
                  "pair %zu, column %d: %.17g, not %.17g", i, k, fast.out[k][i], slow.out[k][i]);
    }
  }
}

TEST(yes_or_no_of_lanes_is_that_of_one_pair_at_a_time) {
  enum { N = 3001, STRIDE = N + 16 };
  static double columns[15][STRIDE];
  static float narrow[15][STRIDE];
  static uint8_t fast[N], slow[N];
  for (int i = 0; i < N; ++i) {
    const tl_ellipsoid a = random_ellipsoid(10, 1), b = random_ellipsoid(10, 1);
    const tl_ell_row ra = tl_ellipsoid_row(&a), rb = tl_ellipsoid_row(&b);
    const talus_dvec3 d = place_in_box(&a, &b);
    const double v[3] = {d.x, d.y, d.z};
    for (int k = 0; k < 15; ++k) {
      columns[k][i] = k < 6 ? ra.m[k] : (k < 12 ? rb.m[k - 6] : v[k - 12]);
      narrow[k][i] = (float)columns[k][i];
    }
  }
  for (tl_isa isa = TL_ISA_GENERIC; isa < TL_ISA_COUNT; ++isa) {
    const tl_isa before = tl_isa_use(tl_isa_has(isa) ? isa : TL_ISA_GENERIC);
    tl_ell_overlap(&columns[0][0], STRIDE, N, fast);
    tl_ell_scalar.overlap(&columns[0][0], STRIDE, N, slow);
    CHECK(memcmp(fast, slow, N) == 0);
    tl_ell_overlap_float(&narrow[0][0], STRIDE, N, fast);
    tl_ell_scalar.overlap_float(&narrow[0][0], STRIDE, N, slow);
    CHECK(memcmp(fast, slow, N) == 0);
    tl_isa_use(before);
  }
}

TEST_MAIN()
