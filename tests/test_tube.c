/* Gaps of the places of capsules and cylinders beside the deepest: each is a distance that can be
 * measured without any normal. */
#include "kernels/convex.h"
#include "test_collide.h"

/* Of the point p from the segment at c with half length h along the unit vector z. */
static double from_segment(lvec p, lvec c, lvec z, double h) {
  const lvec d = l_sub(p, c);
  const ld along = l_dot(d, z), cut = along > h ? (ld)h : along < -h ? (ld)-h : along;
  return (double)l_length(l_madd(d, -cut, z));
}

/* Number of the end (-1, +1) that the feature is, or 0. */
static int end_of(uint32_t feature) { return feature == 0 ? -1 : feature == 2 ? 1 : 0; }

TEST(gap_of_a_capsules_end_is_the_distance_of_its_ball) {
  int looked = 0, apart = 0;
  double worst = 0;
  for (uint64_t serial = 0; serial < 4000; ++serial) {
    tl_random random = tl_random_start(41, 0, serial);
    const double ra = uniform(&random, 0.05, 0.2), rb = uniform(&random, 0.05, 0.2);
    const double la = uniform(&random, 0.2, 1), lb = uniform(&random, 0.2, 1);
    const tl_shape pill_a = make(TALUS_CAPSULE, ra, la, 0, 0, 0);
    const tl_shape pill_b = make(TALUS_CAPSULE, rb, lb, 0, 0, 0);
    const tl_posed a = posed(&pill_a, 1, tl_dvec3(0, 0, 0), random_quat(&random));
    const tl_posed b = posed(&pill_b, 1, anywhere(&random, 0.5), random_quat(&random));
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, TL_R(0.1), p);
    const lvec za = l_rotate(a.rotation, lv(0, 0, 1)), zb = l_rotate(b.rotation, lv(0, 0, 1));
    for (int i = 0; i < count; ++i) {
      if (count < 2 || !(p[i].gap > 0) || (end_of(p[i].feature_a) == 0) == !end_of(p[i].feature_b))
        continue;
      const int end = end_of(p[i].feature_a);
      const double expected =
          end ? from_segment(l_scale(za, 0.5L * end * la), l_of(b.position), zb, 0.5 * lb)
              : from_segment(l_madd(l_of(b.position), 0.5L * end_of(p[i].feature_b) * lb, zb),
                             lv(0, 0, 0), za, 0.5 * la);
      const double off = fabs((double)p[i].gap - (expected - ra - rb));
      looked++, apart += p[i].gap > 0.02, worst = fmax(worst, off);
      CHECK_MSG(off < 1e-6, "case %" PRIu64 ": %g for %g", serial, (double)p[i].gap,
                expected - ra - rb);
    }
  }
  printf("  %d ends, %d of them far, worst %g\n", looked, apart, worst);
  CHECK(looked > 100 && apart > 50);
}

/* Two cylinders that cross at right angles: the end of the short one is over the long one's side.
 * Both curvatures together gave 0.018. */
TEST(end_of_a_cylinder_across_another_is_as_far_as_its_rim) {
  const double ra = 0.15, rb = 0.1, s = 0.095, apart = 0.001;
  const tl_shape thick = make(TALUS_CYLINDER, ra, 2 * s, 0, 0, 0);
  const tl_shape thin = make(TALUS_CYLINDER, rb, 1, 0, 0, 0);
  const talus_real half = TL_R(sqrt(0.5));
  const tl_posed a = posed(&thick, 1, tl_dvec3(0, 0, 0), tl_quat(half, 0, half, 0)); /* along x */
  const tl_posed b = posed(&thin, 1, tl_dvec3(0, 0, ra + rb + apart), tl_quat(half, half, 0, 0));
  tl_point p[TL_NARROW_MAX_POINTS];
  const int count = tl_narrow_pair(&a, &b, TL_R(0.1), p);
  CHECK_EQ_U64(count, 3);
  int ends = 0;
  for (int i = 0; i < count; ++i) {
    if (!(p[i].gap > 0.01))
      continue;
    CHECK_NEAR(fabs(p[i].point.x), s, 1e-6);
    CHECK_NEAR(p[i].gap, hypot(rb + apart, s) - rb, 1e-6);
    ends++;
  }
  CHECK_EQ_U64(ends, 2);
}

/* A capsule whose lower end is over a face hangs over the face's edge, which its side is nearer to
 * than the plumb line says. */
TEST(side_of_a_slant_capsule_over_an_edge_is_as_near_as_it_is) {
  const double r = 0.1, tilt = 0.2, gap = 0.01;
  const tl_shape pill = make(TALUS_CAPSULE, r, 1, 0, 0, 0), box = make(TALUS_BOX, 1, 1, 1, 0, 0);
  const tl_posed a = posed(&box, 1, tl_dvec3(0, 0, -0.5), tl_quat_identity());
  /* Lower end over (0.2, 0), rising along x. */
  const double angle = 0.5 * TL_PI - tilt;
  const tl_posed b = posed(&pill, 1, tl_dvec3(0.2 + 0.5 * cos(tilt), 0, r + gap + 0.5 * sin(tilt)),
                           tl_quat(TL_R(cos(0.5 * angle)), 0, TL_R(sin(0.5 * angle)), 0));
  tl_point p[TL_NARROW_MAX_POINTS];
  const int count = tl_narrow_pair(&a, &b, TL_R(0.2), p);
  CHECK_EQ_U64(count, 2);
  for (int i = 0; i < 2; ++i) {
    const double above = r + gap + 0.3 * tan(tilt); /* of the axis over the edge */
    const bool low = p[i].point.x < 0.3;
    CHECK_NEAR(p[i].gap, low ? gap : above * cos(tilt) - r, 1e-6);
  }
}

TEST(points_of_a_disc_are_cosines_and_sines) {
  tl_patch patch;
  tl_disc_patch(1, 0.5, &patch);
  CHECK(patch.count == TL_DISC_POINTS);
  for (int k = 0; k < TL_DISC_POINTS; ++k) {
    const double angle = 2 * TL_PI / TL_DISC_POINTS * k;
    CHECK(patch.vertex[k].x == tl_cos_d(angle) && patch.vertex[k].y == tl_sin_d(angle));
  }
}

TEST_MAIN()
