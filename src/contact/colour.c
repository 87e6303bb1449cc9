/* Graph colouring of contacts, so that Gauss-Seidel can run in parallel and give the same bits for
 * any number of threads.
 *
 * All contacts of one body pair are a bundle (Noble 2022, 4.6.4) and get one colour: greedy, in
 * canonical order, the first colour that neither body has yet. Bodies that contacts cannot move do
 * not conflict, so a floor under a thousand grains does not serialise anything. Within a colour the
 * bundles' first contacts come first, then their second ones and so on: each such layer is
 * independent, and is what the solver sees as a colour.
 *
 * Contacts are first put into buckets: one per tile, and one for those between tiles. Buckets of
 * tiles share no movable body and are coloured in parallel; those between tiles start afresh,
 * because they are solved after all tiles.
 *
 * A movable body with more than COLOURS neighbours fills its mask, a bundle can have more than
 * LAYERS contacts, and a tile keeps MOST colours at most; what is left over goes into a last colour
 * of the bucket, swept one by one in canonical order. */
#include "base/sort.h"
#include "contact/contact.h"

#define COLOURS 63
#define LAYERS  32
#define SERIAL  (COLOURS * LAYERS) /* key of the leftovers */
#define MOST    ((uint32_t)256)    /* colours of a tile */

typedef struct colour_job {
  const tl_model *model;
  const tl_contacts *contacts;
  size_t rows; /* contacts that are coloured */
  tl_tiles tiles;
  uint64_t *used;   /* by slot: colours that the body has */
  uint32_t *bucket; /* of each contact */
  uint32_t *first;  /* row of each bucket, and one more */
  uint32_t *found;  /* colours of each bucket, then the first colour of each */
  uint32_t *keyed;  /* keys of each bucket: the highest, and one more */
  uint16_t *keys;   /* colour * LAYERS + layer, by row */
  uint32_t *spare;  /* by row */
  tl_colours *to;
} colour_job;

static bool is_movable(const colour_job *job, uint32_t slot) {
  return job->tiles.of ? job->tiles.of[slot] != TL_NONE : !tl_body_is_static(job->model, slot);
}

/* ---- buckets --------------------------------------------------------------------------------- */

static void find_buckets(void *context, size_t begin, size_t end) {
  const colour_job *job = context;
  const uint32_t between = (uint32_t)job->tiles.count;
  for (size_t i = begin; i < end; ++i) {
    const tl_contact *c = &job->contacts->data[job->to->order[i]];
    const uint32_t a = job->tiles.of[c->a], b = job->tiles.of[c->b];
    const uint32_t tile = a == TL_NONE ? b : a;
    job->bucket[i] = (a == b || a == TL_NONE || b == TL_NONE) && tile != TL_NONE ? tile : between;
  }
}

/* Rows by bucket, in canonical order within each. */
static talus_status sort_buckets(const tl_scope *scope, colour_job *job) {
  const size_t n = job->rows, tiles = job->tiles.count;
  job->first[0] = 0;
  job->first[tiles + 1] = (uint32_t)n;
  if (tiles == 0)
    return TALUS_OK;
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  TL_TAKE(scope->arena, n, &job->bucket);
  tl_for(&job->model->par, n, 4096, find_buckets, job);
  TL_TRY(tl_sort_u32(&job->model->par, scope->arena, job->bucket, job->to->order, n,
                     tl_bits_u64(tiles)));
  size_t row = 0;
  for (size_t t = 0; t <= tiles; ++t) {
    job->first[t] = (uint32_t)row;
    while (row < n && job->bucket[row] == t)
      row++;
  }
  tl_arena_release(scope->arena, mark);
  return TALUS_OK;
}

/* ---- colours of a bucket --------------------------------------------------------------------- */

/* Returns the highest key, and one more. */
static uint32_t assign_keys(const colour_job *job, uint32_t begin, uint32_t end) {
  uint32_t keyed = 0;
  const uint64_t full = (UINT64_C(1) << COLOURS) - 1;
  const uint32_t *order = job->to->order;
  for (uint32_t i = begin; i < end;) {
    const tl_contact *c = &job->contacts->data[order[i]];
    const uint32_t slot_a = c->a, slot_b = c->b;
    const bool movable_a = is_movable(job, slot_a), movable_b = is_movable(job, slot_b);
    const uint64_t taken =
        (movable_a ? job->used[slot_a] : 0) | (movable_b ? job->used[slot_b] : 0);
    const bool room = taken != full;
    const int colour = room ? __builtin_ctzll(~taken) : 0;
    const uint64_t bit = room ? UINT64_C(1) << colour : 0;
    if (movable_a)
      job->used[slot_a] |= bit;
    if (movable_b)
      job->used[slot_b] |= bit;
    int layer = 0;
    do {
      job->keys[i] = (uint16_t)(room && layer < LAYERS ? colour * LAYERS + layer : SERIAL);
      keyed = job->keys[i] >= keyed ? job->keys[i] + 1u : keyed;
      ++i, ++layer;
      c = i < end ? &job->contacts->data[order[i]] : NULL;
    } while (c && c->a == slot_a && c->b == slot_b);
  }
  return keyed;
}

/* Colours of a bucket: `each` counts the rows of each key. The last of MOST is serial, whatever is
 * in it. */
static uint32_t count_keys(const colour_job *job, size_t bucket, uint32_t each[SERIAL + 1]) {
  uint32_t found = 0;
  memset(each, 0, job->keyed[bucket] * sizeof *each);
  for (uint32_t i = job->first[bucket]; i < job->first[bucket + 1]; ++i)
    found += each[job->keys[i]]++ == 0;
  return bucket < job->tiles.count && found > MOST ? MOST : found;
}

static void colour_buckets(void *context, size_t begin, size_t end) {
  const colour_job *job = context;
  uint32_t each[SERIAL + 1];
  for (size_t t = begin; t < end; ++t) {
    job->keyed[t] = assign_keys(job, job->first[t], job->first[t + 1]);
    job->found[t] = count_keys(job, t, each);
  }
}

/* Starts of the bucket's colours, and its rows in their order. */
static void write_buckets(void *context, size_t begin, size_t end) {
  const colour_job *job = context;
  tl_colours *to = job->to;
  uint32_t next[SERIAL + 1];
  for (size_t t = begin; t < end; ++t) {
    const uint32_t first = job->first[t], rows = job->first[t + 1] - first;
    const uint32_t limit = t < job->tiles.count ? MOST : UINT32_MAX;
    uint32_t colour = job->found[t], row = first;
    count_keys(job, t, next);
    for (uint32_t key = 0, found = 0; key < job->keyed[t]; ++key) {
      const uint32_t count = next[key];
      if (count == 0)
        continue;
      const bool leftover = found + 1 >= limit || key == SERIAL;
      if (found < limit) {
        to->start[colour] = row;
        to->serial[colour++] = leftover;
        found++;
      }
      next[key] = row;
      row += count;
    }
    memcpy(job->spare + first, to->order + first, rows * sizeof *job->spare);
    for (uint32_t i = first; i < first + rows; ++i)
      to->order[next[job->keys[i]]++] = job->spare[i];
  }
}

/* No body has a colour. Where the rows are few beside the bodies, only theirs are looked at. */
static void clear_colours(const colour_job *job) {
  if (job->rows * 4 >= job->model->bodies) {
    memset(job->used, 0, job->model->bodies * sizeof *job->used);
    return;
  }
  for (size_t i = 0; i < job->rows; ++i) {
    const tl_contact *c = &job->contacts->data[job->to->order[i]];
    job->used[c->a] = job->used[c->b] = 0;
  }
}

talus_status tl_contact_colour_some(const tl_model *model, const tl_scope *scope,
                                    const tl_contacts *contacts, uint32_t *list, size_t n,
                                    tl_tiles tiles, tl_colours *colours) {
  const size_t most = tiles.count * MOST + SERIAL + 1, bound = n < most ? n : most;
  tl_arena *arena = scope->arena;
  colours->order = list;
  TL_TAKE(arena, bound + 1, &colours->start);
  TL_TAKE(arena, bound, &colours->serial);
  TL_TAKE(arena, tiles.count + 1, &colours->tile);
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  colour_job job = {.model = model, .contacts = contacts, .rows = n, .tiles = tiles, .to = colours};
  TL_TAKE(arena, tiles.count + 2, &job.first);
  TL_TRY(sort_buckets(scope, &job));
  TL_TAKE(arena, model->bodies, &job.used);
  TL_TAKE(arena, n, &job.keys);
  TL_TAKE(arena, n, &job.spare);
  TL_TAKE(arena, tiles.count + 1, &job.found);
  TL_TAKE(arena, tiles.count + 1, &job.keyed);
  clear_colours(&job);
  tl_for(&model->par, tiles.count, 1, colour_buckets, &job);
  if (tiles.count > 0)
    clear_colours(&job);
  colour_buckets(&job, tiles.count, tiles.count + 1);

  colours->tiles = tiles.count;
  colours->count = 0;
  for (size_t t = 0; t <= tiles.count; ++t) {
    const uint32_t found = job.found[t];
    colours->tile[t] = job.found[t] = (uint32_t)colours->count;
    colours->count += found;
  }
  TL_ASSERT(colours->count <= bound);
  tl_for(&model->par, tiles.count + 1, 1, write_buckets, &job);
  colours->start[colours->count] = (uint32_t)n;
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

talus_status tl_contact_colour(const tl_model *model, const tl_scope *scope,
                               const tl_contacts *contacts, tl_tiles tiles, tl_colours *colours) {
  uint32_t *list;
  TL_TAKE(scope->arena, contacts->count, &list);
  for (size_t i = 0; i < contacts->count; ++i)
    list[i] = (uint32_t)i;
  return tl_contact_colour_some(model, scope, contacts, list, contacts->count, tiles, colours);
}
