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
#include "contact/colour.h"

#include "contact/contact.h"

#define COLOURS TL_COLOURS_OF_BODY
#define LAYERS  TL_LAYERS_OF_BUNDLE
#define SERIAL  (COLOURS * LAYERS) /* key of contacts that find no colour */
#define MOST    ((uint32_t)TL_COLOURS_OF_TILE)

#define FIXED TL_END_FIXED

#define LEAST_OF_RUN ((size_t)4096) /* rows */
#define MOST_RUNS    ((size_t)64)

typedef struct colour_job {
  const tl_model *model;
  const tl_contacts *contacts;
  const tl_pair *known; /* bodies by contact, or NULL */
  size_t rows;          /* number of contacts that are coloured */
  tl_tiles tiles;
  /* by slot: colours that the body has, in its tile and between tiles */
  uint64_t *used, *used_between;
  uint32_t *first;  /* first row of each bucket, and one more */
  uint32_t *found;  /* number of colours of each bucket */
  uint8_t *leaves;  /* by bucket: whether its last colour is serial */
  tl_pair *ends;    /* by row of the buckets: bodies of the contact */
  uint32_t *index;  /* by row of the buckets: index of the contact */
  uint16_t *keys;   /* by row of the buckets: colour * LAYERS + layer */
  uint32_t *starts; /* by bucket, in its rows: begin of its colours */
  /* by row, before rows are sorted; each run of rows is counted and placed separately */
  uint32_t *bucket;
  size_t run;      /* rows of a run */
  uint32_t *count; /* by run and bucket: number of rows, later the place of the next row */
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
  for (size_t i = begin; i < end; ++i) {
    job->index[i] = job->to->order[i];
    job->ends[i] = ends_of(job, job->index[i]);
  }
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
      job->index[at] = job->to->order[i];
    }
  }
}

/* Sorts rows by bucket; within a bucket they keep canonical order. A counting sort whose result
 * does not depend on the number of threads. */
static talus_status sort_buckets(const tl_crowd *crowd, colour_job *job) {
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
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  TL_TAKE(crowd->arena, n, &job->bucket);
  TL_TAKE(crowd->arena, runs * buckets, &job->count);
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
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* ---- colours of a bucket --------------------------------------------------------------------- */

/* Number of rows of each key, and of colours. */
typedef struct key_counts {
  uint32_t each[SERIAL + 1];
  uint32_t colours;
} key_counts;

/* Bit of the first colour that is free in `taken`; bit 63 if none is. */
static inline uint64_t free_bit(uint64_t taken) { return ~taken & (taken + 1); }
_Static_assert(COLOURS == 63, "bit 63 is never taken, and stands for no colour");
#define ANY_COLOUR ((UINT64_C(1) << COLOURS) - 1)

static inline bool are_same(tl_pair x, tl_pair y) { return ((x.a ^ y.a) | (x.b ^ y.b)) == 0; }

/* Assigns layers to the other contacts of a bundle, from its second row i on; `key` is that of the
 * first. Returns the end of the bundle. */
static uint32_t assign_layers(const colour_job *job, uint32_t i, uint32_t end, uint32_t key,
                              key_counts *counts) {
  const tl_pair pair = job->ends[i];
  do {
    const bool is_last = key == SERIAL || key % LAYERS == LAYERS - 1;
    key = is_last ? SERIAL : key + 1;
    job->keys[i] = (uint16_t)key;
    counts->each[key]++;
  } while (++i < end && are_same(job->ends[i], pair));
  return i;
}

/* Rows are sorted by body a, so its colours are kept in a register from row to row: reading what
 * was just written would take most of the time. Not inlined, because registers would not
 * suffice. */
__attribute__((noinline)) static void assign_keys(const colour_job *job, uint32_t begin,
                                                  uint32_t end, uint64_t *used,
                                                  key_counts *counts) {
  const tl_pair *ends = job->ends;
  uint16_t *keys = job->keys;
  uint32_t last = TL_NONE, colours = 0; /* last: the body that `has` belongs to */
  uint64_t has = 0;
  counts->each[SERIAL] = 0;
  for (uint32_t i = begin; i < end;) {
    const tl_pair pair = ends[i];
    uint64_t bit;
    if ((pair.a | pair.b) & FIXED) {
      uint64_t none = 0;
      uint64_t *mine = !(pair.a & FIXED)   ? &used[pair.a]
                       : !(pair.b & FIXED) ? &used[pair.b]
                                           : &none;
      bit = free_bit(*mine);
      *mine |= bit & ANY_COLOUR;
      last = TL_NONE;
    } else {
      const uint64_t stored = used[pair.a], other = used[pair.b];
      has = pair.a == last ? has : stored;
      bit = free_bit(has | other);
      has |= bit & ANY_COLOUR;
      used[pair.a] = has;
      used[pair.b] = other | (bit & ANY_COLOUR);
      last = pair.a;
    }
    const uint32_t colour = (uint32_t)__builtin_ctzll(bit);
    for (; colours <= colour && colours < COLOURS; colours++)
      memset(counts->each + colours * LAYERS, 0, LAYERS * sizeof *counts->each);
    const uint32_t key = colour * LAYERS; /* SERIAL if no colour is free */
    keys[i] = (uint16_t)key;
    counts->each[key]++;
    if (++i < end && are_same(ends[i], pair))
      i = assign_layers(job, i, end, key, counts);
  }
  counts->colours = colours;
}

/* If the key has rows, starts the next colour of a bucket at `row`; returns their end and replaces
 * the count of the key by the place of its next row. The last of MOST colours of a tile is serial,
 * whatever it contains. */
static uint32_t start_colour(const colour_job *job, size_t bucket, uint32_t row, uint32_t key,
                             key_counts *counts) {
  const uint32_t limit = bucket < job->tiles.count ? MOST : UINT32_MAX;
  const uint32_t found = job->found[bucket], count = counts->each[key];
  if (count > 0 && found < limit) {
    job->leaves[bucket] = found + 1 == limit || key == SERIAL;
    job->starts[job->first[bucket] + found] = row;
    job->found[bucket]++;
  }
  counts->each[key] = row;
  return row + count;
}

static void start_colours(const colour_job *job, size_t bucket, key_counts *counts) {
  uint32_t row = job->first[bucket];
  job->found[bucket] = 0;
  job->leaves[bucket] = false;
  /* there is no layer after an empty one */
  for (uint32_t colour = 0; colour < counts->colours; ++colour)
    for (uint32_t key = colour * LAYERS; key < (colour + 1) * LAYERS && counts->each[key] > 0;
         ++key)
      row = start_colour(job, bucket, row, key, counts);
  start_colour(job, bucket, row, SERIAL, counts);
}

/* Clears the colours of bodies; if there are few rows, only those of their bodies. */
static void clear_colours(const colour_job *job, uint32_t begin, uint32_t end, uint64_t *used) {
  if ((size_t)(end - begin) * 4 >= job->model->bodies) {
    memset(used, 0, job->model->bodies * sizeof *used);
    return;
  }
  for (uint32_t i = begin; i < end; ++i)
    used[job->ends[i].a & ~FIXED] = used[job->ends[i].b & ~FIXED] = 0;
}

/* Finds keys, starts and order of a bucket while its rows are in the cache. */
static void colour_bucket(const colour_job *job, size_t bucket, key_counts *counts) {
  const bool between = bucket == job->tiles.count;
  const uint32_t first = job->first[bucket], last = job->first[bucket + 1];
  uint64_t *used = between ? job->used_between : job->used;
  if (between)
    clear_colours(job, first, last, used);
  assign_keys(job, first, last, used, counts);
  start_colours(job, bucket, counts);
  for (uint32_t row = first; row < last; ++row)
    job->to->order[counts->each[job->keys[row]]++] = job->index[row];
}

/* The bucket between tiles comes first, because it is the largest, then the tiles: each worker
 * takes a range of them with about the same number of rows. If tiles were taken one by one,
 * neighbouring ones would be worked on at the same time, although their bodies share cache
 * lines. */
static void colour_share(void *context, tl_team *team, int worker, int workers) {
  const colour_job *job = context;
  const size_t tiles = job->tiles.count, n = job->rows;
  const size_t begin = n * (size_t)worker / (size_t)workers;
  const size_t end = worker + 1 < workers ? n * (size_t)(worker + 1) / (size_t)workers : n + 1;
  const size_t between = n - job->first[tiles];
  key_counts counts;
  (void)team;
  if (worker == 0)
    colour_bucket(job, tiles, &counts);
  for (size_t tile = 0; tile < tiles; ++tile) {
    const size_t middle = between + (job->first[tile] + (size_t)job->first[tile + 1]) / 2;
    if (middle >= begin && middle < end)
      colour_bucket(job, tile, &counts);
  }
}

/* Puts the colours of all buckets one after the other. */
static void number_colours(const colour_job *job) {
  tl_colours *to = job->to;
  to->tiles = job->tiles.count;
  to->count = 0;
  for (size_t t = 0; t <= to->tiles; ++t) {
    const uint32_t found = job->found[t];
    to->tile[t] = (uint32_t)to->count;
    memcpy(to->start + to->count, job->starts + job->first[t], found * sizeof *to->start);
    memset(to->serial + to->count, 0, found);
    to->count += found;
    if (found > 0)
      to->serial[to->count - 1] = job->leaves[t];
  }
  to->start[to->count] = (uint32_t)job->rows;
}

talus_status tl_contact_colour_some(const tl_crowd *crowd, const tl_contacts *contacts,
                                    const tl_pair *ends, uint32_t *list, size_t n, tl_tiles tiles,
                                    tl_colours *colours) {
  const tl_model *model = crowd->model;
  const size_t most = tiles.count * MOST + SERIAL + 1, bound = n < most ? n : most;
  tl_arena *arena = crowd->arena;
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
  TL_TAKE(arena, n, &job.index);
  TL_TRY(sort_buckets(crowd, &job));
  TL_TAKE(arena, model->bodies, &job.used_between);
  if (tiles.count > 0)
    TL_TAKE(arena, model->bodies, &job.used);
  TL_TAKE(arena, n, &job.keys);
  TL_TAKE(arena, n, &job.starts);
  TL_TAKE(arena, tiles.count + 1, &job.found);
  TL_TAKE(arena, tiles.count + 1, &job.leaves);
  if (tiles.count > 0)
    clear_colours(&job, 0, job.first[tiles.count], job.used);
  const tl_par alone = {.threads = 1};
  tl_team_run(tiles.count > 0 ? &model->par : &alone, colour_share, &job);
  number_colours(&job);
  TL_ASSERT(colours->count <= bound);
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

talus_status tl_contact_colour(const tl_crowd *crowd, const tl_contacts *contacts, tl_tiles tiles,
                               tl_colours *colours) {
  uint32_t *list;
  TL_TAKE(crowd->arena, contacts->count, &list);
  for (size_t i = 0; i < contacts->count; ++i)
    list[i] = (uint32_t)i;
  return tl_contact_colour_some(crowd, contacts, NULL, list, contacts->count, tiles, colours);
}
