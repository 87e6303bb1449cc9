/* Proofs prove: whatever is guessed, what comes out is what the definition says. And hulls that are
 * climbed have the support of hulls that are looked at. */
#include "convex_reference.h"
#include "narrow/mesh.h"

static const talus_shape_kind kinds[] = {TALUS_BOX,      TALUS_ELLIPSOID, TALUS_CAPSULE,
                                         TALUS_CYLINDER, TALUS_CONE,      TALUS_SUPERELLIPSOID,
                                         TALUS_HULL};
enum { KINDS = sizeof kinds / sizeof *kinds };

static talus_dvec3 random_direction(tl_random *random) {
  const double x = tl_random_normal(random), y = tl_random_normal(random);
  return tl_dunit(tl_dvec3(x, y, tl_random_normal(random)));
}

/* A guess: anywhere, an axis of one of the bodies (a face's normal, most likely the wrong one), or
 * near a direction along which the bodies were put. */
static talus_dvec3 bad_guess(tl_random *random, const tl_posed *a, const tl_posed *b, lvec along) {
  const int how = (int)uniform(random, 0, 4);
  if (how == 0)
    return random_direction(random);
  if (how == 1)
    return tl_dunit(tl_dvec3((double)along.x, (double)along.y, (double)along.z));
  const tl_frame frame = tl_frame_from_quat(how == 2 ? a->rotation : b->rotation);
  const double sign = uniform(random, -1, 1) < 0 ? -1 : 1;
  return tl_dscale(tl_frame_axis(&frame, (int)uniform(random, 0, 3)), sign);
}

/* Overlaps to half the size: shallow ones are proven, of deep ones many local answers are wrong. */
TEST(no_guess_leads_to_a_depth_that_another_direction_beats) {
  double worst = 0;
  for (int i = 0; i < KINDS; ++i)
    for (int j = i; j < KINDS; ++j) {
      if (!tl_narrow_takes_guess(kinds[i], kinds[j]))
        continue;
      for (uint64_t serial = 0; serial < 40; ++serial) {
        tl_random random = tl_random_start(61, (uint32_t)(16 * i + j), serial);
        tl_shape shape_a = random_convex(&random, kinds[i]),
                 shape_b = random_convex(&random, kinds[j]);
        const tl_posed a = random_pose(&random, &shape_a, 0);
        tl_posed b = random_pose(&random, &shape_b, 1);
        const talus_dvec3 d = random_direction(&random);
        const lvec n = lv(d.x, d.y, d.z);
        b.position = tl_dvec3(0, 0, 0);
        const ld depth = (ld)pow(10, uniform(&random, -4, -0.3));
        const ld away = -depth - ref_separation(&a, &b, n);
        b.position = tl_dvec3((double)(away * n.x), (double)(away * n.y), (double)(away * n.z));
        const ld reference = ref_largest_separation(&a, &b, 400);
        for (int guess = 0; guess < 4; ++guess) {
          const talus_dvec3 g = bad_guess(&random, &a, &b, n);
          tl_point p[TL_NARROW_MAX_POINTS];
          const int count = tl_narrow_convex(&a, &b, &g, 10, p);
          CHECK(count >= 1 && count <= TL_MANIFOLD_MAX);
          double gap = p[0].gap;
          for (int k = 1; k < count; ++k)
            gap = fmin(gap, (double)p[k].gap);
          const double off = fabs((double)ref_separation(&a, &b, l_unit(l_of3(p[0].normal))) - gap);
          CHECK_MSG(off < (TALUS_SINGLE ? 2e-6 : 1e-9), "%s-%s case %" PRIu64 ": off by %g",
                    tl_shape_kind_name(kinds[i]), tl_shape_kind_name(kinds[j]), serial, off);
          worst = fmax(worst, (double)reference - gap);
          CHECK_MSG((double)reference - gap < (TALUS_SINGLE ? 1e-6 : 1e-7),
                    "%s-%s case %" PRIu64 ": gap %g, a direction has %Lg",
                    tl_shape_kind_name(kinds[i]), tl_shape_kind_name(kinds[j]), serial, gap,
                    reference);
        }
        tl_shape_release(&shape_a), tl_shape_release(&shape_b);
      }
    }
  printf("  worst: %g\n", worst);
}

/* Two thin plates that cross: each face of each is a local answer, and nothing proves the wrong
 * ones. */
TEST(a_guess_along_the_wrong_face_of_a_plate_is_not_proven) {
  static const double plate[] = {-1, -1, -0.02, 1, -1, -0.02, -1, 1, -0.02, 1, 1, -0.02,
                                 -1, -1, 0.02,  1, -1, 0.02,  -1, 1, 0.02,  1, 1, 0.02};
  tl_shape hull = {0};
  talus_shape_def def = talus_shape_def_default();
  def.kind = TALUS_HULL, def.points = plate, def.point_count = 8;
  CHECK_OK(tl_shape_make(&def, &hull));
  const tl_posed a = {&hull, 1, tl_dvec3(0, 0, 0), tl_quat_identity(), false};
  const tl_posed b = {&hull, 1, tl_dvec3(1.9, 0.3, 0.03), tl_quat_identity(), false};
  const talus_dvec3 guess[] = {tl_dvec3(1, 0, 0), tl_dvec3(0, 1, 0), tl_dvec3(0, 0, 1)};
  for (int i = 0; i < 3; ++i) {
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_convex(&a, &b, &guess[i], 0, p);
    CHECK(count > 0);
    for (int k = 0; k < count; ++k)
      CHECK_NEAR(p[k].gap, -0.01, 1e-7);
  }
  tl_shape_release(&hull);
}

TEST(climbing_a_hull_finds_what_looking_at_all_its_vertices_finds) {
  for (uint64_t serial = 0; serial < 20; ++serial) {
    tl_random random = tl_random_start(62, 0, serial);
    double points[3 * 300];
    const int n = 20 + 14 * (int)serial;
    for (int i = 0; i < n; ++i) {
      const talus_dvec3 d = random_direction(&random);
      points[3 * i] = d.x, points[3 * i + 1] = 0.7 * d.y, points[3 * i + 2] = 0.2 * d.z;
    }
    tl_shape hull = {0};
    talus_shape_def def = talus_shape_def_default();
    def.kind = TALUS_HULL, def.points = points, def.point_count = (size_t)n;
    CHECK_OK(tl_shape_make(&def, &hull));
    CHECK_EQ_U64(hull.vertex_start[hull.point_count], 2 * hull.edge_count);
    tl_convex c = {.core = TL_CORE_HULL,
                   .scale = 1,
                   .points = hull.points,
                   .vertex_start = hull.vertex_start,
                   .neighbour = hull.neighbour,
                   .point_count = hull.point_count};
    for (int k = 0; k < 500; ++k) {
      const talus_dvec3 d = random_direction(&random);
      double most = -DBL_MAX;
      for (uint32_t i = 0; i < hull.point_count; ++i)
        most = fmax(most, tl_hull_along(c.points, i, d));
      c.aim = 0;
      CHECK_NEAR(tl_hull_along(c.points, tl_hull_farthest(&c, d), d), most, 4e-16);
      c.aim = 1 + (uint32_t)k % hull.point_count; /* from any vertex */
      CHECK_NEAR(tl_hull_along(c.points, tl_hull_farthest(&c, d), d), most, 4e-16);
    }
    tl_shape_release(&hull);
  }
}

/* Bodies of corners that are apart have the normal of their nearest places, without Newton: the
 * search for a better one from there finds none, and the gap is that of the definition. */
TEST(nearest_places_of_bodies_of_corners_need_no_newton) {
  static const talus_shape_kind angular[] = {TALUS_SPHERE, TALUS_CAPSULE, TALUS_BOX, TALUS_HULL};
  double gain = 0, turn = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 2; j < 4; ++j)
      for (uint64_t serial = 0; serial < 60; ++serial) {
        tl_random random = tl_random_start(63, (uint32_t)(4 * i + j), serial);
        tl_shape shape_a = random_convex(&random, angular[i]),
                 shape_b = random_convex(&random, angular[j]);
        const tl_posed a = random_pose(&random, &shape_a, 0);
        tl_posed b = random_pose(&random, &shape_b, 1);
        const talus_dvec3 d = random_direction(&random);
        const lvec n = lv(d.x, d.y, d.z);
        b.position = tl_dvec3(0, 0, 0);
        const ld away = (ld)pow(10, uniform(&random, -4, 0)) - ref_separation(&a, &b, n);
        b.position = tl_dvec3((double)(away * n.x), (double)(away * n.y), (double)(away * n.z));
        tl_convex body_a, body_b;
        tl_posed_convex(&a, &body_a), tl_posed_convex(&b, &body_b);
        tl_solution s;
        CHECK(tl_convex_solve(&body_a, &body_b, d, 100, &s) && s.gap > 0);
        const tl_sight better = tl_refine(&body_a, &body_b, s.normal, s.size);
        gain = fmax(gain, better.g - body_a.rounding - body_b.rounding - s.gap);
        turn = fmax(turn, tl_dlength(tl_dsub(better.n, s.normal)));
        tl_shape_release(&shape_a), tl_shape_release(&shape_b);
      }
  printf("  Newton gains %.1e m and turns by %.1e\n", gain, turn);
  CHECK(gain < 1e-14 && turn < 1e-12);
}

TEST_MAIN()
