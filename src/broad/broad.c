/* What the algorithms have in common: the check before, the mask. The order after is in
 * pair_order.c. */
#include "broad/broad.h"

#include <inttypes.h>
#include <math.h>

#include "base/cancel.h"
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
