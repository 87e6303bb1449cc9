/* Common parts of the algorithms: checks of boxes, the mask, sorting of pairs. */
#include "broad/broad.h"

#include <inttypes.h>
#include <math.h>

#include "base/cancel.h"
#include "base/sort.h"
#include "kernels/aabb.h"

const char *tl_broad_name(talus_broad_kind kind) {
  switch (kind) {
  case TALUS_BROAD_AUTO:
    return "auto";
  case TALUS_BROAD_BINS:
    return "bins";
  case TALUS_BROAD_BRUTE:
    return "brute";
  case TALUS_BROAD_KDTREE:
    return "kdtree";
  case TALUS_BROAD_CELLS:
    return "cells";
  case TALUS_BROAD_SWEEP:
    return "sweep";
  case TALUS_BROAD_BVH:
    return "bvh";
  }
  return "unknown";
}

bool tl_broad_allows(const tl_model *model, uint32_t a, uint32_t b) {
  const uint32_t *flags = model->property.flags, *group = model->property.group;
  if ((flags[a] & TL_FLAG_STATIC) != 0 && (flags[b] & TL_FLAG_STATIC) != 0)
    return false;
  return model->ignored.count == 0 || !tl_model_ignores(model, group[a], group[b]);
}

/* ---- checks of boxes ----------------------------------------------------------------------- */

typedef struct check_work {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_box *boxes;
} check_work;

static bool has_nan(const talus_box *box) {
  return isnan(box->lo.x) || isnan(box->lo.y) || isnan(box->lo.z) || isnan(box->hi.x) ||
         isnan(box->hi.y) || isnan(box->hi.z);
}

static bool is_bad(void *context, size_t i) {
  const check_work *work = context;
  const talus_box *box = &work->boxes[i];
  if (tl_box_is_finite(*box))
    return false;
  return has_nan(box) || tl_body_shape(work->model, tl_crowd_slot(work->crowd, i))->bounded;
}

talus_status tl_broad_check(const tl_crowd *crowd, const talus_box *boxes) {
  const tl_model *model = crowd->model;
  check_work work = {model, crowd, boxes};
  const size_t bad = tl_find_first(&model->par, crowd->count, is_bad, &work);
  if (bad == SIZE_MAX)
    return TALUS_OK;
  const talus_box *box = &boxes[bad];
  return tl_fail(TALUS_ERROR_DIVERGED,
                 "body %" PRIu64 ": its bounding box is not finite (%g %g %g to %g %g %g): check "
                 "its position, size and velocity, or take a smaller time step",
                 model->property.uid[tl_crowd_slot(crowd, bad)], box->lo.x, box->lo.y, box->lo.z,
                 box->hi.x, box->hi.y, box->hi.z);
}

/* ---- sorting of pairs ------------------------------------------------------------------------ */

/* Longest run of pairs with one first body that one thread sorts; a few bodies meet very many
 * others. */
#define SHORT_RUN ((size_t)48)

#define RUN_BLOCK ((size_t)4096)

typedef struct run_work {
  tl_pair *pairs;
  size_t *first; /* by block of pairs: begin of its first run; and one more */
} run_work;

static size_t end_of_run(const tl_pair *pairs, size_t count, size_t begin) {
  size_t end = begin + 1;
  while (end < count && pairs[end].a == pairs[begin].a)
    end++;
  return end;
}

/* ---- short runs --------------------------------------------------------------------------- */

#define EIGHT ((size_t)8)

static inline void put_in_order(uint32_t *x, uint32_t *y) {
  const uint32_t low = *x < *y ? *x : *y, high = *x < *y ? *y : *x;
  *x = low, *y = high;
}

/* Sorts up to eight pairs by second body without branches, with the network of 19 exchanges (Knuth,
 * The Art of Computer Programming 3, 5.3.4); missing elements count as the largest. */
static void sort_eight(tl_pair *pairs, size_t count) {
  uint32_t b[EIGHT];
  for (size_t i = 0; i < EIGHT; ++i)
    b[i] = i < count ? pairs[i].b : UINT32_MAX;
  put_in_order(&b[0], &b[2]), put_in_order(&b[1], &b[3]);
  put_in_order(&b[4], &b[6]), put_in_order(&b[5], &b[7]);
  put_in_order(&b[0], &b[4]), put_in_order(&b[1], &b[5]);
  put_in_order(&b[2], &b[6]), put_in_order(&b[3], &b[7]);
  put_in_order(&b[0], &b[1]), put_in_order(&b[2], &b[3]);
  put_in_order(&b[4], &b[5]), put_in_order(&b[6], &b[7]);
  put_in_order(&b[2], &b[4]), put_in_order(&b[3], &b[5]);
  put_in_order(&b[1], &b[4]), put_in_order(&b[3], &b[6]);
  put_in_order(&b[1], &b[2]), put_in_order(&b[3], &b[4]), put_in_order(&b[5], &b[6]);
  for (size_t i = 0; i < count; ++i)
    pairs[i].b = b[i];
}

/* Sorts the runs that begin in these blocks by second body. */
static void sort_runs(void *context, size_t begin, size_t end) {
  const run_work *work = context;
  tl_pair *pairs = work->pairs;
  for (size_t first = work->first[begin]; first < work->first[end];) {
    const size_t last = end_of_run(pairs, work->first[end], first);
    const size_t eight = last - first < EIGHT ? last - first : EIGHT;
    if (last - first <= SHORT_RUN && eight > 1)
      sort_eight(pairs + first, eight);
    for (size_t i = first + eight; i < last && last - first <= SHORT_RUN; ++i) {
      const tl_pair pair = pairs[i];
      size_t j = i;
      for (; j > first && pairs[j - 1].b > pair.b; --j)
        pairs[j] = pairs[j - 1];
      pairs[j] = pair;
    }
    first = last;
  }
}

static bool is_sorted(const tl_pair *pairs, size_t count) {
  for (size_t i = 1; i < count; ++i)
    if (pairs[i - 1].b > pairs[i].b)
      return false;
  return true;
}

/* Sorts each long run with all threads. A pair with exchanged bodies is a key that sorts by b. */
static talus_status sort_long_runs(const tl_model *model, tl_arena *arena, tl_pairs *pairs) {
  const int bits = tl_bits_u64(model->bodies);
  for (size_t first = 0; first + SHORT_RUN < pairs->count;) {
    if (pairs->data[first + SHORT_RUN].a != pairs->data[first].a) {
      first++; /* no long run begins here */
      continue;
    }
    const size_t last = end_of_run(pairs->data, pairs->count, first), n = last - first;
    const uint32_t a = pairs->data[first].a;
    tl_pair *run = pairs->data + first;
    if (!is_sorted(run, n)) {
      for (size_t i = 0; i < n; ++i)
        run[i] = (tl_pair){run[i].b, a};
      TL_TRY(tl_sort_u64(&model->par, arena, (uint64_t *)(void *)run, NULL, n, bits));
      for (size_t i = 0; i < n; ++i)
        run[i] = (tl_pair){a, run[i].a};
    }
    first = last;
  }
  return TALUS_OK;
}

/* A pair has the size of a 64-bit key whose low half is its first body: the radix sort uses only
 * that half, and then the few pairs of each first body are sorted in place. */
talus_status tl_broad_sort_pairs(const tl_model *model, tl_arena *arena, tl_pairs *pairs) {
  _Static_assert(sizeof(tl_pair) == sizeof(uint64_t), "a pair is a key");
  _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first body is the key's low half");
  const size_t blocks = (pairs->count + RUN_BLOCK - 1) / RUN_BLOCK;
  run_work work = {.pairs = pairs->data};
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TAKE(arena, blocks + 1, &work.first);
  TL_TRY(tl_sort_u64(&model->par, arena, (uint64_t *)(void *)pairs->data, NULL, pairs->count,
                     tl_bits_u64(model->bodies)));
  work.first[0] = 0;
  work.first[blocks] = pairs->count;
  for (size_t block = 1; block < blocks; ++block) {
    const size_t before = block * RUN_BLOCK - 1;
    work.first[block] = work.first[block - 1] > before
                            ? work.first[block - 1] /* the same long run */
                            : end_of_run(pairs->data, pairs->count, before);
  }
  tl_for(&model->par, blocks, 1, sort_runs, &work);
  tl_arena_release(arena, mark);
  return sort_long_runs(model, arena, pairs);
}

talus_status tl_broad_find_unsorted(talus_broad_kind kind, const tl_crowd *crowd,
                                    const talus_box *boxes, tl_pairs *pairs) {
  tl_sweep_order *order = crowd->broad_cache ? &crowd->broad_cache->order : NULL;
  tl_bvh_kept *tree = crowd->broad_cache ? &crowd->broad_cache->tree : NULL;
  switch (kind) {
  case TALUS_BROAD_BINS:
    return tl_bins_find_pairs(crowd, boxes, pairs);
  case TALUS_BROAD_BRUTE:
    return tl_brute_find_pairs(crowd, boxes, pairs);
  case TALUS_BROAD_KDTREE:
    return tl_kdtree_find_pairs(crowd, boxes, pairs);
  case TALUS_BROAD_CELLS:
    return tl_cells_find_pairs(crowd, boxes, pairs);
  case TALUS_BROAD_SWEEP:
    return tl_sweep_find_pairs(crowd, boxes, order, pairs);
  case TALUS_BROAD_BVH:
    return tl_bvh_find_pairs(crowd, boxes, tree, pairs);
  case TALUS_BROAD_AUTO:
    break;
  }
  return tl_fail(TALUS_ERROR_INVALID, "broad phase %d (%s) does not name an algorithm: use bins",
                 (int)kind, tl_broad_name(kind));
}

talus_status tl_broad_find_anew(talus_broad_kind kind, const tl_crowd *crowd,
                                const talus_box *boxes, tl_pairs *pairs) {
  const tl_model *model = crowd->model;
  *pairs = (tl_pairs){0};
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  TL_TRY(tl_broad_find_unsorted(kind, crowd, boxes, pairs));
  TL_GO_ON(crowd->cancel);
  /* Cells and trees are no longer needed, and sorting needs memory as well. */
  tl_arena_sink(crowd->arena, mark, (void **)&pairs->data, pairs->count * sizeof *pairs->data);
  return tl_broad_sort_pairs(model, crowd->arena, pairs);
}

talus_status tl_broad_find_pairs(talus_broad_kind kind, const tl_crowd *crowd,
                                 const talus_box *boxes, tl_pairs *pairs) {
  const tl_model *model = crowd->model;
  *pairs = (tl_pairs){0};
  if (model->skin != 0 && crowd->broad_cache && !crowd->members)
    return tl_skin_find_pairs(kind, crowd, boxes, pairs);
  TL_TRY(tl_broad_check(crowd, boxes));
  return tl_broad_find_anew(kind, crowd, boxes, pairs);
}
