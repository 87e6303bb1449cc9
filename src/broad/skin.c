/* The Verlet skin (Verlet 1967): candidate pairs are found for boxes that are enlarged by half the
 * skin on each side, and kept. As long as every box is inside its enlarged box, boxes that overlap
 * now are among the candidates, and are selected from them. So the result is the same as without a
 * skin, including the order.
 *
 * A step that keeps candidates goes through memory three times:
 *  1. every box is compared with its enlarged box, which gives the largest displacement of a side;
 *  a few boxes that have left theirs get new candidates (skin_mend.c);
 *  2. the distance of two sides has changed by at most twice that displacement. Nearly all
 *  candidates are decided by two bytes per candidate, about the boxes when they were found, and six
 *  bytes per body, about the displacements of its sides since then; the others are tested. The
 *  result is one bit per candidate;
 *  3. candidates whose bit is set are written; each block begins where the counts say. */
#include "broad/broad.h"
#include "broad/skin.h"

#include "base/sort.h"

#include <stdatomic.h>

#define BLOCK ((size_t)512) /* boxes that a task examines */

typedef struct skin_work {
  const tl_model *model;
  const talus_box *boxes;
  size_t count;
  tl_images images;
  const tl_skin_lanes *lanes;
  tl_broad_cache *cache;
  const tl_pair *found; /* candidates that are prefetched */
  double *far;          /* m, by block of boxes: largest displacement of a side */
  _Atomic size_t *left; /* boxes that left; beyond most_left the rest is useless */
  uint32_t *strays;     /* these boxes */
  size_t most_left;
  _Atomic bool *odd; /* some box is not finite */
  unsigned need;     /* candidates of lower levels are tested */
  uint64_t *bits;    /* by candidate */
  uint64_t *first;   /* by block of candidates: number selected, later their begin */
  size_t taken;
  tl_pair *out;
} skin_work;

/* ---- are the candidates still valid? --------------------------------------------------------- */

/* On a periodic axis a box may have wrapped around since: then it is checked with slightly less
 * room, so that the rounding of moving it cannot matter. */
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

static bool stays(const skin_work *work, size_t i) {
  const tl_span3 box = tl_images_home(&work->images, &work->boxes[i]);
  const tl_span3 larger = tl_images_home(&work->images, &work->cache->grown.data[i]);
  for (int k = 0; k < 3; ++k)
    if (!is_within_axis(&work->images, k, &box, &larger))
      return false;
  return true;
}

/* Adds a box that left its enlarged box, or shrank more than its skin allows; false if there are
 * too many. */
static bool note_stray(const skin_work *work, size_t i) {
  const size_t before = atomic_fetch_add_explicit(work->left, 1, memory_order_relaxed);
  if (before >= work->most_left)
    return false;
  work->strays[before] = (uint32_t)i;
  return true;
}

/* Largest displacement of a side of these boxes, except strays; HUGE_VAL: too many have left. It is
 * not measured on periodic axes: boxes may have wrapped around. */
static double measure_boxes(const skin_work *work, size_t first, size_t last) {
  const talus_box *boxes = work->boxes, *grown = work->cache->grown.data;
  const double skin = work->cache->skin;
  int8_t *moves = work->cache->moves.data;
  double far = 0;
  for (size_t i = first; work->images.any && i < last; ++i)
    if (!stays(work, i) && !note_stray(work, i))
      return HUGE_VAL;
  if (work->images.any)
    return skin;
  for (size_t i = first; i < last;) {
    i += work->lanes->count_steady(boxes + i, grown + i, last - i, skin, &far, moves + 6 * i);
    for (size_t end = last - i < 4 ? last : i + 4; i < end; ++i) {
      double moved = far;
      const int now = tl_skin_check_box(&boxes[i], &grown[i], skin, &moved, moves + 6 * i);
      if (now == TL_SKIN_LEFT || (now == TL_SKIN_WITHIN && work->most_left > 0)) {
        if (!note_stray(work, i))
          return HUGE_VAL;
      } else {
        far = moved;
      }
    }
  }
  return far;
}

static void measure_blocks(void *context, size_t begin, size_t end) {
  const skin_work *work = context;
  for (size_t b = begin; b < end; ++b) {
    const size_t last = (b + 1) * BLOCK < work->count ? (b + 1) * BLOCK : work->count;
    work->far[b] = HUGE_VAL;
    if (atomic_load_explicit(work->left, memory_order_relaxed) > work->most_left)
      return;
    work->far[b] = measure_boxes(work, b * BLOCK, last);
  }
}

/* The same for all boxes. Up to `most` that left are given new candidates; HUGE_VAL: there were
 * more. */
static talus_status measure(skin_work *work, tl_arena *arena, size_t most, double *far) {
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  const size_t blocks = (work->count + BLOCK - 1) / BLOCK;
  uint32_t strays[TL_SKIN_STRAYS];
  _Atomic size_t left;
  atomic_init(&left, 0);
  work->left = &left;
  work->strays = strays;
  work->most_left = work->images.any ? 0 : most;
  TL_TAKE(arena, blocks, &work->far);
  tl_for(&work->model->par, blocks, 1, measure_blocks, work);
  *far = 0;
  for (size_t b = 0; b < blocks && *far < HUGE_VAL; ++b)
    *far = work->far[b] > *far ? work->far[b] : *far;
  tl_arena_release(arena, mark);
  const tl_skin_mending mending = {work->boxes, work->lanes, strays, atomic_load(&left)};
  if (*far == HUGE_VAL || mending.count == 0)
    return TALUS_OK;
  TL_TRY(tl_skin_mend(work->model, arena, &mending, work->cache, far));
  if (work->cache->valid) {
    work->cache->mended++;
  } else {
    *far = HUGE_VAL;
    work->cache->valid = true; /* still valid: tells skin_choose.c that a box has left */
  }
  return TALUS_OK;
}

/* Most strays: a search by brute force for so many costs less than finding all candidates anew. */
static size_t most_strays(const skin_work *work) {
  return work->count / 64 < TL_SKIN_STRAYS ? work->count / 64 : TL_SKIN_STRAYS;
}

/* True if the candidates belong to these bodies with the present groups. The owner must say if
 * bodies came and went but their number is the same (tl_broad_forget). */
static bool is_known(const skin_work *work) {
  const tl_broad_cache *cache = work->cache;
  return cache->valid && (work->model->skin < 0 || cache->skin == work->model->skin) &&
         cache->grown.count == work->count && cache->ignored == work->model->ignored.count;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static void grow_boxes(void *context, size_t begin, size_t end) {
  const skin_work *work = context;
  bool odd = false;
  for (size_t i = begin; i < end; ++i) {
    odd |= !tl_box_is_finite(work->boxes[i]);
    work->cache->grown.data[i] = tl_box_grow(work->boxes[i], 0.5 * work->cache->skin);
  }
  if (!work->images.any)
    memset(work->cache->moves.data + 6 * begin, 0, 6 * (end - begin));
  if (odd)
    atomic_store_explicit(work->odd, true, memory_order_relaxed);
}

static void keep_found(void *context, size_t begin, size_t end) {
  const skin_work *work = context;
  const tl_broad_cache *cache = work->cache;
  memcpy(cache->candidates.data + begin, work->found + begin, (end - begin) * sizeof *work->found);
  if (!work->images.any)
    work->lanes->mark(cache->grown.data, work->found + begin, end - begin, cache->skin,
                      cache->levels.data + begin, cache->sides.data + begin);
}

static talus_status find_candidates(talus_broad_kind kind, skin_work *work, const tl_crowd *crowd) {
  tl_broad_cache *cache = work->cache;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  tl_pairs found;
  TL_TRY(tl_broad_find_anew(kind, crowd, cache->grown.data, &found));
  TL_TRY(tl_array_resize(&cache->candidates, found.count));
  TL_TRY(tl_array_resize(&cache->levels, work->images.any ? 0 : found.count));
  TL_TRY(tl_array_resize(&cache->sides, work->images.any ? 0 : found.count));
  work->found = found.data;
  tl_for(&work->model->par, found.count, BLOCK, keep_found, work);
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

static talus_status renew(talus_broad_kind kind, skin_work *work, const tl_crowd *crowd,
                          double skin) {
  tl_broad_cache *cache = work->cache;
  cache->valid = false;
  cache->kept = 0;
  _Atomic bool odd;
  atomic_init(&odd, false);
  work->odd = &odd;
  TL_TRY(tl_array_resize(&cache->grown, work->count));
  TL_TRY(tl_array_resize(&cache->moves, work->images.any ? 0 : 6 * work->count));
  cache->skin = skin;
  tl_for(&work->model->par, work->count, BLOCK, grow_boxes, work);
  if (atomic_load(&odd)) /* of a plane, or an error */
    TL_TRY(tl_broad_check(crowd, work->boxes));
  TL_TRY(find_candidates(kind, work, crowd));
  cache->ignored = work->model->ignored.count;
  cache->valid = true;
  cache->renewals++;
  return TALUS_OK;
}

/* Makes candidates valid for these boxes, kept or new ones, and returns the largest displacement of
 * a side since. HUGE_VAL: none, because a skin does not pay (skin_choose.c), or because even now a
 * box seems to be outside of its enlarged box. The latter needs a periodic axis and a skin of about
 * 1e-13 of its length or of the coordinates: less than the rounding of moving a box around. */
static talus_status keep(talus_broad_kind kind, skin_work *work, const tl_crowd *crowd,
                         double *far) {
  tl_broad_cache *cache = work->cache;
  *far = HUGE_VAL;
  if (is_known(work))
    TL_TRY(measure(work, crowd->arena, most_strays(work), far));
  if (*far < HUGE_VAL) {
    cache->far = *far;
    cache->kept++;
    return TALUS_OK;
  }
  const double skin = tl_skin_choose(crowd, work->boxes);
  if (!(skin > 0)) { /* no skin pays */
    cache->valid = false;
    return TALUS_OK;
  }
  TL_TRY(renew(kind, work, crowd, skin));
  /* Measured also now: enlarged boxes are rounded, which matters for a very thin skin. */
  return measure(work, crowd->arena, 0, far);
}

/* ---- selecting pairs from the candidates ----------------------------------------------------- */

static size_t size_of_block(const skin_work *work, size_t block) {
  const size_t left = work->cache->candidates.count - block * TL_SKIN_BLOCK;
  return left < TL_SKIN_BLOCK ? left : TL_SKIN_BLOCK;
}

static size_t decide_images(const skin_work *work, const tl_pair *candidates, size_t count,
                            uint64_t *bits) {
  size_t found = 0;
  memset(bits, 0, (count + 63) / 64 * sizeof *bits);
  for (size_t i = 0; i < count; ++i) {
    const tl_pair next = candidates[i + TL_SKIN_AHEAD < count ? i + TL_SKIN_AHEAD : i];
    tl_skin_fetch(&work->boxes[next.b]);
    const tl_span3 a = tl_images_home(&work->images, &work->boxes[candidates[i].a]);
    const tl_span3 b = tl_images_home(&work->images, &work->boxes[candidates[i].b]);
    const bool overlap = tl_images_overlap(&work->images, &a, &b);
    bits[i / 64] |= (uint64_t)overlap << (i % 64);
    found += overlap;
  }
  return found;
}

static void decide_blocks(void *context, size_t begin, size_t end) {
  const skin_work *work = context;
  const tl_broad_cache *cache = work->cache;
  for (size_t b = begin; b < end; ++b) {
    const size_t at = b * TL_SKIN_BLOCK, n = size_of_block(work, b);
    uint64_t *bits = work->bits + at / 64;
    if (work->images.any) {
      work->first[b] = decide_images(work, cache->candidates.data + at, n, bits);
      continue;
    }
    const tl_skin_block block = {cache->candidates.data + at, cache->levels.data + at,
                                 cache->sides.data + at, n};
    work->first[b] =
        tl_skin_decide(work->lanes, work->boxes, cache->moves.data, &block, work->need, bits);
  }
}

static void put_blocks(void *context, size_t begin, size_t end) {
  const skin_work *work = context;
  const size_t blocks = (work->cache->candidates.count + TL_SKIN_BLOCK - 1) / TL_SKIN_BLOCK;
  for (size_t b = begin; b < end; ++b) {
    const size_t at = b * TL_SKIN_BLOCK, to = (size_t)work->first[b];
    const size_t next = b + 1 < blocks ? (size_t)work->first[b + 1] : work->taken;
    work->lanes->put(work->cache->candidates.data + at, size_of_block(work, b),
                     work->bits + at / 64, work->out + to, next - to);
  }
}

static talus_status take_pairs(skin_work *work, tl_arena *arena, double far, tl_pairs *pairs) {
  const tl_par *par = &work->model->par;
  const size_t blocks = (work->cache->candidates.count + TL_SKIN_BLOCK - 1) / TL_SKIN_BLOCK;
  uint64_t taken;
  work->need = tl_skin_need(far, work->cache->skin);
  TL_TAKE(arena, blocks * (TL_SKIN_BLOCK / 64), &work->bits);
  TL_TAKE(arena, blocks, &work->first);
  tl_for(par, blocks, 1, decide_blocks, work);
  TL_TRY(tl_scan_u64(par, arena, work->first, blocks, &taken));
  work->taken = (size_t)taken;
  TL_TAKE(arena, work->taken, &work->out);
  tl_for(par, blocks, 1, put_blocks, work);
  *pairs = (tl_pairs){.data = work->out, .count = work->taken};
  return TALUS_OK;
}

static skin_work work_of(const tl_crowd *crowd, const talus_box *boxes) {
  const tl_model *model = crowd->model;
  return (skin_work){.model = model,
                     .boxes = boxes,
                     .count = crowd->count,
                     .images = tl_images_of(model),
                     .lanes = tl_skin_lanes_now(),
                     .cache = crowd->broad_cache};
}

talus_status tl_skin_find_pairs(talus_broad_kind kind, const tl_crowd *crowd,
                                const talus_box *boxes, tl_pairs *pairs) {
  const tl_model *model = crowd->model;
  skin_work work = work_of(crowd, boxes);
  double far = HUGE_VAL;
  if (model->skin < 0 && work.cache->pause > 0)
    work.cache->pause--;
  else
    TL_TRY(keep(kind, &work, crowd, &far));
  if (far < HUGE_VAL)
    return take_pairs(&work, crowd->arena, far, pairs);
  TL_TRY(tl_broad_check(crowd, boxes));
  return tl_broad_find_anew(kind, crowd, boxes, pairs);
}

void tl_broad_forget(tl_broad_cache *cache) { cache->valid = cache->near.valid = false; }

void tl_broad_cache_free(tl_broad_cache *cache) {
  tl_array_free(&cache->order);
  tl_array_free(&cache->tree.order);
  tl_array_free(&cache->grown);
  tl_array_free(&cache->candidates);
  tl_array_free(&cache->levels);
  tl_array_free(&cache->sides);
  tl_array_free(&cache->moves);
  tl_array_free(&cache->near.from);
  tl_array_free(&cache->near.room);
  tl_array_free(&cache->near.pairs);
  tl_array_free(&cache->near.gaps);
  tl_array_free(&cache->near.walls);
  tl_broad_forget(cache);
}
