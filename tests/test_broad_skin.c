/* The Verlet skin: pairs are those without it, whatever moves; candidates are kept as long as they
 * may be and no longer; a world does not depend on it. */
#include "base/isa.h"
#include "broad_fixture.h"
#include "physics/rig.h"
#include "refuse.h"

#include "broad/skin.h"
#include "world/world.h"

/* One instruction set after another, of those that there are. */
static void use_set(int number) {
  const tl_isa isa = (tl_isa)(number % TL_ISA_COUNT);
  tl_isa_use(tl_isa_has(isa) ? isa : TL_ISA_GENERIC);
}

TEST(pairs_with_a_skin_are_those_without_whatever_moves) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    tl_random r = random_for(7000 + seed);
    tl_broad_cache cache = {0};
    const size_t n = 20 + below(&r, 150);
    scene *s = new_scene(n);
    fill_uniform(s, &r, 0, cbrt((double)n), 1.0);
    for (size_t i = 0; i < n; ++i)
      s->model.property.flags[i] = below(&r, 8) == 0 ? TL_FLAG_FIXED : 0;
    if (below(&r, 2))
      make_plane(s, below(&r, n));
    if (below(&r, 2)) {
      const talus_dvec3 lo = {0, 0, 0}, hi = {5, 6, 7};
      make_periodic(s, below(&r, 2), below(&r, 2), true, lo, hi);
    }
    s->model.skin = uniform(&r, 0.01, 0.5);
    const double skin = s->model.skin;
    for (int step = 0; step < 25; ++step) {
      s->model.par.threads = 1 + step % 3;
      switch (below(&r, 6)) {
      case 0: /* one shoots through everything */
        move_box(&s->boxes[below(&r, n)], uniform(&r, -9, 9), uniform(&r, -9, 9), 0);
        break;
      case 1: /* two exchange places */
        s->boxes[0] = s->boxes[n - 1];
        break;
      case 2: /* all drift together: beyond the skin sooner or later */
        for (size_t i = 0; i < n; ++i)
          move_box(&s->boxes[i], 0.3 * skin, 0, 0);
        break;
      case 3: /* one grows and one shrinks, as margins do with speed */
        s->boxes[1].hi.x += 0.4 * skin;
        s->boxes[2].hi.x = s->boxes[2].lo.x + 0.5 * (s->boxes[2].hi.x - s->boxes[2].lo.x);
        break;
      default:
        move_all(s, &r, uniform(&r, 0, 0.3) * skin);
      }
      keep_near(s);
      const talus_broad_kind kind = all_kinds[below(&r, ALL_KINDS)];
      const char *problem = cached_disagreement(s, kind, &cache);
      CHECK_MSG(problem == NULL, "seed %llu, step %d: %s", (unsigned long long)seed, step, problem);
    }
    tl_broad_cache_free(&cache);
    free_scene(s);
  }
}

/* A block of 4096 candidates and more: many bodies that hover about touching, one of them
 * unbounded, some that shrink below their skin; with every instruction set. */
TEST(pairs_with_a_skin_are_those_without_while_bodies_hover_about_touching) {
  const double skin = 0.2;
  const tl_isa best = tl_isa_now();
  for (int run = 0; run < 2 * TL_ISA_COUNT; ++run) {
    tl_random r = random_for(7100);
    tl_broad_cache cache = {0};
    scene *s = new_scene(1201);
    const bool shrinks = run >= TL_ISA_COUNT;
    use_set(run);
    for (size_t i = 0; i < 1200; ++i) /* a lattice of unit boxes: sides at gaps of half the skin */
      s->boxes[i] = box_at(1.1 * (double)(i % 15), 0.95 * (double)(i / 15 % 20),
                           1.0 * (double)(i / 300), 1, 1, 1);
    make_plane(s, 1200);
    s->model.skin = skin;
    for (int step = 0; step < 16; ++step) {
      s->model.par.threads = 1 + step % 3;
      move_all(s, &r, 0.02 * skin);
      if (step % 5 == 2) { /* one right to the edge of its skin */
        const size_t i = below(&r, 1200);
        s->boxes[i].hi.x = cache.grown.data[i].hi.x;
        s->boxes[i].lo.y = cache.grown.data[i].lo.y;
      }
      if (shrinks && step % 7 == 3)
        s->boxes[step].hi.x = s->boxes[step].lo.x + 1e-3;
      const char *problem = cached_disagreement(s, TALUS_BROAD_BINS, &cache);
      CHECK_MSG(problem == NULL, "run %d, step %d: %s", run, step, problem);
    }
    CHECK_MSG(cache.candidates.count > 8192, "%zu candidates", cache.candidates.count);
    CHECK_MSG(cache.renewals < 8, "%llu renewals", (unsigned long long)cache.renewals);
    tl_broad_cache_free(&cache);
    free_scene(s);
  }
  tl_isa_use(best);
}

/* Every side of every box moves by a known amount: towards each other, away, and by so little less
 * or more than the gap that only the last bit tells. */
TEST(a_pair_with_a_skin_is_found_to_the_last_bit) {
  const double skin = 0.25;
  const tl_isa best = tl_isa_now();
  for (int run = 0; run < 3 * TL_ISA_COUNT; ++run) {
    for (int k = -64; k <= 64; ++k) {
      const double gap = skin * k / 64, move = 0.5 * gap; /* exact: the boxes then touch */
      for (int last = -1; last <= 1; ++last) {
        tl_broad_cache cache = {0};
        scene *s = new_scene(2);
        const int axis = run % 3;
        s->model.skin = skin;
        use_set(run / 3);
        s->boxes[0] = box_at(8, 8, 8, 1, 1, 1);
        s->boxes[1] = box_at(8 + (axis == 0) * (1 + gap), 8 + (axis == 1) * (1 + gap),
                             8 + (axis == 2) * (1 + gap), 1, 1, 1);
        const char *problem = cached_disagreement(s, TALUS_BROAD_BRUTE, &cache);
        CHECK_MSG(problem == NULL, "gap %g: %s", gap, problem);
        CHECK_EQ_U64(cache.candidates.count, 1);
        double *hi = axis == 0   ? &s->boxes[0].hi.x
                     : axis == 1 ? &s->boxes[0].hi.y
                                 : &s->boxes[0].hi.z;
        move_box(&s->boxes[0], (axis == 0) * move, (axis == 1) * move, (axis == 2) * move);
        move_box(&s->boxes[1], -(axis == 0) * move, -(axis == 1) * move, -(axis == 2) * move);
        *hi = last < 0 ? nextafter(*hi, 0) : last > 0 ? nextafter(*hi, 99) : *hi;
        problem = cached_disagreement(s, TALUS_BROAD_BRUTE, &cache);
        CHECK_MSG(problem == NULL, "gap %g, last bit %d: %s", gap, last, problem);
        if (abs(k) < 64)
          CHECK_EQ_U64(cache.renewals, 1);
        tl_broad_cache_free(&cache);
        free_scene(s);
      }
    }
  }
  tl_isa_use(best);
}

/* So thin that rounding eats it where a box goes round: candidates cannot be trusted even when they
 * were found just now, and pairs are found without. */
TEST(a_skin_thinner_than_rounding_misses_no_pair) {
  for (int e = -9; e >= -21; e -= 2) {
    tl_random r = random_for(7200);
    tl_broad_cache cache = {0};
    scene *s = new_scene(300);
    fill_uniform(s, &r, 0, 700, 60.0);
    for (size_t i = 0; i < 300; ++i) /* some reach over an edge, some are periods away */
      move_box(&s->boxes[i], -30, (double)below(&r, 3) * 700, 0);
    const talus_dvec3 lo = {0, 0, 0}, hi = {700, 700, 700};
    make_periodic(s, true, true, false, lo, hi);
    s->model.skin = pow(10, e);
    for (int step = 0; step < 4; ++step) {
      const char *problem = cached_disagreement(s, TALUS_BROAD_BINS, &cache);
      CHECK_MSG(problem == NULL, "skin 1e%d, step %d: %s", e, step, problem);
      if (step == 1)
        move_all(s, &r, 1);
    }
    tl_broad_cache_free(&cache);
    free_scene(s);
  }
}

TEST(candidates_are_renewed_when_a_box_leaves_its_skin_and_not_before) {
  tl_random r = random_for(71);
  tl_broad_cache cache = {0};
  scene *s = new_scene(60); /* too few for mending to pay */
  fill_uniform(s, &r, 0, 4, 1.0);
  s->boxes[9] = box_at(2, 2, 2, 1, 1, 1);
  s->model.skin = 0.5;
  CHECK(!cached_disagreement(s, TALUS_BROAD_BINS, &cache));
  CHECK_EQ_U64(cache.renewals, 1);
  move_box(&s->boxes[9], 0.25, -0.25, 0.25); /* to the very edge */
  CHECK(!cached_disagreement(s, TALUS_BROAD_BINS, &cache));
  CHECK_EQ_U64(cache.renewals, 1);
  s->boxes[9].hi.z = nextafter(s->boxes[9].hi.z, 9); /* a hair beyond */
  CHECK(!cached_disagreement(s, TALUS_BROAD_BINS, &cache));
  CHECK_EQ_U64(cache.renewals, 2);
  CHECK(!cached_disagreement(s, TALUS_BROAD_KDTREE, &cache)); /* by whatever algorithm */
  CHECK_EQ_U64(cache.renewals, 2);
  tl_broad_forget(&cache);
  CHECK(!cached_disagreement(s, TALUS_BROAD_BINS, &cache));
  CHECK_EQ_U64(cache.renewals, 3);
  s->model.skin = 0.25;
  CHECK(!cached_disagreement(s, TALUS_BROAD_BINS, &cache));
  CHECK_EQ_U64(cache.renewals, 4);
  ignore(s, 0, 0);
  CHECK(!cached_disagreement(s, TALUS_BROAD_BINS, &cache));
  CHECK_EQ_U64(cache.renewals, 5);
  s->model.ignored.count = 0;
  s->count -= 1;
  CHECK(!cached_disagreement(s, TALUS_BROAD_BINS, &cache));
  CHECK_EQ_U64(cache.renewals, 6);
  tl_broad_cache_free(&cache);
  free_scene(s);
}

/* What the mended list should be: all pairs of the larger boxes, and what is known of each. */
static const char *mend_disagreement(const scene *s, const tl_broad_cache *cache) {
  size_t at = 0;
  for (uint32_t a = 0; a < s->count; ++a)
    for (uint32_t b = a + 1; b < s->count; ++b) {
      const talus_box *x = &cache->grown.data[a], *y = &cache->grown.data[b];
      if (!(x->lo.x <= y->hi.x && y->lo.x <= x->hi.x && x->lo.y <= y->hi.y && y->lo.y <= x->hi.y &&
            x->lo.z <= y->hi.z && y->lo.z <= x->hi.z && tl_broad_allows(&s->model, a, b)))
        continue;
      if (at >= cache->candidates.count || cache->candidates.data[at].a != a ||
          cache->candidates.data[at].b != b)
        return "a candidate is missing, or one too many";
      uint8_t level, side;
      tl_skin_generic.mark(cache->grown.data, &cache->candidates.data[at], 1, cache->skin, &level,
                           &side);
      if (cache->levels.data[at] != level || cache->sides.data[at] != side)
        return "what is known of a candidate is of another box";
      at++;
    }
  return at == cache->candidates.count ? NULL : "candidates are left over";
}

/* Some shoot through everything, some only leave their skin, one shrinks, one comes from far away;
 * some are fixed, and two groups ignore each other. */
TEST(candidates_mended_for_a_few_that_left_are_those_of_their_larger_boxes) {
  tl_random r = random_for(74);
  tl_broad_cache cache = {0};
  scene *s = new_scene(1500);
  const size_t n = s->count;
  fill_uniform(s, &r, 0, 11, 1.0);
  for (size_t i = 0; i < n; ++i) {
    s->model.property.flags[i] = below(&r, 8) == 0 ? TL_FLAG_FIXED : 0;
    s->model.property.group[i] = (uint32_t)below(&r, 3);
  }
  ignore(s, 0, 1);
  make_plane(s, 700);
  s->model.skin = 0.1;
  uint64_t mends = 0;
  const tl_isa best = tl_isa_now();
  for (int step = 0; step < 40; ++step) {
    s->model.par.threads = 1 + step % 3;
    use_set(step);
    move_all(s, &r, 0.0005);
    for (size_t k = below(&r, 20); k > 0; --k) {
      const size_t i = below(&r, n);
      const double far = below(&r, 4) == 0 ? 5 : 0.1;
      if (i != 700)
        move_box(&s->boxes[i], uniform(&r, -far, far), uniform(&r, -far, far), 0);
    }
    if (step % 5 == 1)
      s->boxes[3].hi.y = 0.5 * (s->boxes[3].lo.y + s->boxes[3].hi.y);
    const char *problem = cached_disagreement(s, TALUS_BROAD_BINS, &cache);
    CHECK_MSG(problem == NULL, "step %d: %s", step, problem);
    problem = mend_disagreement(s, &cache);
    CHECK_MSG(problem == NULL, "step %d: %s", step, problem);
    mends = cache.mended;
  }
  CHECK_MSG(mends > 20 && cache.renewals < 5, "%llu mends, %llu renewals",
            (unsigned long long)mends, (unsigned long long)cache.renewals);
  for (size_t i = 0; i < n; i += 10) /* too many at once */
    if (i != 700)
      move_box(&s->boxes[i], 0.1, 0, 0);
  const uint64_t renewals = cache.renewals;
  CHECK(!cached_disagreement(s, TALUS_BROAD_BINS, &cache));
  CHECK_EQ_U64(cache.renewals, renewals + 1);
  CHECK_EQ_U64(cache.mended, mends);
  tl_isa_use(best);
  tl_broad_cache_free(&cache);
  free_scene(s);
}

/* One that comes from far away has more neighbours than it had; there is no memory for them. */
TEST(candidates_that_could_not_be_mended_are_not_used) {
  if (!REFUSES_MEMORY)
    SKIP("memory cannot be made to run out here");
  tl_random r = random_for(75);
  tl_broad_cache cache = {0};
  scene *s = new_scene(1500);
  fill_uniform(s, &r, 0, 11, 1.0);
  s->model.skin = 0.1;
  move_box(&s->boxes[3], 100, 0, 0);
  for (int step = 0; step < 3; ++step) /* the arena is warm */
    CHECK(!cached_disagreement(s, TALUS_BROAD_BINS, &cache));
  move_box(&s->boxes[3], -100, 0, 0);
  refuses = true;
  const char *problem = cached_disagreement(s, TALUS_BROAD_BINS, &cache);
  refuses = false;
  CHECK(problem && strstr(problem, "out of memory"));
  CHECK(!cached_disagreement(s, TALUS_BROAD_BINS, &cache));
  tl_broad_cache_free(&cache);
  free_scene(s);
}

TEST(a_body_that_goes_round_a_periodic_axis_stays_within_its_skin) {
  tl_random r = random_for(72);
  tl_broad_cache cache = {0};
  scene *s = new_scene(150);
  fill_uniform(s, &r, 0, 5, 1.0);
  const talus_dvec3 lo = {0, 0, 0}, hi = {5.3, 5, 5};
  make_periodic(s, true, false, true, lo, hi);
  s->model.skin = 0.4;
  for (int step = 0; step < 60; ++step) {
    for (size_t i = 0; i < s->count; ++i) {
      move_box(&s->boxes[i], 0.011, 0, -0.007);
      if (s->boxes[i].lo.x > 5.3 - 0.5) /* its centre: as a step does it */
        move_box(&s->boxes[i], -5.3, 0, 0);
      if (s->boxes[i].lo.z < -0.5)
        move_box(&s->boxes[i], 0, 0, 5);
    }
    const char *problem = cached_disagreement(s, TALUS_BROAD_BINS, &cache);
    CHECK_MSG(problem == NULL, "step %d: %s", step, problem);
  }
  CHECK_MSG(cache.renewals <= 5, "%llu renewals", (unsigned long long)cache.renewals);
  tl_broad_cache_free(&cache);
  free_scene(s);
}

TEST(a_skin_allocates_nothing_once_warm) {
  tl_random r = random_for(73);
  tl_broad_cache cache = {0};
  scene *s = new_scene(5000);
  tl_crowd crowd = crowd_of(s);
  tl_pairs pairs;
  fill_uniform(s, &r, 0, 20, 1.0);
  s->model.skin = 0.2;
  crowd.broad_cache = &cache;
  uint64_t before = 0;
  for (int step = 0; step < 6; ++step) {
    CHECK_OK(tl_broad_find_pairs(TALUS_BROAD_BINS, &crowd, s->boxes, &pairs));
    tl_arena_reset(&s->arena);
    before = step == 2 ? tl_memory_count().allocations : before;
  }
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  tl_broad_cache_free(&cache);
  free_scene(s);
}

/* ---- a thickness that is chosen -------------------------------------------------------------- */

/* Unit boxes go straight on, `speed` each step in a direction of their own. */
static void chosen(double speed, int steps, bool forget, tl_broad_cache *cache) {
  scene *s = new_scene(250);
  tl_random r = random_for(7400);
  fill_uniform(s, &r, 0, 6, 1.0);
  make_plane(s, 7);
  s->model.skin = -1;
  for (int step = 0; step < steps; ++step) {
    const char *problem = cached_disagreement(s, TALUS_BROAD_BINS, cache);
    CHECK_MSG(problem == NULL, "speed %g, step %d: %s", speed, step, problem);
    for (size_t i = 0; i < 250; ++i)
      if (i != 7)
        move_box(&s->boxes[i], i % 2 ? speed : -speed, i % 3 ? 0.5 * speed : 0, 0);
    if (forget)
      tl_broad_forget(cache);
  }
  free_scene(s);
}

TEST(a_skin_that_is_chosen_follows_the_speed) {
  const double speeds[] = {1e-5, 1e-3, 1e-2};
  for (int i = 0; i < 3; ++i) {
    tl_broad_cache cache = {0};
    const double best = 2.1 * sqrt(speeds[i]);
    chosen(speeds[i], 120, false, &cache);
    if (i > 0) /* the slowest has not left its first skin yet */
      CHECK_MSG(cache.skin > 0.7 * best && cache.skin < 1.4 * best, "speed %g: %g", speeds[i],
                cache.skin);
    CHECK_MSG(cache.renewals < 20, "%llu renewals", (unsigned long long)cache.renewals);
    tl_broad_cache_free(&cache);
  }
}

TEST(a_skin_that_is_chosen_rests_where_none_is_of_use) {
  for (int run = 0; run < 2; ++run) { /* too fast; bodies that come and go in every step */
    tl_broad_cache cache = {0};
    chosen(run ? 1e-3 : 0.4, 100, run == 1, &cache);
    CHECK_MSG(cache.renewals < 16, "run %d: %llu renewals", run,
              (unsigned long long)cache.renewals);
    tl_broad_cache_free(&cache);
  }
}

/* ---- worlds --------------------------------------------------------------------------------- */

/* Spheres pour into a box and leave through a sink in the floor's middle; the hash at the end. */
static uint64_t pour(talus_broad_kind broad, double skin, uint64_t *renewals) {
  talus_world_def def = talus_world_def_default();
  def.broad = broad;
  def.skin = skin;
  def.dt = 2e-3;
  def.threads = 2;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0.2);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.05, 0, 0, 0);
  const talus_shape tank = rig_shape(world, TALUS_CONTAINER, 0.8, 0.8, 3, 0);
  rig_body(world, TALUS_FIXED, tank, m, 0, 0, 1.5);
  for (int i = 0; i < 150; ++i)
    rig_body(world, TALUS_FREE, ball, m, 0.101 * (i % 6) - 0.25 + 0.001 * (i / 36),
             0.101 * (i / 6 % 6) - 0.25, 0.1 + 0.12 * (i / 36));
  talus_emitter_def emitter = talus_emitter_def_default();
  emitter.body.shape = ball;
  emitter.body.material = m;
  emitter.from =
      (talus_region){.kind = TALUS_REGION_BOX, .box = {{-0.3, -0.3, 1}, {0.3, 0.3, 1.5}}};
  emitter.rate = 60;
  emitter.until = INFINITY;
  CHECK_OK(talus_world_add_emitter(world, &emitter));
  const talus_region sink = {.kind = TALUS_REGION_BOX, .box = {{-0.1, -0.1, 0}, {0.1, 0.1, 0.07}}};
  CHECK_OK(talus_world_add_sink(world, "hole", &sink));
  CHECK_OK(talus_world_step(world, 250));
  const uint64_t hash = talus_world_hash(world);
  if (renewals)
    *renewals = world->broad_cache.renewals;
  talus_world_destroy(world);
  return hash;
}

TEST(a_world_does_not_depend_on_the_broad_phase_nor_on_the_skin) {
  const uint64_t want = pour(TALUS_BROAD_BRUTE, 0, NULL);
  uint64_t renewals = 0;
  for (int k = 0; k < ALL_KINDS; ++k) {
    CHECK_MSG(pour(all_kinds[k], 0, NULL) == want, "%s", tl_broad_name(all_kinds[k]));
    CHECK_MSG(pour(all_kinds[k], 0.01, &renewals) == want, "%s", tl_broad_name(all_kinds[k]));
    CHECK_MSG(renewals > 5 && renewals < 200, "%llu renewals", (unsigned long long)renewals);
  }
  CHECK_EQ_U64(pour(TALUS_BROAD_AUTO, 0.02, &renewals), want);
  CHECK_EQ_U64(pour(TALUS_BROAD_AUTO, -1, &renewals), want);
  CHECK_MSG(renewals > 5 && renewals < 125, "%llu renewals", (unsigned long long)renewals);
}

TEST(a_skin_that_is_not_a_number_is_refused) {
  const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL};
  for (size_t i = 0; i < 3; ++i) {
    talus_world_def def = talus_world_def_default();
    talus_world *world;
    def.skin = bad[i];
    CHECK_EQ_U64(talus_world_create(&def, &world), TALUS_ERROR_INVALID);
    CHECK_MSG(strstr(talus_last_error(), "skin"), "%s", talus_last_error());
  }
}

TEST_MAIN()
