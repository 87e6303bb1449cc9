/* The numbers of Poirrier's tables 1 to 3. */
#include "broad/kdtree.h"
#include "base/clock.h"

#define BLOCK ((size_t)1024) /* records that a task sweeps */

typedef struct block_sums {
  double cells, bodies; /* volumes: of cells, in units of the root cell; of bodies, in m3 */
  uint64_t candidates, overlapping, unique;
} block_sums;

typedef struct measure_work {
  const tl_kdtree *tree;
  block_sums *sums;
  size_t count;
} measure_work;

/* The bodies are spheres that fill their boxes. */
static bool spheres_overlap(const tl_span3 *a, const tl_span3 *b) {
  double square = 0, reach = 0;
  for (int k = 0; k < 3; ++k) {
    const double d = 0.5 * (a->lo[k] + a->hi[k]) - 0.5 * (b->lo[k] + b->hi[k]);
    const double r = 0.5 * (a->hi[k] - a->lo[k]) + 0.5 * (b->hi[k] - b->lo[k]);
    square += d * d;
    reach = r > reach ? r : reach;
  }
  return square <= reach * reach;
}

static void measure_volumes(void *context, size_t begin, size_t end) {
  const measure_work *work = context;
  const tl_kdtree *tree = work->tree;
  for (size_t b = begin; b < end; ++b) {
    block_sums *sums = &work->sums[b];
    *sums = (block_sums){0};
    for (size_t i = b * BLOCK; i < b * BLOCK + BLOCK && i < tree->count; ++i)
      sums->cells += ldexp(1, -(int)(tree->key[i] & ((1u << TL_KDTREE_LENGTH) - 1)));
    for (size_t i = b * BLOCK; i < b * BLOCK + BLOCK && i < tree->entries.count; ++i) {
      const tl_span3 *box = &tree->entry[i].box;
      sums->bodies += (box->hi[0] - box->lo[0]) * (box->hi[1] - box->lo[1]) *
                      (box->hi[2] - box->lo[2]) * (3.14159265358979323846 / 6);
    }
  }
}

/* kd-tree-1: every pair of records of which one cell contains the other goes to the narrow
 * phase. */
static void sweep_1(void *context, size_t begin, size_t end) {
  const measure_work *work = context;
  const tl_kdtree *tree = work->tree;
  for (size_t b = begin; b < end; ++b)
    for (size_t i = b * BLOCK; i < b * BLOCK + BLOCK && i < tree->count; ++i) {
      const uint64_t last = tl_kdtree_last(tree, tree->key[i]);
      for (size_t j = i + 1; j < tree->count && tree->key[j] <= last; ++j) {
        work->sums[b].candidates++;
        work->sums[b].overlapping +=
            spheres_overlap(&tree->entry[tree->id[i]].box, &tree->entry[tree->id[j]].box);
      }
    }
}

/* kd-tree-2: tests bounding spheres, and each pair once. */
static void sweep_2(void *context, size_t begin, size_t end) {
  const measure_work *work = context;
  const tl_kdtree *tree = work->tree;
  for (size_t b = begin; b < end; ++b)
    for (size_t i = b * BLOCK; i < b * BLOCK + BLOCK && i < tree->count; ++i) {
      const uint64_t last = tl_kdtree_last(tree, tree->key[i]);
      const tl_entry *p = &tree->entry[tree->id[i]];
      for (size_t j = i + 1; j < tree->count && tree->key[j] <= last; ++j) {
        const tl_entry *q = &tree->entry[tree->id[j]];
        work->sums[b].unique +=
            tl_kdtree_holds(tree, tree->key[j], tl_kdtree_corner(p->code, q->code)) &&
            spheres_overlap(&p->box, &q->box);
      }
    }
}

static talus_status measure(const tl_kdtree *tree, tl_kdtree_statistics *s) {
  const tl_par *par = &tree->entries.model->par;
  const size_t most = tree->count > tree->entries.count ? tree->count : tree->entries.count;
  measure_work work = {.tree = tree, .count = (most + BLOCK - 1) / BLOCK};
  TL_TAKE(tree->entries.crowd->arena, work.count, &work.sums);
  tl_for(par, work.count, 1, measure_volumes, &work);
  const double begun = tl_clock();
  tl_for(par, work.count, 1, sweep_1, &work);
  const double between = tl_clock();
  tl_for(par, work.count, 1, sweep_2, &work);
  s->seconds_sweep_1 = between - begun;
  s->seconds_sweep_2 = tl_clock() - between;
  double cells = 0, bodies = 0, root = 1;
  for (size_t b = 0; b < work.count; ++b) {
    cells += work.sums[b].cells;
    bodies += work.sums[b].bodies;
    s->candidates += work.sums[b].candidates;
    s->overlapping += work.sums[b].overlapping;
    s->unique += work.sums[b].unique;
  }
  for (int k = 0; k < 3; ++k)
    root *= ldexp(1, tree->quanta.bits) / tree->quanta.inverse[k];
  s->volume_ratio = bodies > 0 ? cells * root / bodies : 0;
  return TALUS_OK;
}

talus_status tl_kdtree_measure(const tl_crowd *crowd, const talus_box *boxes, bool split, int bits,
                               tl_kdtree_statistics *s) {
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  const size_t held = crowd->arena->in_use;
  tl_kdtree tree;
  *s = (tl_kdtree_statistics){.bodies = crowd->count};
  if (bits < 0 || bits > TL_KDTREE_BITS)
    return tl_fail(TALUS_ERROR_INVALID, "a linear kd-tree has 0 to %d bits, not %d", TL_KDTREE_BITS,
                   bits);
  TL_TRY(tl_broad_check(crowd, boxes));
  const double begun = tl_clock();
  TL_TRY(tl_kdtree_build(crowd, boxes, split, bits, &tree));
  s->seconds_build = tl_clock() - begun;
  s->records = tree.count;
  TL_TRY(measure(&tree, s));
  s->bytes = crowd->arena->peak - held;
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}
