/* What the broad phases have in common beyond finding the naive pairs of test_broad.c: more random
 * scenes, larger ones, errors, memory, the order kept by the sweep, `auto`, and the
 * numbers of the linear kd-tree. */
#include "base/isa.h"
#include "broad_fixture.h"

#include "base/sort.h"
#include "broad/kdtree.h"
#include "broad/packed.h"

/* ---- random scenes of every kind ------------------------------------------------------------ */

TEST(more_random_scenes_of_every_kind_agree) {
  size_t pairs_in_all = 0;
  for (uint64_t seed = 1; seed <= check_cases(1300); ++seed) {
    scene *s = random_scene(50000 + seed);
    size_t pairs;
    const char *problem = disagreement(s, &pairs);
    free_scene(s);
    CHECK_MSG(problem == NULL, "seed %llu: %s", (unsigned long long)seed, problem);
    pairs_in_all += pairs;
  }
  CHECK(pairs_in_all > 50 * check_cases(1300));
}

/* ---- large scenes: as bins ------------------------------------------------------------------ */

/* Frees the scene; the number of pairs. */
static size_t check_as_bins(scene *s) {
  const tl_crowd crowd = crowd_of(s);
  tl_pairs want, got;
  const char *problem = NULL;
  s->model.par.threads = 2;
  CHECK_OK(tl_broad_find_pairs(TALUS_BROAD_BINS, &crowd, s->boxes, &want));
  const size_t pairs = want.count;
  for (int k = 0; k < ALL_KINDS && !problem; ++k) {
    if (all_kinds[k] == TALUS_BROAD_BRUTE || all_kinds[k] == TALUS_BROAD_BINS)
      continue;
    s->model.par.threads = k % 3 + 1;
    const tl_arena_mark mark = tl_arena_get_mark(&s->arena);
    if (tl_broad_find_pairs(all_kinds[k], &crowd, s->boxes, &got) != TALUS_OK ||
        got.count != want.count ||
        (pairs > 0 && memcmp(got.data, want.data, pairs * sizeof *want.data) != 0))
      problem = tl_broad_name(all_kinds[k]);
    tl_arena_release(&s->arena, mark);
  }
  free_scene(s);
  CHECK_MSG(problem == NULL, "%s finds other pairs than bins", problem);
  return pairs;
}

/* Edges from 1 down to 1/ratio, log-uniform, in a cube, the boxes filling a fraction of it. */
static scene *uneven_scene(uint64_t seed, size_t n, double ratio, double fraction) {
  tl_random r = random_for(seed);
  scene *s = new_scene(n);
  double *edge = zeros(n, sizeof *edge), volume = 0;
  for (size_t i = 0; i < n; ++i) {
    edge[i] = pow(ratio, -tl_random_unit(&r));
    volume += edge[i] * edge[i] * edge[i];
  }
  const double length = cbrt(volume / fraction);
  for (size_t i = 0; i < n; ++i)
    s->boxes[i] = box_at(uniform(&r, 0, length), uniform(&r, 0, length), uniform(&r, 0, length),
                         edge[i], edge[i], edge[i]);
  free(edge);
  return s;
}

TEST(large_scenes_agree) {
  CHECK(check_as_bins(uneven_scene(1, 30000, 1, 0.2)) > 10000);
  CHECK(check_as_bins(uneven_scene(2, 30000, 100, 0.3)) > 5000);
  CHECK(check_as_bins(uneven_scene(3, 30000, 1e4, 0.3)) > 5000);
  tl_random r = random_for(4);
  scene *s = new_scene(30000);
  for (size_t i = 0; i < s->count; ++i) { /* clouds, some dense */
    const double at = (double)(i % 5), width = 1 + 9 * at;
    s->boxes[i] = box_at(1000 * at + width * tl_random_normal(&r), width * tl_random_normal(&r),
                         at * at + width * tl_random_normal(&r), 0.5, 0.5, 0.5);
  }
  CHECK(check_as_bins(s) > 100000);
}

/* ---- packed bins ---------------------------------------------------------------------------- */

/* Pairs of bins, sorted, in the arena; packed with an instruction set, where there is that, or not
 * packed. */
static tl_pairs pairs_by(scene *s, bool packed, tl_isa isa, int threads) {
  const tl_crowd crowd = crowd_of(s);
  tl_pairs pairs;
  s->model.par.threads = threads;
  tl_packed_never_of_tests = !packed;
  const tl_isa before = tl_isa_use(tl_isa_has(isa) ? isa : TL_ISA_GENERIC);
  const talus_status status = tl_broad_find_pairs(TALUS_BROAD_BINS, &crowd, s->boxes, &pairs);
  tl_isa_use(before);
  tl_packed_never_of_tests = false;
  CHECK_OK(status);
  return pairs;
}

static bool are_equal(tl_pairs a, tl_pairs b) {
  return a.count == b.count &&
         (a.count == 0 || memcmp(a.data, b.data, a.count * sizeof *a.data) == 0);
}

/* Frees the scene. */
static size_t check_modes(scene *s) {
  const tl_pairs want = pairs_by(s, false, TL_ISA_GENERIC, 1);
  const bool generic = are_equal(want, pairs_by(s, true, TL_ISA_GENERIC, 2));
  const bool avx2 = are_equal(want, pairs_by(s, true, TL_ISA_AVX2, 1));
  const bool avx512 = are_equal(want, pairs_by(s, true, TL_ISA_AVX512, 3));
  const size_t pairs = want.count;
  free_scene(s);
  CHECK(generic);
  CHECK(avx2);
  CHECK(avx512);
  return pairs;
}

TEST(bins_find_the_same_pairs_with_and_without_numbers_and_vectors) {
  size_t pairs = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed)
    pairs += check_modes(random_scene(90000 + seed));
  CHECK(pairs > 10000);
}

/* Many boxes of whole numbers: corners that are equal are equal as packed numbers, too, and so are
 * some that are not. */
TEST(bins_find_the_same_pairs_of_boxes_that_touch) {
  const size_t across = 14;
  scene *s = new_scene(across * across * across);
  for (size_t i = 0; i < across * across * across; ++i) {
    const double x = (double)(i % across), y = (double)(i / across % across);
    const double z = (double)(i / across / across);
    const double more = i % 7 == 0 ? 0x1p-50 : 0;
    s->boxes[i] = (talus_box){{x, y, z}, {x + 1 + more, y + 1, z + 1 - more}};
  }
  const size_t pairs = check_modes(s);
  CHECK_MSG(pairs > 20000, "%zu pairs", pairs);
}

TEST(bins_find_the_same_pairs_of_many_sizes_with_and_without_numbers) {
  CHECK(check_modes(uneven_scene(4, 20000, 1, 0.3)) > 10000);
  CHECK(check_modes(uneven_scene(5, 20000, 100, 0.3)) > 3000);
  CHECK(check_modes(uneven_scene(6, 20000, 1e4, 0.3)) > 3000);
}

/* ---- large scenes, periodic ------------------------------------------------------------------ */

TEST(large_periodic_scenes_agree) {
  for (unsigned axes = 1; axes < 8; axes += 2) {
    scene *s = uneven_scene(10 + axes, 15000, axes == 3 ? 50 : 1, 0.3);
    const talus_dvec3 lo = {1, 2, 3}, hi = {30, 33, 34};
    make_periodic(s, axes & 1, axes & 2, axes & 4, lo, hi);
    make_plane(s, 7);
    s->model.property.flags[8] = TL_FLAG_FIXED;
    CHECK(check_as_bins(s) > 15000);
  }
}

/* ---- errors --------------------------------------------------------------------------------- */

TEST(every_algorithm_names_the_body_whose_box_is_not_finite) {
  const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL};
  for (int run = 0; run < 2 * ALL_KINDS; ++run)
    for (size_t v = 0; v < sizeof bad / sizeof bad[0]; ++v) {
      tl_random r = random_for(44);
      scene *s = new_scene(500);
      tl_broad_cache cache = {0};
      tl_crowd crowd = crowd_of(s);
      tl_pairs pairs;
      fill_uniform(s, &r, 0, 20, 1.0);
      if (run >= ALL_KINDS) { /* with a skin, after a step that was fine */
        s->model.skin = 0.1;
        crowd.broad_cache = &cache;
        CHECK_OK(tl_broad_find_pairs(all_kinds[run % ALL_KINDS], &crowd, s->boxes, &pairs));
      }
      s->boxes[432].hi.y = bad[v];
      s->boxes[450].lo.z = NAN;
      const talus_status status =
          tl_broad_find_pairs(all_kinds[run % ALL_KINDS], &crowd, s->boxes, &pairs);
      tl_broad_cache_free(&cache);
      free_scene(s);
      CHECK_EQ_U64(status, TALUS_ERROR_DIVERGED);
      CHECK_MSG(strstr(talus_last_error(), "body 2296:"), "%s", talus_last_error());
    }
}

TEST(more_bodies_than_can_be_numbered_is_an_error) {
  const talus_broad_kind kinds[] = {TALUS_BROAD_KDTREE, TALUS_BROAD_CELLS, TALUS_BROAD_SWEEP,
                                    TALUS_BROAD_BVH};
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
    scene *s = new_scene(2);
    tl_crowd crowd = crowd_of(s);
    tl_pairs pairs;
    crowd.count = 0;
    s->model.bodies = (size_t)1 << 31;
    const talus_status status = tl_broad_find_pairs(kinds[k], &crowd, s->boxes, &pairs);
    free_scene(s);
    CHECK_EQ_U64(status, TALUS_ERROR_UNSUPPORTED);
    CHECK_MSG(strstr(talus_last_error(), "2147483648 bodies"), "%s", talus_last_error());
  }
}

/* ---- memory --------------------------------------------------------------------------------- */

TEST(all_take_little_memory_and_none_once_warm) {
  const struct {
    talus_broad_kind kind;
    double bytes; /* per body, at six pairs each: 5 M bodies stay below 3 GiB by far */
  } most[] = {{TALUS_BROAD_KDTREE, 480},
              {TALUS_BROAD_CELLS, 380},
              {TALUS_BROAD_SWEEP, 280},
              {TALUS_BROAD_BVH, 330}};
  for (size_t k = 0; k < sizeof most / sizeof most[0]; ++k) {
    tl_random r = random_for(45);
    scene *s = new_scene(20000);
    fill_uniform(s, &r, 0, 24, 1.0); /* as crowded as a settled heap */
    s->boxes[0] = box_at(1e7, -1e9, 1e8, 1, 1, 1);
    s->model.par.threads = 2;
    tl_broad_cache cache = {0};
    tl_crowd crowd = crowd_of(s);
    crowd.broad_cache = &cache;
    tl_pairs pairs;
    CHECK_OK(tl_broad_find_pairs(most[k].kind, &crowd, s->boxes, &pairs));
    const double per_body = (double)s->arena.peak / 20000;
    CHECK(pairs.count > 5 * 20000);
    CHECK_MSG(per_body < most[k].bytes, "%s: %g bytes per body", tl_broad_name(most[k].kind),
              per_body);
    tl_arena_reset(&s->arena);
    const uint64_t before = tl_memory_count().allocations;
    CHECK_OK(tl_broad_find_pairs(most[k].kind, &crowd, s->boxes, &pairs));
    CHECK_EQ_U64(tl_memory_count().allocations, before);
    tl_broad_cache_free(&cache);
    free_scene(s);
  }
}

/* ---- what is kept from call to call --------------------------------------------------------- */

TEST(the_order_kept_by_the_sweep_changes_no_pair) {
  tl_random r = random_for(60);
  tl_broad_cache cache = {0};
  scene *s = new_scene(400);
  fill_uniform(s, &r, 0, 8, 1.0);
  make_plane(s, 5);
  for (int step = 0; step < 40; ++step) {
    move_all(s, &r, step % 10 == 9 ? 8 : 0.05); /* a jump now and then */
    if (step == 20)                             /* the widest axis is another one from now on */
      for (size_t i = 0; i < s->count; ++i)
        if (i != 5)
          move_box(&s->boxes[i], 0, 20.0 * (double)(i % 20), 0);
    if (step == 30)
      s->count -= 7;
    const char *problem = cached_disagreement(s, TALUS_BROAD_SWEEP, &cache);
    CHECK_MSG(problem == NULL, "step %d: %s", step, problem);
  }
  tl_broad_cache_free(&cache);
  free_scene(s);
}

TEST(a_tree_that_is_kept_is_fitted_to_little_motion_and_made_anew_after_much) {
  tl_random r = random_for(61);
  tl_broad_cache cache = {0};
  scene *s = new_scene(1500);
  fill_uniform(s, &r, 0, 12, 1.0);
  make_plane(s, 5);
  for (int step = 0; step < 24; ++step) {
    const uint64_t before = cache.tree.rebuilds;
    const bool jump = step == 12, fewer = step == 18;
    if (step > 0)
      move_all(s, &r, jump ? 12 : 0.01);
    if (fewer)
      s->count -= 7;
    const char *problem = cached_disagreement(s, TALUS_BROAD_BVH, &cache);
    CHECK_MSG(problem == NULL, "step %d: %s", step, problem);
    CHECK_MSG((cache.tree.rebuilds > before) == (step == 0 || jump || fewer), "step %d: %llu", step,
              (unsigned long long)cache.tree.rebuilds);
  }
  tl_broad_cache_free(&cache);
  free_scene(s);
}

/* ---- auto ----------------------------------------------------------------------------------- */

/* Frees the scene. */
static talus_broad_kind choice_for(scene *s, tl_broad_cache *cache) {
  tl_crowd crowd = crowd_of(s);
  const char *reason = NULL;
  crowd.broad_cache = cache;
  const talus_broad_kind kind = tl_broad_choose(&crowd, s->boxes, &reason);
  free_scene(s);
  CHECK(reason && strlen(reason) > 10);
  return kind;
}

static scene *row_of(size_t n, double pitch) {
  tl_random r = random_for(80);
  scene *s = new_scene(n);
  for (size_t i = 0; i < n; ++i)
    s->boxes[i] = box_at(uniform(&r, 0, pitch * (double)n), uniform(&r, 0, 1), 0, 1, 1, 1);
  return s;
}

static scene *clouds(size_t n, double width) {
  tl_random r = random_for(81);
  scene *s = new_scene(n);
  for (size_t i = 0; i < n; ++i)
    s->boxes[i] = box_at(1e4 * (double)(i % 3) + width * tl_random_normal(&r),
                         1e4 * (double)(i / 3 % 3) + width * tl_random_normal(&r),
                         1e4 * (double)(i / 9 % 3) + width * tl_random_normal(&r), 1, 1, 1);
  return s;
}

TEST(auto_follows_count_sizes_and_crowding) {
  CHECK_EQ_U64(choice_for(new_scene(0), NULL), TALUS_BROAD_BRUTE);
  CHECK_EQ_U64(choice_for(new_scene(30), NULL), TALUS_BROAD_BRUTE);
  CHECK_EQ_U64(choice_for(new_scene(300), NULL), TALUS_BROAD_BINS);
  CHECK_EQ_U64(choice_for(uneven_scene(90, 5000, 1, 0.3), NULL), TALUS_BROAD_BINS);
  CHECK_EQ_U64(choice_for(uneven_scene(90, 5000, 2, 0.5), NULL), TALUS_BROAD_BINS);
  CHECK_EQ_U64(choice_for(uneven_scene(91, 30000, 1e4, 0.1), NULL), TALUS_BROAD_BINS);
  scene *periodic = uneven_scene(91, 30000, 1e4, 0.1);
  periodic->model.domain =
      (talus_domain_def){.enabled = true, .box = {{-1, -1, -1}, {99, 99, 99}}, .periodic = {true}};
  CHECK_EQ_U64(choice_for(periodic, NULL), TALUS_BROAD_CELLS);
  CHECK_EQ_U64(choice_for(row_of(5000, 40), NULL), TALUS_BROAD_SWEEP);
  CHECK_EQ_U64(choice_for(row_of(5000, 0.2), NULL), TALUS_BROAD_BINS);
  CHECK_EQ_U64(choice_for(clouds(20000, 1), NULL), TALUS_BROAD_BVH);
  CHECK_EQ_U64(choice_for(clouds(20000, 12), NULL), TALUS_BROAD_CELLS);
}

TEST(auto_survives_boxes_that_are_not_numbers_and_scenes_of_planes) {
  scene *s = uneven_scene(92, 3000, 1, 0.3);
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i].lo.x = i % 3 ? NAN : -HUGE_VAL;
  CHECK_EQ_U64(choice_for(s, NULL), TALUS_BROAD_BINS);
  s = new_scene(2000);
  for (size_t i = 0; i < s->count; ++i)
    make_plane(s, i);
  CHECK_EQ_U64(choice_for(s, NULL), TALUS_BROAD_BINS);
}

TEST(auto_stays_with_its_choice_until_another_is_clearly_better) {
  tl_broad_cache cache = {0};
  /* pitches around the one from which on a sweep is thought better than bins */
  double turn = 0;
  for (double pitch = 0.5; turn == 0; pitch *= 1.02)
    turn = choice_for(row_of(5000, pitch), NULL) == TALUS_BROAD_SWEEP ? pitch : 0;
  CHECK_EQ_U64(choice_for(row_of(5000, 0.98 * turn), &cache), TALUS_BROAD_BINS);
  CHECK_EQ_U64(choice_for(row_of(5000, turn), &cache), TALUS_BROAD_SWEEP);
  CHECK_EQ_U64(choice_for(row_of(5000, 0.98 * turn), &cache), TALUS_BROAD_SWEEP);
  CHECK_EQ_U64(choice_for(row_of(5000, 0.1 * turn), &cache), TALUS_BROAD_BINS);
}

/* ---- the linear kd-tree --------------------------------------------------------------------- */

/* N spheres of diameter 1 of which the volume is a fraction d of the cube they are in. */
static scene *paper_scene(size_t n, double d) {
  tl_random r = random_for(1 + (uint64_t)(1000 * d));
  scene *s = new_scene(n);
  fill_uniform(s, &r, 0, cbrt((double)n * 3.14159265358979 / 6 / d), 1.0);
  return s;
}

static uint64_t naive_sphere_pairs(const scene *s) {
  uint64_t pairs = 0;
  for (size_t i = 0; i < s->count; ++i)
    for (size_t j = i + 1; j < s->count; ++j) {
      const talus_dvec3 a = s->boxes[i].lo, b = s->boxes[j].lo;
      const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
      pairs += x * x + y * y + z * z <= 1;
    }
  return pairs;
}

TEST(kdtree_numbers_are_those_of_the_published_table) {
  /* Poirrier 2009, table 1: N = 10^4, sub-elements 6.0 to 6.7 N, V_n/V_e 11 to 13.5, candidates as
   * here (4928, 25643, 62148, 280736, 492790) within the scatter of random scenes. */
  const struct {
    double d, candidates;
  } rows[] = {{0.01, 5674}, {0.05, 30299}, {0.1, 53406}, {0.5, 285114}, {1.0, 486373}};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
    scene *s = paper_scene(10000, rows[k].d);
    const tl_crowd crowd = crowd_of(s);
    tl_kdtree_statistics whole, cut;
    CHECK_OK(tl_kdtree_measure(&crowd, s->boxes, true, 19, &cut));
    CHECK_EQ_U64(s->arena.in_use, 0);
    const double pieces = (double)cut.records / 10000, more = (double)cut.candidates;
    CHECK_MSG(pieces > 5.8 && pieces < 6.4, "d %g: %g N sub-elements", rows[k].d, pieces);
    CHECK_MSG(cut.volume_ratio > 10 && cut.volume_ratio < 14.5, "d %g: V_n/V_e %g", rows[k].d,
              cut.volume_ratio);
    CHECK_MSG(fabs(more / rows[k].candidates - 1) < 0.12, "d %g: %g candidates", rows[k].d, more);
    CHECK(cut.candidates > cut.overlapping && cut.overlapping > cut.unique);
    CHECK(cut.overlapping < 8 * cut.unique);
    CHECK(cut.bytes > 100 * 10000 && cut.bytes < 400 * 10000);
    if (k == 1) {
      CHECK_OK(tl_kdtree_measure(&crowd, s->boxes, false, 19, &whole));
      CHECK_EQ_U64(whole.records, 10000);
      CHECK_EQ_U64(whole.overlapping, whole.unique);
      CHECK_EQ_U64(whole.unique, cut.unique);
      CHECK_EQ_U64(whole.unique, naive_sphere_pairs(s));
      CHECK(whole.candidates > 20 * cut.candidates && whole.volume_ratio > 500);
      CHECK_EQ_U64(tl_kdtree_measure(&crowd, s->boxes, true, 20, &whole), TALUS_ERROR_INVALID);
    }
    free_scene(s);
  }
}

TEST(kdtree_records_are_sorted_as_by_the_library) {
  const size_t sizes[] = {0, 1, 1000, 65536, 200000};
  const int bits[] = {1, 7, 12, 39, 63};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k)
    for (size_t b = 0; b < sizeof bits / sizeof bits[0]; ++b) {
      const size_t n = sizes[k];
      tl_random r = random_for(100 + k);
      tl_arena arena = {0};
      uint64_t *key = zeros(2 * n, sizeof *key);
      uint32_t *id = zeros(2 * n, sizeof *id);
      for (size_t i = 0; i < n; ++i) { /* a third of them in one place, many equal */
        const double x = i % 3 ? tl_random_unit(&r) : 0.3;
        key[i] = key[n + i] = (uint64_t)ldexp(floor(1e5 * x) / 1e5, bits[b]);
        id[i] = id[n + i] = (uint32_t)i;
      }
      const tl_par par = {.threads = 1 + (int)((k + b) % 4)};
      CHECK_OK(tl_kdtree_sort(&par, &arena, key, id, n, bits[b]));
      CHECK_EQ_U64(arena.in_use, 0);
      CHECK_OK(tl_sort_u64(&par, &arena, key + n, id + n, n, bits[b]));
      CHECK_MSG(memcmp(key, key + n, n * sizeof *key) == 0 &&
                    memcmp(id, id + n, n * sizeof *id) == 0,
                "%zu records of %d bits", n, bits[b]);
      free(key);
      free(id);
      tl_arena_free(&arena);
    }
}

TEST(kdtree_cells_of_a_box_are_disjoint_and_cover_it) {
  scene *s = paper_scene(500, 0.3);
  const tl_crowd crowd = crowd_of(s);
  tl_kdtree tree;
  CHECK_OK(tl_kdtree_build(&crowd, s->boxes, true, 0, &tree));
  size_t of_entry[500] = {0};
  for (size_t i = 0; i < tree.count; ++i) {
    of_entry[tree.id[i]]++;
    CHECK(i == 0 || tree.key[i - 1] <= tree.key[i]);
    for (size_t j = i + 1; j < tree.count && tree.key[j] <= tl_kdtree_last(&tree, tree.key[i]); ++j)
      CHECK(tree.id[i] != tree.id[j]);
  }
  for (size_t e = 0; e < 500; ++e) {
    CHECK(of_entry[e] >= 1 && of_entry[e] <= TL_KDTREE_PIECES);
    size_t holders = 0; /* of the low corner */
    for (size_t i = 0; i < tree.count; ++i)
      holders += tree.id[i] == e && tl_kdtree_holds(&tree, tree.key[i], tree.entry[e].code);
    CHECK_EQ_U64(holders, 1);
  }
  free_scene(s);
}

TEST_MAIN()
