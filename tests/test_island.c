/* Islands: labels against a flood fill, the solution against that of one problem, bits against the
 * number of threads and against what else there is in the world. */
#include "base/random.h"
#include "contact/island.h"
#include "physics/rig.h"
#include "crowd/asleep.h"
#include "world/world.h"

/* ---- labels ---------------------------------------------------------------------------------- */

#define BODIES   300
#define CONTACTS 600

typedef struct graph {
  tl_model model;
  tl_crowd crowd;
  tl_arena arena;
  tl_state state;
  uint32_t flags[BODIES], sleep_flags[BODIES];
  tl_contact rows[CONTACTS];
  tl_contacts contacts;
} graph;

static int by_key(const void *x, const void *y) {
  const tl_contact *p = x, *q = y;
  if (p->a != q->a)
    return p->a < q->a ? -1 : 1;
  if (p->b != q->b)
    return p->b < q->b ? -1 : 1;
  return (p->feature_b > q->feature_b) - (p->feature_b < q->feature_b);
}

/* `reach`: how far apart in slots two bodies may be that touch; small ones make many islands. Every
 * tenth body is fixed. */
static void make_crowd(graph *c, uint64_t seed, uint32_t reach, size_t contacts) {
  memset(c, 0, sizeof *c);
  c->model.par.threads = 1;
  c->model.bodies = BODIES;
  c->model.property.flags = c->flags;
  c->state.sleep_flags = c->sleep_flags;
  c->crowd = (tl_crowd){.model = &c->model, .count = BODIES, .arena = &c->arena, .in = &c->state};
  for (size_t i = 0; i < BODIES; i += 10)
    c->flags[i] = i % 20 ? TL_FLAG_KINEMATIC : TL_FLAG_FIXED;
  tl_random random = tl_random_start(seed, 1, 0);
  c->contacts.data = c->rows;
  while (c->contacts.count < contacts) {
    const uint32_t a = tl_random_u32(&random) % BODIES;
    const uint32_t b = a + 1 + tl_random_u32(&random) % reach;
    if (b < BODIES && !(c->flags[a] && c->flags[b])) {
      c->rows[c->contacts.count] = (tl_contact){.a = a, .b = b};
      c->rows[c->contacts.count].feature_b = (uint32_t)c->contacts.count;
      c->contacts.count++;
    }
  }
  qsort(c->rows, c->contacts.count, sizeof c->rows[0], by_key);
}

/* The slow way: the lowest label spreads until nothing changes. */
static void flood(const graph *c, uint32_t *label) {
  for (uint32_t i = 0; i < BODIES; ++i)
    label[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < c->contacts.count; ++i) {
      const uint32_t a = c->rows[i].a, b = c->rows[i].b;
      if (c->flags[a] || c->flags[b] || label[a] == label[b])
        continue;
      label[a] = label[b] = label[a] < label[b] ? label[a] : label[b];
      changed = true;
    }
  }
}

TEST(labels_are_those_of_a_flood_fill_in_any_order) {
  static graph c;
  uint32_t got[BODIES], want[BODIES];
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    make_crowd(&c, seed, 1 + (uint32_t)seed % 40, seed % 3 ? 150 : CONTACTS);
    flood(&c, want);
    tl_island_label(&c.model, &c.contacts, NULL, got);
    CHECK(memcmp(got, want, sizeof got) == 0);
    tl_random random = tl_random_start(seed, 2, 0);
    for (size_t i = c.contacts.count; i > 1; --i) {
      const size_t k = tl_random_u32(&random) % i;
      const tl_contact kept = c.rows[k];
      c.rows[k] = c.rows[i - 1], c.rows[i - 1] = kept;
    }
    tl_island_label(&c.model, &c.contacts, NULL, got);
    CHECK(memcmp(got, want, sizeof got) == 0);
  }
}

TEST(links_join_islands_as_contacts_do) {
  static graph c;
  uint32_t label[BODIES];
  make_crowd(&c, 1, 1, 0);
  tl_pair pairs[] = {{1, 5}, {5, 9}, {9, 10}, {10, 11}};
  const tl_pairs links = {pairs, 4};
  tl_island_label(&c.model, &c.contacts, &links, label);
  CHECK(label[5] == 1 && label[9] == 1 && label[10] == 10 && label[11] == 11); /* 10 is fixed */
}

/* Links with their bodies; an island with a link is never small, and may have no contact at all. */
TEST(every_link_is_in_the_island_of_its_bodies) {
  static graph c;
  uint32_t label[BODIES];
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    make_crowd(&c, seed, 3, 150);
    tl_random random = tl_random_start(seed, 3, 0);
    tl_pair pairs[40];
    tl_pairs links = {.data = pairs};
    for (uint32_t i = 0; i < 40; ++i) {
      const uint32_t a = tl_random_u32(&random) % BODIES, b = tl_random_u32(&random) % BODIES;
      pairs[links.count] = (tl_pair){i % 3 == 0 ? TL_NONE : a, b};
      links.count += !tl_body_is_static(&c.model, b) && a != b;
    }
    tl_islands islands;
    tl_pair ends[CONTACTS];
    CHECK_OK(tl_contact_find_islands(&c.crowd, &c.contacts, &links, true, 5, ends, &islands));
    tl_island_label(&c.model, &c.contacts, &links, label);
    CHECK(islands.link_start[islands.small_count] == 0);
    CHECK(islands.link_start[islands.count] == links.count);
    for (size_t k = 0; k < islands.count; ++k) {
      uint32_t of = TL_NONE;
      for (uint32_t i = islands.link_start[k]; i < islands.link_start[k + 1]; ++i) {
        const uint32_t body = pairs[islands.link_order[i]].b;
        CHECK(i == islands.link_start[k] ||
              (label[body] == of && islands.link_order[i] > islands.link_order[i - 1]));
        of = label[body];
      }
      for (uint32_t i = islands.start[k]; of != TL_NONE && i < islands.start[k + 1]; ++i) {
        const tl_contact *contact = &c.contacts.data[islands.order[i]];
        const bool free_a = !tl_body_is_static(&c.model, contact->a);
        CHECK(label[free_a ? contact->a : contact->b] == of);
      }
    }
    tl_arena_free(&c.arena);
  }
}

/* Many runs of contacts, most of them of one island, or none of any size: as the labels say,
 * contact by contact, for any number of threads. */
TEST(contacts_of_a_large_island_are_grouped_as_one_by_one) {
  enum { MANY = 9000, ROWS = 20000 };
  static tl_contact rows[ROWS];
  static tl_pair ends[ROWS];
  static uint32_t flags[MANY], label[MANY];
  for (int kind = 0; kind < 4; ++kind) {
    tl_random random = tl_random_start(40 + (uint64_t)kind, 1, 0);
    tl_arena arena = {0};
    tl_state state = {0};
    tl_model model = {.bodies = MANY};
    tl_crowd crowd = {.model = &model, .count = MANY, .arena = &arena, .in = &state};
    tl_contacts contacts = {.data = rows};
    const uint32_t reach = kind == 0 ? 40 : kind == 1 ? 2 : kind == 2 ? 4000 : 8;
    model.property.flags = flags;
    memset(flags, 0, sizeof flags);
    for (size_t i = 0; i < MANY; i += kind == 3 ? 4 : 50)
      flags[i] = TL_FLAG_FIXED;
    while (contacts.count < ROWS) {
      const uint32_t a = tl_random_u32(&random) % MANY;
      const uint32_t b = a + 1 + tl_random_u32(&random) % reach;
      if (b < MANY && !(flags[a] && flags[b])) {
        rows[contacts.count] = (tl_contact){.a = a, .b = b};
        rows[contacts.count].feature_b = (uint32_t)contacts.count;
        contacts.count++;
      }
    }
    qsort(rows, ROWS, sizeof rows[0], by_key);
    tl_island_label(&model, &contacts, NULL, label);
    const int threads[] = {1, 2, 3, 10};
    for (int t = 0; t < 4; ++t) {
      tl_islands islands;
      model.par.threads = threads[t];
      CHECK_OK(tl_contact_find_islands(&crowd, &contacts, NULL, true, 5, ends, &islands));
      CHECK_EQ_U64(islands.start[islands.count], ROWS);
      uint32_t last[2] = {0, 0}; /* roots ascend, of the small ones and of the others */
      for (size_t k = 0; k < islands.count; ++k) {
        uint32_t of = TL_NONE;
        for (uint32_t i = islands.start[k]; i < islands.start[k + 1]; ++i) {
          const tl_contact *c = &rows[islands.order[i]];
          const uint32_t root = label[flags[c->a] ? c->b : c->a];
          CHECK(i == islands.start[k] || (root == of && islands.order[i - 1] < islands.order[i]));
          of = root;
        }
        CHECK((islands.start[k + 1] - islands.start[k] < 5) == (k < islands.small_count));
        CHECK(k == 0 || k == islands.small_count || of > last[k >= islands.small_count]);
        last[k >= islands.small_count] = of;
      }
    }
    tl_arena_free(&arena);
  }
}

TEST(every_contact_is_in_one_island_small_ones_first) {
  static graph c;
  uint32_t label[BODIES];
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    make_crowd(&c, seed, 1 + (uint32_t)seed % 12, 250);
    for (uint32_t i = 0; i < 60; ++i) /* sleepers, among themselves */
      if (!c.flags[i])
        c.sleep_flags[i] = TL_SLEEP_ASLEEP;
    tl_islands islands;
    tl_pair ends[CONTACTS];
    CHECK_OK(tl_contact_find_islands(&c.crowd, &c.contacts, NULL, true, 5, ends, &islands));
    tl_island_label(&c.model, &c.contacts, NULL, label);
    bool seen[CONTACTS] = {false};
    for (size_t k = 0; k < islands.count; ++k) {
      const uint32_t begin = islands.start[k], end = islands.start[k + 1];
      CHECK(begin < end && (end - begin < 5) == (k < islands.small_count));
      for (uint32_t i = begin; i < end; ++i) {
        const tl_contact *x = &c.rows[islands.order[i]], *y = &c.rows[islands.order[begin]];
        CHECK(!seen[islands.order[i]]);
        seen[islands.order[i]] = true;
        CHECK(i == begin || islands.order[i] > islands.order[i - 1]);
        CHECK(label[c.flags[x->a] ? x->b : x->a] == label[c.flags[y->a] ? y->b : y->a]);
      }
    }
    for (size_t i = 0; i < c.contacts.count; ++i)
      CHECK(seen[i] != tl_pair_is_dormant(&c.model, &c.state, c.rows[i].a, c.rows[i].b));
    tl_arena_free(&c.arena);
  }
}

/* ---- the solution ---------------------------------------------------------------------------- */

/* Balls that roll, a tower of balls, a brick, a heap in a box, pairs that hit each other in the
 * air: islands of 1 to some hundred contacts. `crowd` balls are in the box. */
static talus_world *make_scene(talus_world_def def, int crowd_size, bool others) {
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.4, 0);
  rig_floor(world, m);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  const talus_shape brick = rig_shape(world, TALUS_BOX, 0.3, 0.2, 0.1, 0);
  rig_body(world, TALUS_FREE, brick, m, 2, 0, 0.05);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 0.9, 0.9, 60, 0), m, 0, 0, 30);
  for (int i = 0; i < crowd_size; ++i) {
    tl_random random = tl_random_start(4, 1, (uint64_t)i);
    rig_body(world, TALUS_FREE, ball, m, -0.3 + 0.2 * (i % 4) + 0.02 * tl_random_unit(&random),
             -0.3 + 0.2 * (i / 4 % 4) + 0.02 * tl_random_unit(&random), 0.101 + 0.19 * (i / 16));
  }
  for (int i = 0; i < 4 && others; ++i)
    rig_body(world, TALUS_FREE, ball, m, 3, 0, 0.0999 + 0.1999 * i);
  for (int i = 0; i < 60 && others; ++i) {
    talus_body_def body = talus_body_def_default();
    body.shape = ball, body.material = m;
    const double z = i % 3 ? 0.0995 : 3.0;
    body.position = (talus_dvec3){4 + 0.5 * i, 0, z};
    body.velocity = rig_vec(0.3, 0.1, 0);
    CHECK_OK(talus_world_add_body(world, &body, NULL));
    body.position.x += 0.2;
    body.velocity = rig_vec(-0.2, 0, 0.05);
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  return world;
}

static const talus_ccp_method methods[4] = {TALUS_GAUSS_SEIDEL, TALUS_APGD, TALUS_BB, TALUS_JACOBI};
static const char *const names[4] = {"gauss-seidel", "apgd", "bb", "jacobi"};

TEST(islands_have_the_velocities_of_one_problem) {
  for (int k = 0; k < 3; ++k) {
    talus_world_def def = rig_def(2e-3);
    def.solve.method = methods[k];
    def.solve.friction = TALUS_FRICTION_CCP;
    def.solve.iterations = 3000;
    def.solve.tolerance = BY_PRECISION(1e-10, 1e-6);
    talus_world *apart = make_scene(def, 16, true);
    def.solve.islands = false;
    talus_world *whole = make_scene(def, 16, true);
    CHECK_OK(talus_world_step(apart, 1));
    CHECK_OK(talus_world_step(whole, 1));
    CHECK(rig_report(apart).contacts_near > 100);
    CHECK(rig_report(apart).contacts_near == rig_report(whole).contacts_near);
    const double tolerance = BY_PRECISION(1e-6, 1e-2) * G * def.dt;
    for (size_t i = 0; i < whole->model.bodies; ++i) {
      const talus_vec3 v = tl_sub(apart->state.velocity[i], whole->state.velocity[i]);
      const talus_vec3 w = tl_sub(apart->state.spin[i], whole->state.spin[i]);
      CHECK_MSG((double)tl_length(v) < tolerance && 0.1 * (double)tl_length(w) < tolerance,
                "%s: body %zu is off by %g", names[k], i, (double)tl_length(v));
    }
    talus_world_destroy(apart);
    talus_world_destroy(whole);
  }
}

/* Each island stops when it is done: what is added elsewhere changes no bit of it. */
TEST(island_does_not_see_what_else_there_is) {
  for (int k = 0; k < 4; ++k) {
    talus_world_def def = rig_def(2e-3);
    def.solve.method = methods[k];
    def.solve.iterations = 60;
    def.solve.tolerance = 1e-5;
    talus_world *alone = make_scene(def, 40, false), *among = make_scene(def, 40, true);
    CHECK_OK(talus_world_step(alone, 30));
    CHECK_OK(talus_world_step(among, 30));
    const size_t n = alone->model.bodies;
    CHECK_MSG(memcmp(alone->state.position, among->state.position,
                     n * sizeof *alone->state.position) == 0 &&
                  memcmp(alone->state.spin, among->state.spin, n * sizeof *alone->state.spin) == 0,
              "%s", names[k]);
    talus_world_destroy(alone);
    talus_world_destroy(among);
  }
}

/* One island for a team, some that are dealt out, many small ones. */
TEST(islands_have_the_same_bits_for_any_number_of_threads) {
  for (int k = 0; k < 4; ++k) {
    uint64_t hash[3];
    for (int t = 0; t < 3; ++t) {
      talus_world_def def = rig_def(2e-3);
      def.solve.method = methods[k];
      def.solve.iterations = 15;
      def.solve.tolerance = 1e-4;
      def.threads = 1 << t;
      talus_world *world = make_scene(def, k == 0 ? 2900 : 160, true);
      CHECK_OK(talus_world_step(world, 20));
      if (k == 0)
        CHECK_MSG(rig_report(world).contacts_near > 4300, "%zu contacts",
                  rig_report(world).contacts_near);
      hash[t] = talus_world_hash(world);
      talus_world_destroy(world);
    }
    CHECK_MSG(hash[0] == hash[1] && hash[0] == hash[2], "%s", names[k]);
  }
}

TEST(report_is_the_worst_of_all_islands) {
  talus_world_def def = rig_def(2e-3);
  def.solve.iterations = 400;
  def.solve.tolerance = BY_PRECISION(1e-7, 1e-5);
  talus_world *world = make_scene(def, 0, true);
  CHECK_OK(talus_world_step(world, 1));
  const int tower = rig_report(world).iterations;
  CHECK(tower > 5 && rig_report(world).residual_rms < def.solve.tolerance &&
        rig_report(world).residual_max >= rig_report(world).residual_rms);
  /* Balls on a floor are solved in a few sweeps whatever the tower needs: seen from its residual
   * when no island may take more than that. */
  world->model.solve.iterations = 3;
  CHECK_OK(talus_world_step(world, 1));
  CHECK(rig_report(world).iterations == 3);
  talus_world_destroy(world);
}

TEST(world_without_contacts_has_no_islands) {
  talus_world_def def = rig_def(1e-3);
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.4, 0);
  rig_body(world, TALUS_FREE, rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0), m, 0, 0, 1);
  CHECK_OK(talus_world_step(world, 3));
  CHECK(rig_report(world).iterations == 0 && rig_report(world).residual_rms == 0);
  talus_world_destroy(world);
}

TEST_MAIN()
