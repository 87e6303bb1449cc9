/* Rounded cells (Peters, Sherif and Bell, "Rounded cell collision detection on the GPU"): the eight
 * corners of each box are rounded to cells of a grid, and a box is put into the list of each cell
 * that one of its corners is in. If a box is no longer than a cell, these are all cells that it
 * touches, so boxes that overlap share a cell: the lists are the potentially colliding set.
 *
 * Differences from the paper:
 *   - a list has as many places as it needs (boxes are sorted by cell) instead of a fixed number;
 *   - boxes longer than a cell are kept apart and look through the cells they cover;
 *   - two boxes that share several cells count once, in the cell of max(low corner, low corner):
 *     where, along each axis, the cell is the first one of at least one of them. The paper looks
 *     through a list of pairs it has already met;
 *   - coordinates are clamped to the grid, so that nothing is ever outside.
 * The cell is not necessarily as small as the longest box: small cells put boxes into more lists,
 * and a few long boxes should not make all cells large. Its size is that of least estimated
 * cost. */
#include "base/sort.h"
#include "broad/entries.h"

#define BLOCK       ((size_t)256)  /* entries that a task puts into lists */
#define LIST_BLOCK  ((size_t)2048) /* places of lists that a task searches */
#define MOST_ACROSS 0x1p21         /* cells along an axis */
#define MOST_CELLS  0x1p32
/* part by which cells are wider than the boxes in them, against rounding */
#define SLACK       0x1p-16
#define MOST_PLACES ((size_t)1 << 29) /* number of places that an entry can name */

/* Costs in tests of two boxes: a place in a list; finding a row of cells. */
#define PLACE 10.0
#define ROW   24.0

typedef struct grid {
  tl_entries entries;
  double size; /* m: of a cell; longer boxes are large */
  double origin[3], inverse;
  uint32_t last[3]; /* last cell along each axis */
  uint32_t row, plane;
  uint32_t *cell_of, *order;
  tl_entry *entry; /* in the order of their first cells; large ones last */
  size_t small;    /* number of entries that are not large */
  uint64_t *first; /* number of places of each block, later their begin */
  size_t count;    /* number of places in all lists */
  uint32_t *cell;  /* by place: its cell, sorted */
  uint32_t *place; /* by place: entry << 3 | bit k: not in its first cell along axis k */
} grid;

/* ---- the size of cells ----------------------------------------------------------------------- */

/* Cost of cells as large as the boxes of a class, in a region of these lengths. */
static double cost_of(const tl_entries *e, int size_class, const double length[3]) {
  const double size = tl_bins_class_end(size_class);
  double small = 0, places = 0, large = 0, cells = 1, looks = 0;
  for (int c = 0; c <= size_class && c < TL_BINS_CLASSES; ++c) {
    const double across = 1 + tl_bins_class_end(c) / size;
    small += e->of_class[c];
    places += e->of_class[c] * across * across * across;
  }
  for (int k = 0; k < 3; ++k)
    cells *= length[k] / size + 1;
  const double crowd = places / cells;
  for (int c = size_class + 1; c < TL_BINS_CLASSES; ++c) {
    const double across = tl_bins_class_end(c) / size + 2;
    const double look = across * across * ROW + across * across * across * crowd;
    large += e->of_class[c];
    looks += e->of_class[c] * (look < small ? look : small);
  }
  return places * (PLACE + 0.5 * crowd) + looks + 0.5 * large * large;
}

static double choose_size(const tl_entries *e) {
  double length[3], best = HUGE_VAL, size = 1;
  int least = TL_BINS_CLASSES, most = -1;
  for (int k = 0; k < 3; ++k) {
    length[k] = e->bulk_hi[k] - e->bulk_lo[k];
    length[k] = length[k] > 0 && length[k] <= DBL_MAX ? length[k] : 0;
  }
  for (int c = 0; c < TL_BINS_CLASSES; ++c)
    if (e->of_class[c] > 0) {
      least = c < least ? c : least;
      most = c;
    }
  for (int c = least; c <= most + 4 && c < TL_BINS_CLASSES; ++c) {
    const double cost = cost_of(e, c, length);
    if (cost < best) {
      best = cost;
      size = tl_bins_class_end(c);
    }
  }
  return size;
}

/* Lays out cells of the chosen size, or larger if there would be too many; if there would be far
 * too many, the grid covers only the region of most boxes. */
static void lay_out(grid *g) {
  const tl_entries *e = &g->entries;
  double lo[3], length[3], across[3];
  g->size = choose_size(e);
  for (int pass = 0; pass < 2; ++pass) {
    bool fits = true;
    double cells = 1;
    for (int k = 0; k < 3; ++k) {
      double hi = e->hi[k];
      lo[k] = e->lo[k];
      if (pass > 0) {
        lo[k] = e->bulk_lo[k] > lo[k] ? e->bulk_lo[k] : lo[k];
        hi = e->bulk_hi[k] < hi ? e->bulk_hi[k] : hi;
      }
      length[k] = hi > lo[k] ? hi - lo[k] : 0;
      length[k] = length[k] < DBL_MAX ? length[k] : DBL_MAX;
      lo[k] = lo[k] <= hi ? lo[k] : 0;
      fits &= length[k] / g->size < MOST_ACROSS;
      cells *= length[k] / g->size + 1;
    }
    if (fits && cells < 0.5 * MOST_CELLS)
      break;
  }
  for (;; g->size *= 1.25) {
    double cells = 1;
    bool fits = true;
    for (int k = 0; k < 3; ++k) {
      across[k] = floor(length[k] / (g->size * (1 + SLACK)));
      fits &= across[k] < MOST_ACROSS;
      cells *= across[k] + 1;
    }
    if (fits && cells < MOST_CELLS)
      break;
  }
  g->inverse = 1 / (g->size * (1 + SLACK));
  for (int k = 0; k < 3; ++k) {
    g->origin[k] = lo[k];
    g->last[k] = (uint32_t)across[k];
  }
  g->row = g->last[0] + 1;
  g->plane = g->row * (g->last[1] + 1);
}

/* A monotone function of x, for all x. */
static inline uint32_t cell_along(const grid *g, int k, double x) {
  const double t = (x - g->origin[k]) * g->inverse;
  if (!(t > 0))
    return 0;
  return t < (double)g->last[k] ? (uint32_t)t : g->last[k];
}

static inline uint32_t number_of(const grid *g, uint32_t x, uint32_t y, uint32_t z) {
  return z * g->plane + y * g->row + x;
}

/* ---- entries in the order of cells ----------------------------------------------------------- */

static bool is_large(const grid *g, const tl_span3 *box) {
  bool large = false;
  for (int k = 0; k < 3; ++k)
    large |= box->hi[k] - box->lo[k] > g->size;
  return large;
}

static void find_cells(void *context, size_t begin, size_t end) {
  const grid *g = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_span3 box = tl_entries_box(&g->entries, i);
    g->order[i] = (uint32_t)i;
    g->cell_of[i] = is_large(g, &box)
                        ? UINT32_MAX
                        : number_of(g, cell_along(g, 0, box.lo[0]), cell_along(g, 1, box.lo[1]),
                                    cell_along(g, 2, box.lo[2]));
  }
}

static void gather_entries(void *context, size_t begin, size_t end) {
  const grid *g = context;
  tl_entries_gather(&g->entries, g->order, begin, end, g->entry);
}

static talus_status order_entries(grid *g) {
  const tl_par *par = &g->entries.model->par;
  tl_arena *arena = g->entries.crowd->arena;
  const size_t n = g->entries.count;
  TL_TAKE(arena, n, &g->entry);
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TAKE(arena, n, &g->cell_of);
  TL_TAKE(arena, n, &g->order);
  tl_for(par, n, 0, find_cells, g);
  TL_TRY(tl_sort_u32(par, arena, g->cell_of, g->order, n, 32));
  tl_for(par, n, 0, gather_entries, g);
  size_t lo = 0, hi = n;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (g->cell_of[mid] != UINT32_MAX)
      lo = mid + 1;
    else
      hi = mid;
  }
  g->small = lo;
  tl_arena_release(arena, mark);
  return TALUS_OK;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Cells of the corners: first and last along each axis, equal or neighbours. */
typedef struct corners {
  uint32_t lo[3], hi[3];
} corners;

static corners corners_of(const grid *g, const tl_span3 *box) {
  corners c;
  for (int k = 0; k < 3; ++k) {
    c.lo[k] = cell_along(g, k, box->lo[k]);
    c.hi[k] = cell_along(g, k, box->hi[k]);
  }
  return c;
}

static size_t block_end(const grid *g, size_t b) {
  return b * BLOCK + BLOCK < g->small ? b * BLOCK + BLOCK : g->small;
}

static void count_places(void *context, size_t begin, size_t end) {
  const grid *g = context;
  for (size_t b = begin; b < end; ++b) {
    uint64_t count = 0;
    for (size_t i = b * BLOCK; i < block_end(g, b); ++i) {
      const corners c = corners_of(g, &g->entry[i].box);
      count +=
          (uint64_t)(c.hi[0] - c.lo[0] + 1) * (c.hi[1] - c.lo[1] + 1) * (c.hi[2] - c.lo[2] + 1);
    }
    g->first[b] = count;
  }
}

static void fill_places(void *context, size_t begin, size_t end) {
  const grid *g = context;
  for (size_t b = begin; b < end; ++b) {
    size_t at = (size_t)g->first[b];
    for (size_t i = b * BLOCK; i < block_end(g, b); ++i) {
      const corners c = corners_of(g, &g->entry[i].box);
      for (uint32_t z = c.lo[2]; z <= c.hi[2]; ++z)
        for (uint32_t y = c.lo[1]; y <= c.hi[1]; ++y)
          for (uint32_t x = c.lo[0]; x <= c.hi[0]; ++x) {
            const uint32_t beyond = (uint32_t)(x > c.lo[0]) | (uint32_t)(y > c.lo[1]) << 1 |
                                    (uint32_t)(z > c.lo[2]) << 2;
            g->cell[at] = number_of(g, x, y, z);
            g->place[at++] = (uint32_t)i << 3 | beyond;
          }
    }
  }
}

static talus_status make_lists(grid *g) {
  const tl_par *par = &g->entries.model->par;
  tl_arena *arena = g->entries.crowd->arena;
  const size_t blocks = (g->small + BLOCK - 1) / BLOCK;
  uint64_t total;
  TL_TAKE(arena, blocks, &g->first);
  tl_for(par, blocks, 1, count_places, g);
  TL_TRY(tl_scan_u64(par, arena, g->first, blocks, &total));
  g->count = (size_t)total;
  TL_TAKE(arena, g->count, &g->cell);
  TL_TAKE(arena, g->count, &g->place);
  tl_for(par, blocks, 1, fill_places, g);
  const uint64_t cells = (uint64_t)g->plane * (g->last[2] + 1);
  return tl_sort_u32(par, arena, g->cell, g->place, g->count, tl_bits_u64(cells - 1));
}

/* ---- searching ------------------------------------------------------------------------------- */

static void search_lists(const grid *g, size_t first, size_t last, tl_catch *to) {
  const uint32_t *cell = g->cell, *place = g->place;
  for (size_t i = first; i < last; ++i) {
    const tl_entry *a = &g->entry[place[i] >> 3];
    for (size_t j = i + 1; j < g->count && cell[j] == cell[i]; ++j) {
      const tl_entry *b = &g->entry[place[j] >> 3];
      if (((place[i] & place[j] & 7) == 0) & tl_span3_overlap(&a->box, &b->box))
        tl_entries_meet(&g->entries, a, b, to);
    }
  }
}

/* The first place of this or a later cell. */
static size_t find_cell(const grid *g, uint32_t cell) {
  size_t lo = 0, hi = g->count;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (g->cell[mid] < cell)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Tests a large box against the small ones in the cells that it covers, row by row. A pair counts
 * in the cell where both begin, or where the later one begins. */
static void search_cover(const grid *g, const tl_entry *a, const corners *c, tl_catch *to) {
  for (uint32_t z = c->lo[2]; z <= c->hi[2]; ++z)
    for (uint32_t y = c->lo[1]; y <= c->hi[1]; ++y) {
      const unsigned first_yz = (unsigned)(y == c->lo[1]) << 1 | (unsigned)(z == c->lo[2]) << 2;
      const uint32_t begin = number_of(g, c->lo[0], y, z), end = number_of(g, c->hi[0], y, z);
      for (size_t i = find_cell(g, begin); i < g->count && g->cell[i] <= end; ++i) {
        const unsigned first = first_yz | (unsigned)(g->cell[i] == begin);
        const tl_entry *b = &g->entry[g->place[i] >> 3];
        if ((g->place[i] & 7 & ~first) == 0 && tl_span3_overlap(&a->box, &b->box))
          tl_entries_meet(&g->entries, a, b, to);
      }
    }
}

/* Tests large boxes against those after them in the list, and against small ones. */
static void search_large(const grid *g, size_t i, tl_catch *to) {
  const tl_entry *a = &g->entry[i];
  const corners c = corners_of(g, &a->box);
  const double rows = ((double)(c.hi[1] - c.lo[1]) + 1) * ((double)(c.hi[2] - c.lo[2]) + 1);
  size_t j = i + 1, end = g->entries.count;
  for (; j < end; ++j)
    if (tl_span3_overlap(&a->box, &g->entry[j].box))
      tl_entries_meet(&g->entries, a, &g->entry[j], to);
  if (rows * ROW < (double)g->small) {
    search_cover(g, a, &c, to);
    return;
  }
  for (j = 0; j < g->small; ++j)
    if (tl_span3_overlap(&a->box, &g->entry[j].box))
      tl_entries_meet(&g->entries, a, &g->entry[j], to);
}

static void search(const void *context, size_t block, tl_catch *to) {
  const grid *g = context;
  const size_t wide_blocks = tl_entries_wide_blocks(&g->entries);
  const size_t large = g->entries.count - g->small;
  if (block < wide_blocks) {
    tl_entries_search_wide(&g->entries, block, to);
  } else if (block < wide_blocks + large) {
    search_large(g, g->small + block - wide_blocks, to);
  } else {
    const size_t first = (block - wide_blocks - large) * LIST_BLOCK;
    search_lists(g, first, first + LIST_BLOCK < g->count ? first + LIST_BLOCK : g->count, to);
  }
}

talus_status tl_cells_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_pairs *pairs) {
  grid g = {0};
  TL_TRY(tl_entries_make(crowd, boxes, &g.entries));
  if (g.entries.count >= MOST_PLACES)
    return tl_fail(TALUS_ERROR_UNSUPPORTED, "%zu boxes are more than cells can number: use bins",
                   g.entries.count);
  lay_out(&g);
  TL_TRY(order_entries(&g));
  TL_TRY(make_lists(&g));
  const size_t blocks = tl_entries_wide_blocks(&g.entries) + (g.entries.count - g.small) +
                        (g.count + LIST_BLOCK - 1) / LIST_BLOCK;
  return tl_search(crowd, blocks, search, &g, pairs);
}
