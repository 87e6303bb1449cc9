/* The Verlet skin (Verlet 1967): candidate pairs are found for boxes that are larger than they need
 * be by half the skin on each side, and kept. As long as every box is still within its larger one,
 * whatever moved it there, boxes that overlap now are among the candidates; and of these the ones
 * are taken that overlap now. So the answer is the same as without a skin, to the order. */
#include "broad/broad.h"
#include "broad/images.h"
#include "broad/search.h"

#define BLOCK ((size_t)1024) /* candidates, or boxes, that are looked at together */

typedef struct skin_work {
  const tl_model *model;
  const talus_box *boxes;
  size_t count;
  tl_images images;
  const tl_broad_cache *cache;
  talus_box *grown;
  uint8_t *left; /* of each block: whether a box is no longer within */
} skin_work;

/* ---- are the candidates good for another time? ----------------------------------------------- */

static bool is_within(const tl_span3 *box, const tl_span3 *larger) {
  return (larger->lo[0] <= box->lo[0]) & (box->hi[0] <= larger->hi[0]) &
         (larger->lo[1] <= box->lo[1]) & (box->hi[1] <= larger->hi[1]) &
         (larger->lo[2] <= box->lo[2]) & (box->hi[2] <= larger->hi[2]);
}

/* The same along a periodic axis, where a box may have gone once around since: then with a little
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

/* What is not a number is within nothing. */
static bool stays(const skin_work *work, size_t i) {
  if (!work->images.any) {
    const tl_span3 box = span_of(&work->boxes[i]), larger = span_of(&work->cache->grown.data[i]);
    return is_within(&box, &larger);
  }
  const tl_span3 box = tl_images_home(&work->images, &work->boxes[i]);
  const tl_span3 larger = tl_images_home(&work->images, &work->cache->grown.data[i]);
  for (int k = 0; k < 3; ++k)
    if (!is_within_axis(&work->images, k, &box, &larger))
      return false;
  return true;
}

static void check_blocks(void *context, size_t begin, size_t end) {
  const skin_work *work = context;
  for (size_t b = begin; b < end; ++b) {
    const size_t last = b * BLOCK + BLOCK < work->count ? b * BLOCK + BLOCK : work->count;
    bool all = true;
    for (size_t i = b * BLOCK; i < last; ++i)
      all &= stays(work, i);
    work->left[b] = !all;
  }
}

/* Whether the candidates are of these bodies, masked as now. Bodies that came and went at the same
 * number are for the owner to tell (tl_broad_forget). */
static bool is_known(const skin_work *work) {
  const tl_broad_cache *cache = work->cache;
  return cache->valid && cache->skin == work->model->skin && cache->grown.count == work->count &&
         cache->ignored == work->model->ignored.count;
}

static talus_status check_candidates(skin_work *work, tl_arena *arena, bool *good) {
  *good = is_known(work);
  if (!*good)
    return TALUS_OK;
  const size_t blocks = (work->count + BLOCK - 1) / BLOCK;
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TAKE(arena, blocks, &work->left);
  tl_for(&work->model->par, blocks, 4, check_blocks, work);
  for (size_t b = 0; b < blocks; ++b)
    *good &= !work->left[b];
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static void grow_boxes(void *context, size_t begin, size_t end) {
  const skin_work *work = context;
  for (size_t i = begin; i < end; ++i)
    work->grown[i] = tl_box_grow(work->boxes[i], 0.5 * work->model->skin);
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
  cache->skin = work->model->skin;
  cache->ignored = work->model->ignored.count;
  cache->valid = true;
  cache->renewals++;
  return TALUS_OK;
}

/* ---- pairs of the candidates ----------------------------------------------------------------- */

#define AHEAD ((size_t)32) /* boxes are asked for so many candidates before they are needed */
#if defined(__GNUC__)
#define PREFETCH(pointer) __builtin_prefetch(pointer)
#else
#define PREFETCH(pointer) ((void)(pointer))
#endif

static bool overlaps(const skin_work *work, tl_pair pair) {
  const talus_box *a = &work->boxes[pair.a], *b = &work->boxes[pair.b];
  if (!work->images.any) {
    const tl_span3 p = span_of(a), q = span_of(b);
    return tl_span3_overlap(&p, &q);
  }
  const tl_span3 p = tl_images_home(&work->images, a), q = tl_images_home(&work->images, b);
  return tl_images_overlap(&work->images, &p, &q);
}

static void filter(const void *context, size_t block, tl_catch *to) {
  const skin_work *work = context;
  const tl_pair *candidates = work->cache->candidates.data;
  const size_t n = work->cache->candidates.count, first = block * BLOCK;
  const size_t last = first + BLOCK < n ? first + BLOCK : n;
  for (size_t i = first; i < last; ++i) {
    const size_t next = i + AHEAD < last ? i + AHEAD : i;
    PREFETCH(&work->boxes[candidates[next].b].lo.x);
    PREFETCH(&work->boxes[candidates[next].b].hi.z); /* a box may be on two cache lines */
    if (overlaps(work, candidates[i]))
      tl_catch_put(to, candidates[i].a, candidates[i].b);
  }
}

talus_status tl_skin_find_pairs(talus_broad_kind kind, const tl_model *model, const tl_scope *scope,
                                const talus_box *boxes, tl_pairs *pairs) {
  tl_broad_cache *cache = scope->broad_cache;
  skin_work work = {.model = model,
                    .boxes = boxes,
                    .count = scope->count,
                    .images = tl_images_of(model),
                    .cache = cache};
  bool good;
  TL_TRY(check_candidates(&work, scope->arena, &good));
  if (!good)
    TL_TRY(renew(kind, &work, scope, cache));
  const size_t blocks = (cache->candidates.count + BLOCK - 1) / BLOCK;
  return tl_search(&model->par, scope->arena, blocks, filter, &work, pairs);
}

void tl_broad_forget(tl_broad_cache *cache) { cache->valid = false; }

void tl_broad_cache_free(tl_broad_cache *cache) {
  tl_array_free(&cache->order);
  tl_array_free(&cache->tree.order);
  tl_array_free(&cache->grown);
  tl_array_free(&cache->candidates);
  cache->valid = false;
}
