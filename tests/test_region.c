/* Regions: what is inside, how large it is, and uniform points in it. */
#include "flow/place.h"
#include "flow_fixture.h"

enum { POINTS = 40000 };
static const uint64_t seed = 11;

static talus_region ball(double x, double y, double z, double radius) {
  return (talus_region){.kind = TALUS_REGION_SPHERE, .at = {x, y, z}, .radius = radius};
}

static talus_region cylinder(double length) {
  return (talus_region){.kind = TALUS_REGION_CYLINDER,
                        .at = {1, -2, 3},
                        .axis = {TL_R(2), TL_R(-1), TL_R(0.5)},
                        .radius = 0.7,
                        .length = length};
}

static talus_dvec3 draw(const talus_region *region, uint64_t serial) {
  tl_random random = tl_random_start(seed, 77, serial);
  return tl_region_point(region, &random);
}

/* Share of points, uniform in a box a little larger than the bounds, that are inside. */
static double share_inside(const talus_region *region, talus_region *around) {
  *around =
      (talus_region){.kind = TALUS_REGION_BOX, .box = tl_box_grow(tl_region_bounds(region), 0.1)};
  size_t inside = 0;
  for (uint64_t i = 0; i < POINTS; ++i) {
    const talus_dvec3 x = draw(around, i);
    if (!tl_region_contains(region, x))
      continue;
    inside++;
    CHECK(tl_box_contains(tl_region_bounds(region), x));
  }
  return (double)inside / POINTS;
}

TEST(volume_and_bounds_agree_with_what_is_inside) {
  const talus_region all[] = {fixture_box(-1, 0, 2, 1, 3, 2.5), ball(1, 2, 3, 0.8), cylinder(1.5)};
  for (int i = 0; i < 3; ++i) {
    talus_region around;
    const double share = share_inside(&all[i], &around);
    const double expected = tl_region_volume(&all[i]) / tl_region_volume(&around);
    const double sigma = sqrt(expected * (1 - expected) / POINTS);
    CHECK_NEAR(share, expected, 4 * sigma);
  }
}

TEST(bounds_of_an_oblique_cylinder_are_tight) {
  const talus_region region = cylinder(1.5);
  const talus_box bounds = tl_region_bounds(&region);
  talus_box seen = tl_box_empty();
  for (uint64_t i = 0; i < POINTS; ++i) {
    const talus_dvec3 x = draw(&region, i);
    seen = tl_box_union(seen, (talus_box){x, x});
  }
  CHECK_NEAR(seen.lo.x, bounds.lo.x, 0.06);
  CHECK_NEAR(seen.hi.y, bounds.hi.y, 0.06);
  CHECK_NEAR(seen.hi.z, bounds.hi.z, 0.06);
}

TEST(borders_belong_to_a_region) {
  const talus_region box = fixture_box(0, 0, 0, 1, 2, 3);
  CHECK(tl_region_contains(&box, tl_dvec3(0, 2, 3)));
  CHECK(!tl_region_contains(&box, tl_dvec3(0, 2, 3.0000001)));
  const talus_region sphere = ball(0, 0, 0, 2);
  CHECK(tl_region_contains(&sphere, tl_dvec3(0, -2, 0)));
  CHECK(!tl_region_contains(&sphere, tl_dvec3(0, -2.0000001, 0)));
  const talus_region rod = {
      .kind = TALUS_REGION_CYLINDER, .axis = {0, 0, 5}, .radius = 1, .length = 4};
  CHECK(tl_region_contains(&rod, tl_dvec3(1, 0, -2)));
  CHECK(!tl_region_contains(&rod, tl_dvec3(1.0000001, 0, 0)));
  CHECK(!tl_region_contains(&rod, tl_dvec3(0, 0, 2.0000001)));
}

TEST(points_in_a_box_fill_its_cells_evenly) {
  const talus_region box = fixture_box(-1, 5, 2, 1, 6, 7);
  enum { CELLS = 8 };
  double count[CELLS * CELLS * CELLS] = {0};
  for (uint64_t i = 0; i < POINTS; ++i) {
    const talus_dvec3 x = draw(&box, i);
    CHECK(tl_region_contains(&box, x));
    const int a = (int)((x.x + 1) / 2 * CELLS), b = (int)((x.y - 5) * CELLS),
              c = (int)((x.z - 2) / 5 * CELLS);
    count[(a * CELLS + b) * CELLS + c]++;
  }
  const double expected = (double)POINTS / (CELLS * CELLS * CELLS);
  double chi2 = 0;
  for (int i = 0; i < CELLS * CELLS * CELLS; ++i)
    chi2 += (count[i] - expected) * (count[i] - expected) / expected;
  /* 511 degrees of freedom: mean 511, deviation 32. */
  CHECK_NEAR(chi2, 511, 4 * 32);
}

TEST(points_in_a_sphere_are_uniform_in_volume_and_direction) {
  const talus_region sphere = ball(1, 2, 3, 0.5);
  enum { SHELLS = 20 };
  double shells[SHELLS] = {0}, slices[SHELLS] = {0}, chi2[2] = {0, 0};
  for (uint64_t i = 0; i < POINTS; ++i) {
    const talus_dvec3 d = tl_dscale(tl_dsub(draw(&sphere, i), sphere.at), 2);
    const double r = tl_dlength(d);
    CHECK(r <= 1 + 1e-12);
    shells[(int)fmin(r * r * r * SHELLS, SHELLS - 1)]++;
    slices[(int)fmin((d.y / r + 1) / 2 * SHELLS, SHELLS - 1)]++; /* Archimedes */
  }
  const double expected = (double)POINTS / SHELLS;
  for (int i = 0; i < SHELLS; ++i) {
    chi2[0] += (shells[i] - expected) * (shells[i] - expected) / expected;
    chi2[1] += (slices[i] - expected) * (slices[i] - expected) / expected;
  }
  CHECK_NEAR(chi2[0], 19, 4 * 6.2);
  CHECK_NEAR(chi2[1], 19, 4 * 6.2);
}

/* Second moments of a solid cylinder: L^2/12 along its axis, R^2/4 along any line across. */
static void check_cylinder_moments(double length) {
  const talus_region rod = cylinder(length);
  const talus_dvec3 raw = tl_widen(rod.axis);
  const talus_dvec3 axis = tl_dscale(raw, 1 / tl_dlength(raw));
  const talus_dvec3 across = tl_widen(tl_normalize(tl_vec3(TL_R(1), TL_R(2), TL_R(0))));
  double along2 = 0, across2 = 0, both = 0;
  talus_dvec3 mean = {0, 0, 0};
  for (uint64_t i = 0; i < POINTS; ++i) {
    const talus_dvec3 d = tl_dsub(draw(&rod, i), rod.at);
    const double s = tl_ddot(d, axis), t = tl_ddot(d, across);
    CHECK(fabs(s) <= 0.5 * length + 1e-12);
    CHECK(tl_ddot(d, d) - s * s <= 0.49 + 1e-12);
    along2 += s * s / POINTS, across2 += t * t / POINTS, both += s * t / POINTS;
    mean = tl_dadd(mean, tl_dscale(d, 1.0 / POINTS));
  }
  CHECK_NEAR(tl_dlength(mean), 0, 0.01);
  CHECK_NEAR(along2, length * length / 12, 0.005 * length * length + 1e-20);
  CHECK_NEAR(across2, 0.49 / 4, 0.002);
  CHECK_NEAR(both, 0, 0.003);
}

TEST(points_in_an_oblique_cylinder_have_its_moments) { check_cylinder_moments(1.5); }
TEST(points_in_a_disc_are_uniform_in_area) { check_cylinder_moments(0); }

TEST(the_inset_keeps_a_sphere_inside) {
  static const bool no_spans[3] = {false, false, false};
  const talus_region all[] = {fixture_box(-1, 0, 2, 1, 3, 3), ball(1, 2, 3, 0.8), cylinder(1.5)};
  for (int i = 0; i < 3; ++i) {
    talus_region inset;
    CHECK(tl_region_inset(&all[i], 0.3, no_spans, &inset));
    for (uint64_t k = 0; k < 2000; ++k) {
      /* The farthest places of the sphere in random directions stay inside. */
      const talus_region skin = {.kind = TALUS_REGION_SPHERE, .radius = 1};
      const talus_dvec3 u = draw(&skin, k);
      const talus_dvec3 x = draw(&inset, k);
      const double r = 0.3 * (1 - 1e-9) / tl_dlength(u);
      CHECK(tl_region_contains(&all[i], tl_dadd(x, tl_dscale(u, r))));
    }
    CHECK(!tl_region_inset(&all[i], 0.81, no_spans, &inset));
  }
  /* Exactly its size: one place is left. */
  talus_region inset;
  CHECK(tl_region_inset(&all[0], 0.5, no_spans, &inset));
  CHECK_NEAR(inset.box.lo.z, 2.5, 1e-12);
  CHECK_NEAR(inset.box.hi.z, 2.5, 1e-12);
  CHECK(!tl_region_inset(&all[0], 0.51, no_spans, &inset));
  const bool spans_z[3] = {false, false, true};
  CHECK(tl_region_inset(&all[0], 0.51, spans_z, &inset));
}

TEST(a_region_is_seen_through_a_periodic_border) {
  fixture f = fixture_make(1);
  fixture_periodic(&f, 10, true, false, true);
  const talus_region left = fixture_box(-1, 0, 0, 1, 10, 10);
  CHECK(tl_region_holds(&f.model, &left, tl_dvec3(0.5, 5, 5)));
  CHECK(tl_region_holds(&f.model, &left, tl_dvec3(9.5, 5, 5)));
  CHECK(!tl_region_holds(&f.model, &left, tl_dvec3(8.5, 5, 5)));
  const talus_region low = fixture_box(0, -1, 0, 10, 1, 10);
  CHECK(!tl_region_holds(&f.model, &low, tl_dvec3(5, 9.5, 5))); /* y is not periodic */
  CHECK_NEAR(tl_place_wrap(&f.model, tl_dvec3(-0.25, 12, 30.5)).x, 9.75, 0);
  CHECK_NEAR(tl_place_wrap(&f.model, tl_dvec3(-0.25, 12, 30.5)).y, 12, 0);
  CHECK_NEAR(tl_place_wrap(&f.model, tl_dvec3(-0.25, 12, 30.5)).z, 0.5, 1e-14);
  CHECK(tl_place_wrap(&f.model, tl_dvec3(-1e-30, 0, 0)).x < 10);
  fixture_free(&f);
}

TEST(impossible_regions_are_refused_by_name) {
  talus_region region = fixture_box(0, 2, 0, 1, 1, 1);
  CHECK_FAILS(tl_region_check(&region, "sink 'floor'"),
              "sink 'floor': the box is inside out along y");
  region.box.lo.y = NAN;
  CHECK_FAILS(tl_region_check(&region, "fill"), "not finite");
  region = ball(0, 0, 0, 0);
  CHECK_FAILS(tl_region_check(&region, "fill"), "radius of the region is 0");
  region = ball(INFINITY, 0, 0, 1);
  CHECK_FAILS(tl_region_check(&region, "fill"), "middle of the region");
  region = cylinder(-1);
  CHECK_FAILS(tl_region_check(&region, "fill"), "length of the cylinder is -1");
  region = cylinder(1);
  region.axis = tl_vec3(0, 0, 0);
  CHECK_FAILS(tl_region_check(&region, "fill"), "axis of the cylinder");
  region.kind = (talus_region_kind)7;
  CHECK_FAILS(tl_region_check(&region, "fill"), "unknown kind of region 7");
  region = cylinder(0);
  CHECK_OK(tl_region_check(&region, "fill"));
}

TEST_MAIN()
