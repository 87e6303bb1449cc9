/* If a few boxes have left their enlarged boxes (skin.c), candidates are corrected instead of found
 * anew. In a heap at rest a few bodies still move, on its top for example; without this, all
 * candidates would be found again in every other step.
 *
 * A stray, a body that left, gets a new enlarged box. All bodies near its old or its new one are
 * searched by brute force: such a pair is now a candidate if the enlarged boxes overlap, whatever
 * it was before. So the list is as if it had been found with the present enlarged boxes; and pairs
 * are the same with any valid list. */
#include "broad/broad.h"
#include "broad/skin.h"

#include "base/sort.h"

#include <stdatomic.h>
#include <stdlib.h>

#define GRAIN ((size_t)2048) /* boxes */
/* most boxes near each stray; with more, all candidates are found anew */
#define ROOM ((size_t)96)

typedef struct mend_work {
  const tl_model *model;
  const tl_skin_mending *mending;
  const uint32_t *strays;
  tl_broad_cache *cache;
  talus_box *fresh; /* by stray: its new enlarged box */
  uint64_t *near;   /* pairs: a in the upper half, b in the lower */
  _Atomic size_t *found;
  size_t room;
} mend_work;

static talus_box both(talus_box a, talus_box b) {
  return (talus_box){{fmin(a.lo.x, b.lo.x), fmin(a.lo.y, b.lo.y), fmin(a.lo.z, b.lo.z)},
                     {fmax(a.hi.x, b.hi.x), fmax(a.hi.y, b.hi.y), fmax(a.hi.z, b.hi.z)}};
}

static bool overlap(const talus_box *a, const talus_box *b) {
  return a->lo.x <= b->hi.x && b->lo.x <= a->hi.x && a->lo.y <= b->hi.y && b->lo.y <= a->hi.y &&
         a->lo.z <= b->hi.z && b->lo.z <= a->hi.z;
}

/* Finds pairs of strays with the boxes of the range; a pair of two strays once. */
static void search_range(void *context, size_t begin, size_t end) {
  const mend_work *work = context;
  const talus_box *grown = work->cache->grown.data;
  for (size_t k = 0; k < work->mending->count; ++k) {
    const uint32_t stray = work->strays[k];
    const talus_box box = grown[stray];
    size_t later = k + 1; /* strays are ascending: those after this one */
    while (later < work->mending->count && work->strays[later] < begin)
      later++;
    for (size_t i = begin; i < end; ++i) {
      if (!overlap(&box, &grown[i]) || i == stray)
        continue;
      while (later < work->mending->count && work->strays[later] < i)
        later++;
      if (later < work->mending->count && work->strays[later] == i)
        continue;
      const size_t at = atomic_fetch_add_explicit(work->found, 1, memory_order_relaxed);
      if (at < work->room)
        work->near[at] = i < stray ? (uint64_t)i << 32 | stray : (uint64_t)stray << 32 | i;
    }
  }
}

static tl_pair pair_of(uint64_t key) { return (tl_pair){(uint32_t)(key >> 32), (uint32_t)key}; }

/* Index of the first candidate that is not before the pair. */
static size_t place_of(const tl_broad_cache *cache, tl_pair pair) {
  size_t lo = 0, hi = cache->candidates.count;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    const tl_pair at = cache->candidates.data[mid];
    if (at.a < pair.a || (at.a == pair.a && at.b < pair.b))
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static bool is_there(const tl_broad_cache *cache, size_t place, tl_pair pair) {
  return place < cache->candidates.count && cache->candidates.data[place].a == pair.a &&
         cache->candidates.data[place].b == pair.b;
}

static bool is_wanted(const mend_work *work, tl_pair pair) {
  const talus_box *grown = work->cache->grown.data;
  return overlap(&grown[pair.a], &grown[pair.b]) && tl_broad_allows(work->model, pair.a, pair.b);
}

static void move_candidates(tl_broad_cache *cache, size_t to, size_t from, size_t count) {
  if (to == from || count == 0)
    return;
  memmove(cache->candidates.data + to, cache->candidates.data + from,
          count * sizeof *cache->candidates.data);
  memmove(cache->levels.data + to, cache->levels.data + from, count);
  memmove(cache->sides.data + to, cache->sides.data + from, count);
}

/* Removes candidates that no longer overlap, and closes the gaps. New pairs are moved to the front
 * of `near`; returns their number. */
static size_t take_out(const mend_work *work, size_t count) {
  tl_broad_cache *cache = work->cache;
  size_t to = 0, from = 0, coming = 0;
  for (size_t i = 0; i < count; ++i) {
    const tl_pair pair = pair_of(work->near[i]);
    const size_t place = place_of(cache, pair);
    const bool wanted = is_wanted(work, pair), there = is_there(cache, place, pair);
    if (wanted && !there)
      work->near[coming++] = work->near[i];
    if (wanted || !there)
      continue;
    /* Places are searched in the tail, which has not moved yet: pairs are ascending. */
    move_candidates(cache, to, from, place - from);
    to += place - from;
    from = place + 1;
  }
  move_candidates(cache, to, from, cache->candidates.count - from);
  cache->candidates.count = to + cache->candidates.count - from;
  return coming;
}

/* Inserts from the back, each at its place. */
static talus_status put_in(const mend_work *work, size_t coming) {
  tl_broad_cache *cache = work->cache;
  size_t end = cache->candidates.count, to = end + coming;
  TL_TRY(tl_array_resize(&cache->levels, to));
  TL_TRY(tl_array_resize(&cache->sides, to));
  TL_TRY(tl_array_reserve(&cache->candidates, to));
  for (size_t i = coming; i > 0; --i) {
    const tl_pair pair = pair_of(work->near[i - 1]);
    cache->candidates.count = end; /* the part that is searched */
    const size_t place = place_of(cache, pair);
    move_candidates(cache, place + i, place, end - place);
    cache->candidates.data[place + i - 1] = pair;
    end = place;
  }
  cache->candidates.count = to;
  return TALUS_OK;
}

/* Writes the two bytes of the strays' candidates, as if they had been found just now. */
static void mark_anew(const mend_work *work) {
  tl_broad_cache *cache = work->cache;
  const size_t found = atomic_load(work->found);
  for (size_t i = 0; i < found; ++i) {
    const tl_pair pair = pair_of(work->near[i]);
    const size_t place = place_of(cache, pair);
    if (is_there(cache, place, pair))
      work->mending->lanes->mark(cache->grown.data, &cache->candidates.data[place], 1, cache->skin,
                                 &cache->levels.data[place], &cache->sides.data[place]);
  }
}

static talus_status edit(mend_work *work, tl_arena *arena, size_t found) {
  uint64_t *near = work->near, *all;
  TL_TRY(tl_sort_u64(&work->model->par, arena, near, NULL, found, 64));
  TL_TAKE(arena, found, &all);
  memcpy(all, near, found * sizeof *all);
  TL_TRY(put_in(work, take_out(work, found)));
  work->near = all;
  mark_anew(work);
  return TALUS_OK;
}

/* Makes new enlarged boxes. During the search, a stray has a box around its old and its new one. */
static bool grow_strays(const mend_work *work) {
  talus_box *grown = work->cache->grown.data;
  for (size_t k = 0; k < work->mending->count; ++k) {
    const uint32_t stray = work->strays[k];
    if (!tl_box_is_finite(work->mending->boxes[stray]))
      return false; /* of a plane, or an error */
    work->fresh[k] = tl_box_grow(work->mending->boxes[stray], 0.5 * work->cache->skin);
  }
  for (size_t k = 0; k < work->mending->count; ++k)
    grown[work->strays[k]] = both(grown[work->strays[k]], work->fresh[k]);
  return true;
}

/* False if rounding puts a box outside of its new enlarged box. */
static bool measure_strays(const mend_work *work, double *far) {
  tl_broad_cache *cache = work->cache;
  for (size_t k = 0; k < work->mending->count; ++k) {
    const uint32_t stray = work->strays[k];
    cache->grown.data[stray] = work->fresh[k];
    if (tl_skin_check_box(&work->mending->boxes[stray], &work->fresh[k], cache->skin, far,
                          cache->moves.data + 6 * (size_t)stray) != TL_SKIN_STEADY)
      return false;
  }
  return true;
}

static int compare_slots(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

talus_status tl_skin_mend(const tl_model *model, tl_arena *arena, const tl_skin_mending *mending,
                          tl_broad_cache *cache, double *far) {
  _Atomic size_t found;
  atomic_init(&found, 0);
  mend_work work = {.model = model,
                    .mending = mending,
                    .strays = mending->strays,
                    .cache = cache,
                    .found = &found,
                    .room = ROOM * mending->count};
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  cache->valid = false;
  TL_TAKE(arena, mending->count, &work.fresh);
  TL_TAKE(arena, work.room, &work.near);
  qsort(mending->strays, mending->count, sizeof *mending->strays, compare_slots);
  if (grow_strays(&work)) {
    tl_for(&model->par, cache->grown.count, GRAIN, search_range, &work);
    const bool works = atomic_load(&found) <= work.room && measure_strays(&work, far);
    if (works) /* invalid meanwhile: without memory, candidates are missing */
      TL_TRY(edit(&work, arena, atomic_load(&found)));
    cache->valid = works;
  }
  tl_arena_release(arena, mark);
  return TALUS_OK;
}
