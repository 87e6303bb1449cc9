/* Which sizes share a grid.
 *
 * One grid for all sizes makes the small ones suffer: their cells are crowded. A grid for every
 * size makes the large ones suffer: each looks through all finer grids. The levels chosen are those
 * of least estimated cost, found exactly: a level costs what its own boxes spend in it and what all
 * larger ones spend on it, whatever levels those are in, so the best split of the classes below a
 * level does not depend on what comes above it (dynamic programming over the ordered classes;
 * Krijgsman, Ogarko and Luding 2014 treat the same question for given size distributions).
 *
 * The estimate takes boxes as packed, which they are where it matters: as many to a volume as fill
 * it. It only steers speed; every choice finds the same pairs. */
#include "broad/bins.h"

#define GROUPS    24     /* at most; neighbouring classes are put together if there are more */
#define ROW       6.0    /* finding the run of a row of cells, in tests of two boxes */
#define LEVEL     5000.0 /* having one more level, in tests */
#define MOST_WIDE 32     /* more large boxes than this are never put into the wide list */

typedef struct group {
  double count;
  double size; /* no box is larger */
  int last;    /* class */
} group;

/* Tests it takes to look through a level of n boxes with cells of size c, `crowd` to a cell, for
 * those that touch one of size s; no more than looking at all of them. */
static double cost_of_query(double s, double n, double c, double crowd) {
  const double across = s / c + 2;
  const double cost = across * across * ROW + across * across * across * crowd;
  return cost < n ? cost : n;
}

/* Cost of having groups i ... j as one level. */
static double cost_of_level(const group *groups, int n, int i, int j) {
  const double cell = groups[j].size;
  double count = 0, volume = 0;
  for (int g = i; g <= j; ++g) {
    const double relative = groups[g].size / cell;
    count += groups[g].count;
    volume += groups[g].count * relative * relative * relative;
  }
  const double crowd = count / volume;
  const double own = 13.5 * crowd < 0.5 * count ? 13.5 * crowd : 0.5 * count;
  double cost = LEVEL + count * (5 * ROW + own);
  for (int g = j + 1; g < n; ++g)
    cost += groups[g].count * cost_of_query(groups[g].size, count, cell, crowd);
  return cost;
}

/* end[l]: one past the last group of level l. Returns the number of levels. */
static int split(const group *groups, int n, int end[TL_BINS_LEVELS]) {
  double best[TL_BINS_LEVELS + 1][GROUPS + 1]; /* of groups 0 ... j-1 in l levels */
  int from[TL_BINS_LEVELS + 1][GROUPS + 1];    /* where the last of those levels starts */
  double cost[GROUPS][GROUPS];
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j)
      cost[i][j] = cost_of_level(groups, n, i, j);
  int levels = 1;
  for (int l = 1; l <= TL_BINS_LEVELS && l <= n; ++l) {
    for (int j = l; j <= n; ++j) {
      best[l][j] = HUGE_VAL;
      for (int i = l - 1; i < j; ++i) {
        if (l == 1 && i > 0)
          break;
        const double sum = (l == 1 ? 0 : best[l - 1][i]) + cost[i][j - 1];
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

/* The classes that have boxes, from small to large, put together so that there are not too many. */
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

/* How many of the largest groups are few and would look at half of all boxes or more. */
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
  int levels = n > 0 ? split(groups, n, end) : 0;
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
