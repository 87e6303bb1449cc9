/* From boxes to sorted bins: sizes, grids, cells, sort. bins.h explains the method. */
#include "base/power.h"
#include "base/clock.h"
#include "broad/bins.h"

#include "base/cancel.h"
#include "base/sort.h"
#include "broad/packed.h"

#define CHUNK      ((size_t)4096) /* boxes whose statistics one task finds */
#define GRAIN      ((size_t)2048) /* boxes per parallel range elsewhere */
#define MOST_CELLS 0x1p28         /* in a level, so that all cells of all levels fit 32 bits */
/* cells along an axis, so that rounding stays far below SLACK */
#define MOST_ACROSS  0x1p24
#define SLACK        0x1p-16 /* part by which cells are wider than boxes, against rounding */
#define MOST_STRETCH 1.6     /* most by which cells are widened to get a smaller table */

tl_bins_stages *tl_bins_stages_of_bench;

static double now(void) { return tl_bins_stages_of_bench ? tl_clock() : 0; }

static size_t count_pieces(size_t n, size_t size) { return (n + size - 1) / size; }

/* ---- sizes and extents ---------------------------------------------------------------------- */

/* Extents of the boxes of one level. */
typedef struct extent {
  uint32_t count;
  double lo[3], hi[3]; /* range of the low corners */
  double edge[3];      /* longest */
} extent;

typedef struct chunk {
  union {
    struct {
      uint32_t of_class[TL_BINS_CLASSES + 1];
      extent all;
    };
    extent of_level[TL_BINS_LEVELS + 1];
  };
} chunk;

typedef struct measure_work {
  const tl_bins *bins;
  chunk *chunks;
} measure_work;

static extent no_extent(void) {
  const double inf = HUGE_VAL;
  return (extent){.lo = {inf, inf, inf}, .hi = {-inf, -inf, -inf}};
}

static inline void add_extent(extent *to, const extent *from) {
  to->count += from->count;
  for (int k = 0; k < 3; ++k) {
    to->lo[k] = from->lo[k] < to->lo[k] ? from->lo[k] : to->lo[k];
    to->hi[k] = from->hi[k] > to->hi[k] ? from->hi[k] : to->hi[k];
    to->edge[k] = from->edge[k] > to->edge[k] ? from->edge[k] : to->edge[k];
  }
}

static inline void add_box(extent *to, const talus_box *b) {
  const extent one = {1,
                      {b->lo.x, b->lo.y, b->lo.z},
                      {b->lo.x, b->lo.y, b->lo.z},
                      {b->hi.x - b->lo.x, b->hi.y - b->lo.y, b->hi.z - b->lo.z}};
  add_extent(to, &one);
}

static void count_classes(void *context, size_t begin, size_t end) {
  const measure_work *work = context;
  const tl_bins *bins = work->bins;
  for (size_t c = begin; c < end; ++c) {
    uint32_t *count = work->chunks[c].of_class;
    const size_t last = c * CHUNK + CHUNK;
    extent all = no_extent(); /* a local variable stays in registers */
    memset(count, 0, sizeof work->chunks[c].of_class);
    for (size_t i = c * CHUNK; i < bins->crowd->count && i < last; ++i) {
      count[tl_bins_class_of(&bins->boxes[i])]++;
      add_box(&all, &bins->boxes[i]);
    }
    work->chunks[c].all = all;
  }
}

static void measure_levels(void *context, size_t begin, size_t end) {
  const measure_work *work = context;
  const tl_bins *bins = work->bins;
  for (size_t c = begin; c < end; ++c) {
    extent *of_level = work->chunks[c].of_level;
    /* for the level of most boxes; a local variable stays in registers */
    extent finest = no_extent();
    const size_t last = c * CHUNK + CHUNK;
    for (int l = 0; l <= bins->levels; ++l)
      of_level[l] = no_extent();
    for (size_t i = c * CHUNK; i < bins->crowd->count && i < last; ++i) {
      const int l = bins->level_of[tl_bins_class_of(&bins->boxes[i])];
      if (l == 0)
        add_box(&finest, &bins->boxes[i]);
      else
        add_box(&of_level[l], &bins->boxes[i]);
    }
    of_level[0] = finest;
  }
}

/* True if all boxes are in one level. */
static bool is_even(const tl_bins *bins, const uint32_t count[TL_BINS_CLASSES + 1]) {
  for (int k = 0; k <= TL_BINS_CLASSES; ++k)
    if (count[k] > 0 && bins->level_of[k] != 0)
      return false;
  return bins->levels == 1;
}

/* Chooses the levels and measures them. */
static talus_status measure_boxes(tl_bins *bins, extent *extents) {
  const size_t chunks = count_pieces(bins->crowd->count, CHUNK);
  const tl_par *par = &bins->model->par;
  const tl_arena_mark mark = tl_arena_get_mark(bins->crowd->arena);
  measure_work work = {.bins = bins};
  TL_TAKE(bins->crowd->arena, chunks, &work.chunks);
  tl_for(par, chunks, 1, count_classes, &work);
  uint32_t count[TL_BINS_CLASSES + 1] = {0};
  for (size_t c = 0; c < chunks; ++c)
    for (int k = 0; k <= TL_BINS_CLASSES; ++k)
      count[k] += work.chunks[c].of_class[k];
  tl_bins_choose_levels(count, bins);
  const bool even = is_even(bins, count); /* then one pass is enough */
  if (!even)
    tl_for(par, chunks, 1, measure_levels, &work);
  for (int l = 0; l <= bins->levels; ++l) {
    extents[l] = no_extent();
    for (size_t c = 0; c < chunks && (l == 0 || !even); ++c)
      add_extent(&extents[l], even ? &work.chunks[c].all : &work.chunks[c].of_level[l]);
  }
  tl_arena_release(bins->crowd->arena, mark);
  return TALUS_OK;
}

/* ---- the grid of a level -------------------------------------------------------------------- */

/* The region that cells cover, and the width of cells. */
typedef struct layout {
  bool periodic[3];
  double lo[3], length[3];
  double width[3];
  bool coarse; /* cells are wider than boxes need, because the region is very long */
} layout;

/* Number of cells along an axis if every cell is stretched. A periodic axis has a whole number of
 * cells, and at least three or one: with two, left and right neighbour would be the same. */
static double cells_along(const layout *grid, int k, double stretch) {
  const double across = floor(grid->length[k] / (grid->width[k] * stretch));
  if (grid->periodic[k])
    return across >= 3 ? across : 1;
  return across + 1;
}

/* Number of cells, including the border. */
static double cells_in(const layout *grid, double stretch) {
  return (cells_along(grid, 0, stretch) + 1) * (cells_along(grid, 1, stretch) + 1) *
         (cells_along(grid, 2, stretch) + 1);
}

static layout lay_out(const tl_images *images, const extent *e, const double reach[3],
                      const double bulk_lo[3], const double bulk_hi[3]) {
  layout grid = {0};
  for (int k = 0; k < 3; ++k) {
    const double lo = e->lo[k] > bulk_lo[k] ? e->lo[k] : bulk_lo[k];
    const double hi = e->hi[k] < bulk_hi[k] ? e->hi[k] : bulk_hi[k];
    grid.periodic[k] = images->periodic[k];
    grid.lo[k] = grid.periodic[k] ? images->low[k] : lo;
    grid.length[k] = grid.periodic[k] ? images->length[k] : hi > lo ? hi - lo : 0;
    if (grid.length[k] > DBL_MAX)
      grid.length[k] = DBL_MAX;
    /* Moving a box by a period rounds at the scale of the domain's coordinates; relative to a cell,
     * that must be as small as SLACK. */
    const double far = fabs(grid.lo[k]) + grid.length[k];
    const double rounding = grid.periodic[k] ? far * 0x1p-28 : 0;
    const double least = grid.length[k] / MOST_ACROSS;
    grid.width[k] = reach[k] > rounding ? reach[k] : rounding;
    if (grid.width[k] < least) {
      grid.width[k] = least;
      grid.coarse = true;
    }
    if (grid.width[k] == 0)
      grid.width[k] = 1;
  }
  return grid;
}

/* Stretches cells until there are at most `most` of them. */
static double stretch_to(const layout *grid, double most) {
  double stretch = 1, cells;
  while ((cells = cells_in(grid, stretch)) > most) {
    const double more = tl_cbrt_d(cells / most);
    stretch *= more > 1.02 ? more : 1.02;
  }
  return stretch;
}

/* Number of cells, including the border. */
static uint32_t cell_count(const tl_bins_level *level) {
  return level->plane * (level->cells[2] + 1);
}

/* Chooses the region that the grid of a level covers: all of its boxes or, if that needs too many
 * or too wide cells, the region of most boxes. */
static layout choose_region(const tl_bins *bins, const extent *e, const tl_bins_level *level,
                            double most) {
  static const double nowhere[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  static const double anywhere[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
  const layout grid = lay_out(&bins->images, e, level->reach, nowhere, anywhere);
  if (!grid.coarse && cells_in(&grid, MOST_STRETCH) <= most)
    return grid;
  double lo[3], hi[3];
  tl_bins_find_bulk(bins, lo, hi);
  const layout cut = lay_out(&bins->images, e, level->reach, lo, hi);
  return grid.coarse || cells_in(&cut, 1) < cells_in(&grid, 1) / 8 ? cut : grid;
}

static void set_grid(const layout *grid, double stretch, tl_bins_level *level) {
  for (int k = 0; k < 3; ++k) {
    const double across = cells_along(grid, k, stretch);
    level->cells[k] = (uint32_t)across;
    level->origin[k] = grid->lo[k];
    level->inverse[k] =
        grid->periodic[k] ? across / grid->length[k] : 1 / (grid->width[k] * stretch);
    level->wraps[k] = grid->periodic[k] && across >= 3;
    level->images |= grid->periodic[k] && across < 3;
  }
  level->row = level->cells[0] + 1;
  level->plane = level->row * (level->cells[1] + 1);
}

/* Makes the grid of a level. Its table of starts has at most 4 entries per box: to achieve that,
 * cells are widened a little; if that is not enough, the region is reduced to that of most boxes;
 * and if these are too sparse as well, an entry stands for 2^shift consecutive cells. Packed bins
 * have wide cells (packed.h). */
static void make_grid(const tl_bins *bins, const extent *e, bool packed, uint32_t base,
                      tl_bins_level *level) {
  const double wanted = (packed ? 1 / TL_PACKED_CROWD : 4.0) * e->count + 64;
  const double most = wanted < MOST_CELLS ? wanted : MOST_CELLS;
  for (int k = 0; k < 3; ++k) {
    level->lo[k] = e->lo[k];
    level->hi[k] = e->hi[k];
    level->reach[k] = e->edge[k] * (1 + SLACK);
  }
  const layout grid = choose_region(bins, e, level, most);
  double stretch = stretch_to(&grid, most);
  if (stretch > MOST_STRETCH && !packed)
    stretch = stretch_to(&grid, MOST_CELLS);
  set_grid(&grid, stretch, level);
  level->base = base;
  while (!packed && (double)(cell_count(level) >> level->shift) > most)
    level->shift++;
}

static size_t table_size(const tl_bins_level *level) {
  return (size_t)((cell_count(level) - 1) >> level->shift) + 2;
}

/* ---- cells, sorted -------------------------------------------------------------------------- */

/* A monotone function of x, for all x. */
static inline uint32_t cell_along(const tl_bins_level *level, int k, double x) {
  const double t = (x - level->origin[k]) * level->inverse[k];
  const uint32_t last = level->cells[k] - 1;
  if (!(t > 0))
    return 0;
  return t < (double)last ? (uint32_t)t : last;
}

static void find_cells(void *context, size_t begin, size_t end) {
  const tl_bins *bins = context;
  const uint32_t beyond = bins->level[bins->levels].base;
  for (size_t i = begin; i < end; ++i) {
    const talus_box *box = &bins->boxes[i];
    const int l = bins->level_of[tl_bins_class_of(box)];
    bins->who[i] = (uint32_t)i;
    bins->key[i] = beyond;
    if (l == bins->levels)
      continue;
    const tl_bins_level *level = &bins->level[l];
    const tl_span3 home = tl_images_home(&bins->images, box);
    const uint32_t x = cell_along(level, 0, home.lo[0]);
    const uint32_t y = cell_along(level, 1, home.lo[1]);
    const uint32_t z = cell_along(level, 2, home.lo[2]);
    bins->key[i] = level->base + z * level->plane + y * level->row + x;
  }
}

/* Boxes are spread over memory, so they are prefetched this far ahead. */
#define AHEAD ((size_t)16)
#if defined(__GNUC__)
#define PREFETCH(pointer) __builtin_prefetch(pointer)
#else
#define PREFETCH(pointer) ((void)(pointer))
#endif

static void gather(void *context, size_t begin, size_t end) {
  const tl_bins *bins = context;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t member = bins->who[i];
    PREFETCH(&bins->boxes[bins->who[i + AHEAD < end ? i + AHEAD : i]]);
    const uint32_t slot = tl_crowd_slot(bins->crowd, member);
    bins->box[i] = tl_images_home(&bins->images, &bins->boxes[member]);
    bins->who[i] = slot | (tl_body_is_static(bins->model, slot) ? TL_BINS_STATIC : 0);
  }
}

typedef struct table_work {
  const tl_bins *bins;
  const tl_bins_level *level;
} table_work;

/* Entry of the table for box i of the level; one more for the end of the level. */
static inline uint32_t entry_of(const table_work *work, size_t i) {
  const tl_bins_level *level = work->level;
  if (i == level->count)
    return (uint32_t)(table_size(level) - 1);
  return (work->bins->key[level->first + i] - level->base) >> level->shift;
}

/* Each box writes the entries between the entry of the box before it and its own. */
static void fill_table(void *context, size_t begin, size_t end) {
  const table_work *work = context;
  const tl_bins_level *level = work->level;
  uint32_t next = begin == 0 ? 0 : entry_of(work, begin - 1) + 1;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t entry = entry_of(work, i);
    while (next <= entry)
      level->start[next++] = level->first + (uint32_t)i;
  }
}

static talus_status sort_into_cells(tl_bins *bins) {
  const tl_par *par = &bins->model->par;
  tl_arena *arena = bins->crowd->arena;
  const size_t n = bins->crowd->count;
  for (int l = 0; l < bins->levels; ++l)
    TL_TAKE(arena, table_size(&bins->level[l]), &bins->level[l].start);
  TL_TAKE(arena, n, &bins->key);
  TL_TAKE(arena, n, &bins->who);
  tl_for(par, n, GRAIN, find_cells, bins);
  const int bits = tl_bits_u64(bins->level[bins->levels].base);
  TL_TRY(tl_sort_u32(par, arena, bins->key, bins->who, n, bits));
  TL_TAKE(arena, n, &bins->box);
  tl_for(par, n, GRAIN, gather, bins);
  for (int l = 0; l < bins->levels; ++l) {
    table_work work = {bins, &bins->level[l]};
    tl_for(par, (size_t)work.level->count + 1, GRAIN, fill_table, &work);
  }
  return TALUS_OK;
}

/* ---- the whole search
 * ------------------------------------------------------------------------------ */

typedef struct search_work {
  const tl_bins *bins;
  int level;
  tl_pair *out;
} search_work;

static void search_blocks(void *context, size_t begin, size_t end) {
  const search_work *work = context;
  tl_bins_search(work->bins, work->level, begin, end, work->out);
}

static void search_levels(const tl_bins *bins, tl_pair *out) {
  for (int l = 0; l <= bins->levels; ++l) {
    search_work work = {bins, l, out};
    const size_t blocks = bins->first_block[l + 1] - bins->first_block[l];
    tl_for_uneven(&bins->model->par, blocks, 2, search_blocks, &work);
  }
}

static talus_status find_pairs(tl_bins *bins, tl_pairs *pairs) {
  tl_arena *arena = bins->crowd->arena;
  for (int l = 0; l <= bins->levels; ++l)
    bins->first_block[l + 1] =
        bins->first_block[l] + count_pieces(bins->level[l].count, tl_bins_block_size(l));
  const size_t blocks = bins->first_block[bins->levels + 1];
  uint64_t total;
  TL_TAKE(arena, bins->crowd->count, &bins->hits);
  TL_TAKE(arena, blocks, &bins->block);
  search_levels(bins, NULL);
  TL_GO_ON(bins->crowd->cancel); /* otherwise blocks are not counted */
  TL_TRY(tl_scan_u64(&bins->model->par, arena, bins->block, blocks, &total));
  TL_TAKE(arena, (size_t)total, &pairs->data);
  search_levels(bins, pairs->data);
  TL_GO_ON(bins->crowd->cancel);
  pairs->count = (size_t)total;
  return TALUS_OK;
}

static void make_grids(tl_bins *bins, const extent *extents, bool packed) {
  uint32_t first = 0, base = 0;
  for (int l = 0; l <= bins->levels; ++l) {
    tl_bins_level *level = &bins->level[l];
    *level = (tl_bins_level){.first = first, .count = extents[l].count, .base = base};
    first += level->count;
    if (l == bins->levels)
      break;
    make_grid(bins, &extents[l], packed, base, level);
    base += cell_count(level);
  }
}

talus_status tl_bins_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_pairs *pairs) {
  const tl_model *model = crowd->model;
  tl_bins bins = {.model = model, .crowd = crowd, .boxes = boxes, .images = tl_images_of(model)};
  extent extents[TL_BINS_LEVELS + 1];
  if (model->bodies >= TL_BINS_STATIC)
    return tl_fail(TALUS_ERROR_UNSUPPORTED, "%zu bodies are more than bins can number (%u)",
                   model->bodies, TL_BINS_STATIC - 1);
  const double begun = now();
  TL_TRY(measure_boxes(&bins, extents));
  if (tl_bins_stages_of_bench)
    tl_bins_stages_of_bench->measure = now() - begun;
  if (!bins.images.any && !tl_packed_never_of_tests) {
    const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
    bool crowded;
    make_grids(&bins, extents, true);
    TL_TRY(tl_packed_find_pairs(&bins, pairs, &crowded));
    if (tl_bins_stages_of_bench)
      tl_bins_stages_of_bench->all = now() - begun;
    if (!crowded)
      return TALUS_OK;
    tl_arena_release(crowd->arena, mark);
  }
  make_grids(&bins, extents, false);
  TL_TRY(sort_into_cells(&bins));
  return find_pairs(&bins, pairs);
}
