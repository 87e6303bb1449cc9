/* The narrow phase as a stage: pairs in, the canonical contact set out. The geometry of single
 * pairs is tested in test_collide.c. */
#include "base/random.h"
#include "base/isa.h"
#include "check.h"
#include "contact/reach.h"
#include "narrow/narrow.h"
#include "narrow/spheres.h"
#include "shape/shape.h"

enum { MOST = 420 };

/* A model of at most MOST bodies, without a world around it. */
typedef struct stage {
  tl_model model;
  tl_crowd crowd;
  tl_state state;
  tl_arena arena;
  tl_shape shapes[8];
  talus_dvec3 position[MOST];
  talus_quat rotation[MOST];
  talus_vec3 velocity[MOST], spin[MOST];
  talus_real scale[MOST], margins[MOST];
  uint32_t shape[MOST], flags[MOST];
  uint64_t uid[MOST];
  tl_pair pair[MOST * (MOST - 1) / 2];
  tl_pairs pairs;
  tl_contacts contacts;
} stage;

static stage s; /* too large for the stack */

static void clear_stage(void) {
  s = (stage){0};
  s.model.par.threads = 1;
  s.model.shapes.data = s.shapes;
  s.model.property.scale = s.scale, s.model.property.shape = s.shape;
  s.model.property.flags = s.flags, s.model.property.uid = s.uid;
  s.state.position = s.position, s.state.rotation = s.rotation;
  s.state.velocity = s.velocity, s.state.spin = s.spin;
  s.crowd.model = &s.model;
  s.crowd.in = &s.state, s.crowd.arena = &s.arena;
  s.pairs.data = s.pair;
}

static void free_stage(void) {
  tl_array_free(&s.contacts);
  tl_arena_free(&s.arena);
}

static uint32_t add_shape(talus_shape_kind kind, double x, double y, double z, double d,
                          uint32_t open) {
  const talus_shape_def def = {.kind = kind, .size = {x, y, z, d}, .open = open};
  CHECK_MSG(tl_shape_make(&def, &s.shapes[s.model.shapes.count]) == TALUS_OK, "%s",
            tl_last_message());
  return (uint32_t)s.model.shapes.count++;
}

static uint32_t add_body(uint32_t shape, double x, double y, double z) {
  const size_t slot = s.model.bodies++;
  s.position[slot] = tl_dvec3(x, y, z);
  s.rotation[slot] = tl_quat_identity();
  s.scale[slot] = 1;
  s.shape[slot] = shape;
  s.flags[slot] = s.shapes[shape].kind >= TALUS_PLANE ? TL_FLAG_FIXED : 0;
  s.uid[slot] = slot;
  s.crowd.count = s.model.bodies;
  return (uint32_t)slot;
}

/* Every pair that is not two static bodies. */
static void pair_all(void) {
  s.pairs.count = 0;
  for (uint32_t i = 0; i < s.model.bodies; ++i)
    for (uint32_t j = 0; j < s.model.bodies; ++j) {
      const talus_shape_kind a = s.shapes[s.shape[i]].kind, b = s.shapes[s.shape[j]].kind;
      if (s.uid[i] < s.uid[j] && tl_narrow_capacity(a, b) > 0)
        s.pair[s.pairs.count++] = (tl_pair){i, j};
    }
}

static talus_status find(void) {
  CHECK(tl_arena_reset(&s.arena) == TALUS_OK);
  return tl_narrow_find_contacts(&s.crowd, &s.pairs, s.margins, &s.contacts);
}

static void find_all(void) {
  pair_all();
  CHECK_MSG(find() == TALUS_OK, "%s", tl_last_message());
}

static double uniform(tl_random *random, double lo, double hi) {
  return lo + (hi - lo) * tl_random_unit(random);
}

/* Spheres, boxes, a plane and a container, close together; uids run against the slots, so that
 * every pair of kinds occurs in both orders. */
static void set_crowd(void) {
  clear_stage();
  const uint32_t shapes[4] = {add_shape(TALUS_SPHERE, 0.1, 0, 0, 0, 0),
                              add_shape(TALUS_BOX, 0.2, 0.3, 0.1, 0, 0),
                              add_shape(TALUS_PLANE, 0.1, 0, 1, -0.9, 0),
                              add_shape(TALUS_CONTAINER, 2, 2, 2, 0, TALUS_SIDE_TOP)};
  for (uint32_t i = 0; i < MOST; ++i) {
    tl_random random = tl_random_start(1, 0, i);
    const int which = i % 50 == 7 ? 2 : i % 50 == 20 ? 3 : i % 5 == 3 ? 1 : 0;
    const double x = uniform(&random, -1, 1), y = uniform(&random, -1, 1);
    add_body(shapes[which], x, y, uniform(&random, -1, 1));
    const talus_vec3 turn = {TL_R(uniform(&random, -1, 1)), TL_R(uniform(&random, -1, 1)), 0};
    s.rotation[i] = tl_quat_from_rotation_vector(which < 2 ? turn : tl_scale(turn, TL_R(0.1)));
    s.scale[i] = TL_R(uniform(&random, 0.5, 1.5));
    s.margins[i] = TL_R(uniform(&random, 0, 0.02));
    s.uid[i] = (i * 89u) % MOST + 1000; /* 89 and 420 have no common factor */
  }
}

static bool same_contact(const tl_contact *p, const tl_contact *q) {
  return p->a == q->a && p->b == q->b && p->feature_a == q->feature_a &&
         p->feature_b == q->feature_b && memcmp(&p->point, &q->point, sizeof p->point) == 0 &&
         memcmp(&p->normal, &q->normal, sizeof p->normal) == 0 && p->gap == q->gap &&
         p->impulse.x == q->impulse.x && p->impulse.y == q->impulse.y &&
         p->impulse.z == q->impulse.z;
}

/* ---- the set -------------------------------------------------------------------------------- */

TEST(set_is_what_the_pairs_give_one_by_one) {
  set_crowd();
  find_all();
  CHECK(s.pairs.count > 65536); /* several batches */
  size_t at = 0;
  size_t seen[TALUS_SHAPE_KINDS][TALUS_SHAPE_KINDS] = {{0}};
  for (size_t i = 0; i < s.pairs.count; ++i) {
    const uint32_t a = s.pair[i].a, b = s.pair[i].b;
    const tl_posed first = {
        .shape = &s.shapes[s.shape[a]], .scale = s.scale[a], .rotation = s.rotation[a]};
    const tl_posed second = {.shape = &s.shapes[s.shape[b]],
                             .scale = s.scale[b],
                             .position = tl_dsub(s.position[b], s.position[a]),
                             .rotation = s.rotation[b]};
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&first, &second, s.margins[a] + s.margins[b], p);
    for (int k = 0; k < count; ++k, ++at) {
      CHECK(at < s.contacts.count);
      const tl_contact *c = &s.contacts.data[at];
      CHECK(c->a == a && c->b == b);
      CHECK(c->feature_a == p[k].feature_a && c->feature_b == p[k].feature_b);
      CHECK(c->gap == p[k].gap && memcmp(&c->normal, &p[k].normal, sizeof c->normal) == 0);
      CHECK_NEAR(c->point.x, s.position[a].x + p[k].point.x, 1e-14);
      CHECK_NEAR(c->point.y, s.position[a].y + p[k].point.y, 1e-14);
      CHECK_NEAR(c->point.z, s.position[a].z + p[k].point.z, 1e-14);
      CHECK(c->impulse.x == 0 && c->impulse.y == 0 && c->impulse.z == 0);
      seen[first.shape->kind][second.shape->kind]++;
    }
  }
  CHECK_EQ_U64(at, s.contacts.count);
  for (int i = 0; i < TALUS_SHAPE_KINDS; ++i)
    for (int j = 0; j < TALUS_SHAPE_KINDS; ++j)
      if (i <= TALUS_CONTAINER && j <= TALUS_CONTAINER &&
          tl_narrow_capacity((talus_shape_kind)i, (talus_shape_kind)j) > 0)
        CHECK_MSG(seen[i][j] > 50, "kinds %d and %d touched %zu times", i, j, seen[i][j]);
  free_stage();
}

TEST(set_is_in_canonical_order) {
  set_crowd();
  find_all();
  size_t pair = 0;
  for (size_t i = 0; i < s.contacts.count; ++i) {
    const tl_contact *c = &s.contacts.data[i], *last = i > 0 ? c - 1 : NULL;
    CHECK(s.uid[c->a] < s.uid[c->b]);
    while (pair < s.pairs.count && (s.pair[pair].a != c->a || s.pair[pair].b != c->b))
      ++pair;
    CHECK(pair < s.pairs.count);
    if (last && last->a == c->a && last->b == c->b)
      CHECK(last->feature_a < c->feature_a ||
            (last->feature_a == c->feature_a && last->feature_b < c->feature_b));
  }
  free_stage();
}

TEST(set_does_not_depend_on_threads) {
  set_crowd();
  find_all();
  const size_t count = s.contacts.count;
  tl_contact *serial = malloc(count * sizeof *serial);
  CHECK(serial != NULL && count > 1000);
  memcpy(serial, s.contacts.data, count * sizeof *serial);
  for (int threads = 2; threads <= 4; ++threads) {
    s.model.par.threads = threads;
    CHECK(find() == TALUS_OK);
    CHECK_EQ_U64(s.contacts.count, count);
    for (size_t i = 0; i < count; ++i)
      CHECK_MSG(same_contact(&serial[i], &s.contacts.data[i]), "contact %zu, %d threads", i,
                threads);
  }
  free(serial);
  free_stage();
}

TEST(warm_stage_allocates_nothing) {
  set_crowd();
  s.model.par.threads = 2;
  find_all();
  CHECK(find() == TALUS_OK); /* the reset has merged the arena */
  const uint64_t before = tl_memory_count().allocations;
  for (int i = 0; i < 3; ++i)
    CHECK(find() == TALUS_OK);
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  /* Scratch is a batch, not a row for every pair, and is handed back. */
  CHECK(s.arena.peak < 70000 * sizeof(tl_contact));
  CHECK_EQ_U64(s.arena.in_use, 0);
  free_stage();
}

TEST(no_pairs_give_no_contacts) {
  set_crowd();
  find_all();
  CHECK(s.contacts.count > 0);
  s.pairs.count = 0;
  CHECK(find() == TALUS_OK);
  CHECK_EQ_U64(s.contacts.count, 0);
  free_stage();
}

TEST(margins_of_a_pair_add_up) {
  clear_stage();
  const uint32_t ball = add_shape(TALUS_SPHERE, 0.5, 0, 0, 0, 0);
  add_body(ball, 0, 0, 0), add_body(ball, 1.25, 0, 0);
  s.margins[0] = TL_R(0.125), s.margins[1] = TL_R(0.125);
  find_all();
  CHECK_EQ_U64(s.contacts.count, 1);
  CHECK(s.contacts.data[0].gap == TL_R(0.25));
  s.margins[1] = TL_R(0.1249);
  find_all();
  CHECK_EQ_U64(s.contacts.count, 0);
  free_stage();
}

TEST(unsupported_pair_is_named) {
  clear_stage();
  const uint32_t ball = add_shape(TALUS_SPHERE, 0.5, 0, 0, 0, 0);
  const uint32_t plane = add_shape(TALUS_PLANE, 0, 0, 1, 0, 0);
  for (uint32_t i = 0; i < 40; ++i)
    add_body(i == 33 || i == 37 ? plane : ball, i, 0, 0);
  s.uid[33] = 3, s.uid[37] = UINT64_C(1) << 40;
  for (uint32_t i = 0; i < 40; ++i)
    for (uint32_t j = i + 1; j < 40; ++j)
      s.pair[s.pairs.count++] = (tl_pair){i, j};
  CHECK(find() == TALUS_ERROR_UNSUPPORTED);
  CHECK_MSG(strstr(tl_last_message(), "plane-plane contacts are not in this version: bodies 3 and "
                                      "1099511627776"),
            "%s", tl_last_message());
  CHECK(strstr(tl_last_message(), "groups that ignore each other") != NULL);
  free_stage();
}

/* ---- images and distances ------------------------------------------------------------------- */

TEST(periodic_pair_meets_across_the_boundary) {
  clear_stage();
  const uint32_t ball = add_shape(TALUS_SPHERE, 0.5, 0, 0, 0, 0);
  const uint32_t box = add_shape(TALUS_BOX, 1, 1, 1, 0, 0);
  s.model.domain.enabled = true;
  s.model.domain.periodic[0] = s.model.domain.periodic[1] = true;
  s.model.domain.box.hi = tl_dvec3(8, 8, 8);
  add_body(ball, 0.25, 7.75, 4), add_body(ball, 7.5, 7.75, 4); /* 0.75 apart through x = 0 */
  find_all();
  CHECK_EQ_U64(s.contacts.count, 1);
  const tl_contact *c = s.contacts.data;
  CHECK(c->normal.x == -1 && c->gap == TL_R(-0.25));
  CHECK(c->point.x == 0.25 - 0.375 && c->point.y == 7.75); /* next to a */

  s.shape[0] = box; /* a box first, so the kinds are swapped */
  find_all();
  CHECK_EQ_U64(s.contacts.count, 1);
  c = s.contacts.data;
  CHECK(c->normal.x == -1 && c->gap == TL_R(-0.25));
  CHECK(c->point.x == 0.25 - 0.375 && c->point.y == 7.75);

  s.model.domain.periodic[0] = false;
  find_all();
  CHECK_EQ_U64(s.contacts.count, 0);
  free_stage();
}

/* With images, a sphere on the far side of the period would seem to be inside the wall's matter. */
TEST(plane_has_no_periodic_images) {
  clear_stage();
  const uint32_t ball = add_shape(TALUS_SPHERE, 0.5, 0, 0, 0, 0);
  const uint32_t wall = add_shape(TALUS_PLANE, 1, 0, 0, 0, 0);
  s.model.domain.enabled = s.model.domain.periodic[0] = true;
  s.model.domain.box.hi = tl_dvec3(8, 8, 8);
  add_body(wall, 0, 0, 0);
  add_body(ball, 7, 4, 4);
  add_body(ball, 0.25, 2, 2);
  find_all();
  CHECK_EQ_U64(s.contacts.count, 1);
  CHECK(s.contacts.data[0].b == 2 && s.contacts.data[0].gap == TL_R(-0.25));
  free_stage();
}

/* 1e6 m from the origin and from the plane's own centre; lengths that need no rounding, so the
 * answer must be exact, in float too. */
TEST(far_bodies_touch_exactly) {
  for (int order = 0; order < 2; ++order) {
    clear_stage();
    const uint32_t ball = add_shape(TALUS_SPHERE, 0.5, 0, 0, 0, 0);
    const uint32_t box = add_shape(TALUS_BOX, 1, 1, 1, 0, 0);
    const uint32_t floor = add_shape(TALUS_PLANE, 0, 0, 1, 0.25, 0);
    if (order == 0)
      add_body(floor, 0, 0, -0.25);
    add_body(ball, 1e6, -1e6, 0.5);
    add_body(ball, 1e6 + 1, -1e6, 0.5);
    add_body(box, 1e6, -1e6 + 1, 0.5);
    if (order == 1)
      add_body(floor, 0, 0, -0.25);
    find_all();
    CHECK_EQ_U64(s.contacts.count, 2 + 2 + 4); /* among each other, spheres, and box on the floor */
    for (size_t i = 0; i < s.contacts.count; ++i) {
      const tl_contact *c = &s.contacts.data[i];
      CHECK(c->gap == 0);
      const bool on_floor = fabs((double)c->normal.z) == 1;
      const uint32_t body = s.shapes[s.shape[c->a]].kind == TALUS_PLANE ? c->b : c->a;
      if (!on_floor || s.shapes[s.shape[body]].kind != TALUS_SPHERE)
        continue;
      CHECK(c->point.x == s.position[body].x && c->point.y == s.position[body].y);
      CHECK(c->point.z == 0 && c->normal.z == (body == c->a ? -1 : 1));
    }
    free_stage();
  }
}

/* A grain of a millimetre in a tank of 10 m: a gap of a nanometre is seen, in float too. */
TEST(small_grain_in_a_large_tank_keeps_its_gap) {
  clear_stage();
  const uint32_t grain = add_shape(TALUS_SPHERE, 1e-3, 0, 0, 0, 0);
  const uint32_t tank = add_shape(TALUS_CONTAINER, 10, 10, 10, 0, 0);
  const uint32_t slab = add_shape(TALUS_BOX, 10, 10, 10, 0, 0);
  add_body(grain, 3.3, -2.1, -5 + 1e-3 + 1e-9);
  const talus_quat turn = tl_quat_from_axis_angle(tl_vec3(0, 0, 1), TL_R(0.4));
  for (int i = 0; i < 2; ++i) {
    s.model.bodies = 1;
    const uint32_t other = add_body(i == 0 ? tank : slab, 0, 0, i == 0 ? 0 : -10);
    s.rotation[other] = turn;
    s.margins[0] = TL_R(1e-6);
    find_all();
    CHECK_EQ_U64(s.contacts.count, 1);
    CHECK_NEAR(s.contacts.data[0].gap, 1e-9, 1e-14);
    CHECK_NEAR(s.contacts.data[0].normal.z, -1, 1e-15);
  }
  free_stage();
}

/* Bodies whose bounding balls just reach the walls of a turned tank, or just do not: the stage
 * leaves out pairs that are far from all walls, and nothing else. */
TEST(bodies_that_just_reach_the_walls_of_a_tank_are_not_left_out) {
  clear_stage();
  const uint32_t shapes[5] = {
      add_shape(TALUS_BOX, 0.2, 0.3, 0.1, 0, 0), add_shape(TALUS_CAPSULE, 0.1, 0.2, 0, 0, 0),
      add_shape(TALUS_CYLINDER, 0.1, 0.3, 0, 0, 0), add_shape(TALUS_CONE, 0.1, 0.3, 0, 0, 0),
      add_shape(TALUS_ELLIPSOID, 0.1, 0.2, 0.15, 0, 0)};
  const uint32_t tank = add_body(add_shape(TALUS_CONTAINER, 2, 2, 2, 0, 0), 0, 0, 0);
  s.rotation[tank] = tl_quat_from_axis_angle(tl_vec3(0, 0, 1), TL_R(0.4));
  const tl_frame frame = tl_frame_from_quat(s.rotation[tank]);
  size_t touched = 0;
  for (uint32_t i = 0; i < 200; ++i) {
    tl_random random = tl_random_start(2, 0, i);
    const uint32_t body = add_body(shapes[i % 5], 0, 0, 0);
    const talus_vec3 turn = {TL_R(uniform(&random, -2, 2)), TL_R(uniform(&random, -2, 2)),
                             TL_R(uniform(&random, -2, 2))};
    s.rotation[body] = tl_quat_from_rotation_vector(turn);
    s.margins[body] = TL_R(0.01);
    const double reach = (double)s.shapes[shapes[i % 5]].radius;
    const double at = 1 - reach - 0.01 + uniform(&random, -1e-3, 0.1);
    s.position[body] = tl_frame_to_world(&frame, tl_dvec3(i % 2 ? at : 0, i % 2 ? 0 : -at, 0));
    const tl_posed first = {
        .shape = &s.shapes[shapes[i % 5]], .scale = 1, .rotation = s.rotation[body]};
    const tl_posed second = {.shape = &s.shapes[s.shape[tank]],
                             .scale = 1,
                             .position = tl_dscale(s.position[body], -1),
                             .rotation = s.rotation[tank]};
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&first, &second, s.margins[body], p);
    s.pair[0] = (tl_pair){tank, body}, s.pairs.count = 1;
    CHECK_MSG(find() == TALUS_OK, "%s", tl_last_message());
    CHECK_EQ_U64(s.contacts.count, (size_t)count);
    touched += count > 0;
  }
  CHECK_MSG(touched > 40 && touched < 190, "%zu touch", touched);
  free_stage();
}

/* ---- spheres in lanes ------------------------------------------------------------------------ */

/* Bodies of which some lie in one place, some touch to the last bit of their margins, and some are
 * no spheres; any number of pairs, which a vector of eight does not always divide. */
TEST(spheres_in_lanes_have_the_bits_of_one_by_one) {
  enum { ROWS = 60, PAIRS = 64 };
  tl_sphere_row rows[ROWS];
  tl_pair pairs[PAIRS], met[PAIRS];
  tl_contact plain[PAIRS], lanes[PAIRS];
  tl_random random = tl_random_start(9, 1, 0);
  size_t meetings = 0, far = 0, doubted = 0, trusted = 0;
  for (int round = 0; round < 600; ++round) {
    const tl_isa isa = (tl_isa)(round % TL_ISA_COUNT);
    const tl_isa before = tl_isa_use(tl_isa_has(isa) ? isa : TL_ISA_GENERIC);
    const tl_sphere_loops *const loops = tl_spheres_loops();
    tl_isa_use(before);
    for (int i = 0; i < ROWS; ++i) {
      rows[i] = (tl_sphere_row){.x = uniform(&random, 0, 2),
                                .y = uniform(&random, 0, 2),
                                .z = uniform(&random, 0, 2),
                                .radius = i % 9 == 4 ? (double)NAN : uniform(&random, 0.1, 0.9),
                                .margin = (double)TL_R(uniform(&random, 0, 0.1)),
                                .vx = i % 11 == 6 ? (double)NAN : uniform(&random, -2, 2),
                                .vy = uniform(&random, -2, 2),
                                .vz = uniform(&random, -2, 2)};
      if (i % 7 == 3)
        rows[i] = rows[i - 1];
      if (i % 7 == 5) { /* the gap is the margin, give or take a bit */
        const double reach = rows[i - 1].radius + rows[i].radius +
                             (double)(TL_R(rows[i].margin) + TL_R(rows[i - 1].margin));
        rows[i].x = rows[i - 1].x + (i % 2 ? reach : nextafter(reach, round % 2 ? 9 : 0));
        rows[i].y = rows[i - 1].y, rows[i].z = rows[i - 1].z;
      }
    }
    const size_t count = 1 + (size_t)round % PAIRS;
    for (size_t k = 0; k < count; ++k) {
      const uint32_t a = tl_random_u32(&random) % (ROWS - 1);
      pairs[k] = (tl_pair){a, k % 2 ? a + 1 : a + 1 + tl_random_u32(&random) % (ROWS - 1 - a)};
    }
    const tl_sphere_reach reach = {.h = round % 2 ? 0.02 : 0, .slow = 0.1, .slack = 1e-3};
    tl_sphere_word word_plain, word;
    tl_spheres_plain.meet(rows, pairs, count, &reach, &word_plain);
    loops->meet(rows, pairs, count, &reach, &word);
    const uint64_t want = word_plain.meets;
    CHECK_EQ_U64(word.meets, want);
    CHECK_EQ_U64(word.others, word_plain.others);
    CHECK((word.far & ~want) == 0 && (round % 2 || (word.far == 0 && word.strikes == 0)));
    far += (size_t)__builtin_popcountll(word.far);
    size_t n = 0;
    for (size_t k = 0; k < count; ++k)
      if (want >> k & 1)
        met[n++] = pairs[k];
    const tl_sphere_way way = {.h = round % 5 == 0 ? 0 : 0.05, .takes_slow = round % 3 == 0};
    uint64_t doubts_plain = 0, doubts = ~UINT64_C(0);
    tl_spheres_plain.write(rows, met, n, &way, plain, &doubts_plain);
    loops->write(rows, met, n, &way, lanes, &doubts);
    for (size_t k = 0; k < n; ++k)
      CHECK_MSG(same_contact(&plain[k], &lanes[k]), "round %d, contact %zu", round, k);
    CHECK(n == 0 || (doubts & ~doubts_plain) == 0);
    if (n > 0)
      doubted += (size_t)__builtin_popcountll(doubts),
          trusted += (size_t)__builtin_popcountll(doubts_plain & ~doubts);
    meetings += n;
  }
  CHECK_MSG(meetings > 2000, "%zu meetings", meetings);
  CHECK_MSG(doubted > 20 && trusted > 20, "%zu doubted, %zu trusted", doubted, trusted);
  CHECK_MSG(far > 20, "%zu far apart", far);
}

/* Compares the contacts of the stage with those that the plain loops find. */
static void compare_with_plain_loops(void) {
  find_all();
  tl_contacts lanes = s.contacts;
  s.contacts = (tl_contacts){0};
  tl_spheres_plain_of_tests = true;
  find_all();
  tl_spheres_plain_of_tests = false;
  CHECK_EQ_U64(s.contacts.count, lanes.count);
  for (size_t i = 0; i < lanes.count; ++i)
    CHECK(same_contact(&s.contacts.data[i], &lanes.data[i]));
  tl_array_free(&lanes);
}

TEST(set_is_the_same_with_the_plain_loops) {
  set_crowd();
  compare_with_plain_loops();
  free_stage();
}

/* The plain loops follow every pair with a gap on its way, lanes those that may change: the set is
 * the same to the bit, and not that of bodies at rest. */
TEST(spheres_that_are_left_where_they_are_would_not_change_on_their_way) {
  for (int round = 0; round < 4; ++round) {
    clear_stage();
    const uint32_t ball = add_shape(TALUS_SPHERE, 0.1, 0, 0, 0, 0);
    for (uint32_t i = 0; i < MOST; ++i) {
      tl_random random = tl_random_start(5, (uint32_t)round, i);
      const double x = uniform(&random, -1, 1), y = uniform(&random, -1, 1);
      add_body(ball, x, y, uniform(&random, -1, 1));
      s.scale[i] = TL_R(uniform(&random, 0.5, 1.5));
      const double speed = pow(10, uniform(&random, -2, 1.5));
      s.velocity[i] = tl_scale(tl_vec3(TL_R(uniform(&random, -1, 1)), TL_R(uniform(&random, -1, 1)),
                                       TL_R(uniform(&random, -1, 1))),
                               TL_R(speed));
      s.flags[i] = (uint32_t)(i % 40 == 9 ? TL_FLAG_FIXED : i % 40 == 17 ? TALUS_LOCK_X : 0);
      s.margins[i] = TL_R(0.005) * tl_length(s.velocity[i]);
    }
    s.model.gravity = tl_vec3(0, 0, TL_R(-9.8));
    s.model.margin = round % 2 ? 0 : -1;
    find_all();
    tl_contacts still = s.contacts;
    s.contacts = (tl_contacts){0};
    s.crowd.dt = 0.005;
    compare_with_plain_loops();
    size_t other = 0;
    for (size_t i = 0; i < still.count; ++i)
      other += !same_contact(&s.contacts.data[i], &still.data[i]);
    CHECK_MSG(other > 5 && other < still.count / 2, "%zu of %zu", other, still.count);
    tl_array_free(&still);
    free_stage();
  }
}

/* The contacts of the stage as steps judge them. */
static void sift_stage(void) {
  tl_reach reach;
  CHECK_OK(tl_reach_begin(&s.crowd, s.margins, &reach));
  CHECK_OK(tl_reach_judge(&reach, &s.contacts));
  CHECK(reach.is_spent);
  tl_reach_sift(&reach, &s.contacts);
}

/* Where very many bodies strike each other contacts stay as far as speeds allow: lanes do not write
 * those that would go, the plain loops do. */
TEST(contacts_that_a_crowd_would_lose_are_not_written) {
  clear_stage();
  const uint32_t ball = add_shape(TALUS_SPHERE, 0.05, 0, 0, 0, 0);
  s.model.gravity = tl_vec3(0, 0, TL_R(-9.8));
  s.model.margin = -1;
  s.crowd.dt = 0.005;
  for (uint32_t i = 0; i < MOST; ++i) {
    tl_random random = tl_random_start(6, 0, i);
    const double x = uniform(&random, -0.5, 0.5), y = uniform(&random, -0.5, 0.5);
    add_body(ball, x, y, uniform(&random, -0.5, 0.5));
    for (int k = 0; k < 2; ++k) {
      const talus_real vx = TL_R(uniform(&random, -9, 9)), vy = TL_R(uniform(&random, -9, 9));
      *(k ? &s.spin[i] : &s.velocity[i]) = tl_vec3(vx, vy, TL_R(uniform(&random, -9, 9)));
    }
    s.margins[i] = TL_R(0.0052) * tl_length(s.velocity[i]) + TL_R(1e-3);
  }
  find_all();
  const size_t written = s.contacts.count;
  sift_stage();
  tl_contacts lanes = s.contacts;
  s.contacts = (tl_contacts){0};
  tl_spheres_plain_of_tests = true;
  find_all();
  tl_spheres_plain_of_tests = false;
  CHECK_MSG(written + 50 < s.contacts.count, "%zu of %zu written", written, s.contacts.count);
  sift_stage();
  CHECK_EQ_U64(s.contacts.count, lanes.count);
  for (size_t i = 0; i < lanes.count; ++i)
    CHECK(same_contact(&s.contacts.data[i], &lanes.data[i]));
  tl_array_free(&lanes);
  free_stage();
}

TEST_MAIN()
