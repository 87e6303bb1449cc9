/* Searches all pairs at once, level by level, like narrow/front.c with boxes. */
#include "base/sort.h"
#include "narrow/surrogate.h"

#define GRAIN ((size_t)64) /* rows: whole blocks of lanes */

typedef struct level {
  const tl_fronts *fronts;
  tl_surrogates search;
  tl_row *list;
  uint8_t *near;
  uint64_t *offset; /* by row: begin of its replacements in the next list */
  size_t count;
  tl_row *next;
} level;

/* Number of rows that replace one: 0 if it is apart; a near leaf stays. */
static size_t replaced_by(const level *l, size_t i) {
  if (!(l->near[i] & TL_ROW_NEAR))
    return 0;
  return tl_surrogates_is_leaf(&l->list[i]) ? 1
                                            : tl_surrogates_child_count(&l->search, &l->list[i]);
}

static void test_rows(void *context, size_t begin, size_t end) {
  const level *l = context;
  if (tl_cancel_look(l->fronts->cancel))
    return;
  tl_surrogates_test(&l->search, l->list + begin, end - begin, l->near + begin);
  for (size_t i = begin; i < end; ++i)
    l->offset[i] = replaced_by(l, i);
}

static void write_rows(void *context, size_t begin, size_t end) {
  const level *l = context;
  for (size_t i = begin; i < end; ++i)
    if (l->near[i] & TL_ROW_NEAR)
      tl_surrogates_children(&l->search, &l->list[i], l->next + l->offset[i]);
}

/* ---- near leaves ----------------------------------------------------------------------------- */

/* Rows tested on one level. */
typedef struct tested {
  const tl_row *rows;
  const uint8_t *near;
  size_t count;
} tested;

#define LEVELS                                                                                     \
  64 /* more than any tree has: no cluster has more than two thirds of its triangles               \
      */

typedef struct leaves {
  tested level[LEVELS];
  int levels;
  size_t total;
} leaves;

static bool is_near_leaf(const tested *f, size_t i) {
  return (f->near[i] & TL_ROW_NEAR) && tl_surrogates_is_leaf(&f->rows[i]);
}

static talus_status list_leaves(const tl_fronts *fronts, const leaves *l, tl_front_list *list) {
  tl_mesh_key *scratch;
  TL_TAKE(fronts->arena, fronts->count + 1, &list->start);
  TL_TAKE(fronts->arena, l->total, &list->of_a);
  TL_TAKE(fronts->arena, l->total, &list->of_b);
  TL_TAKE(fronts->arena, l->total, &scratch);
  memset(list->start, 0, (fronts->count + 1) * sizeof *list->start);
  for (int k = 0; k < l->levels; ++k)
    for (size_t i = 0; i < l->level[k].count; ++i)
      if (is_near_leaf(&l->level[k], i))
        list->start[l->level[k].rows[i].pair + 1]++;
  for (size_t i = 0; i < fronts->count; ++i)
    list->start[i + 1] += list->start[i];
  for (int k = 0; k < l->levels; ++k)
    for (size_t i = 0; i < l->level[k].count; ++i) {
      if (!is_near_leaf(&l->level[k], i))
        continue;
      const tl_row *row = &l->level[k].rows[i];
      const uint32_t a = row->a & ~TL_SURROGATE_LEAF, b = row->b & ~TL_SURROGATE_LEAF;
      const bool crosses = (l->level[k].near[i] & TL_ROW_CROSSES) != 0;
      const uint64_t at = list->start[row->pair]++;
      list->of_a[at] = tl_mesh_key_make(a, b, crosses);
      list->of_b[at] = tl_mesh_key_make(b, a, crosses);
    }
  for (size_t i = fronts->count; i > 0; --i) /* each start has moved to that of the next pair */
    list->start[i] = list->start[i - 1];
  list->start[0] = 0;
  tl_front_sort(fronts, list, scratch);
  return TALUS_OK;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* Near leaves leave the search: they have no children. */
static talus_status go_down(level *l, leaves *out) {
  const tl_fronts *f = l->fronts;
  uint64_t total;
  TL_TAKE(f->arena, l->count, &l->near);
  TL_TAKE(f->arena, l->count, &l->offset);
  tl_for(f->par, l->count, GRAIN, test_rows, l);
  TL_GO_ON(f->cancel);
  out->level[out->levels] = (tested){l->list, l->near, l->count};
  for (size_t i = 0; i < l->count; ++i)
    if (is_near_leaf(&out->level[out->levels], i))
      out->total++, l->offset[i] = 0;
  out->levels++;
  TL_TRY(tl_scan_u64(f->par, f->arena, l->offset, l->count, &total));
  TL_TAKE(f->arena, total, &l->next);
  tl_for(f->par, l->count, GRAIN, write_rows, l);
  l->list = l->next, l->count = total;
  return TALUS_OK;
}

talus_status tl_surrogates_find(const tl_fronts *fronts, tl_front_list *list) {
  level l = {.fronts = fronts,
             .search = {fronts->pairs, fronts->method, fronts->counts},
             .count = fronts->count};
  leaves found = {.levels = 0};
  TL_TAKE(fronts->arena, l.count, &l.list);
  for (size_t i = 0; i < l.count; ++i)
    l.list[i] = tl_surrogates_root((uint32_t)i);
  while (l.count > 0 && found.levels < LEVELS)
    TL_TRY(go_down(&l, &found));
  return list_leaves(fronts, &found, list);
}
