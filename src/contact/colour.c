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
#include "contact/contact.h"

#define COLOURS 63
#define LAYERS  32
#define SERIAL  (COLOURS * LAYERS) /* key of the leftovers */
#define MOST    ((uint32_t)256)    /* colours of a tile */

#define FIXED TL_END_FIXED

#define LEAST_OF_RUN ((size_t)4096) /* rows */
#define MOST_RUNS    ((size_t)64)

typedef struct colour_job {
  const tl_model *model;
  const tl_contacts *contacts;
  const tl_pair *known; /* ends by contact, or NULL */
  size_t rows;          /* contacts that are coloured */
  tl_tiles tiles;
  uint64_t *used;   /* by slot: colours that the body has */
  uint32_t *first;  /* row of each bucket, and one more */
  uint32_t *found;  /* colours of each bucket, then the first colour of each */
  uint32_t *keyed;  /* keys of each bucket: the highest, and one more */
  tl_pair *ends;    /* by row */
  uint16_t *keys;   /* colour * LAYERS + layer, by row */
  uint32_t *spare;  /* by row */
  uint32_t *bucket; /* by row, before rows are sorted; runs of rows are counted and placed apart */
  size_t run;       /* rows of a run */
  uint32_t *count;  /* by run and bucket, then where the next row goes */
  tl_colours *to;
} colour_job;

/* ---- buckets --------------------------------------------------------------------------------- */

static tl_pair ends_of(const colour_job *job, uint32_t contact) {
  if (job->known)
    return job->known[contact];
  const tl_contact *c = &job->contacts->data[contact];
  return (tl_pair){tl_body_is_static(job->model, c->a) ? c->a | FIXED : c->a,
                   tl_body_is_static(job->model, c->b) ? c->b | FIXED : c->b};
}

static void find_ends(void *context, size_t begin, size_t end) {
  const colour_job *job = context;
  for (size_t i = begin; i < end; ++i)
    job->ends[i] = ends_of(job, job->to->order[i]);
}

static void count_runs(void *context, size_t begin, size_t end) {
  const colour_job *job = context;
  const uint32_t between = (uint32_t)job->tiles.count;
  for (size_t run = begin; run < end; ++run) {
    const size_t left = job->rows - run * job->run, last = left < job->run ? left : job->run;
    uint32_t *count = job->count + run * (between + 1);
    memset(count, 0, (between + 1) * sizeof *count);
    for (size_t i = run * job->run; i < run * job->run + last; ++i) {
      const tl_pair ends = ends_of(job, job->to->order[i]);
      const uint32_t a = ends.a & FIXED ? TL_NONE : job->tiles.of[ends.a];
      const uint32_t b = ends.b & FIXED ? TL_NONE : job->tiles.of[ends.b];
      const uint32_t tile = a == TL_NONE ? b : a;
      const bool inside = (a == b || a == TL_NONE || b == TL_NONE) && tile != TL_NONE;
      job->bucket[i] = inside ? tile : between;
      count[job->bucket[i]]++;
    }
  }
}

static void place_runs(void *context, size_t begin, size_t end) {
  const colour_job *job = context;
  for (size_t run = begin; run < end; ++run) {
    const size_t left = job->rows - run * job->run, last = left < job->run ? left : job->run;
    uint32_t *next = job->count + run * (job->tiles.count + 1);
    for (size_t i = run * job->run; i < run * job->run + last; ++i) {
      const uint32_t at = next[job->bucket[i]]++;
      job->ends[at] = ends_of(job, job->to->order[i]);
      job->spare[at] = job->to->order[i];
    }
  }
}

/* Rows by bucket, in canonical order within each: counted and placed, so that where a row goes does
 * not depend on who places it. */
static talus_status sort_buckets(const tl_scope *scope, colour_job *job) {
  const size_t n = job->rows, buckets = job->tiles.count + 1;
  const tl_par *par = &job->model->par;
  job->first[0] = 0;
  job->first[buckets] = (uint32_t)n;
  if (job->tiles.count == 0) {
    tl_for(par, n, LEAST_OF_RUN, find_ends, job);
    return TALUS_OK;
  }
  const size_t wanted = n / MOST_RUNS + 1;
  job->run = wanted < LEAST_OF_RUN ? LEAST_OF_RUN : wanted;
  const size_t runs = (n + job->run - 1) / job->run;
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  TL_TAKE(scope->arena, n, &job->bucket);
  TL_TAKE(scope->arena, runs * buckets, &job->count);
  tl_for(par, runs, 1, count_runs, job);
  uint32_t at = 0;
  for (size_t t = 0; t < buckets; ++t) {
    job->first[t] = at;
    for (size_t run = 0; run < runs; ++run) {
      const uint32_t count = job->count[run * buckets + t];
      job->count[run * buckets + t] = at;
      at += count;
    }
  }
  tl_for(par, runs, 1, place_runs, job);
  memcpy(job->to->order, job->spare, n * sizeof *job->spare);
  tl_arena_release(scope->arena, mark);
  return TALUS_OK;
}

/* ---- colours of a bucket --------------------------------------------------------------------- */

/* Returns the highest key, and one more. */
static uint32_t assign_keys(const colour_job *job, uint32_t begin, uint32_t end) {
  uint32_t keyed = 0;
  const uint64_t full = (UINT64_C(1) << COLOURS) - 1;
  for (uint32_t i = begin; i < end;) {
    const tl_pair ends = job->ends[i];
    uint64_t none = 0;
    uint64_t *used_a = ends.a & FIXED ? &none : &job->used[ends.a];
    uint64_t *used_b = ends.b & FIXED ? &none : &job->used[ends.b];
    const uint64_t taken = *used_a | *used_b;
    const bool room = taken != full;
    const int colour = room ? __builtin_ctzll(~taken) : 0;
    const uint64_t bit = room ? UINT64_C(1) << colour : 0;
    *used_a |= bit;
    *used_b |= bit;
    int layer = 0;
    do {
      job->keys[i] = (uint16_t)(room && layer < LAYERS ? colour * LAYERS + layer : SERIAL);
      keyed = job->keys[i] >= keyed ? job->keys[i] + 1u : keyed;
      ++i, ++layer;
    } while (i < end && job->ends[i].a == ends.a && job->ends[i].b == ends.b);
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
  for (size_t i = 0; i < job->rows; ++i)
    job->used[job->ends[i].a & ~FIXED] = job->used[job->ends[i].b & ~FIXED] = 0;
}

talus_status tl_contact_colour_some(const tl_model *model, const tl_scope *scope,
                                    const tl_contacts *contacts, const tl_pair *ends,
                                    uint32_t *list, size_t n, tl_tiles tiles, tl_colours *colours) {
  const size_t most = tiles.count * MOST + SERIAL + 1, bound = n < most ? n : most;
  tl_arena *arena = scope->arena;
  colours->order = list;
  TL_TAKE(arena, bound + 1, &colours->start);
  TL_TAKE(arena, bound, &colours->serial);
  TL_TAKE(arena, tiles.count + 1, &colours->tile);
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  colour_job job = {.model = model,
                    .contacts = contacts,
                    .known = ends,
                    .rows = n,
                    .tiles = tiles,
                    .to = colours};
  TL_TAKE(arena, tiles.count + 2, &job.first);
  TL_TAKE(arena, n, &job.ends);
  TL_TAKE(arena, n, &job.spare);
  TL_TRY(sort_buckets(scope, &job));
  TL_TAKE(arena, model->bodies, &job.used);
  TL_TAKE(arena, n, &job.keys);
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
  return tl_contact_colour_some(model, scope, contacts, NULL, list, contacts->count, tiles,
                                colours);
}
