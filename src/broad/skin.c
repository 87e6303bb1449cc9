/* The Verlet skin (Verlet 1967): candidate pairs are found for boxes that are larger than they need
 * be by half the skin on each side, and kept. As long as every box is still within its larger one,
 * whatever moved it there, boxes that overlap now are among the candidates; and of these the ones
 * are taken that overlap now. So the answer is the same as without a skin, to the order.
 *
 * A box that left its place by no more than half the skin also reaches as far as the one that is
 * smaller by that. Candidates of which those overlap are sure: they overlap as long as all boxes
 * do so, and need not be looked at.
 *
 * Candidates are in the order of their first body, so one pass does it all: a block of bodies is
 * checked, and its candidates are taken, in the hope that no other block has a box that left. */
#include "broad/broad.h"
#include "broad/images.h"
#include "broad/search.h"
#include "broad/skin.h"

#include <stdatomic.h>

#define BLOCK ((size_t)512) /* boxes that are looked at together */
#define SURE  0x80000000u   /* in pair.b of a candidate. Slots are below it */

#define AHEAD ((size_t)32) /* boxes are asked for so many candidates before they are needed */
#if defined(__GNUC__)
#define PREFETCH(pointer) __builtin_prefetch(pointer)
#else
#define PREFETCH(pointer) ((void)(pointer))
#endif

/* How far the boxes of a block have moved. */
enum { STEADY, WITHIN, LEFT };

typedef struct skin_work {
  const tl_model *model;
  const talus_box *boxes;
  size_t count;
  tl_images images;
  const tl_broad_cache *cache;
  talus_box *grown;
  uint8_t *moved; /* of each block: STEADY ... */
  bool trust_sure;
  _Atomic bool *left; /* some block has a box that left: the rest is in vain */
} skin_work;

/* ---- are the candidates good for another time? ----------------------------------------------- */

/* Along a periodic axis a box may have gone once around since: then it is checked with a little
 * less room, so that the rounding of moving it cannot matter. */
static bool is_within_axis(const tl_images *images, int k, const tl_span3 *box,
                           const tl_span3 *larger) {
  if (larger->lo[k] <= box->lo[k] && box->hi[k] <= larger->hi[k])
    return true;
  if (!images->periodic[k])
    return false;
  const double length = images->length[k];
  const double slack =
      (fabs(images->low[k]) + fabs(box->lo[k]) + fabs(box->hi[k]) + length) * 0x1p-45;
  return (larger->lo[k] + slack <= box->lo[k] + length &&
          box->hi[k] + length <= larger->hi[k] - slack) ||
         (larger->lo[k] + slack <= box->lo[k] - length &&
          box->hi[k] - length <= larger->hi[k] - slack);
}

static tl_span3 span_of(const talus_box *box) {
  return (tl_span3){{box->lo.x, box->lo.y, box->lo.z}, {box->hi.x, box->hi.y, box->hi.z}};
}

static bool stays(const skin_work *work, size_t i) {
  const tl_span3 box = tl_images_home(&work->images, &work->boxes[i]);
  const tl_span3 larger = tl_images_home(&work->images, &work->cache->grown.data[i]);
  for (int k = 0; k < 3; ++k)
    if (!is_within_axis(&work->images, k, &box, &larger))
      return false;
  return true;
}

/* The box that is smaller by half the skin than the one candidates were found for was. */
static inline tl_span3 inner_of(const skin_work *work, size_t i) {
  const talus_box *grown = &work->cache->grown.data[i];
  const double skin = work->model->skin;
  return (tl_span3){{grown->lo.x + skin, grown->lo.y + skin, grown->lo.z + skin},
                    {grown->hi.x - skin, grown->hi.y - skin, grown->hi.z - skin}};
}

/* Of plain boxes, both ways at once. What is not a number is within nothing. */
static inline unsigned check_box(const talus_box *box, const talus_box *grown, double skin) {
  const unsigned within = (grown->lo.x <= box->lo.x) & (grown->lo.y <= box->lo.y) &
                          (grown->lo.z <= box->lo.z) & (box->hi.x <= grown->hi.x) &
                          (box->hi.y <= grown->hi.y) & (box->hi.z <= grown->hi.z);
  const unsigned steady = (box->lo.x <= grown->lo.x + skin) & (box->lo.y <= grown->lo.y + skin) &
                          (box->lo.z <= grown->lo.z + skin) & (grown->hi.x - skin <= box->hi.x) &
                          (grown->hi.y - skin <= box->hi.y) & (grown->hi.z - skin <= box->hi.z);
  return (within ^ 1u) << 1 | (steady ^ 1u);
}

static uint8_t check_block(const skin_work *work, size_t first, size_t last) {
  const double skin = work->model->skin;
  unsigned moved = 0;
  if (!work->images.any && tl_skin_has_avx512())
    first += tl_skin_count_steady(work->boxes + first, work->cache->grown.data + first,
                                  last - first, skin);
  for (size_t i = first; i < last; ++i)
    moved |= work->images.any ? stays(work, i) ? 0u : 2u
                              : check_box(&work->boxes[i], &work->cache->grown.data[i], skin);
  return moved > 1 ? LEFT : moved == 1 ? WITHIN : STEADY;
}

/* Whether the candidates are of these bodies, masked as now. Bodies that came and went at the same
 * number are for the owner to tell (tl_broad_forget). */
static bool is_known(const skin_work *work) {
  const tl_broad_cache *cache = work->cache;
  return cache->valid && cache->skin == work->model->skin && cache->grown.count == work->count &&
         cache->ignored == work->model->ignored.count;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static void grow_boxes(void *context, size_t begin, size_t end) {
  const skin_work *work = context;
  for (size_t i = begin; i < end; ++i)
    work->grown[i] = tl_box_grow(work->boxes[i], 0.5 * work->model->skin);
}

/* Marks the sure ones. With periods none is: boxes may have gone round. */
static void mark_sure(void *context, size_t begin, size_t end) {
  const skin_work *work = context;
  tl_pair *candidates = work->cache->candidates.data;
  for (size_t i = begin; i < end; ++i) {
    const talus_box *next = &work->cache->grown.data[candidates[i + AHEAD < end ? i + AHEAD : i].b];
    PREFETCH(&next->lo.x);
    PREFETCH(&next->hi.z); /* it may be on two cache lines */
    const tl_span3 a = inner_of(work, candidates[i].a), b = inner_of(work, candidates[i].b);
    if (tl_span3_overlap(&a, &b))
      candidates[i].b |= SURE;
  }
}

/* Where the candidates of every block of bodies begin. */
static talus_status find_blocks(tl_broad_cache *cache, size_t bodies) {
  const size_t blocks = (bodies + BLOCK - 1) / BLOCK, n = cache->candidates.count;
  TL_TRY(tl_array_resize(&cache->first, blocks + 1));
  size_t at = 0;
  for (size_t b = 0; b <= blocks; ++b) {
    size_t end = n;
    while (at < end) { /* the first of this block */
      const size_t middle = at + (end - at) / 2;
      if (cache->candidates.data[middle].a < b * BLOCK)
        at = middle + 1;
      else
        end = middle;
    }
    cache->first.data[b] = at;
  }
  return TALUS_OK;
}

static talus_status find_candidates(talus_broad_kind kind, const tl_model *model,
                                    const tl_scope *scope, tl_broad_cache *cache) {
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  tl_pairs found;
  TL_TRY(tl_broad_find_anew(kind, model, scope, cache->grown.data, &found));
  TL_TRY(tl_array_resize(&cache->candidates, found.count));
  if (found.count > 0)
    memcpy(cache->candidates.data, found.data, found.count * sizeof *found.data);
  tl_arena_release(scope->arena, mark);
  return TALUS_OK;
}

static talus_status renew(talus_broad_kind kind, skin_work *work, const tl_scope *scope,
                          tl_broad_cache *cache) {
  cache->valid = false;
  TL_TRY(tl_broad_check(work->model, scope, work->boxes));
  TL_TRY(tl_array_resize(&cache->grown, work->count));
  work->grown = cache->grown.data;
  tl_for(&work->model->par, work->count, BLOCK, grow_boxes, work);
  TL_TRY(find_candidates(kind, work->model, scope, cache));
  if (!work->images.any)
    tl_for(&work->model->par, cache->candidates.count, BLOCK, mark_sure, work);
  TL_TRY(find_blocks(cache, work->count));
  cache->skin = work->model->skin;
  cache->ignored = work->model->ignored.count;
  cache->valid = true;
  cache->renewals++;
  return TALUS_OK;
}

/* ---- pairs of the candidates ----------------------------------------------------------------- */

static bool overlaps(const skin_work *work, tl_pair pair) {
  const talus_box *a = &work->boxes[pair.a], *b = &work->boxes[pair.b];
  if (!work->images.any) {
    const tl_span3 p = span_of(a), q = span_of(b);
    return tl_span3_overlap(&p, &q);
  }
  const tl_span3 p = tl_images_home(&work->images, a), q = tl_images_home(&work->images, b);
  return tl_images_overlap(&work->images, &p, &q);
}

/* Most of the time goes into branches that cannot be predicted, so there is one loop without. */
static void filter(const skin_work *work, size_t first, size_t last, tl_catch *to) {
  const tl_pair *candidates = work->cache->candidates.data;
  const uint32_t trusted = work->trust_sure ? SURE : 0;
  while (first < last) {
    tl_pair found[BLOCK];
    size_t n = 0;
    const size_t end = last - first > BLOCK ? first + BLOCK : last;
    for (size_t i = first; i < end; ++i) {
      const tl_pair next = candidates[i + AHEAD < last ? i + AHEAD : i];
      if (!(next.b & trusted)) {
        PREFETCH(&work->boxes[next.b & ~SURE].lo.x);
        PREFETCH(&work->boxes[next.b & ~SURE].hi.z);
      }
      const tl_pair pair = {candidates[i].a, candidates[i].b & ~SURE};
      found[n] = pair;
      n += (candidates[i].b & trusted) != 0 || overlaps(work, pair);
    }
    const uint64_t left = to->count < to->room ? to->room - to->count : 0;
    const size_t fits = left < n ? (size_t)left : n;
    if (fits > 0)
      memcpy(to->out + to->count, found, fits * sizeof *found);
    to->count += n;
    first = end;
  }
}

static void search_block(const void *context, size_t block, tl_catch *to) {
  const skin_work *work = context;
  const size_t *first = work->cache->first.data + block;
  const size_t end = block * BLOCK + BLOCK < work->count ? block * BLOCK + BLOCK : work->count;
  work->moved[block] = LEFT;
  if (atomic_load_explicit(work->left, memory_order_relaxed))
    return;
  work->moved[block] = check_block(work, block * BLOCK, end);
  if (work->moved[block] == LEFT)
    atomic_store_explicit(work->left, true, memory_order_relaxed);
  else
    filter(work, first[0], first[1], to);
}

/* Pairs of the candidates that are kept; *moved: what they are good for. */
static talus_status take_pairs(skin_work *work, tl_arena *arena, tl_pairs *pairs, uint8_t *moved) {
  const size_t blocks = (work->count + BLOCK - 1) / BLOCK;
  _Atomic bool left;
  atomic_init(&left, false);
  work->left = &left;
  TL_TAKE(arena, blocks, &work->moved);
  TL_TRY(tl_search(&work->model->par, arena, blocks, search_block, work, pairs));
  *moved = STEADY;
  for (size_t b = 0; b < blocks; ++b)
    *moved = work->moved[b] > *moved ? work->moved[b] : *moved;
  return TALUS_OK;
}

talus_status tl_skin_find_pairs(talus_broad_kind kind, const tl_model *model, const tl_scope *scope,
                                const talus_box *boxes, tl_pairs *pairs) {
  tl_broad_cache *cache = scope->broad_cache;
  skin_work work = {.model = model,
                    .boxes = boxes,
                    .count = scope->count,
                    .images = tl_images_of(model),
                    .cache = cache,
                    .trust_sure = true};
  const tl_arena_mark mark = tl_arena_get_mark(scope->arena);
  uint8_t moved = LEFT;
  if (is_known(&work))
    TL_TRY(take_pairs(&work, scope->arena, pairs, &moved));
  if (moved == LEFT) {
    tl_arena_release(scope->arena, mark);
    TL_TRY(renew(kind, &work, scope, cache));
    TL_TRY(take_pairs(&work, scope->arena, pairs, &moved));
  }
  if (moved == STEADY)
    return TALUS_OK;
  tl_arena_release(scope->arena, mark);
  work.trust_sure = false;
  return take_pairs(&work, scope->arena, pairs, &moved);
}

void tl_broad_forget(tl_broad_cache *cache) { cache->valid = false; }

void tl_broad_cache_free(tl_broad_cache *cache) {
  tl_array_free(&cache->order);
  tl_array_free(&cache->tree.order);
  tl_array_free(&cache->grown);
  tl_array_free(&cache->candidates);
  tl_array_free(&cache->first);
  cache->valid = false;
}
