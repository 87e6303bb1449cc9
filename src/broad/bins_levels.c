/* Chooses which sizes share a grid.
 *
 * With one grid for all sizes the cells of small boxes are crowded. With one grid for every size
 * each large box searches all finer grids. The levels chosen are those of least estimated cost,
 * found exactly: a level costs the searches of its own boxes in it and of all larger ones through
 * it, whatever levels those are in, so the best split of the classes below a level does not depend
 * on those above (dynamic programming over the ordered classes; Krijgsman, Ogarko and Luding 2014
 * treat the same question for given size distributions).
 *
 * The estimate assumes boxes as crowded as on average in the region of most, or somewhat more, but
 * at most as many as fill the space. It only affects speed: every choice finds the same pairs. */
#include "broad/bins.h"

#define SAMPLES   128
#define GROUPS    24     /* at most; if there are more, neighbouring classes are merged */
#define ROW       16.0   /* cost of finding a row of cells, in tests of two boxes */
#define LEVEL     5000.0 /* cost of one more level, in tests */
#define UNEVEN    4.0    /* density around most boxes, relative to the mean */
#define MOST_WIDE 32     /* if more boxes are large, none goes into the wide list */

/* ---- where most boxes are ------------------------------------------------------------------- */

/* Insertion sort: the library's qsort may allocate. */
static void sort_sample(double *x, size_t n) {
  for (size_t i = 1; i < n; ++i) {
    const double value = x[i];
    size_t at = i;
    for (; at > 0 && x[at - 1] > value; --at)
      x[at] = x[at - 1];
    x[at] = value;
  }
}

void tl_bins_find_bulk(const tl_bins *bins, double lo[3], double hi[3]) {
  double sample[3][SAMPLES];
  const size_t n = bins->crowd->count, stride = ((n + SAMPLES - 1) / SAMPLES) | 1;
  size_t taken = 0;
  for (size_t i = 0; i < n; i += stride) {
    const talus_box *box = &bins->boxes[i];
    if (tl_bins_class_of(box) == TL_BINS_WIDE)
      continue;
    sample[0][taken] = box->lo.x;
    sample[1][taken] = box->lo.y;
    sample[2][taken] = box->lo.z;
    taken++;
  }
  for (int k = 0; k < 3; ++k) {
    lo[k] = -HUGE_VAL;
    hi[k] = HUGE_VAL;
    if (taken == 0)
      continue;
    sort_sample(sample[k], taken);
    const double low = sample[k][taken / 32], high = sample[k][taken - 1 - taken / 32];
    lo[k] = low - 0.125 * (high - low);
    hi[k] = high + 0.125 * (high - low);
  }
}

/* ---- cost of levels -------------------------------------------------------------------------- */

typedef struct group {
  double count;
  double size; /* upper bound of its boxes' sizes */
  int last;    /* its last class */
} group;

/* Number of tests to search a level of n boxes with cells of size c, `crowd` per cell, for boxes
 * that touch one of size s; at most n. */
static double cost_of_query(double s, double n, double c, double crowd) {
  const double across = s / c + 2;
  const double cost = across * across * ROW + across * across * across * crowd;
  return cost < n ? cost : n;
}

/* Cost of making groups i ... j one level; boxes are in a region of these lengths. */
static double cost_of_level(const group *groups, int n, int i, int j, const double length[3]) {
  const double cell = groups[j].size;
  double count = 0, volume = 0;
  for (int g = i; g <= j; ++g) {
    const double relative = groups[g].size / cell;
    count += groups[g].count;
    volume += groups[g].count * relative * relative * relative;
  }
  const double packed = count / volume;
  const double even =
      count / ((length[0] / cell + 1) * (length[1] / cell + 1) * (length[2] / cell + 1));
  const double dense = packed < UNEVEN * even ? packed : UNEVEN * even;
  const double crowd = dense > even ? dense : even;
  const double own = 13.5 * crowd < 0.5 * count ? 13.5 * crowd : 0.5 * count;
  double cost = LEVEL + count * (5 * ROW + own);
  for (int g = j + 1; g < n; ++g)
    cost += groups[g].count * cost_of_query(groups[g].size, count, cell, crowd);
  return cost;
}

/* Finds the best split; end[l]: one past the last group of level l. Returns the number of
 * levels. */
static int split(const group *groups, int n, const double length[3], int end[TL_BINS_LEVELS]) {
  /* best[l][j]: cost of groups 0 ... j-1 in l levels */
  double best[TL_BINS_LEVELS + 1][GROUPS + 1];
  /* from[l][j]: first group of the last of those levels */
  int from[TL_BINS_LEVELS + 1][GROUPS + 1];
  double cost[GROUPS][GROUPS];
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j)
      cost[i][j] = cost_of_level(groups, n, i, j, length);
  int levels = 1;
  for (int j = 1; j <= n; ++j) {
    best[1][j] = cost[0][j - 1];
    from[1][j] = 0;
  }
  for (int l = 2; l <= TL_BINS_LEVELS && l <= n; ++l) {
    for (int j = l; j <= n; ++j) {
      best[l][j] = HUGE_VAL;
      from[l][j] = l - 1;
      for (int i = l - 1; i < j; ++i) {
        const double sum = best[l - 1][i] + cost[i][j - 1];
        if (sum < best[l][j]) {
          best[l][j] = sum;
          from[l][j] = i;
        }
      }
    }
    if (best[l][n] < best[levels][n])
      levels = l;
  }
  for (int l = levels, j = n; l > 0; --l) {
    end[l - 1] = j;
    j = from[l][j];
  }
  return levels;
}

/* Makes groups from the classes that have boxes, from small to large, merged if there are too
 * many. */
static int make_groups(const uint32_t *count, group groups[GROUPS]) {
  int used = 0;
  for (int k = 0; k < TL_BINS_CLASSES; ++k)
    used += count[k] > 0;
  const int together = (used + GROUPS - 1) / GROUPS;
  int n = 0, left = 0;
  for (int k = 0; k < TL_BINS_CLASSES; ++k) {
    if (count[k] == 0)
      continue;
    if (left == 0) {
      groups[n++] = (group){0};
      left = together;
    }
    left--;
    groups[n - 1].count += count[k];
    groups[n - 1].size = tl_bins_class_end(k);
    groups[n - 1].last = k;
  }
  return n;
}

/* Number of the largest groups that have few boxes, each of which would test half of all or
 * more. */
static int count_wide(const group *groups, int n, int levels, const int *end) {
  double all = 0, large = 0;
  for (int g = 0; g < n; ++g)
    all += groups[g].count;
  int wide = 0;
  for (int g = n - 1; g >= end[0]; --g) {
    large += groups[g].count;
    if (large > MOST_WIDE)
      break;
    double tests = 0;
    for (int l = 0, begin = 0; l < levels && begin < g; begin = end[l++]) {
      double count = 0;
      for (int i = begin; i < end[l] && i < g; ++i)
        count += groups[i].count;
      tests += cost_of_query(groups[g].size, count, groups[end[l] - 1].size, 1);
    }
    if (tests < 0.5 * all)
      break;
    wide++;
  }
  return wide;
}

void tl_bins_choose_levels(const uint32_t count[TL_BINS_CLASSES + 1], tl_bins *bins) {
  group groups[GROUPS];
  int end[TL_BINS_LEVELS];
  const int n = make_groups(count, groups);
  int levels = n > 0;
  end[0] = n;
  if (n > 1) {
    double lo[3], hi[3], length[3];
    tl_bins_find_bulk(bins, lo, hi);
    for (int k = 0; k < 3; ++k)
      length[k] = bins->images.periodic[k] ? bins->images.length[k] : hi[k] - lo[k];
    levels = split(groups, n, length, end);
  }
  const int kept = n > 0 ? n - count_wide(groups, n, levels, end) : 0;
  while (levels > 1 && end[levels - 2] >= kept)
    levels--;
  int k = 0;
  for (int l = 0; l < levels; ++l) {
    const int last = (end[l] < kept ? end[l] : kept) - 1;
    for (; k <= groups[last].last; ++k)
      bins->level_of[k] = (uint8_t)l;
  }
  for (; k <= TL_BINS_CLASSES; ++k)
    bins->level_of[k] = (uint8_t)levels;
  bins->levels = levels;
}
