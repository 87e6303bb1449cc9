/* From boxes to sorted numbers; packed.h explains the method. */
#include "broad/packed.h"
#include "base/isa.h"
#include "base/clock.h"

#define BUCKET_BOXES ((size_t)1500) /* boxes of a bucket, about, if there are enough buckets */
#define RANGE        0x1p30
#define MOST_TESTS   48.0 /* tests of eight boxes per box: with more, the scene is too crowded */

bool tl_packed_never_of_tests = false;

static double now(void) { return tl_bins_stages_of_bench ? tl_clock() : 0; }

static const tl_packed_loops *loops_now(void) {
  static const tl_packed_loops *const all[TL_ISA_COUNT] = {[TL_ISA_GENERIC] = &tl_packed_generic,
                                                           [TL_ISA_AVX2] = &tl_packed_avx2,
                                                           [TL_ISA_AVX512] = &tl_packed_avx512};
  return all[tl_isa_now()];
}

/* ---- maps ----------------------------------------------------------------------------------- */

/* The range of numbers: all boxes, except outliers so far away that the others would all have the
 * same numbers. */
static void find_range(const tl_bins *bins, int k, double *lo, double *hi) {
  double bulk_lo[3], bulk_hi[3];
  *lo = HUGE_VAL;
  *hi = -HUGE_VAL;
  double finest = 0;
  for (int l = bins->levels - 1; l >= 0; --l) {
    const tl_bins_level *level = &bins->level[l];
    *lo = level->lo[k] < *lo ? level->lo[k] : *lo;
    *hi = level->hi[k] + level->reach[k] > *hi ? level->hi[k] + level->reach[k] : *hi;
    finest = level->reach[k];
  }
  if (*hi - *lo < finest * 0x1p20)
    return;
  tl_bins_find_bulk(bins, bulk_lo, bulk_hi);
  *lo = bulk_lo[k] > *lo ? bulk_lo[k] : *lo;
  *hi = bulk_hi[k] < *hi ? bulk_hi[k] : *hi;
}

static void make_map(const tl_bins *bins, tl_packed_map *map, double quantum[3]) {
  *map = (tl_packed_map){.origin = {0}};
  for (int k = 0; k < 3; ++k) {
    double lo, hi;
    find_range(bins, k, &lo, &hi);
    double range = hi - lo;
    range = range > 1e-250 ? range < 1e300 ? range : 1e300 : 1e-250;
    map->origin[k] = map->origin[k + 3] = lo < HUGE_VAL && lo > -HUGE_VAL ? lo : 0;
    map->scale[k] = -(RANGE / range);
    map->scale[k + 3] = RANGE / range;
    quantum[k] = range / RANGE;
    map->least[k] = -RANGE;
    map->most[k] = 1;
    map->least[k + 3] = -1;
    map->most[k + 3] = RANGE;
  }
}

static void make_cells(const tl_bins_level *level, tl_packed_cells *cells) {
  *cells = (tl_packed_cells){.stride = {1, level->row, level->plane, 0}, .base = level->base};
  for (int k = 0; k < 3; ++k) {
    cells->origin[k] = level->origin[k];
    cells->inverse[k] = level->inverse[k];
    cells->last[k] = (double)(level->cells[k] - 1);
  }
}

/* ---- buckets -------------------------------------------------------------------------------- */

static size_t bucket_of(const tl_packed *packed, uint32_t key) { return key >> packed->shift; }

/* Sorts the records of a bucket by cell. An entry of the table is first the number of boxes of the
 * cell before it, then the place of its next box, finally the end of the cell. */
static void sort_bucket(const tl_packed *packed, size_t bucket, size_t begin, size_t end) {
  const size_t first = bucket << packed->shift;
  size_t last = (bucket + 1) << packed->shift;
  last = last < (size_t)packed->beyond + 1 ? last : (size_t)packed->beyond + 1;
  uint32_t *next = packed->start + 1;
  memset(next + first, 0, (last - first) * sizeof *next);
  for (size_t i = begin; i < end; ++i)
    next[packed->record[i].key]++;
  uint32_t at = (uint32_t)begin;
  for (size_t c = first; c < last; ++c) {
    const uint32_t n = next[c];
    next[c] = at;
    at += n;
  }
  for (size_t i = begin; i < end; ++i) {
    const tl_packed_record *from = &packed->record[i];
    const uint32_t to = next[from->key]++;
    for (int k = 0; k < 3; ++k) {
      packed->low[k][to] = from->low[k];
      packed->high[k][to] = from->high[k];
    }
    packed->who[to] = from->who;
    packed->key[to] = from->key;
  }
}

static void sort_worker(void *context, tl_team *team, int w, int workers) {
  const tl_packed *packed = context;
  const tl_packed_loops *loops = loops_now();
  const size_t begin = tl_share(packed->count, w, workers);
  const size_t end = tl_share(packed->count, w + 1, workers);
  size_t *own = packed->of_bucket + (size_t)w * TL_PACKED_COUNTS;
  memset(own, 0, packed->buckets * sizeof *own);
  loops->count(packed, begin, end, own);
  tl_team_barrier(team);
  size_t start[TL_PACKED_COUNTS + 1], next[TL_PACKED_COUNTS], at = 0;
  for (size_t b = 0; b < packed->buckets; ++b) {
    start[b] = at;
    for (int v = 0; v < workers; ++v) {
      if (v == w)
        next[b] = at;
      at += packed->of_bucket[(size_t)v * TL_PACKED_COUNTS + b];
    }
  }
  start[packed->buckets] = at;
  loops->spread(packed, begin, end, next);
  tl_team_barrier(team);
  /* The worker that has the first place of a bucket sorts it; empty buckets have a place, too. */
  for (size_t b = 0; b < packed->buckets; ++b)
    if (start[b] >= begin && (start[b] < end || w == workers - 1))
      sort_bucket(packed, b, start[b], start[b + 1]);
}

static void choose_buckets(tl_packed *packed) {
  const size_t wanted = packed->count / BUCKET_BOXES + 1;
  const size_t most = wanted < TL_PACKED_BUCKETS ? wanted : TL_PACKED_BUCKETS;
  while (bucket_of(packed, packed->beyond) >= most)
    packed->shift++;
  packed->buckets = bucket_of(packed, packed->beyond) + 1;
}

static talus_status sort(tl_packed *packed) {
  const tl_par *par = &packed->bins->model->par;
  tl_arena *arena = packed->bins->crowd->arena;
  const size_t n = packed->count;
  TL_TAKE(arena, (size_t)packed->beyond + 2, &packed->start);
  for (int k = 0; k < 3; ++k) {
    TL_TAKE(arena, n + TL_PACKED_LANES, &packed->low[k]);
    TL_TAKE(arena, n + TL_PACKED_LANES, &packed->high[k]);
    memset(packed->low[k] + n, 0, TL_PACKED_LANES * sizeof *packed->low[k]);
    memset(packed->high[k] + n, 0, TL_PACKED_LANES * sizeof *packed->high[k]);
  }
  TL_TAKE(arena, n, &packed->key);
  TL_TAKE(arena, n + TL_PACKED_LANES, &packed->who);
  memset(packed->who + n, 0, TL_PACKED_LANES * sizeof *packed->who);
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TAKE(arena, n, &packed->record);
  TL_TAKE(arena, (size_t)par->threads * TL_PACKED_COUNTS, &packed->of_bucket);
  choose_buckets(packed);
  packed->start[0] = 0;
  tl_team_run(par, sort_worker, packed);
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

/* ---- the whole search
 * ------------------------------------------------------------------------------ */

/* Estimated number of tests of eight boxes in the own levels. */
static double count_tests(void *context, size_t begin, size_t end) {
  const tl_packed *packed = context;
  double tests = 0;
  for (size_t c = begin; c < end; ++c) {
    const double n = (double)(packed->start[c + 1] - packed->start[c]);
    tests += n * (5 + 13.5 / TL_PACKED_LANES * n);
  }
  return tests;
}

static void make_blocks(tl_packed *packed) {
  const tl_bins *bins = packed->bins;
  for (int l = 0; l <= bins->levels; ++l) {
    const size_t size = tl_bins_block_size(l), n = bins->level[l].count;
    packed->first_block[l + 1] = packed->first_block[l] + (n + size - 1) / size;
  }
}

talus_status tl_packed_find_pairs(const tl_bins *bins, tl_pairs *pairs, bool *crowded) {
  const tl_par *par = &bins->model->par;
  tl_arena *arena = bins->crowd->arena;
  tl_packed packed = {.bins = bins,
                      .count = bins->crowd->count,
                      .beyond = bins->level[bins->levels].base,
                      .even = bins->levels == 1 && bins->level[1].count == 0};
  make_map(bins, &packed.map, packed.quantum);
  for (int l = 0; l < bins->levels; ++l)
    make_cells(&bins->level[l], &packed.cells[l]);
  const double begun = now();
  TL_TRY(sort(&packed));
  if (tl_bins_stages_of_bench)
    tl_bins_stages_of_bench->sort = now() - begun;
  double tests;
  TL_TRY(tl_sum(par, arena, packed.beyond, count_tests, &packed, &tests));
  *crowded = tests > MOST_TESTS * (double)packed.count;
  if (*crowded)
    return TALUS_OK;
  make_blocks(&packed);
  return tl_search(bins->crowd, packed.first_block[bins->levels + 1], loops_now()->search, &packed,
                   pairs);
}
