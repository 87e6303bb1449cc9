/* Search through sorted bins. Every pair is found once:
 *
 * both in one level         by the one in the earlier cell, or earlier in the same cell
 * in two levels             by the larger
 * one of them wide          by the other
 * both wide                 by the earlier
 *
 * Counting remembers its results for the first 64 candidates of the own level, so that writing need
 * not test them again. */
#include "broad/bins.h"
#include "broad/lanes.h"

#include "base/cancel.h"

/* A range of candidates. */
typedef struct run {
  uint32_t begin, end;
  bool image; /* across a periodic edge, or undetermined: all images must be tested */
} run;

/* The own row, then four more; each may be split in two at a periodic edge. */
#define RUNS 10

/* Candidates that fit into the list, with one bit each. */
#define LISTED 64u
#define STRIDE 8u /* candidates of a run that are copied at a time */

/* Half of the neighbourhood of a cell: the candidates of its boxes. They are usually few and then
 * put into a list: one loop over a list is faster than five short ones of unpredictable length. The
 * list begins with boxes of the own cell, of which a box tests those after itself. */
typedef struct stencil {
  uint32_t key;
  uint32_t first; /* first box of the own cell */
  run run[RUNS];  /* the first run is the own cell and the next one */
  int runs;
  uint32_t count;  /* of all runs */
  uint32_t direct; /* number of elements of the list that need no images */
  uint32_t list[LISTED + STRIDE];
} stencil;

/* Destination of pairs. */
typedef struct sink {
  tl_pair *out; /* NULL: only counts */
  uint64_t count;
} sink;

/* ---- pairs ---------------------------------------------------------------------------------- */

static inline bool allows(const tl_bins *bins, uint32_t who_a, uint32_t who_b) {
  if ((who_a & who_b & TL_BINS_STATIC) != 0)
    return false;
  if (bins->model->ignored.count == 0)
    return true;
  const uint32_t *group = bins->model->property.group;
  return !tl_model_ignores(bins->model, group[who_a & ~TL_BINS_STATIC],
                           group[who_b & ~TL_BINS_STATIC]);
}

static inline void write_pair(sink *to, uint32_t who_a, uint32_t who_b) {
  const uint32_t a = who_a & ~TL_BINS_STATIC, b = who_b & ~TL_BINS_STATIC;
  to->out[to->count].a = a < b ? a : b;
  to->out[to->count].b = a < b ? b : a;
  to->count++;
}

static inline bool overlaps(const tl_bins *bins, uint32_t p, uint32_t q, bool image) {
  return image ? tl_images_overlap(&bins->images, &bins->box[p], &bins->box[q])
               : tl_span3_overlap(&bins->box[p], &bins->box[q]);
}

/* Tests box p against the boxes of a run. */
static void test_run(const tl_bins *bins, uint32_t p, run r, sink *to) {
  for (uint32_t q = r.begin; q < r.end; ++q) {
    if (!overlaps(bins, p, q, r.image) || !allows(bins, bins->who[p], bins->who[q]))
      continue;
    if (to->out)
      write_pair(to, bins->who[p], bins->who[q]);
    else
      to->count++;
  }
}

/* ---- runs of cells -------------------------------------------------------------------------- */

/* First box of the level in this or a later cell. */
static inline uint32_t start_of(const tl_bins *bins, const tl_bins_level *level, uint32_t cell) {
  uint32_t lo = level->start[cell >> level->shift];
  if (level->shift == 0)
    return lo;
  if ((cell & ((1u << level->shift) - 1)) == 0)
    return lo;
  uint32_t hi = level->start[(cell >> level->shift) + 1];
  const uint32_t key = level->base + cell;
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2;
    if (bins->key[mid] < key)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static inline run run_of(const tl_bins *bins, const tl_bins_level *level, uint32_t row,
                         uint32_t from, uint32_t to, bool image) {
  return (run){start_of(bins, level, row + from), start_of(bins, level, row + to + 1), image};
}

static inline void add_run(stencil *s, run r) {
  s->run[s->runs++] = r;
  s->count += r.end - r.begin;
}

/* Neighbour of cell i at +1 or -1, across a periodic edge if necessary; false if there is none. */
static inline bool step_cell(const tl_bins_level *level, int k, uint32_t i, int by, uint32_t *to,
                             bool *crossed) {
  const uint32_t last = level->cells[k] - 1;
  *to = (uint32_t)((int64_t)i + by);
  if ((by >= 0 || i > 0) && (by <= 0 || i < last))
    return true;
  *to = by > 0 ? 0 : last;
  *crossed = true;
  return level->wraps[k];
}

/* Adds cells x-1 ... x+1 of row (y + dy, z + dz). */
static void add_row(const tl_bins *bins, const tl_bins_level *level, const uint32_t at[3], int dy,
                    int dz, stencil *s) {
  const uint32_t nx = level->cells[0], x = at[0];
  uint32_t y = at[1], z = at[2];
  bool crossed = level->images;
  if ((dy != 0 && !step_cell(level, 1, at[1], dy, &y, &crossed)) ||
      (dz != 0 && !step_cell(level, 2, at[2], dz, &z, &crossed)))
    return;
  const uint32_t row = z * level->plane + y * level->row;
  add_run(s, run_of(bins, level, row, x > 0 ? x - 1 : 0, x + 1, crossed));
  if (level->wraps[0] && x == 0)
    add_run(s, run_of(bins, level, row, nx - 1, nx - 1, true));
  if (level->wraps[0] && x == nx - 1)
    add_run(s, run_of(bins, level, row, 0, 0, true));
}

/* Copies a run into the list. It may write beyond its end, where the next copy overwrites it and
 * the list has room. So most runs are copied without a branch. */
static inline uint32_t list_run(stencil *s, uint32_t n, uint32_t begin, uint32_t end) {
  uint32_t *to = s->list + n, q = begin;
  do {
    to[0] = q;
    to[1] = q + 1;
    to[2] = q + 2;
    to[3] = q + 3;
    to[4] = q + 4;
    to[5] = q + 5;
    to[6] = q + 6;
    to[7] = q + 7;
    q += STRIDE;
    to += STRIDE;
  } while (q < end);
  return n + (end - begin);
}

/* Lists runs that need no images first. */
static void list_runs(stencil *s) {
  uint32_t n = 0;
  for (int r = 0; r < s->runs; ++r)
    if (!s->run[r].image)
      n = list_run(s, n, s->run[r].begin, s->run[r].end);
  s->direct = n;
  if (n == s->count)
    return;
  for (int r = 0; r < s->runs; ++r)
    if (s->run[r].image)
      n = list_run(s, n, s->run[r].begin, s->run[r].end);
}

static inline void find_cell(const tl_bins_level *level, uint32_t cell, uint32_t at[3]) {
  at[2] = cell / level->plane;
  cell -= at[2] * level->plane;
  at[1] = cell / level->row;
  at[0] = cell - at[1] * level->row;
}

/* Adds rows that may be across a periodic edge. */
static void add_periodic_rows(const tl_bins *bins, const tl_bins_level *level, uint32_t cell,
                              stencil *s) {
  uint32_t at[3];
  find_cell(level, cell, at);
  if (level->wraps[0] && at[0] == level->cells[0] - 1)
    add_run(s, run_of(bins, level, cell - at[0], 0, 0, true));
  add_row(bins, level, at, 1, 0, s);
  add_row(bins, level, at, -1, 1, s);
  add_row(bins, level, at, 0, 1, s);
  add_row(bins, level, at, 1, 1, s);
}

/* Adds rows that are not: at the border of the grid there are empty cells. */
static inline void add_rows(const tl_bins *bins, const tl_bins_level *level, uint32_t cell,
                            stencil *s) {
  const uint32_t next[4] = {cell + level->row, cell + level->plane - level->row,
                            cell + level->plane, cell + level->plane + level->row};
  for (int r = 0; r < 4; ++r)
    add_run(s, run_of(bins, level, next[r] - 1, 0, 2, false));
}

/* Fast version for the usual case: no images, every cell in the table, few candidates. False if
 * that is not the case. */
static inline bool make_short_stencil(const tl_bins_level *level, uint32_t cell, stencil *s) {
  const uint32_t *own = level->start + cell, *a = own + level->row;
  const uint32_t *b = own + (level->plane - level->row), *c = own + level->plane;
  const uint32_t *d = c + level->row;
  const uint32_t count =
      (own[2] - own[0]) + (a[2] - a[-1]) + (b[2] - b[-1]) + (c[2] - c[-1]) + (d[2] - d[-1]);
  if (count > LISTED)
    return false;
  s->first = own[0];
  s->count = s->direct = count;
  uint32_t n = list_run(s, 0, own[0], own[2]);
  n = list_run(s, n, a[-1], a[2]);
  n = list_run(s, n, b[-1], b[2]);
  n = list_run(s, n, c[-1], c[2]);
  list_run(s, n, d[-1], d[2]);
  return true;
}

/* True if no neighbour of the half stencil is across a periodic edge. */
static bool is_inner(const tl_bins_level *level, uint32_t cell) {
  uint32_t at[3];
  find_cell(level, cell, at);
  return !level->images && !(level->wraps[0] && (at[0] == 0 || at[0] == level->cells[0] - 1)) &&
         !(level->wraps[1] && (at[1] == 0 || at[1] == level->cells[1] - 1)) &&
         !(level->wraps[2] && at[2] == level->cells[2] - 1);
}

static void make_stencil(const tl_bins *bins, const tl_bins_level *level, uint32_t p, stencil *s) {
  const uint32_t key = bins->key[p], cell = key - level->base;
  s->key = key;
  const bool inner = !bins->images.any || is_inner(level, cell);
  if (inner && level->shift == 0 && make_short_stencil(level, cell, s))
    return;
  s->first = start_of(bins, level, cell);
  s->runs = 0;
  s->count = 0;
  add_run(s, (run){s->first, start_of(bins, level, cell + 2), level->images});
  if (inner)
    add_rows(bins, level, cell, s);
  else
    add_periodic_rows(bins, level, cell, s);
  if (s->count <= LISTED)
    list_runs(s);
}

/* ---- the own level -------------------------------------------------------------------------- */

/* Bits of the elements of the list after box p that overlap it. */
static inline uint64_t find_hits(const tl_bins *bins, uint32_t p, const stencil *s,
                                 uint64_t *count) {
  const tl_span3 a = bins->box[p];
  uint64_t hits = 0, n = 0;
  uint32_t i = p - s->first + 1;
  for (; i < s->direct; ++i) {
    const uint64_t hit = tl_span3_overlap(&a, &bins->box[s->list[i]]);
    hits |= hit << i;
    n += hit;
  }
  for (; i < s->count; ++i) {
    const uint64_t hit = tl_images_overlap(&bins->images, &a, &bins->box[s->list[i]]);
    hits |= hit << i;
    n += hit;
  }
  *count += n;
  return hits;
}

/* Removes hits that make no pairs. */
static uint64_t mask_hits(const tl_bins *bins, uint32_t p, const stencil *s, uint64_t hits,
                          uint64_t *count) {
  uint64_t allowed = 0;
  for (; hits != 0; hits &= hits - 1) {
    const int i = tl_lowest_bit(hits);
    if (!allows(bins, bins->who[p], bins->who[s->list[i]]))
      continue;
    allowed |= UINT64_C(1) << i;
    ++*count;
  }
  return allowed;
}

static void search_neighbours(const tl_bins *bins, uint32_t p, const stencil *s, sink *to) {
  if (s->count > LISTED) {
    bins->hits[p] = 1;
    for (int r = 0; r < s->runs; ++r) {
      run candidates = s->run[r];
      if (r == 0)
        candidates.begin = p + 1;
      test_run(bins, p, candidates, to);
    }
    return;
  }
  if (to->out) {
    for (uint64_t hits = bins->hits[p]; hits != 0; hits &= hits - 1)
      write_pair(to, bins->who[p], bins->who[s->list[tl_lowest_bit(hits)]]);
    return;
  }
  uint64_t count = 0, hits = find_hits(bins, p, s, &count);
  if (hits != 0 && (bins->model->ignored.count > 0 || (bins->who[p] & TL_BINS_STATIC) != 0)) {
    count = 0;
    hits = mask_hits(bins, p, s, hits, &count);
  }
  bins->hits[p] = hits;
  to->count += count;
}

/* ---- finer levels --------------------------------------------------------------------------- */

/* Cells along one axis: first ... first+count-1, modulo the number of cells. */
typedef struct cover {
  uint32_t first, count;
} cover;

#define COVER_SLACK 0x1p-14 /* part of a cell: the position of an image is rounded */

static uint32_t clamp_cell(double t, uint32_t cells) {
  const double last = (double)(cells - 1);
  return t > 0 ? t < last ? (uint32_t)t : cells - 1 : 0;
}

/* Cells that hold the low corner of any box of the level that touches lo ... hi. */
static cover cover_of(const tl_bins_level *level, int k, double lo, double hi) {
  const uint32_t cells = level->cells[k];
  const double from = (lo - level->reach[k] - level->origin[k]) * level->inverse[k];
  const double to = (hi - level->origin[k]) * level->inverse[k];
  if (!level->wraps[k]) {
    const uint32_t first = clamp_cell(from, cells);
    return (cover){first, clamp_cell(to, cells) - first + 1};
  }
  const double a = floor(from - COVER_SLACK), b = floor(to + COVER_SLACK);
  if (b - a + 1 >= (double)cells)
    return (cover){0, cells};
  const double first = a - floor(a / (double)cells) * (double)cells;
  return (cover){(uint32_t)first, (uint32_t)(b - a) + 1};
}

/* Tests box p against those of a finer level. */
static void search_finer(const tl_bins *bins, uint32_t p, const tl_bins_level *level, sink *to) {
  const tl_span3 *box = &bins->box[p];
  const cover x = cover_of(level, 0, box->lo[0], box->hi[0]);
  const cover y = cover_of(level, 1, box->lo[1], box->hi[1]);
  const cover z = cover_of(level, 2, box->lo[2], box->hi[2]);
  const bool image = bins->images.any;
  if ((double)y.count * (double)z.count * 4 >= (double)level->count) {
    test_run(bins, p, (run){level->first, level->first + level->count, image}, to);
    return;
  }
  const uint32_t nx = level->cells[0], ny = level->cells[1], nz = level->cells[2];
  const uint32_t end = x.first + x.count <= nx ? x.first + x.count : nx;
  for (uint32_t k = 0; k < z.count; ++k) {
    const uint32_t at_z = z.first + k < nz ? z.first + k : z.first + k - nz;
    for (uint32_t j = 0; j < y.count; ++j) {
      const uint32_t at_y = y.first + j < ny ? y.first + j : y.first + j - ny;
      const uint32_t row = at_z * level->plane + at_y * level->row;
      test_run(bins, p, run_of(bins, level, row, x.first, end - 1, image), to);
      if (x.first + x.count > nx)
        test_run(bins, p, run_of(bins, level, row, 0, x.first + x.count - nx - 1, image), to);
    }
  }
}

/* ---- blocks --------------------------------------------------------------------------------- */

static void search_box(const tl_bins *bins, int l, uint32_t p, stencil *s, sink *to) {
  const tl_bins_level *wide = &bins->level[bins->levels];
  const run all_wide = {wide->first, wide->first + wide->count, bins->images.any};
  if (l == bins->levels) {
    test_run(bins, p, (run){p + 1, all_wide.end, all_wide.image}, to);
    return;
  }
  if (!to->out || bins->hits[p] != 0) {
    if (bins->key[p] != s->key)
      make_stencil(bins, &bins->level[l], p, s);
    search_neighbours(bins, p, s, to);
  }
  for (int finer = 0; finer < l; ++finer)
    search_finer(bins, p, &bins->level[finer], to);
  if (wide->count > 0)
    test_run(bins, p, all_wide, to);
}

void tl_bins_search(const tl_bins *bins, int level, size_t begin, size_t end, tl_pair *out) {
  const size_t size = tl_bins_block_size(level);
  const tl_bins_level *own = &bins->level[level];
  for (size_t b = begin; b < end && !tl_cancel_look(bins->crowd->cancel); ++b) {
    uint64_t *block = &bins->block[bins->first_block[level] + b];
    const size_t first = b * size;
    const size_t last = own->count - first < size ? own->count : first + size;
    sink to = {out ? out + *block : NULL, 0};
    stencil s = {.key = UINT32_MAX};
    for (size_t i = first; i < last; ++i)
      search_box(bins, level, own->first + (uint32_t)i, &s, &to);
    if (!out)
      *block = to.count;
  }
}
