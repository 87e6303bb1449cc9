/* The broad phases find the same pairs as a naive double loop, on scenes of every kind. */
#include "broad_fixture.h"

/* ---- none, one, few ------------------------------------------------------------------------- */

TEST(no_body_makes_no_pair) { CHECK_EQ_U64(check_scene(new_scene(0)), 0); }

TEST(one_body_makes_no_pair) {
  scene *s = new_scene(1);
  s->boxes[0] = box_at(1, 2, 3, 1, 1, 1);
  CHECK_EQ_U64(check_scene(s), 0);
}

TEST(touching_counts_and_a_gap_does_not) {
  scene *s = new_scene(4);
  s->boxes[0] = box_at(0, 0, 0, 1, 1, 1);
  s->boxes[1] = box_at(1, 1, 1, 1, 1, 1);                  /* a corner of 0 */
  s->boxes[2] = box_at(nextafter(2, 3), 1, 1, 1, 1, 1);    /* a hair away from 1 */
  s->boxes[3] = box_at(-1, nextafter(-1, -2), 0, 1, 1, 1); /* a hair away from 0 */
  s->boxes[3].hi.y = nextafter(0, -1);
  CHECK_EQ_U64(check_scene(s), 1);
}

/* ---- even scenes ---------------------------------------------------------------------------- */

TEST(uniform_equal_boxes_agree) {
  tl_random r = random_for(1);
  scene *s = new_scene(3000);
  fill_uniform(s, &r, -7, 7, 1.0);
  CHECK(check_scene(s) > 5000);
}

TEST(thin_spread_boxes_agree) {
  tl_random r = random_for(2);
  scene *s = new_scene(3000);
  fill_uniform(s, &r, -100, 100, 1.0);
  CHECK(check_scene(s) > 0);
}

TEST(clustered_boxes_agree) {
  tl_random r = random_for(3);
  scene *s = new_scene(2000);
  for (size_t i = 0; i < s->count; ++i) {
    const double centre = 50.0 * (double)(i % 7), far = centre * centre;
    s->boxes[i] = box_at(centre + tl_random_normal(&r), far + tl_random_normal(&r),
                         -centre + tl_random_normal(&r), 0.4, 0.4, 0.4);
  }
  CHECK(check_scene(s) > 1000);
}

TEST(two_far_heaps_agree) {
  tl_random r = random_for(4);
  scene *s = new_scene(2000);
  fill_uniform(s, &r, 0, 10, 1.0);
  for (size_t i = 0; i < s->count; i += 2) {
    s->boxes[i].lo.x += 1e5;
    s->boxes[i].hi.x += 1e5;
  }
  CHECK(check_scene(s) > 1000);
}

TEST(lattice_of_exactly_touching_boxes_agrees) {
  const double edges[] = {1.0, 0.1, 1.0 / 3.0, 1e-3};
  for (size_t e = 0; e < sizeof edges / sizeof edges[0]; ++e) {
    const size_t m = 10;
    scene *s = new_scene(m * m * m);
    for (size_t i = 0; i < s->count; ++i) {
      const double x = (double)(i % m), y = (double)(i / m % m), z = (double)(i / m / m);
      /* lo of a box is bit for bit hi of the one before */
      s->boxes[i] = (talus_box){{x * edges[e], y * edges[e], z * edges[e]},
                                {(x + 1) * edges[e], (y + 1) * edges[e], (z + 1) * edges[e]}};
    }
    /* 26 neighbours each, less the border: ((3m-2)^3 - m^3) / 2 */
    CHECK_EQ_U64(check_scene(s), ((3 * m - 2) * (3 * m - 2) * (3 * m - 2) - m * m * m) / 2);
  }
}

TEST(boxes_on_cell_boundaries_agree) {
  tl_random r = random_for(5);
  scene *s = new_scene(1500);
  for (size_t i = 0; i < s->count; ++i) {
    const double edge = below(&r, 2) ? 1.0 : 0.5;
    s->boxes[i] = box_at((double)below(&r, 12), 0.5 * (double)below(&r, 24), (double)below(&r, 12),
                         edge, edge, edge);
  }
  CHECK(check_scene(s) > 1000);
}

TEST(boxes_far_from_the_origin_and_at_negative_coordinates_agree) {
  const double offsets[] = {-1e3, 1e6, -1e9, 1e15};
  for (size_t o = 0; o < sizeof offsets / sizeof offsets[0]; ++o) {
    tl_random r = random_for(6);
    scene *s = new_scene(1000);
    fill_uniform(s, &r, offsets[o] - 5, offsets[o] + 5, 1.0);
    CHECK(check_scene(s) > 1000);
  }
}

/* ---- degenerate scenes ---------------------------------------------------------------------- */

TEST(coincident_boxes_all_pair) {
  scene *s = new_scene(500);
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i] = box_at(3, -2, 1, 0.25, 0.25, 0.25);
  CHECK_EQ_U64(check_scene(s), 500 * 499 / 2);
}

TEST(everything_in_one_cell_agrees) {
  tl_random r = random_for(7);
  scene *s = new_scene(600);
  fill_uniform(s, &r, 0, 1, 0.02);
  s->boxes[17] = box_at(0, 0, 0, 1, 1, 1);
  s->boxes[18] = box_at(0.1, 0, 0, 1, 1, 1);
  CHECK(check_scene(s) > 600);
}

TEST(points_agree) {
  tl_random r = random_for(8);
  scene *s = new_scene(1500);
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i] = box_at((double)below(&r, 9), (double)below(&r, 9), (double)below(&r, 9), 0, 0, 0);
  CHECK(check_scene(s) > 100);
}

TEST(points_spread_out_and_coincident_points_agree) {
  tl_random r = random_for(9);
  scene *s = new_scene(700);
  fill_uniform(s, &r, -3, 3, 0.0);
  CHECK_EQ_U64(check_scene(s), 0);
  s = new_scene(200);
  CHECK_EQ_U64(check_scene(s), 200 * 199 / 2);
}

TEST(size_ratio_of_ten_thousand_agrees) {
  tl_random r = random_for(10);
  scene *s = new_scene(2000);
  for (size_t i = 0; i < s->count; ++i) {
    const double edge = pow(10, uniform(&r, -3, 1));
    s->boxes[i] =
        box_at(uniform(&r, 0, 30), uniform(&r, 0, 30), uniform(&r, 0, 30), edge, edge, edge);
  }
  CHECK(check_scene(s) > 1000);
}

TEST(few_large_among_many_small_agree) {
  tl_random r = random_for(11);
  scene *s = new_scene(3000);
  fill_uniform(s, &r, 0, 12, 0.5);
  for (size_t i = 0; i < s->count; i += 60) {
    const double edge = uniform(&r, 2, 5);
    s->boxes[i] =
        box_at(uniform(&r, -1, 12), uniform(&r, -1, 12), uniform(&r, -1, 12), edge, edge, edge);
  }
  s->boxes[1] = box_at(-20, -20, -1, 50, 50, 1); /* a floor */
  s->boxes[2] = box_at(-20, -20, -20, 1e6, 1e6, 1e6);
  CHECK(check_scene(s) > 5000);
}

TEST(many_large_among_small_agree) {
  tl_random r = random_for(50);
  scene *s = new_scene(1000);
  fill_uniform(s, &r, 0, 12, 0.05);
  for (size_t i = 0; i < s->count; i += 10) {
    const double edge = uniform(&r, 8, 9);
    s->boxes[i] =
        box_at(uniform(&r, -9, 12), uniform(&r, -9, 12), uniform(&r, -9, 12), edge, edge, edge);
  }
  CHECK(check_scene(s) > 5000);
}

TEST(flat_and_needle_boxes_agree) {
  tl_random r = random_for(12);
  scene *s = new_scene(1200);
  for (size_t i = 0; i < s->count; ++i) {
    const double edge[3] = {3.0, 1e-4, 0.05};
    const size_t k = below(&r, 3);
    const double u = i % 2 ? 3.0 : 1e-4;
    s->boxes[i] = box_at(uniform(&r, 0, 9), uniform(&r, 0, 9), uniform(&r, 0, 9), edge[k],
                         edge[(k + 1) % 3], k == 0 ? u : edge[(k + 2) % 3]);
  }
  CHECK(check_scene(s) > 500);
}

TEST(sheet_and_line_of_boxes_agree) {
  tl_random r = random_for(13);
  scene *s = new_scene(2000);
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i] = i % 2 ? box_at(uniform(&r, 0, 40), uniform(&r, 0, 40), 5, 1, 1, 1)
                        : box_at(-3, uniform(&r, -900, 900), 7, 1, 1, 1);
  CHECK(check_scene(s) > 500);
}

TEST(far_outliers_do_not_hide_pairs) {
  const double distances[] = {1e3, 1e8, 1e200, 1.7e308};
  for (size_t d = 0; d < sizeof distances / sizeof distances[0]; ++d) {
    tl_random r = random_for(14);
    scene *s = new_scene(1500);
    const double x = distances[d];
    fill_uniform(s, &r, 0, 8, 1.0);
    s->boxes[100] = (talus_box){{x, 1, 1}, {x, 2, 2}};
    s->boxes[101] = (talus_box){{x, 1.5, 1}, {x, 2, 2}};
    s->boxes[102] = (talus_box){{-x, -x, -x}, {-x, -x, -x}};
    CHECK(check_scene(s) > 1000);
  }
}

TEST(boxes_at_the_ends_of_the_number_line_agree) {
  tl_random r = random_for(51);
  scene *s = new_scene(600);
  fill_uniform(s, &r, 0, 5, 1.0);
  for (size_t i = 0; i < s->count; i += 5) {
    const double x = i % 2 ? 1.7e308 : -1.7e308;
    s->boxes[i] = (talus_box){{x, x, -x}, {x, x, -x}};
  }
  s->boxes[0] = (talus_box){{-1.7e308, 0, 0}, {1.7e308, 1, 1}};
  s->boxes[1] = (talus_box){{0, 0, 0}, {1.7e308, 1.7e308, 1.7e308}};
  s->boxes[2] = (talus_box){{0, -0.5e308, 0}, {1, 1, 1}};
  CHECK(check_scene(s) > 500);
}

/* ---- unbounded ------------------------------------------------------------------------------ */

TEST(planes_pair_with_everything_that_moves) {
  tl_random r = random_for(15);
  scene *s = new_scene(300);
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i] = box_at(2.0 * (double)i, uniform(&r, 0, 1), 0, 1, 1, 1);
  make_plane(s, 0);
  make_plane(s, 150);
  make_plane(s, 299);
  CHECK_EQ_U64(check_scene(s), 3 * 297);
  s = new_scene(3);
  for (size_t i = 0; i < 3; ++i) {
    make_plane(s, i);
    s->model.property.flags[i] = 0;
  }
  CHECK_EQ_U64(check_scene(s), 3);
}

/* ---- periodic axes -------------------------------------------------------------------------- */

TEST(boxes_straddling_a_periodic_edge_meet_the_other_side) {
  for (int axis = 0; axis < 3; ++axis) {
    scene *s = new_scene(200);
    for (size_t i = 0; i < s->count; ++i) {
      /* a row along the axis: alternating gaps of 0 and 0.25, closed over the edge by a touch */
      const double x = (double)(i / 2) * 2.25 + (double)(i % 2);
      s->boxes[i] = box_at(axis == 0 ? x : 0, axis == 1 ? x : 0, axis == 2 ? x : 0, 1, 1, 1);
    }
    const talus_dvec3 lo = {0.5, 0.5, 0.5}, hi = {225.5, 225.5, 225.5};
    make_periodic(s, axis == 0, axis == 1, axis == 2, lo, hi);
    CHECK_EQ_U64(check_scene(s), 100);
  }
}

TEST(uniform_boxes_agree_in_every_periodic_combination) {
  for (unsigned axes = 1; axes < 8; ++axes) {
    tl_random r = random_for(16 + axes);
    scene *s = new_scene(900);
    fill_uniform(s, &r, -3, 11, 1.0);
    const talus_dvec3 lo = {-2, -2, -2}, hi = {9, 10, 11.5};
    make_periodic(s, axes & 1, axes & 2, axes & 4, lo, hi);
    CHECK(check_scene(s) > 500);
  }
}

TEST(short_periods_agree) {
  const double lengths[] = {1.0, 1.5, 2.0, 2.5, 3.0, 3.25, 4.0};
  for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; ++l) {
    tl_random r = random_for(30 + l);
    scene *s = new_scene(300);
    fill_uniform(s, &r, 0, 8, 1.0);
    for (size_t i = 0; i < s->count; i += 3)
      s->boxes[i].hi.x = s->boxes[i].lo.x + uniform(&r, 0, 5);
    const talus_dvec3 lo = {0, 0, 0}, hi = {lengths[l], 8, lengths[l]};
    make_periodic(s, true, true, l % 2, lo, hi);
    CHECK(check_scene(s) > 500);
  }
}

TEST(periodic_lattice_touches_across_the_edge) {
  const size_t m = 6;
  scene *s = new_scene(m * m * m);
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i] = box_at((double)(i % m), (double)(i / m % m), (double)(i / m / m), 1, 1, 1);
  const talus_dvec3 lo = {0, 0, 0}, hi = {(double)m, (double)m, (double)m};
  make_periodic(s, true, true, true, lo, hi);
  CHECK_EQ_U64(check_scene(s), 13 * m * m * m);
}

TEST(periodic_boxes_of_many_sizes_agree) {
  tl_random r = random_for(40);
  scene *s = new_scene(1500);
  for (size_t i = 0; i < s->count; ++i) {
    const double edge = pow(10, uniform(&r, -2, 1.2));
    s->boxes[i] =
        box_at(uniform(&r, 0, 40), uniform(&r, 0, 40), uniform(&r, 0, 40), edge, edge, edge);
  }
  make_plane(s, 3);
  s->boxes[4] = box_at(-100, -100, -1, 300, 300, 1); /* a floor longer than the domain */
  const talus_dvec3 lo = {0, 0, 0}, hi = {40, 40, 40};
  make_periodic(s, true, true, false, lo, hi);
  CHECK(check_scene(s) > 1000);
}

TEST(large_and_small_touch_across_the_edge_to_the_last_bit) {
  const double lengths[] = {100.3, 99.7, 123.456, 77.7};
  for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; ++l) {
    const size_t columns = 100, rows = 30, large = 50;
    const double length = lengths[l], pitch = length / (double)columns;
    scene *s = new_scene(columns * rows + large);
    for (size_t i = 0; i < columns * rows; ++i) /* one to a cell, at its very edge */
      s->boxes[i] = box_at(pitch * (double)(i % columns), 1.3 * (double)(i / columns), 0,
                           0.995 * pitch, 1, 1);
    for (size_t i = 0; i < large; ++i) {
      const double touched = s->boxes[i % 25].lo.x + length, edge = 0.3 * length;
      s->boxes[columns * rows + i] = (talus_box){{touched - edge, 0, 0}, {touched, edge, 1}};
    }
    const talus_dvec3 lo = {0, 0, 0}, hi = {length, 1, 1};
    make_periodic(s, true, false, false, lo, hi);
    CHECK(check_scene(s) > 1000);
  }
}

/* ---- masks ---------------------------------------------------------------------------------- */

TEST(static_bodies_do_not_pair_with_each_other) {
  tl_random r = random_for(41);
  scene *s = new_scene(800);
  fill_uniform(s, &r, 0, 6, 1.0);
  for (size_t i = 0; i < s->count; ++i)
    s->model.property.flags[i] = i % 3 == 0   ? TL_FLAG_FIXED
                                 : i % 3 == 1 ? TL_FLAG_KINEMATIC
                                              : TL_FLAG_LOCKS;
  CHECK(check_scene(s) > 500);
}

TEST(ignored_groups_do_not_pair) {
  tl_random r = random_for(42);
  scene *s = new_scene(800);
  fill_uniform(s, &r, 0, 6, 1.0);
  for (size_t i = 0; i < s->count; ++i)
    s->model.property.group[i] = (uint32_t)below(&r, 5);
  s->model.property.group[5] = UINT32_MAX;
  CHECK(!tl_model_ignores(&s->model, 0, 3));
  ignore(s, 0, 3);
  ignore(s, 1, 1);
  ignore(s, 1, 4);
  ignore(s, 2, UINT32_MAX);
  CHECK(!tl_model_ignores(&s->model, 0, 0) && tl_model_ignores(&s->model, 3, 0));
  CHECK(tl_model_ignores(&s->model, 1, 1) && tl_model_ignores(&s->model, 4, 1));
  CHECK(tl_model_ignores(&s->model, UINT32_MAX, 2) && !tl_model_ignores(&s->model, 4, 4));
  CHECK(check_scene(s) > 500);
}

TEST(allows_says_what_the_mask_is) {
  scene *s = new_scene(3);
  s->model.property.flags[0] = TL_FLAG_FIXED;
  s->model.property.flags[1] = TL_FLAG_KINEMATIC;
  s->model.property.group[2] = 9;
  CHECK(!tl_broad_allows(&s->model, 0, 1));
  CHECK(tl_broad_allows(&s->model, 0, 2) && tl_broad_allows(&s->model, 2, 1));
  ignore(s, 0, 9);
  CHECK(!tl_broad_allows(&s->model, 0, 2) && !tl_broad_allows(&s->model, 2, 1));
  free_scene(s);
}

/* ---- crowds --------------------------------------------------------------------------------- */

TEST(members_of_a_crowd_pair_by_slot) {
  tl_random r = random_for(43);
  bool keep[900];
  scene *s = new_scene(900);
  fill_uniform(s, &r, 0, 5, 1.0);
  make_plane(s, 450);
  for (size_t i = 0; i < s->count; ++i) {
    keep[i] = i == 450 || below(&r, 2);
    s->model.property.flags[i] |= i % 5 == 0 ? TL_FLAG_FIXED : 0;
    s->model.property.group[i] = i % 4;
  }
  ignore(s, 1, 2);
  restrict_to(s, keep);
  CHECK(check_scene(s) > 500);
}

/* ---- errors and choice ---------------------------------------------------------------------- */

TEST(a_box_that_is_not_finite_is_an_error_naming_the_body) {
  const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL};
  for (int kind = 0; kind < 2; ++kind)
    for (size_t v = 0; v < sizeof bad / sizeof bad[0]; ++v) {
      tl_random r = random_for(44);
      scene *s = new_scene(5000);
      fill_uniform(s, &r, 0, 50, 1.0);
      s->boxes[4321].lo.z = bad[v];
      s->boxes[4500].lo.z = NAN;
      s->model.par.threads = 2;
      const tl_crowd crowd = crowd_of(s);
      tl_pairs pairs;
      const talus_status status = tl_broad_find_pairs(kind ? TALUS_BROAD_BRUTE : TALUS_BROAD_BINS,
                                                      &crowd, s->boxes, &pairs);
      free_scene(s);
      CHECK_EQ_U64(status, TALUS_ERROR_DIVERGED);
      CHECK_MSG(strstr(talus_last_error(), "body 13963:"), "%s", talus_last_error());
    }
}

TEST(not_a_number_is_an_error_for_an_unbounded_body_too) {
  scene *s = new_scene(2);
  make_plane(s, 1);
  s->boxes[1].hi.y = NAN;
  const tl_crowd crowd = crowd_of(s);
  tl_pairs pairs;
  const talus_status status = tl_broad_find_pairs(TALUS_BROAD_BINS, &crowd, s->boxes, &pairs);
  free_scene(s);
  CHECK_EQ_U64(status, TALUS_ERROR_DIVERGED);
  CHECK_MSG(strstr(talus_last_error(), "body 1003:"), "%s", talus_last_error());
}

TEST(more_bodies_than_bins_can_number_is_an_error) {
  scene *s = new_scene(2);
  tl_crowd crowd = crowd_of(s);
  tl_pairs pairs;
  crowd.count = 0;
  s->model.bodies = (size_t)1 << 31;
  const talus_status status = tl_broad_find_pairs(TALUS_BROAD_BINS, &crowd, s->boxes, &pairs);
  free_scene(s);
  CHECK_EQ_U64(status, TALUS_ERROR_UNSUPPORTED);
  CHECK_MSG(strstr(talus_last_error(), "2147483648 bodies"), "%s", talus_last_error());
}

TEST(auto_is_not_an_algorithm_and_choose_names_one) {
  scene *s = new_scene(2);
  const tl_crowd crowd = crowd_of(s);
  tl_pairs pairs;
  const char *reason = NULL;
  CHECK_EQ_U64(tl_broad_find_pairs(TALUS_BROAD_AUTO, &crowd, s->boxes, &pairs),
               TALUS_ERROR_INVALID);
  CHECK_EQ_U64(tl_broad_choose(&crowd, s->boxes, &reason), TALUS_BROAD_BRUTE);
  CHECK(reason && strlen(reason) > 10);
  CHECK_STR(tl_broad_name(TALUS_BROAD_BINS), "bins");
  CHECK_STR(tl_broad_name(TALUS_BROAD_BRUTE), "brute");
  CHECK_STR(tl_broad_name(TALUS_BROAD_AUTO), "auto");
  free_scene(s);
}

/* ---- memory --------------------------------------------------------------------------------- */

TEST(bins_take_little_memory_and_none_once_warm) {
  tl_random r = random_for(45);
  scene *s = new_scene(20000);
  fill_uniform(s, &r, 0, 26, 1.0); /* as crowded as a settled heap */
  s->boxes[0] = box_at(1e7, -1e9, 1e8, 1, 1, 1);
  s->model.par.threads = 2;
  const tl_crowd crowd = crowd_of(s);
  tl_pairs pairs;
  CHECK_OK(tl_broad_find_pairs(TALUS_BROAD_BINS, &crowd, s->boxes, &pairs));
  const double per_body = (double)s->arena.peak / 20000;
  CHECK(pairs.count > 4 * 20000);
  CHECK_MSG(per_body < 300, "%g bytes per body", per_body);
  tl_arena_reset(&s->arena);
  const uint64_t before = tl_memory_count().allocations;
  CHECK_OK(tl_broad_find_pairs(TALUS_BROAD_BINS, &crowd, s->boxes, &pairs));
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  free_scene(s);
}

/* ---- random scenes of every kind ------------------------------------------------------------ */

TEST(random_scenes_of_every_kind_agree) {
  size_t pairs_in_all = 0;
  for (uint64_t seed = 1; seed <= check_cases(800); ++seed) {
    scene *s = random_scene(1000 + seed);
    size_t pairs;
    const char *problem = disagreement(s, &pairs);
    free_scene(s);
    CHECK_MSG(problem == NULL, "seed %llu: %s", (unsigned long long)seed, problem);
    pairs_in_all += pairs;
  }
  CHECK(pairs_in_all > 50 * check_cases(800));
}

TEST_MAIN()
