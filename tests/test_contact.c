/* The contact set: colours that do not conflict, impulses that are carried, slots renumbered. */
#include "contact/colour.h"
#include "base/random.h"
#include "check.h"
#include "contact/history.h"

#define BODIES 400

typedef struct crowd {
  tl_model model;
  tl_crowd crowd;
  tl_arena arena;
  uint32_t flags[BODIES];
  tl_contacts contacts;
} crowd;

static int by_key(const void *x, const void *y) {
  const tl_contact *p = x, *q = y;
  const uint32_t a[4] = {p->a, p->b, p->feature_a, p->feature_b},
                 b[4] = {q->a, q->b, q->feature_a, q->feature_b};
  for (int k = 0; k < 4; ++k)
    if (a[k] != b[k])
      return a[k] < b[k] ? -1 : 1;
  return 0;
}

/* Random contacts, some in bundles; body 0 is fixed and touches many; body 1 is free and touches
 * `hub`. */
static void make_crowd(crowd *c, uint64_t seed, int pairs, int hub) {
  memset(c, 0, sizeof *c);
  c->model.par.threads = 1;
  c->model.bodies = BODIES;
  c->model.property.flags = c->flags;
  c->flags[0] = TL_FLAG_FIXED;
  c->crowd.model = &c->model;
  c->crowd.count = BODIES;
  static const tl_state awake;
  c->crowd.in = &awake;
  c->crowd.arena = &c->arena;
  tl_random random = tl_random_start(seed, 1, 0);
  for (int i = 0; i < pairs; ++i) {
    uint32_t a = tl_random_u32(&random) % BODIES, b = tl_random_u32(&random) % BODIES;
    if (i < hub)
      a = 1, b = 2 + (uint32_t)i % (BODIES - 2);
    else if (i % 5 == 0)
      a = 0;
    if (a == b)
      continue;
    const uint32_t points = 1 + (i % 7 == 0) * (tl_random_u32(&random) % 5);
    for (uint32_t k = 0; k < points; ++k) {
      const tl_contact contact = {.a = a < b ? a : b,
                                  .b = a < b ? b : a,
                                  .feature_b = k,
                                  .impulse = {(talus_real)i, (talus_real)k, 1}};
      CHECK(tl_array_push(&c->contacts, contact) == TALUS_OK);
    }
  }
  if (c->contacts.count > 0)
    qsort(c->contacts.data, c->contacts.count, sizeof c->contacts.data[0], by_key);
  size_t kept = 0;
  for (size_t i = 0; i < c->contacts.count; ++i)
    if (i == 0 || by_key(&c->contacts.data[kept - 1], &c->contacts.data[i]) != 0)
      c->contacts.data[kept++] = c->contacts.data[i];
  c->contacts.count = kept;
}

static void free_crowd(crowd *c) {
  tl_array_free(&c->contacts);
  tl_arena_free(&c->arena);
}

/* Every contact once; no two of a colour share a body that contacts can move. */
static void check_colours(const crowd *c, const tl_colours *colours) {
  static unsigned char seen[100000];
  CHECK(c->contacts.count < sizeof seen);
  memset(seen, 0, sizeof seen);
  CHECK_EQ_U64(colours->start[colours->count], c->contacts.count);
  for (size_t k = 0; k < colours->count; ++k) {
    int owner[BODIES];
    memset(owner, -1, sizeof owner);
    const bool serial = colours->serial[k];
    CHECK(colours->start[k] < colours->start[k + 1]);
    for (uint32_t i = colours->start[k]; i < colours->start[k + 1]; ++i) {
      const uint32_t index = colours->order[i];
      const tl_contact *contact = &c->contacts.data[index];
      CHECK(!seen[index]);
      seen[index] = 1;
      CHECK(i == colours->start[k] || colours->order[i - 1] < index);
      const uint32_t ends[2] = {contact->a, contact->b};
      for (int e = 0; e < 2 && !serial; ++e)
        if (!(c->flags[ends[e]] & TL_FLAG_STATIC)) {
          CHECK_MSG(owner[ends[e]] < 0, "body %u is twice in colour %zu", ends[e], k);
          owner[ends[e]] = (int)index;
        }
    }
  }
}

TEST(no_two_contacts_of_a_colour_share_a_movable_body) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    static crowd c;
    tl_colours colours;
    make_crowd(&c, seed, 1200, 0);
    CHECK(tl_contact_colour(&c.crowd, &c.contacts, (tl_tiles){0}, &colours) == TALUS_OK);
    CHECK(!colours.serial[colours.count - 1]);
    check_colours(&c, &colours);
    free_crowd(&c);
  }
}

/* Contacts of a tile touch no movable body of another; all the rest are behind the tiles. */
TEST(tiles_have_colours_of_their_own) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    static crowd c;
    static uint32_t tile_of[BODIES];
    tl_colours colours;
    const uint32_t tiles = 1 + (uint32_t)seed % 7;
    make_crowd(&c, seed, 1200, seed % 3 == 0 ? 200 : 0);
    for (uint32_t i = 0; i < BODIES; ++i)
      tile_of[i] = c.flags[i] & TL_FLAG_STATIC ? TL_NONE : i * tiles / BODIES;
    CHECK(tl_contact_colour(&c.crowd, &c.contacts, (tl_tiles){tile_of, tiles}, &colours) ==
          TALUS_OK);
    check_colours(&c, &colours);
    CHECK_EQ_U64(colours.tiles, tiles);
    for (uint32_t t = 0; t <= tiles; ++t)
      for (size_t k = colours.tile[t]; k < (t < tiles ? colours.tile[t + 1] : colours.count); ++k)
        for (uint32_t i = colours.start[k]; i < colours.start[k + 1]; ++i) {
          const tl_contact *contact = &c.contacts.data[colours.order[i]];
          const uint32_t a = tile_of[contact->a], b = tile_of[contact->b];
          const bool within = (a == t || a == TL_NONE) && (b == t || b == TL_NONE);
          CHECK_MSG(t < tiles ? within : a != b, "contact %u is in tile %u", colours.order[i], t);
        }
    free_crowd(&c);
  }
}

/* ---- colours, the slow way ------------------------------------------------------------------- */

enum {
  COLOURS = TL_COLOURS_OF_BODY,
  LAYERS = TL_LAYERS_OF_BUNDLE,
  MOST = TL_COLOURS_OF_TILE,
  SERIAL = COLOURS * LAYERS
};

typedef struct coloured {
  uint32_t bucket, key, contact;
} coloured;

static int by_colour(const void *x, const void *y) {
  const coloured *p = x, *q = y;
  const uint32_t a[3] = {p->bucket, p->key, p->contact}, b[3] = {q->bucket, q->key, q->contact};
  for (int k = 0; k < 3; ++k)
    if (a[k] != b[k])
      return a[k] < b[k] ? -1 : 1;
  return 0;
}

/* As contact.h has it, bundle by bundle: the first colour that neither body has in that bucket. */
static void colour_slowly(const crowd *c, const uint32_t *tile_of, uint32_t tiles, coloured *rows) {
  static bool used[8][BODIES][COLOURS];
  memset(used, 0, sizeof used);
  for (uint32_t i = 0; i < c->contacts.count;) {
    const tl_contact *first = &c->contacts.data[i];
    const bool moves[2] = {!c->flags[first->a], !c->flags[first->b]};
    const uint32_t ends[2] = {first->a, first->b};
    uint32_t bucket = tiles;
    if (tiles > 0 && (!moves[0] || !moves[1] || tile_of[ends[0]] == tile_of[ends[1]]))
      bucket = tile_of[ends[moves[0] ? 0 : 1]];
    uint32_t colour = 0;
    while (colour < COLOURS && ((moves[0] && used[bucket][ends[0]][colour]) ||
                                (moves[1] && used[bucket][ends[1]][colour])))
      colour++;
    for (int e = 0; e < 2 && colour < COLOURS; ++e)
      used[bucket][ends[e]][colour] = true;
    uint32_t layer = 0;
    for (; i < c->contacts.count && c->contacts.data[i].a == ends[0] &&
           c->contacts.data[i].b == ends[1];
         ++i, ++layer)
      rows[i] = (coloured){
          bucket, colour < COLOURS && layer < LAYERS ? colour * LAYERS + layer : SERIAL, i};
  }
  qsort(rows, c->contacts.count, sizeof *rows, by_colour);
}

/* Rows in the reference's order, and colours that begin and are serial where its keys say. */
static void compare_colours(const crowd *c, uint32_t tiles, const coloured *rows,
                            const tl_colours *colours) {
  size_t k = 0;
  for (uint32_t i = 0, bucket = 0, found = 0; i < c->contacts.count; ++i) {
    CHECK_EQ_U64(colours->order[i], rows[i].contact);
    const bool enters = i == 0 || rows[i].bucket != rows[i - 1].bucket;
    for (; enters && bucket <= rows[i].bucket; ++bucket)
      CHECK_EQ_U64(colours->tile[bucket], k);
    found = enters ? 0 : found;
    const bool limited = rows[i].bucket < tiles;
    if (!enters && (rows[i].key == rows[i - 1].key || (limited && found == MOST)))
      continue;
    found++;
    CHECK_EQ_U64(colours->start[k], i);
    CHECK(colours->serial[k] == (rows[i].key == SERIAL || (limited && found == MOST)));
    k++;
  }
  CHECK_EQ_U64(colours->count, k);
  CHECK_EQ_U64(colours->start[k], c->contacts.count);
}

TEST(colours_are_those_that_the_slow_way_gives) {
  static coloured rows[1 << 14];
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    static crowd c;
    static uint32_t tile_of[BODIES];
    const uint32_t tiles = (uint32_t)seed % 8 % 5;
    make_crowd(&c, seed, 1200, seed % 3 == 0 ? 200 : 0);
    for (uint32_t i = 0; i < BODIES; i += 7)
      c.flags[i] = i % 2 ? TL_FLAG_KINEMATIC : TL_FLAG_FIXED;
    size_t kept = 0; /* no contact between bodies that do not move */
    for (size_t i = 0; i < c.contacts.count; ++i)
      if (!c.flags[c.contacts.data[i].a] || !c.flags[c.contacts.data[i].b])
        c.contacts.data[kept++] = c.contacts.data[i];
    c.contacts.count = kept;
    for (uint32_t k = 0; k < 40; ++k) /* more layers and colours than there is room for */
      for (uint32_t i = 0; i < (seed == 8 ? 240 : 40) && seed % 4 == 0; ++i) { /* 8: several runs */
        const tl_contact contact = {.a = 2, .b = 3 + k, .feature_a = 1, .feature_b = i};
        CHECK(tl_array_push(&c.contacts, contact) == TALUS_OK);
      }
    qsort(c.contacts.data, c.contacts.count, sizeof c.contacts.data[0], by_key);
    CHECK(c.contacts.count < sizeof rows / sizeof *rows);
    for (uint32_t i = 0; i < BODIES; ++i)
      tile_of[i] = c.flags[i] ? TL_NONE : i * tiles / BODIES;
    colour_slowly(&c, tile_of, tiles, rows);
    for (int threads = 1; threads <= 3; ++threads) {
      tl_colours colours;
      c.model.par.threads = threads;
      CHECK(tl_contact_colour(&c.crowd, &c.contacts, (tl_tiles){tile_of, tiles}, &colours) ==
            TALUS_OK);
      compare_colours(&c, tiles, rows, &colours);
    }
    free_crowd(&c);
  }
}

TEST(colours_do_not_depend_on_who_found_the_ends_of_contacts) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    static crowd c;
    static uint32_t tile_of[BODIES];
    const uint32_t tiles = (uint32_t)seed % 3;
    make_crowd(&c, seed, 1200, 0);
    for (uint32_t i = 0; i < BODIES; ++i)
      tile_of[i] = c.flags[i] & TL_FLAG_STATIC ? TL_NONE : i * tiles / BODIES;
    const size_t n = c.contacts.count;
    uint32_t *list;
    tl_pair *ends;
    tl_colours alone, given;
    CHECK(tl_arena_take(&c.arena, n, sizeof *list, (void **)&list) == TALUS_OK);
    CHECK(tl_arena_take(&c.arena, n, sizeof *ends, (void **)&ends) == TALUS_OK);
    for (uint32_t i = 0; i < n; ++i) {
      const tl_contact *x = &c.contacts.data[i];
      list[i] = i;
      ends[i] = (tl_pair){c.flags[x->a] ? x->a | TL_END_FIXED : x->a,
                          c.flags[x->b] ? x->b | TL_END_FIXED : x->b};
    }
    const tl_tiles cut = {tile_of, tiles};
    CHECK(tl_contact_colour(&c.crowd, &c.contacts, cut, &alone) == TALUS_OK);
    CHECK(tl_contact_colour_some(&c.crowd, &c.contacts, ends, list, n, cut, &given) == TALUS_OK);
    CHECK_EQ_U64(given.count, alone.count);
    CHECK(memcmp(given.order, alone.order, n * sizeof *list) == 0);
    CHECK(memcmp(given.start, alone.start, (alone.count + 1) * sizeof *alone.start) == 0);
    free_crowd(&c);
  }
}

TEST(hub_with_more_neighbours_than_colours_leaves_a_serial_rest) {
  static crowd c;
  tl_colours colours;
  make_crowd(&c, 3, 1200, 200);
  CHECK(tl_contact_colour(&c.crowd, &c.contacts, (tl_tiles){0}, &colours) == TALUS_OK);
  CHECK(colours.serial[colours.count - 1]);
  check_colours(&c, &colours);
  free_crowd(&c);
}

TEST(fixed_body_does_not_serialise) {
  static crowd c;
  tl_colours colours;
  make_crowd(&c, 1, 0, 0);
  for (uint32_t i = 1; i < BODIES; ++i) {
    const tl_contact contact = {.a = 0, .b = i};
    CHECK(tl_array_push(&c.contacts, contact) == TALUS_OK);
  }
  CHECK(tl_contact_colour(&c.crowd, &c.contacts, (tl_tiles){0}, &colours) == TALUS_OK);
  CHECK(colours.count == 1 && !colours.serial[0]);
  free_crowd(&c);
}

TEST(impulses_are_carried_to_the_same_key_and_nowhere_else) {
  static crowd old, fresh;
  make_crowd(&old, 5, 900, 0);
  make_crowd(&fresh, 5, 1100, 0);
  for (size_t i = 0; i < fresh.contacts.count; ++i)
    fresh.contacts.data[i].impulse = tl_vec3(-1, -1, -1);
  for (int threads = 1; threads <= 3; ++threads) {
    fresh.model.par.threads = threads;
    tl_history_carry(&fresh.model, &old.contacts, &fresh.contacts, 0);
    size_t found = 0;
    for (size_t i = 0; i < fresh.contacts.count; ++i) {
      const tl_contact *c = &fresh.contacts.data[i];
      const tl_contact *same = bsearch(c, old.contacts.data, old.contacts.count, sizeof *c, by_key);
      const talus_vec3 want = same ? same->impulse : tl_vec3(0, 0, 0);
      CHECK(memcmp(&c->impulse, &want, sizeof want) == 0);
      found += same != NULL;
    }
    CHECK(found > 500 && found < fresh.contacts.count);
  }
  free_crowd(&old);
  free_crowd(&fresh);
}

TEST(contacts_of_removed_bodies_go_and_the_others_follow) {
  static crowd c;
  make_crowd(&c, 9, 500, 0);
  uint32_t new_slot[BODIES], next = 0;
  for (uint32_t i = 0; i < BODIES; ++i)
    new_slot[i] = i % 3 == 1 ? TL_NONE : next++;
  size_t expected = 0;
  for (size_t i = 0; i < c.contacts.count; ++i)
    expected +=
        new_slot[c.contacts.data[i].a] != TL_NONE && new_slot[c.contacts.data[i].b] != TL_NONE;
  tl_contacts_renumber(&c.contacts, new_slot);
  CHECK_EQ_U64(c.contacts.count, expected);
  for (size_t i = 0; i < c.contacts.count; ++i) {
    CHECK(c.contacts.data[i].b < next && c.contacts.data[i].a < c.contacts.data[i].b);
    CHECK(i == 0 || by_key(&c.contacts.data[i - 1], &c.contacts.data[i]) < 0);
  }
  free_crowd(&c);
}

TEST(contacts_give_back_room_that_many_steps_did_not_need) {
  tl_contacts contacts = {0};
  CHECK_OK(tl_array_reserve(&contacts, 1000));
  for (int step = 0; step < 3 * TL_ARENA_MEMORY; ++step) {
    contacts.count = 0;
    CHECK_OK(tl_contacts_trim(&contacts));
    const size_t count = step < TL_ARENA_MEMORY - 1 ? 980 : step % 7 == 0 ? 640 : 500;
    CHECK_OK(tl_array_resize(&contacts, count));
    contacts.data[count - 1].a = (uint32_t)step;
    contacts.recent = contacts.recent < count ? count : contacts.recent;
    CHECK_EQ_U64(contacts.capacity, step < 2 * TL_ARENA_MEMORY - 1 ? 1000 : 660);
  }
  tl_contacts_release(&contacts);
}

TEST_MAIN()
