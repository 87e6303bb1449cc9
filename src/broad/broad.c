/* What the algorithms have in common: the check before, the mask, the order after. */
#include "broad/broad.h"

#include <inttypes.h>
#include <math.h>

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

/* ---- the check before ----------------------------------------------------------------------- */

typedef struct check_work {
  const tl_model *model;
  const tl_scope *scope;
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
  return has_nan(box) || tl_body_shape(work->model, tl_scope_slot(work->scope, i))->bounded;
}

talus_status tl_broad_check(const tl_model *model, const tl_scope *scope, const talus_box *boxes) {
  check_work work = {model, scope, boxes};
  const size_t bad = tl_find_first(&model->par, scope->count, is_bad, &work);
  if (bad == SIZE_MAX)
    return TALUS_OK;
  const talus_box *box = &boxes[bad];
  return tl_fail(TALUS_ERROR_DIVERGED,
                 "body %" PRIu64 ": its bounding box is not finite (%g %g %g to %g %g %g): check "
                 "its position, size and velocity, or take a smaller time step",
                 model->property.uid[tl_scope_slot(scope, bad)], box->lo.x, box->lo.y, box->lo.z,
                 box->hi.x, box->hi.y, box->hi.z);
}

/* ---- the order after ------------------------------------------------------------------------ */

typedef struct pack_work {
  tl_pair *pairs;
  uint64_t *keys; /* in the same place */
  int bits;       /* of a slot */
} pack_work;

static void pack(void *context, size_t begin, size_t end) {
  const pack_work *work = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_pair pair = work->pairs[i];
    work->keys[i] = (uint64_t)pair.a << work->bits | pair.b;
  }
}

static void unpack(void *context, size_t begin, size_t end) {
  const pack_work *work = context;
  for (size_t i = begin; i < end; ++i) {
    const uint64_t key = work->keys[i];
    const uint64_t mask = ((uint64_t)1 << work->bits) - 1;
    work->pairs[i] = (tl_pair){(uint32_t)(key >> work->bits), (uint32_t)(key & mask)};
  }
}

/* A pair is as long as a 64-bit key, so it is turned into one where it lies. */
talus_status tl_broad_sort_pairs(const tl_model *model, tl_arena *arena, tl_pairs *pairs) {
  _Static_assert(sizeof(tl_pair) == sizeof(uint64_t), "a pair is a key");
  pack_work work = {pairs->data, (uint64_t *)(void *)pairs->data, tl_bits_u64(model->bodies)};
  tl_for(&model->par, pairs->count, 4096, pack, &work);
  TL_TRY(tl_sort_u64(&model->par, arena, work.keys, NULL, pairs->count, 2 * work.bits));
  tl_for(&model->par, pairs->count, 4096, unpack, &work);
  return TALUS_OK;
}

talus_status tl_broad_find_unsorted(talus_broad_kind kind, const tl_model *model,
                                    const tl_scope *scope, const talus_box *boxes,
                                    tl_pairs *pairs) {
  tl_sweep_order *order = scope->broad_cache ? &scope->broad_cache->order : NULL;
  tl_bvh_kept *tree = scope->broad_cache ? &scope->broad_cache->tree : NULL;
  switch (kind) {
  case TALUS_BROAD_BINS:
    return tl_bins_find_pairs(model, scope, boxes, pairs);
  case TALUS_BROAD_BRUTE:
    return tl_brute_find_pairs(model, scope, boxes, pairs);
  case TALUS_BROAD_KDTREE:
    return tl_kdtree_find_pairs(model, scope, boxes, pairs);
  case TALUS_BROAD_CELLS:
    return tl_cells_find_pairs(model, scope, boxes, pairs);
  case TALUS_BROAD_SWEEP:
    return tl_sweep_find_pairs(model, scope, boxes, order, pairs);
  case TALUS_BROAD_BVH:
    return tl_bvh_find_pairs(model, scope, boxes, tree, pairs);
  case TALUS_BROAD_AUTO:
    break;
  }
  return tl_fail(TALUS_ERROR_INVALID, "broad phase %d (%s) does not name an algorithm: use bins",
                 (int)kind, tl_broad_name(kind));
}

talus_status tl_broad_find_anew(talus_broad_kind kind, const tl_model *model, const tl_scope *scope,
                                const talus_box *boxes, tl_pairs *pairs) {
  *pairs = (tl_pairs){0};
  TL_TRY(tl_broad_find_unsorted(kind, model, scope, boxes, pairs));
  return tl_broad_sort_pairs(model, scope->arena, pairs);
}

talus_status tl_broad_find_pairs(talus_broad_kind kind, const tl_model *model,
                                 const tl_scope *scope, const talus_box *boxes, tl_pairs *pairs) {
  *pairs = (tl_pairs){0};
  if (model->skin > 0 && scope->broad_cache && !scope->members)
    return tl_skin_find_pairs(kind, model, scope, boxes, pairs);
  TL_TRY(tl_broad_check(model, scope, boxes));
  return tl_broad_find_anew(kind, model, scope, boxes, pairs);
}
