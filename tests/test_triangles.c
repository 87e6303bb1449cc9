/* Distances of triangles: none wrong, in any class of pairs, one by one and over lanes. */
#include "base/isa.h"
#include "check.h"
#include "narrow/triangles.h"
#include "triangle_reference.h"

TEST(no_distance_is_wrong) {
  const uint64_t cases = check_cases(1000000 / PAIR_CLASSES) / (getenv("TALUS_SOAK") ? 1 : 16);
  for (int class = 0; class < PAIR_CLASSES; ++class) {
    double worst = 0;
    for (uint64_t serial = 0; serial < cases; ++serial) {
      tl_random r = tl_random_start(501, (uint32_t) class, serial);
      tl_triangle_corners a, b;
      draw_pair(class, &r, &a, &b);
      const tl_triangle_near near = tl_triangle_triangle(&a, &b);
      const double wanted = reference_distance(&a, &b), extent = tl_triangle_extent(&a, &b);
      const double error = fabs(sqrt(near.square) - wanted) / extent;
      const double off = fmax(reference_point(near.on_a, &a), reference_point(near.on_b, &b));
      const double apart = tl_dlength(tl_dsub(near.on_a, near.on_b));
      worst = fmax(worst, fmax(error, fmax(off, fabs(apart - wanted)) / extent));
      CHECK_MSG(worst <= TL_TRIANGLE_ERROR,
                "class %d, pair %" PRIu64 ": distance %.17g, %.17g by the places, %.17g wanted, "
                "places off by %g; feature %d",
                class, serial, sqrt(near.square), apart, wanted, off, near.feature);
    }
    printf("  class %2d: off by %.1f roundings of the extent at most\n", class,
           worst / DBL_EPSILON);
  }
}

TEST(places_and_segments_are_triangles_without_area) {
  const uint64_t cases = check_cases(4000);
  for (uint64_t serial = 0; serial < cases; ++serial) {
    tl_random r = tl_random_start(502, 0, serial);
    tl_triangle_corners a, b;
    draw_pair((int)(serial % PAIR_CLASSES), &r, &a, &b);
    const double most = TL_TRIANGLE_ERROR * tl_triangle_extent(&a, &b);
    const tl_triangle_near point = tl_point_triangle(a.p[0], &b);
    CHECK_NEAR(sqrt(point.square), reference_point(a.p[0], &b), most);
    const tl_triangle_corners thin = {{a.p[0], a.p[1], a.p[1]}};
    const tl_triangle_near segment = tl_segment_triangle(a.p[0], a.p[1], &b);
    CHECK_NEAR(sqrt(segment.square), reference_distance(&thin, &b), most);
  }
}

TEST(features_say_who_is_nearest) {
  const tl_triangle_corners floor = {{{0, 0, 0}, {4, 0, 0}, {0, 4, 0}}};
  const tl_triangle_corners spike = {{{1, 1, 0.5}, {1, 2, 3}, {2, 1, 3}}};
  CHECK_EQ_U64(tl_triangle_triangle(&spike, &floor).feature, 0);
  CHECK_EQ_U64(tl_triangle_triangle(&floor, &spike).feature, 3);
  const tl_triangle_corners through = {{{1, 1, -0.5}, {1, 1, 3}, {9, 9, 3}}};
  CHECK(tl_triangle_triangle(&through, &floor).feature == 15);
  CHECK(tl_triangle_triangle(&floor, &through).square == 0);
  CHECK_EQ_U64(tl_segment_triangle(through.p[0], through.p[1], &floor).feature, 15);
  const tl_triangle_corners roof = {{{-2, 1, 1}, {9, 9, 9}, {2, -1, 1}}};
  CHECK_EQ_U64(tl_triangle_triangle(&floor, &roof).feature, 6 + 0 + 2);
}

/* ---- proofs ---------------------------------------------------------------------------------- */

TEST(certified_answers_are_those_of_comparison) {
  const uint64_t cases = check_cases(40000);
  uint64_t asked = 0, near_pairs = 0;
  for (uint64_t serial = 0; serial < cases; ++serial) {
    tl_random r = tl_random_start(503, 0, serial);
    tl_triangle_corners a, b;
    draw_pair((int)(serial % PAIR_CLASSES), &r, &a, &b);
    const double extent = tl_triangle_extent(&a, &b), reach = 0.02 * extent,
                 tolerance = 1e-9 * extent;
    tl_triangle_near found;
    const bool is_near = tl_triangle_certified(&a, &b, reach, tolerance, &found, &asked);
    const double distance = sqrt(tl_triangle_triangle(&a, &b).square);
    if (fabs(distance - reach) > 2 * tolerance)
      CHECK(is_near == (distance <= reach));
    if (is_near)
      CHECK_NEAR(sqrt(found.square), distance, 2 * tolerance);
    near_pairs += is_near;
  }
  printf("  comparison was asked for %.1f %% of the pairs; %.1f %% are near\n",
         100 * (double)asked / (double)cases, 100 * (double)near_pairs / (double)cases);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

#define MANY 4000

typedef struct batch {
  tl_triangle_corners a[MANY], b[MANY];
  tl_triangle_pair pairs[MANY];
  tl_triangle_near found[MANY];
  uint32_t which[MANY];
} batch;

static batch all;

static void draw_batch(uint32_t stream) {
  for (uint32_t i = 0; i < MANY; ++i) {
    tl_random r = tl_random_start(504, stream, i);
    draw_pair((int)(i % PAIR_CLASSES), &r, &all.a[i], &all.b[i]);
    all.pairs[i] = (tl_triangle_pair){i, i};
  }
}

TEST(lanes_give_the_bits_of_one_pair_after_the_other) {
  static const double reaches[] = {0, 1e-9, 0.05, 10};
  const tl_isa before = tl_isa_now();
  draw_batch(0);
  for (int isa = 0; isa < TL_ISA_COUNT; ++isa) {
    if (!tl_isa_has((tl_isa)isa))
      continue;
    tl_isa_use((tl_isa)isa);
    for (int k = 0; k < 4; ++k) {
      uint64_t decided;
      const size_t n = tl_triangles_find(all.a, all.b, all.pairs, MANY - 3, reaches[k], all.found,
                                         all.which, &decided);
      size_t next = 0;
      for (uint32_t i = 0; i < MANY - 3; ++i) {
        const tl_triangle_near wanted = tl_triangle_triangle(&all.a[i], &all.b[i]);
        if (!(wanted.square <= reaches[k] * reaches[k]))
          continue;
        CHECK_MSG(next < n && all.which[next] == i, "pair %u is missing with %s", i,
                  tl_isa_name((tl_isa)isa));
        const tl_triangle_near *got = &all.found[next++];
        CHECK(memcmp(&got->on_a, &wanted.on_a, sizeof wanted.on_a) == 0 &&
              memcmp(&got->on_b, &wanted.on_b, sizeof wanted.on_b) == 0 &&
              got->square == wanted.square && got->feature == wanted.feature);
      }
      CHECK_EQ_U64(next, n);
      CHECK(k > 2 || decided > MANY / 8);
    }
  }
  tl_isa_use(before);
}

TEST(shadows_of_leaves_leave_no_near_pair_out) {
  static const double reaches[] = {0, 1e-9, 0.05};
  const tl_isa before = tl_isa_now();
  draw_batch(3);
  for (int isa = 0; isa < TL_ISA_COUNT; ++isa) {
    if (!tl_isa_has((tl_isa)isa))
      continue;
    tl_isa_use((tl_isa)isa);
    uint64_t left = 0, tested = 0;
    for (uint32_t row = 0; row + TL_TREE_LEAF <= MANY; row += TL_TREE_LEAF)
      for (int k = 0; k < 3; ++k) {
        const uint32_t count_a = 1 + row / 4 % 4, count_b = 1 + row / 16 % 4;
        const unsigned bits = tl_triangle_loops_now()->shadow_leaves(
            all.a + row, count_a, all.b + row, count_b, reaches[k]);
        for (uint32_t i = 0; i < TL_TREE_LEAF; ++i)
          for (uint32_t j = 0; j < TL_TREE_LEAF; ++j) {
            const bool kept = bits >> (TL_TREE_LEAF * i + j) & 1;
            if (i >= count_a || j >= count_b) {
              CHECK(!kept);
              continue;
            }
            const double square = tl_triangle_triangle(&all.a[row + i], &all.b[row + j]).square;
            CHECK_MSG(kept || square > reaches[k] * reaches[k], "rows %u and %u with %s", row + i,
                      row + j, tl_isa_name((tl_isa)isa));
            tested++, left += kept;
          }
      }
    CHECK(left < tested / 2);
  }
  tl_isa_use(before);
}

/* A quarter of TL_TRIANGLE_LANE_ERROR: what proofs by float stand on. */
TEST(floats_are_off_by_a_quarter_of_what_they_may) {
  double worst = 0;
  for (uint32_t round = 0; round < (uint32_t)check_cases(40); ++round) {
    draw_batch(1 + round);
    for (uint32_t i = 0; i + TL_TRIANGLE_BLOCK <= MANY; i += TL_TRIANGLE_BLOCK) {
      tl_triangle_block a, b;
      float most[TL_TRIANGLE_BLOCK], square[TL_TRIANGLE_BLOCK];
      double unit[TL_TRIANGLE_BLOCK];
      for (int k = 0; k < TL_TRIANGLE_BLOCK; ++k) {
        const tl_triangle_corners *s = &all.a[i + (uint32_t)k], *t = &all.b[i + (uint32_t)k];
        unit[k] = DBL_MIN;
        most[k] = 0;
        for (int c = 0; c < 6; ++c) {
          const talus_dvec3 p = tl_dsub((c < 3 ? s : t)->p[c % 3], s->p[0]);
          unit[k] = fmax(unit[k], fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))));
        }
        tl_triangle_block_put(&a, k, s, s->p[0], 1 / unit[k]);
        tl_triangle_block_put(&b, k, t, s->p[0], 1 / unit[k]);
      }
      tl_triangle_loops_now()->screen(&a, &b, most, square);
      for (int k = 0; k < TL_TRIANGLE_BLOCK; ++k) {
        const uint32_t row = i + (uint32_t)k;
        const double wanted = sqrt(tl_triangle_triangle(&all.a[row], &all.b[row]).square) / unit[k];
        const double error = sqrt((double)square[k]) - wanted;
        worst = fmax(worst, fabs(error));
        CHECK_MSG(worst <= (double)TL_TRIANGLE_LANE_ERROR / 4, "class %u: %g for %g",
                  row % PAIR_CLASSES, sqrt((double)square[k]), wanted);
      }
    }
  }
  printf("  off by %.1f roundings of a float at most\n", worst / (double)FLT_EPSILON);
}

TEST_MAIN()
