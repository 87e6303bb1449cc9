#include "broad/entries.h"

#include "base/sort.h"

#define CHUNK     ((size_t)4096) /* boxes that a task examines */
#define SAMPLES   256
#define MOST_WIDE 32   /* if more boxes are large, they are entries like all others */
#define LARGE     0.25 /* part of the length of the scene above which a box is large */
#define FEW       64   /* with fewer boxes no list of large ones is made */

/* ---- classes and extents --------------------------------------------------------------------- */

typedef struct chunk {
  uint32_t of_class[TL_BINS_CLASSES + 1];
  double lo[3], hi[3]; /* of the boxes that are not wide, moved into the domain */
  uint32_t wides;      /* number of wide boxes, later their begin */
  uint64_t first;      /* number of entries, later their begin */
} chunk;

typedef struct entry_work {
  tl_entries *entries;
  chunk *chunks;
  int wide_class; /* boxes of this class and larger ones are wide */
} entry_work;

static size_t chunk_count(const tl_entries *entries) {
  return (entries->crowd->count + CHUNK - 1) / CHUNK;
}

static size_t chunk_end(const tl_entries *entries, size_t c) {
  const size_t end = c * CHUNK + CHUNK;
  return end < entries->crowd->count ? end : entries->crowd->count;
}

static inline void grow_range(double lo[3], double hi[3], const tl_span3 *box) {
  for (int k = 0; k < 3; ++k) {
    lo[k] = box->lo[k] < lo[k] ? box->lo[k] : lo[k];
    hi[k] = box->hi[k] > hi[k] ? box->hi[k] : hi[k];
  }
}

/* Finds classes and range of boxes that are not wide. */
static void look_at_chunks(void *context, size_t begin, size_t end) {
  const entry_work *s = context;
  for (size_t c = begin; c < end; ++c) {
    chunk *out = &s->chunks[c];
    *out = (chunk){.lo = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, .hi = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    double lo[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, hi[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (size_t i = c * CHUNK; i < chunk_end(s->entries, c); ++i) {
      const talus_box *box = &s->entries->boxes[i];
      const int size_class = tl_bins_class_of(box);
      out->of_class[size_class]++;
      if (size_class >= s->wide_class) {
        out->wides++;
        continue;
      }
      const tl_span3 home = tl_images_home(&s->entries->images, box);
      grow_range(lo, hi, &home);
    }
    memcpy(out->lo, lo, sizeof lo);
    memcpy(out->hi, hi, sizeof hi);
  }
}

static void add_up(entry_work *s) {
  tl_entries *e = s->entries;
  const size_t chunks = chunk_count(e);
  memset(e->of_class, 0, sizeof e->of_class);
  e->wides = 0;
  for (int k = 0; k < 3; ++k) {
    e->lo[k] = HUGE_VAL;
    e->hi[k] = -HUGE_VAL;
  }
  for (size_t c = 0; c < chunks; ++c) {
    const chunk *from = &s->chunks[c];
    const tl_span3 range = {{from->lo[0], from->lo[1], from->lo[2]},
                            {from->hi[0], from->hi[1], from->hi[2]}};
    grow_range(e->lo, e->hi, &range);
    e->wides += from->wides;
    for (int k = 0; k <= TL_BINS_CLASSES; ++k)
      e->of_class[k] += from->of_class[k];
  }
}

static double variance(const double *x, size_t n) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; ++i)
    sum += x[i] / (double)n;
  for (size_t i = 0; i < n; ++i)
    squares += (x[i] - sum) * (x[i] - sum);
  return squares;
}

/* Shell sort: the library's qsort may allocate. */
static void sort_sample(double *x, size_t n) {
  static const size_t gaps[] = {57, 23, 10, 4, 1};
  for (size_t g = 0; g < sizeof gaps / sizeof *gaps; ++g)
    for (size_t i = gaps[g]; i < n; ++i) {
      const double value = x[i];
      size_t at = i;
      for (; at >= gaps[g] && x[at - gaps[g]] > value; at -= gaps[g])
        x[at] = x[at - gaps[g]];
      x[at] = value;
    }
}

/* Finds the region and size of most boxes from a sample: the range without the outermost 1/32 on
 * either side, plus an eighth; medians of the edges. */
static void take_sample(tl_entries *e) {
  double at[3][SAMPLES], edge[4][SAMPLES], spread[3] = {0};
  const size_t n = e->crowd->count, stride = ((n + SAMPLES - 1) / SAMPLES) | 1;
  size_t taken = 0;
  for (size_t i = 0; i < n; i += stride) {
    if (tl_bins_class_of(&e->boxes[i]) == TL_BINS_WIDE)
      continue;
    const tl_span3 box = tl_images_home(&e->images, &e->boxes[i]);
    edge[3][taken] = 0;
    for (int k = 0; k < 3; ++k) {
      at[k][taken] = box.lo[k];
      edge[k][taken] = box.hi[k] - box.lo[k];
      edge[3][taken] = edge[k][taken] > edge[3][taken] ? edge[k][taken] : edge[3][taken];
    }
    taken++;
  }
  if (taken == 0)
    return;
  for (int k = 0; k < 3; ++k) {
    sort_sample(at[k], taken);
    spread[k] = variance(at[k], taken);
    e->widest = spread[k] > spread[e->widest] ? k : e->widest;
    sort_sample(edge[k], taken);
    const double low = at[k][taken / 32], high = at[k][taken - 1 - taken / 32];
    e->edge[k] = edge[k][taken / 2];
    e->bulk_lo[k] = low - 0.125 * (high - low);
    e->bulk_hi[k] = high + 0.125 * (high - low);
  }
  sort_sample(edge[3], taken);
  e->longest = edge[3][taken / 2];
  e->small = edge[3][taken / 16];
}

/* The least class for which it and all larger classes have few boxes, and these are large. */
static int find_wide_class(const tl_entries *e) {
  double length = 0;
  for (int k = 0; k < 3; ++k)
    length = e->bulk_hi[k] - e->bulk_lo[k] > length ? e->bulk_hi[k] - e->bulk_lo[k] : length;
  int least = TL_BINS_WIDE;
  uint32_t large = 0;
  if (e->crowd->count <= FEW)
    return least;
  for (int c = TL_BINS_CLASSES - 1; c > 0; --c) {
    large += e->of_class[c];
    if (large > MOST_WIDE || tl_bins_class_end(c - 1) < LARGE * length)
      break;
    if (e->of_class[c] > 0)
      least = c;
  }
  return least;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Axes along which a box in the domain extends over the periodic edge, if another box, moved up,
 * could overlap it there. Rounding is monotone, so this is exact. */
static unsigned find_crossings(const tl_entries *e, const tl_span3 *home) {
  unsigned axes = 0;
  for (int k = 0; k < 3; ++k)
    if (e->images.periodic[k] && e->lo[k] + e->images.length[k] <= home->hi[k])
      axes |= 1u << k;
  return axes;
}

static unsigned count_images(unsigned axes) {
  return 1u << ((axes & 1u) + (axes >> 1 & 1u) + (axes >> 2));
}

static void count_entries(void *context, size_t begin, size_t end) {
  const entry_work *s = context;
  const tl_entries *e = s->entries;
  for (size_t c = begin; c < end; ++c) {
    chunk *out = &s->chunks[c];
    out->first = 0;
    for (size_t i = c * CHUNK; i < chunk_end(e, c); ++i) {
      if (tl_bins_class_of(&e->boxes[i]) >= s->wide_class)
        continue;
      const tl_span3 home = tl_images_home(&e->images, &e->boxes[i]);
      out->first += count_images(find_crossings(e, &home));
    }
  }
}

static void write_entries(void *context, size_t begin, size_t end) {
  const entry_work *s = context;
  const tl_entries *e = s->entries;
  for (size_t c = begin; c < end; ++c) {
    uint32_t *wide = e->wide + s->chunks[c].wides;
    size_t at = (size_t)s->chunks[c].first;
    for (size_t i = c * CHUNK; i < chunk_end(e, c); ++i) {
      if (tl_bins_class_of(&e->boxes[i]) >= s->wide_class) {
        *wide++ = (uint32_t)i;
        continue;
      }
      const tl_span3 home = tl_images_home(&e->images, &e->boxes[i]);
      const unsigned axes = find_crossings(e, &home);
      for (unsigned moved = 0; moved <= axes; ++moved) {
        if ((moved & ~axes) != 0)
          continue;
        e->member[at] = (uint32_t)i;
        if (e->moved)
          e->moved[at] = (uint8_t)moved;
        at++;
      }
    }
  }
}

/* Only called if entries are not just the members. */
static talus_status make_list(entry_work *s) {
  tl_entries *e = s->entries;
  const size_t chunks = chunk_count(e);
  tl_for(&e->model->par, chunks, 1, count_entries, s);
  uint64_t entries = 0;
  uint32_t wides = 0;
  for (size_t c = 0; c < chunks; ++c) {
    chunk *at = &s->chunks[c];
    const uint64_t n = at->first;
    const uint32_t w = at->wides;
    at->first = entries;
    at->wides = wides;
    entries += n;
    wides += w;
  }
  if (entries > UINT32_MAX)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "%zu bodies with their periodic images are more than 32 bits can number",
                   e->crowd->count);
  TL_TAKE(e->crowd->arena, e->wides, &e->wide);
  TL_TAKE(e->crowd->arena, (size_t)entries, &e->member);
  if (e->images.any)
    TL_TAKE(e->crowd->arena, (size_t)entries, &e->moved);
  e->count = (size_t)entries;
  tl_for(&e->model->par, chunks, 1, write_entries, s);
  for (int k = 0; k < 3; ++k)
    if (e->images.periodic[k] && e->lo[k] <= e->hi[k]) /* includes the images and their rounding */
      e->lo[k] -= e->images.length[k] * (1 + 0x1p-20);
  return TALUS_OK;
}

talus_status tl_entries_make(const tl_crowd *crowd, const talus_box *boxes, tl_entries *e) {
  const tl_model *model = crowd->model;
  *e = (tl_entries){.model = model,
                    .crowd = crowd,
                    .boxes = boxes,
                    .images = tl_images_of(model),
                    .count = crowd->count};
  entry_work s = {.entries = e, .wide_class = TL_BINS_WIDE};
  if (model->bodies >= TL_ENTRY_STATIC)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "%zu bodies are more than a broad phase can number (%u)", model->bodies,
                   TL_ENTRY_STATIC - 1);
  TL_TAKE(crowd->arena, chunk_count(e), &s.chunks);
  tl_for(&model->par, chunk_count(e), 1, look_at_chunks, &s);
  add_up(&s);
  take_sample(e);
  s.wide_class = find_wide_class(e);
  if (s.wide_class < TL_BINS_WIDE) {
    tl_for(&model->par, chunk_count(e), 1, look_at_chunks, &s);
    add_up(&s);
  }
  if (e->wides == 0 && !e->images.any)
    return TALUS_OK;
  return make_list(&s);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Bound of the rounding errors of tl_images_overlap and of moving: three roundings, each by 2^-53
 * of a number no larger than these. */
static double rounding(double lo, double hi, double length) {
  return (fabs(lo) + fabs(hi) + length) * 0x1p-50;
}

tl_span3 tl_entries_image(const tl_entries *e, size_t i) {
  const size_t member = e->member ? e->member[i] : i;
  tl_span3 box = tl_images_home(&e->images, &e->boxes[member]);
  for (int k = 0; k < 3; ++k) {
    if ((e->moved[i] >> k & 1) == 0)
      continue;
    const double length = e->images.length[k], slack = rounding(box.lo[k], box.hi[k], length);
    box.lo[k] = box.lo[k] - length - slack;
    box.hi[k] = box.hi[k] - length + slack;
  }
  return box;
}

tl_entry tl_entries_get(const tl_entries *e, size_t i) {
  const uint32_t slot = tl_crowd_slot(e->crowd, e->member ? e->member[i] : i);
  return (tl_entry){.box = tl_entries_box(e, i),
                    .who = slot | (tl_body_is_static(e->model, slot) ? TL_ENTRY_STATIC : 0),
                    .index = (uint32_t)i};
}

/* Boxes are spread over memory, so they are prefetched this far ahead. */
#define AHEAD ((size_t)16)
#if defined(__GNUC__)
#define PREFETCH(pointer) __builtin_prefetch(pointer)
#else
#define PREFETCH(pointer) ((void)(pointer))
#endif

void tl_entries_gather(const tl_entries *e, const uint32_t *order, size_t begin, size_t end,
                       tl_entry *entry) {
  for (size_t k = begin; k < end; ++k) {
    const uint32_t next = order[k + AHEAD < end ? k + AHEAD : k];
    const talus_box *ahead = &e->boxes[e->member ? e->member[next] : next];
    PREFETCH(&ahead->lo.x);
    PREFETCH(&ahead->hi.z); /* it may cross a cache line */
    entry[k] = tl_entries_get(e, order[k]);
  }
}

bool tl_entries_count_here(const tl_entries *e, const tl_entry *a, const tl_entry *b) {
  const uint32_t ma = e->member[a->index], mb = e->member[b->index];
  const unsigned moved_a = e->moved[a->index], moved_b = e->moved[b->index];
  if (ma == mb)
    return false;
  const tl_span3 p = tl_images_home(&e->images, &e->boxes[ma]);
  const tl_span3 q = tl_images_home(&e->images, &e->boxes[mb]);
  for (int k = 0; k < 3; ++k) {
    const double length = e->images.length[k];
    const unsigned here = (moved_a >> k & 1u) | (moved_b >> k & 1u) << 1;
    unsigned counts = 3; /* at first: counts nowhere */
    if (p.lo[k] <= q.hi[k] && q.lo[k] <= p.hi[k])
      counts = 0;
    else if (!e->images.periodic[k])
      return false;
    else if (p.lo[k] + length <= q.hi[k] && q.lo[k] <= p.hi[k] + length)
      counts = 2;
    else if (q.lo[k] + length <= p.hi[k] && p.lo[k] <= q.hi[k] + length)
      counts = 1;
    if (counts == 3 || counts != here)
      return false;
  }
  return true;
}

/* ---- wide boxes ------------------------------------------------------------------------------ */

size_t tl_entries_wide_blocks(const tl_entries *e) { return e->wides > 0 ? chunk_count(e) : 0; }

/* Tests every member of the block against all wide boxes; a wide box against those after it. */
void tl_entries_search_wide(const tl_entries *e, size_t block, tl_catch *to) {
  size_t behind = 0; /* number of wide boxes up to member i */
  for (size_t i = block * CHUNK; i < chunk_end(e, block); ++i) {
    while (behind < e->wides && e->wide[behind] < i)
      behind++;
    const bool is_wide = behind < e->wides && e->wide[behind] == i;
    const tl_span3 box = tl_images_home(&e->images, &e->boxes[i]);
    const uint32_t a = tl_crowd_slot(e->crowd, i);
    for (size_t w = is_wide ? behind + 1 : 0; w < e->wides; ++w) {
      const tl_span3 other = tl_images_home(&e->images, &e->boxes[e->wide[w]]);
      if (!tl_images_overlap(&e->images, &box, &other))
        continue;
      const uint32_t b = tl_crowd_slot(e->crowd, e->wide[w]);
      if (tl_broad_allows(e->model, a, b))
        tl_catch_put(to, a, b);
    }
  }
}

/* ---- grids over entries ---------------------------------------------------------------------- */

tl_quanta tl_entries_quanta(const tl_entries *e, const double edge[3], int most_bits) {
  const double most = ldexp(1, most_bits);
  tl_quanta quanta = {.bits = 0};
  double range[3], widest = 0; /* range and largest range, in quanta */
  bool whole = true;
  for (int k = 0; k < 3; ++k)
    whole &= !(e->hi[k] - e->lo[k] > edge[k] * most);
  for (int k = 0; k < 3; ++k) {
    double lo = e->lo[k], hi = e->hi[k];
    if (!whole) { /* outliers go into the border */
      lo = e->bulk_lo[k] > lo ? e->bulk_lo[k] : lo;
      hi = e->bulk_hi[k] + e->edge[k] < hi ? e->bulk_hi[k] + e->edge[k] : hi;
    }
    range[k] = hi > lo ? hi - lo : 0;
    range[k] = range[k] < DBL_MAX ? range[k] : DBL_MAX;
    quanta.origin[k] = lo <= hi ? lo : 0;
    widest = range[k] / edge[k] > widest ? range[k] / edge[k] : widest;
  }
  widest = widest < DBL_MAX ? widest : DBL_MAX;
  while (quanta.bits < most_bits && ldexp(1, quanta.bits) < widest)
    quanta.bits++;
  quanta.last = ldexp(1, quanta.bits) - 1;
  const double stretch = ldexp(1, quanta.bits) / (widest > 0 ? widest : 1);
  for (int k = 0; k < 3; ++k)
    quanta.inverse[k] = stretch / edge[k];
  return quanta;
}
