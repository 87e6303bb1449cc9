/* Every pair of convex kinds against long double references that know no GJK. */
#include "convex_reference.h"

static const talus_shape_kind kinds[] = {TALUS_SPHERE,         TALUS_BOX,      TALUS_ELLIPSOID,
                                         TALUS_CAPSULE,        TALUS_CYLINDER, TALUS_CONE,
                                         TALUS_SUPERELLIPSOID, TALUS_HULL};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const tl_point *deepest(const tl_point *p, int count) {
  const tl_point *best = p;
  for (int i = 1; i < count; ++i)
    if (p[i].gap < best->gap)
      best = &p[i];
  return best;
}

/* Places b so that the gap along a random direction is about `gap`. */
static void set_apart(tl_random *random, const tl_posed *a, tl_posed *b, double gap) {
  const lvec n =
      l_unit(lv(tl_random_normal(random), tl_random_normal(random), tl_random_normal(random)));
  b->position = tl_dvec3(0, 0, 0);
  const ld away = (ld)gap - ref_separation(a, b, n);
  b->position = tl_dvec3((double)(away * n.x), (double)(away * n.y), (double)(away * n.z));
}

/* Apart: the normal gives a lower bound of the distance, the two surface points an upper one. Both
 * from the definition of the shapes alone; where they meet the answer is proven. */
TEST(distance_of_every_pair_is_certified) {
  double worst = 0, worst_outside = 0;
  for (int i = 0; i < KINDS; ++i)
    for (int j = i; j < KINDS; ++j)
      for (uint64_t serial = 0; serial < 60; ++serial) {
        tl_random random = tl_random_start(30, (uint32_t)(16 * i + j), serial);
        tl_shape shape_a = random_convex(&random, kinds[i]),
                 shape_b = random_convex(&random, kinds[j]);
        const tl_posed a = random_pose(&random, &shape_a, 0);
        tl_posed b = random_pose(&random, &shape_b, 1);
        set_apart(&random, &a, &b, pow(10, uniform(&random, -6, 0)));
        tl_point p[TL_NARROW_MAX_POINTS];
        const int count = tl_narrow_pair(&a, &b, 10, p);
        CHECK(count >= 1 && count <= TL_MANIFOLD_MAX);
        const tl_point *q = deepest(p, count);
        const lvec n = l_of3(q->normal);
        const double off = fabs((double)(ref_separation(&a, &b, l_unit(n)) - (ld)q->gap));
        const lvec on_a = l_madd(l_of(q->point), -0.5L * (ld)q->gap, n);
        const lvec on_b = l_madd(l_of(q->point), 0.5L * (ld)q->gap, n);
        const double outside = (double)fmaxl(ref_outside(&a, on_a), ref_outside(&b, on_b));
        worst = fmax(worst, off), worst_outside = fmax(worst_outside, outside);
        CHECK_MSG(off < (TALUS_SINGLE ? 2e-6 : 1e-10), "%s-%s case %" PRIu64 ": gap %g off by %g",
                  tl_shape_kind_name(kinds[i]), tl_shape_kind_name(kinds[j]), serial,
                  (double)q->gap, off);
        CHECK_MSG(outside < (TALUS_SINGLE ? 2e-5 : 1e-5),
                  "%s-%s case %" PRIu64 ": gap %g, point %g outside", tl_shape_kind_name(kinds[i]),
                  tl_shape_kind_name(kinds[j]), serial, (double)q->gap, outside);
        tl_shape_release(&shape_a), tl_shape_release(&shape_b);
      }
  printf("  worst: gap %g, surface %g\n", worst, worst_outside);
}

/* Overlapping: no direction of a search parts the bodies by less. */
TEST(depth_of_every_pair_is_the_least_over_directions) {
  double worst = 0;
  int caught = 0;
  for (int i = 0; i < KINDS; ++i)
    for (int j = i; j < KINDS; ++j)
      for (uint64_t serial = 0; serial < 40; ++serial) {
        tl_random random = tl_random_start(31, (uint32_t)(16 * i + j), serial);
        tl_shape shape_a = random_convex(&random, kinds[i]),
                 shape_b = random_convex(&random, kinds[j]);
        const tl_posed a = random_pose(&random, &shape_a, 0);
        tl_posed b = random_pose(&random, &shape_b, 1);
        set_apart(&random, &a, &b, -pow(10, uniform(&random, -6, -0.3)));
        const ld reference = ref_largest_separation(&a, &b, 600);
        tl_point p[TL_NARROW_MAX_POINTS];
        const int count = tl_narrow_pair(&a, &b, 10, p);
        CHECK(count >= 1 && count <= TL_MANIFOLD_MAX);
        const tl_point *q = deepest(p, count);
        const double off =
            fabs((double)(ref_separation(&a, &b, l_unit(l_of3(q->normal))) - (ld)q->gap));
        const double short_by = (double)(reference - (ld)q->gap);
        CHECK_MSG(off < (TALUS_SINGLE ? 2e-6 : 1e-10), "%s-%s case %" PRIu64 ": gap %g off by %g",
                  tl_shape_kind_name(kinds[i]), tl_shape_kind_name(kinds[j]), serial,
                  (double)q->gap, off);
        CHECK_MSG(short_by < (TALUS_SINGLE ? 1e-6 : 1e-7),
                  "%s-%s case %" PRIu64 ": gap %g, a direction has %Lg",
                  tl_shape_kind_name(kinds[i]), tl_shape_kind_name(kinds[j]), serial,
                  (double)q->gap, reference);
        worst = fmax(worst, short_by);
        caught += short_by < -1e-9;
        tl_shape_release(&shape_a), tl_shape_release(&shape_b);
      }
  printf("  worst: %g; better than the search in %d\n", worst, caught);
}

/* ---- half-spaces ---------------------------------------------------------------------------- */

TEST(every_shape_touches_a_plane_with_its_farthest_place) {
  for (int i = 0; i < KINDS; ++i)
    for (uint64_t serial = 0; serial < 200; ++serial) {
      tl_random random = tl_random_start(32, (uint32_t)i, serial);
      tl_shape shape = random_convex(&random, kinds[i]);
      const tl_shape plane = random_shape(&random, TALUS_PLANE);
      const tl_posed a = random_pose(&random, &shape, 0), b = random_pose(&random, &plane, 0.5);
      const lvec n = l_rotate(b.rotation, lv(plane.size[0], plane.size[1], plane.size[2]));
      const ld level = l_dot(n, l_of(b.position)) + (ld)plane.size[3] * (ld)b.scale;
      const ld gap = -ref_reach(&a, l_scale(n, -1)) - level;
      tl_point p[TL_NARROW_MAX_POINTS];
      const int count = tl_narrow_pair(&a, &b, TL_R(0.05), p);
      CHECK((count > 0) == (gap <= 0.05L));
      CHECK(count <= tl_narrow_capacity(kinds[i], TALUS_PLANE));
      for (int k = 0; k < count; ++k) {
        CHECK(l_distance(l_of3(p[k].normal), l_scale(n, -1)) <= 4 * REAL_TOLERANCE);
        /* The surface points: on the body, and on the plane. */
        const lvec on_a = l_madd(l_of(p[k].point), 0.5L * (ld)p[k].gap, n);
        const lvec on_b = l_madd(l_of(p[k].point), -0.5L * (ld)p[k].gap, n);
        CHECK(ref_outside(&a, on_a) < (TALUS_SINGLE ? 1e-6L : 1e-9L));
        if (&p[k] == deepest(p, count))
          CHECK_NEAR(ref_outside(&a, on_a), 0, TALUS_SINGLE ? 1e-6 : 1e-9);
        CHECK_NEAR(l_dot(on_b, n) - level, 0, TALUS_SINGLE ? 1e-6 : 1e-12);
      }
      if (count > 0)
        CHECK_NEAR(deepest(p, count)->gap, gap, TALUS_SINGLE ? 1e-6 : 4e-9);
      tl_shape_release(&shape);
    }
}

TEST(cylinder_touches_a_plane_with_a_line_or_a_disc) {
  const tl_shape can = make(TALUS_CYLINDER, 0.5, 2, 0, 0, 0),
                 plane = make(TALUS_PLANE, 0, 0, 1, 0, 0);
  const tl_posed b = posed(&plane, 1, tl_dvec3(0, 0, -1), tl_quat_identity());
  tl_point p[TL_NARROW_MAX_POINTS];
  tl_posed a = posed(&can, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, TL_R(1e-6), p), 4);
  talus_dvec3 sum = tl_dvec3(0, 0, 0);
  for (int i = 0; i < 4; ++i) {
    CHECK_NEAR(hypot(p[i].point.x, p[i].point.y), 0.5, 1e-12);
    sum = tl_dadd(sum, p[i].point);
  }
  CHECK_NEAR(hypot(sum.x, sum.y), 0, 1e-12); /* a square, so the weight is held evenly */
  a.rotation = tl_quat_from_axis_angle(tl_vec3(0, 1, 0), TL_R(0.5 * TL_PI));
  const tl_posed near = posed(&plane, 1, tl_dvec3(0, 0, -0.5), tl_quat_identity());
  CHECK_EQ_U64(tl_narrow_pair(&a, &near, TL_R(1e-5), p), 2);
  CHECK_NEAR(fabs(p[0].point.x), 1, 1e-6);
  CHECK_NEAR(p[0].point.x + p[1].point.x, 0, 1e-6);
  a.rotation = tl_quat_from_axis_angle(tl_vec3(0, 1, 0), TL_R(0.8)); /* on its rim */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, TL_R(0.2), p), 1);
  CHECK_NEAR(p[0].gap, 1 - cos(0.8) - 0.5 * sin(0.8), 1e-6);
}

TEST(every_shape_in_a_corner_touches_each_wall) {
  const tl_shape tank = make(TALUS_CONTAINER, 4, 4, 4, 0, TALUS_SIDE_TOP);
  for (int i = 1; i < KINDS; ++i)
    for (uint64_t serial = 0; serial < 50; ++serial) {
      tl_random random = tl_random_start(33, (uint32_t)i, serial);
      tl_shape shape = random_convex(&random, kinds[i]);
      tl_posed a = random_pose(&random, &shape, 0);
      const tl_posed at_origin = a;
      /* Pressed by 0.01 into the walls -x, -y and -z. */
      const ld x = -2 - 0.01L + ref_reach(&at_origin, lv(-1, 0, 0));
      const ld y = -2 - 0.01L + ref_reach(&at_origin, lv(0, -1, 0));
      const ld z = -2 - 0.01L + ref_reach(&at_origin, lv(0, 0, -1));
      const tl_posed b =
          posed(&tank, 1, tl_dvec3((double)-x, (double)-y, (double)-z), tl_quat_identity());
      tl_point p[TL_NARROW_MAX_POINTS];
      const int count = tl_narrow_pair(&a, &b, 0, p);
      ld least[6] = {1, 1, 1, 1, 1, 1};
      for (int k = 0; k < count; ++k)
        least[p[k].feature_b] = fminl(least[p[k].feature_b], (ld)p[k].gap);
      for (int wall = 0; wall < 6; ++wall)
        if (wall % 2 == 0)
          CHECK_MSG(fabsl(least[wall] + 0.01L) < (TALUS_SINGLE ? 1e-6L : 1e-8L),
                    "%s, case %" PRIu64 ", wall %d: %Lg", tl_shape_kind_name(kinds[i]), serial,
                    wall, least[wall]);
      for (int k = 1; k < count; ++k)
        CHECK(p[k - 1].feature_a < p[k].feature_a ||
              (p[k - 1].feature_a == p[k].feature_a && p[k - 1].feature_b < p[k].feature_b));
      tl_shape_release(&shape);
    }
}

/* ---- symmetry and continuity ---------------------------------------------------------------- */

TEST(exchanging_the_bodies_mirrors_the_gap_and_normal) {
  for (int i = 0; i < KINDS; ++i)
    for (int j = i; j < KINDS; ++j)
      for (uint64_t serial = 0; serial < 40; ++serial) {
        tl_random random = tl_random_start(34, (uint32_t)(16 * i + j), serial);
        tl_shape shape_a = random_convex(&random, kinds[i]),
                 shape_b = random_convex(&random, kinds[j]);
        const tl_posed a = random_pose(&random, &shape_a, 0);
        tl_posed b = random_pose(&random, &shape_b, 1);
        set_apart(&random, &a, &b, uniform(&random, -0.02, 0.02));
        tl_posed first = b, second = a;
        first.position = tl_dvec3(0, 0, 0), second.position = tl_dscale(b.position, -1);
        tl_point p[TL_NARROW_MAX_POINTS], q[TL_NARROW_MAX_POINTS];
        const int count = tl_narrow_pair(&a, &b, 1, p),
                  other = tl_narrow_pair(&first, &second, 1, q);
        CHECK(count > 0 && other > 0);
        const tl_point *x = deepest(p, count), *y = deepest(q, other);
        CHECK_MSG(fabs((double)(x->gap - y->gap)) < (TALUS_SINGLE ? 1e-6 : 1e-9),
                  "%s-%s case %" PRIu64 ": %g, %g", tl_shape_kind_name(kinds[i]),
                  tl_shape_kind_name(kinds[j]), serial, (double)x->gap, (double)y->gap);
        CHECK_MSG(l_distance(l_of3(x->normal), l_scale(l_of3(y->normal), -1)) < 1e-3,
                  "%s-%s case %" PRIu64 ": normals", tl_shape_kind_name(kinds[i]),
                  tl_shape_kind_name(kinds[j]), serial);
        tl_shape_release(&shape_a), tl_shape_release(&shape_b);
      }
}

TEST(turning_both_bodies_turns_the_contact) {
  for (int i = 0; i < KINDS; ++i)
    for (int j = i; j < KINDS; ++j)
      for (uint64_t serial = 0; serial < 30; ++serial) {
        tl_random random = tl_random_start(35, (uint32_t)(16 * i + j), serial);
        tl_shape shape_a = random_convex(&random, kinds[i]),
                 shape_b = random_convex(&random, kinds[j]);
        tl_posed a = random_pose(&random, &shape_a, 0), b = random_pose(&random, &shape_b, 1);
        set_apart(&random, &a, &b, uniform(&random, -0.02, 0.02));
        tl_point p[TL_NARROW_MAX_POINTS], q[TL_NARROW_MAX_POINTS];
        const int count = tl_narrow_pair(&a, &b, 1, p);
        const talus_quat turn = random_quat(&random);
        const lvec at = l_rotate(turn, l_of(b.position));
        a.rotation = tl_quat_mul(turn, a.rotation), b.rotation = tl_quat_mul(turn, b.rotation);
        b.position = tl_dvec3((double)at.x, (double)at.y, (double)at.z);
        const int other = tl_narrow_pair(&a, &b, 1, q);
        CHECK(count > 0 && other > 0);
        CHECK_MSG(fabs((double)(deepest(p, count)->gap - deepest(q, other)->gap)) <
                      (TALUS_SINGLE ? 2e-6 : 1e-9),
                  "%s-%s case %" PRIu64 ": %g, %g", tl_shape_kind_name(kinds[i]),
                  tl_shape_kind_name(kinds[j]), serial, (double)deepest(p, count)->gap,
                  (double)deepest(q, other)->gap);
        tl_shape_release(&shape_a), tl_shape_release(&shape_b);
      }
}

TEST(small_motions_of_strictly_convex_bodies_move_the_contact_a_little) {
  static const talus_shape_kind smooth[] = {TALUS_ELLIPSOID, TALUS_SPHERE, TALUS_SUPERELLIPSOID};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (uint64_t serial = 0; serial < 60; ++serial) {
        tl_random random = tl_random_start(36, (uint32_t)(16 * i + j), serial);
        tl_shape shape_a = random_convex(&random, smooth[i]),
                 shape_b = random_convex(&random, smooth[j]);
        const tl_posed a = random_pose(&random, &shape_a, 0);
        tl_posed b = random_pose(&random, &shape_b, 1);
        set_apart(&random, &a, &b, uniform(&random, -0.01, 0.01));
        tl_point p[TL_NARROW_MAX_POINTS], q[TL_NARROW_MAX_POINTS];
        CHECK_EQ_U64(tl_narrow_pair(&a, &b, 1, p), 1);
        b.position = tl_dadd(b.position, anywhere(&random, 1e-6));
        CHECK_EQ_U64(tl_narrow_pair(&a, &b, 1, q), 1);
        CHECK(fabs((double)(p[0].gap - q[0].gap)) < 4e-6);
        CHECK_MSG(l_distance(l_of(p[0].point), l_of(q[0].point)) < 1e-2, "case %" PRIu64 ": %g",
                  serial, l_distance(l_of(p[0].point), l_of(q[0].point)));
        CHECK(l_distance(l_of3(p[0].normal), l_of3(q[0].normal)) < 1e-2);
        tl_shape_release(&shape_a), tl_shape_release(&shape_b);
      }
}

/* ---- degenerate and extreme ----------------------------------------------------------------- */

static void check_sane(const tl_posed *a, const tl_posed *b, const char *what) {
  tl_point p[TL_NARROW_MAX_POINTS];
  const int count = tl_narrow_pair(a, b, 0, p);
  CHECK_MSG(count > 0, "%s: %s-%s do not touch", what, tl_shape_kind_name(a->shape->kind),
            tl_shape_kind_name(b->shape->kind));
  for (int k = 0; k < count; ++k) {
    CHECK(tl_is_finite3(p[k].normal) && tl_is_finite(p[k].gap) &&
          tl_is_finite_d(p[k].point.x + p[k].point.y + p[k].point.z));
    CHECK_NEAR(l_length(l_of3(p[k].normal)), 1, 1e-6);
  }
  const tl_point *q = deepest(p, count);
  const ld size = fminl((ld)a->shape->radius * (ld)a->scale, (ld)b->shape->radius * (ld)b->scale);
  const ld g = ref_separation(a, b, l_unit(l_of3(q->normal)));
  CHECK_MSG(fabsl(g - (ld)q->gap) < (TALUS_SINGLE ? 1e-5L : 1e-9L) * (size + fabsl((ld)q->gap)),
            "%s: %s-%s: gap %g, is %Lg", what, tl_shape_kind_name(a->shape->kind),
            tl_shape_kind_name(b->shape->kind), (double)q->gap, g);
  const ld reference = ref_largest_separation(a, b, 300);
  CHECK_MSG((ld)q->gap >= reference - 1e-5L * size, "%s: %s-%s: gap %g, a direction has %Lg", what,
            tl_shape_kind_name(a->shape->kind), tl_shape_kind_name(b->shape->kind), (double)q->gap,
            reference);
}

TEST(coincident_centres_and_axes_are_parted) {
  for (int i = 0; i < KINDS; ++i)
    for (int j = i; j < KINDS; ++j) {
      tl_random random = tl_random_start(37, 0, (uint64_t)(16 * i + j));
      tl_shape shape_a = random_convex(&random, kinds[i]),
               shape_b = random_convex(&random, kinds[j]);
      const tl_posed a = posed(&shape_a, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
      tl_posed b = posed(&shape_b, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
      if (i > 0 || j > 0) { /* spheres: in test_collide.c */
        check_sane(&a, &b, "coincident");
        b.position = tl_dvec3(0, 0, 0.05);
        check_sane(&a, &b, "on one axis");
        b.rotation = tl_quat_from_axis_angle(tl_vec3(1, 0, 0), TL_R(0.5 * TL_PI));
        check_sane(&a, &b, "at right angles");
      }
      tl_shape_release(&shape_a), tl_shape_release(&shape_b);
    }
}

TEST(a_grain_within_a_boulder_is_pushed_out) {
  for (int i = 0; i < KINDS; ++i)
    for (int j = 0; j < KINDS; ++j) {
      tl_random random = tl_random_start(38, 0, (uint64_t)(16 * i + j));
      tl_shape shape_a = random_convex(&random, kinds[i]),
               shape_b = random_convex(&random, kinds[j]);
      const tl_posed a = posed(&shape_a, 1, tl_dvec3(0, 0, 0), random_quat(&random));
      const tl_posed b = posed(&shape_b, 1e-3, anywhere(&random, 0.02), random_quat(&random));
      check_sane(&a, &b, "contained");
      tl_shape_release(&shape_a), tl_shape_release(&shape_b);
    }
}

/* 1 : 10^4 in size, and plates and needles. */
TEST(extreme_sizes_are_met_as_exactly) {
  for (int i = 0; i < KINDS; ++i)
    for (int j = 0; j < KINDS; ++j)
      for (int k = 0; k < 4; ++k) {
        tl_random random = tl_random_start(39, (uint32_t)k, (uint64_t)(16 * i + j));
        tl_shape shape_a = random_convex(&random, kinds[i]),
                 shape_b = random_convex(&random, kinds[j]);
        const double scale = k < 2 ? 1e-4 : 1e3;
        const tl_posed a =
            posed(&shape_a, k % 2 ? scale : 1, tl_dvec3(0, 0, 0), random_quat(&random));
        tl_posed b = posed(&shape_b, scale, tl_dvec3(0, 0, 0), random_quat(&random));
        const double depth = 1e-3 * fmin((double)a.scale, (double)b.scale);
        set_apart(&random, &a, &b, -depth);
        tl_point p[TL_NARROW_MAX_POINTS];
        const int count = tl_narrow_pair(&a, &b, TL_R(10 * depth), p);
        if (count == 0) { /* apart in another direction than the one tried */
          CHECK(ref_largest_separation(&a, &b, 3000) > 9 * (ld)depth);
          continue;
        }
        const tl_point *q = deepest(p, count);
        const ld g = ref_separation(&a, &b, l_unit(l_of3(q->normal)));
        const ld size = fmaxl((ld)a.scale, (ld)b.scale);
        CHECK_MSG(fabsl(g - (ld)q->gap) < (TALUS_SINGLE ? 1e-5L : 1e-12L) * size,
                  "%s-%s %d: gap %g, is %Lg", tl_shape_kind_name(kinds[i]),
                  tl_shape_kind_name(kinds[j]), k, (double)q->gap, g);
        tl_shape_release(&shape_a), tl_shape_release(&shape_b);
      }
}

/* ---- manifolds ------------------------------------------------------------------------------ */

TEST(parallel_cylinders_touch_along_a_line_and_crossed_ones_in_a_point) {
  const tl_shape can = make(TALUS_CYLINDER, 0.5, 2, 0, 0, 0);
  const tl_posed a = posed(&can, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  tl_posed b = posed(&can, 1, tl_dvec3(0.999, 0, 0.5), tl_quat_identity());
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, p), 2);
  for (int i = 0; i < 2; ++i) {
    CHECK_NEAR(p[i].gap, -0.001, 1e-6);
    CHECK_NEAR(p[i].normal.x, 1, 1e-6);
    CHECK(fabs(p[i].point.z - 1) < 1e-6 || fabs(p[i].point.z + 0.5) < 1e-6);
  }
  b.rotation = tl_quat_from_axis_angle(tl_vec3(1, 0, 0), TL_R(0.5 * TL_PI));
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, p), 1);
  CHECK_NEAR(p[0].point.z, 0.5, 1e-6);
  b = posed(&can, 1, tl_dvec3(0.3, 0, 1.999), tl_quat_identity()); /* end on end */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, p), 4);
  for (int i = 0; i < 4; ++i)
    CHECK_NEAR(p[i].normal.z, 1, 1e-6);
}

TEST(capsules_touch_along_what_they_share) {
  const tl_shape pill = make(TALUS_CAPSULE, 0.25, 2, 0, 0, 0), box = make(TALUS_BOX, 1, 1, 1, 0, 0);
  const tl_posed a = posed(&pill, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  tl_posed b = posed(&pill, 1, tl_dvec3(0, 0.499, 1.2), tl_quat_identity());
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, p), 2);
  for (int i = 0; i < 2; ++i)
    CHECK(fabs(p[i].point.z - 1) < 1e-6 || fabs(p[i].point.z - 0.2) < 1e-6);
  b.position.z = 2.2; /* cap on cap */
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, TL_R(0.1), p), 1);
  const tl_posed c = posed(&box, 1, tl_dvec3(0.749, 0, 0), tl_quat_identity());
  CHECK_EQ_U64(tl_narrow_pair(&a, &c, 0, p), 2); /* the face is shorter than the capsule */
  for (int i = 0; i < 2; ++i) {
    CHECK_NEAR(fabs(p[i].point.z), 0.5, 1e-6);
    CHECK_NEAR(p[i].gap, -0.001, 1e-6);
  }
}

/* ---- clumps --------------------------------------------------------------------------------- */

static tl_shape make_clump(const double *points, size_t count) {
  const talus_shape_def def = {.kind = TALUS_CLUMP, .points = points, .point_count = count};
  tl_shape shape;
  CHECK_MSG(tl_shape_make(&def, &shape) == TALUS_OK, "%s", tl_last_message());
  return shape;
}

TEST(clump_touches_with_each_of_its_spheres) {
  enum { SPHERES = 40 };
  double grid[4 * SPHERES];
  for (int i = 0; i < SPHERES; ++i) {
    grid[4 * i] = 0.1 * (i % 8), grid[4 * i + 1] = 0.1 * (i / 8), grid[4 * i + 2] = 0;
    grid[4 * i + 3] = 0.06;
  }
  tl_shape sheet = make_clump(grid, SPHERES);
  const tl_shape plane = make(TALUS_PLANE, 0, 0, 1, 0, 0), box = make(TALUS_BOX, 4, 4, 1, 0, 0);
  const tl_shape ball = make(TALUS_SPHERE, 5, 0, 0, 0, 0);
  /* The principal axes of the sheet may be turned against its own frame: ask it to lie flat. */
  tl_posed a = posed(&sheet, 1, tl_dvec3(0, 0, 0), tl_quat_conj(sheet.axes));
  tl_point p[16 * SPHERES];
  const tl_posed floor = posed(&plane, 1, tl_dvec3(0, 0, -0.05), tl_quat_identity());
  CHECK_EQ_U64(tl_narrow_pair(&a, &floor, 0, p), SPHERES); /* more than any fixed capacity */
  for (uint32_t i = 0; i < SPHERES; ++i) {
    CHECK_EQ_U64(p[i].feature_a, i);
    CHECK_NEAR(p[i].gap, -0.01, 1e-6);
    CHECK_NEAR(p[i].normal.z, -1, 1e-6);
  }
  const tl_posed slab = posed(&box, 1, tl_dvec3(0, 0, -0.55), tl_quat_identity());
  CHECK_EQ_U64(tl_narrow_pair(&a, &slab, 0, p), SPHERES);
  CHECK_EQ_U64(tl_narrow_pair(&slab, &a, 0, p), SPHERES);
  CHECK(p[7].feature_b == 7 && fabs((double)p[7].normal.z - 1) < 1e-6);
  const tl_posed globe = posed(&ball, 1, tl_dvec3(0, 0, -5.059), tl_quat_identity());
  const int few = tl_narrow_pair(&a, &globe, 0, p);
  CHECK(few >= 1 && few < SPHERES / 2);
  /* Sheet on sheet: every sphere on its twin, and on the neighbours it reaches. */
  tl_posed b = a;
  b.position = tl_dvec3(0, 0, 0.11);
  CHECK_EQ_U64(tl_narrow_pair(&a, &b, 0, p), SPHERES);
  for (uint32_t i = 0; i < SPHERES; ++i)
    CHECK(p[i].feature_a == i && p[i].feature_b == i);
  tl_shape_release(&sheet);
}

TEST(clump_of_one_is_a_sphere) {
  const double one[4] = {0.3, -0.2, 0.1, 0.5};
  tl_shape clump = make_clump(one, 1);
  const tl_shape ball = make(TALUS_SPHERE, 0.5, 0, 0, 0, 0);
  for (uint64_t serial = 0; serial < 200; ++serial) {
    tl_random random = tl_random_start(40, 0, serial);
    const talus_shape_kind kind = kinds[serial % KINDS];
    tl_shape other = random_convex(&random, kind);
    const tl_posed a = posed(&clump, 1, tl_dvec3(0, 0, 0), random_quat(&random));
    const tl_posed s = posed(&ball, 1, tl_dvec3(0, 0, 0), a.rotation);
    tl_posed b = random_pose(&random, &other, 1);
    tl_point p[TL_NARROW_MAX_POINTS], q[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, TL_R(0.1), p);
    CHECK_EQ_U64(tl_narrow_pair(&s, &b, TL_R(0.1), q), count);
    for (int k = 0; k < count; ++k) {
      CHECK_NEAR(p[k].gap, q[k].gap, TALUS_SINGLE ? 1e-6 : 1e-9);
      CHECK(l_distance(l_of(p[k].point), l_of(q[k].point)) < 1e-5);
    }
    tl_shape_release(&other);
  }
  tl_shape_release(&clump);
}

TEST_MAIN()
