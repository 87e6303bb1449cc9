/* The tables and figures of Poirrier (2009), beside the numbers printed in the paper. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "broad.h"
#include "broad/kdtree.h"
#include "broad_model.h"
#include "shape/shape.h"

bool broad_model_make(broad_model *to, size_t bodies, int threads) {
  static const talus_shape_def sphere = {.kind = TALUS_SPHERE, .size = {1}};
  *to = (broad_model){.zeros = calloc(bodies + 1, sizeof *to->zeros)};
  if (!to->zeros || tl_shape_make(&sphere, &to->shape) != TALUS_OK)
    return false;
  tl_model *model = &to->model;
  model->shapes.data = &to->shape;
  model->shapes.count = 1;
  model->property.flags = model->property.shape = to->zeros;
  model->bodies = bodies;
  model->par.threads = threads;
  to->crowd = (tl_crowd){.model = model, .count = bodies, .arena = &to->arena};
  return true;
}

void broad_model_free(broad_model *from) {
  tl_broad_cache_free(&from->cache);
  tl_arena_free(&from->arena);
  free(from->zeros);
}

static bool fail(const char *doing) {
  fprintf(stderr, "talus bench broad: %s: %s\n", doing, talus_last_error());
  return false;
}

/* ---- table 1 --------------------------------------------------------------------------------- */

typedef struct published {
  double fraction;
  double volume[2], selected[2], positives[2], sub; /* [1]: with splitting; sub: in N */
} published;

static const published table_1[] = {
    {0.01, {8.0275e6, 10.9362}, {1261197, 4928}, {389, 429}, 6.37},
    {0.05, {1.5836e6, 10.8227}, {1834155, 25643}, {1901, 2660}, 6.67},
    {0.1, {1.3439e6, 13.4065}, {2300212, 62148}, {3715, 6235}, 6.24},
    {0.5, {2.9324e6, 13.4745}, {4193598, 280736}, {16227, 63454}, 6.35},
    {1.0, {4.0032e6, 12.5170}, {5552230, 492790}, {28144, 72176}, 6.01},
};

static bool print_density(broad_bench *bench, const published *paper, size_t n) {
  const broad_recipe recipe = {.count = n, .fraction = paper->fraction, .smallest = 1, .seed = 1};
  broad_scene scene;
  broad_model with;
  talus_box *boxes = malloc((n + 1) * sizeof *boxes);
  tl_kdtree_statistics found[2];
  bool good = broad_scene_make(&recipe, &scene) && boxes;
  good = broad_model_make(&with, n, 1) && good;
  if (good)
    broad_scene_boxes(&scene, boxes);
  for (int split = 0; good && split < 2; ++split)
    good = tl_kdtree_measure(&with.crowd, boxes, split, TL_KDTREE_BITS, &found[split]) == TALUS_OK;
  for (int split = 0; good && split < 2; ++split) {
    const tl_kdtree_statistics *s = &found[split];
    printf("  %-5g %-4s %8.2f %8.2f %12.5g %12.5g %10llu %10.0f %8llu %8.0f %8llu\n",
           paper->fraction, split ? "yes" : "no", (double)s->records / (double)n,
           split ? paper->sub : 1, s->volume_ratio, paper->volume[split],
           (unsigned long long)s->candidates, paper->selected[split],
           (unsigned long long)s->overlapping, paper->positives[split],
           (unsigned long long)s->unique);
    if (bench->csv)
      fprintf(bench->csv, "table1,d=%g split=%d,%zu,1,kd-tree-1,,,,%llu,%llu,%zu\n",
              paper->fraction, split, n, (unsigned long long)s->unique,
              (unsigned long long)s->candidates, s->bytes);
  }
  broad_model_free(&with);
  broad_scene_free(&scene);
  free(boxes);
  return good || fail("table 1");
}

bool broad_table_1(broad_bench *bench) {
  const size_t n = bench->options.max < 10000 ? bench->options.max : 10000;
  printf("\n== Table 1: splitting boxes, %zu spheres; `paper` has 10000 ==\n\n", n);
  printf("  %-5s %-4s %8s %8s %12s %12s %10s %10s %8s %8s %8s\n", "d", "cut", "pieces/N", "paper",
         "V_n/V_e", "paper", "selected", "paper", "true", "paper", "unique");
  for (size_t i = 0; i < sizeof table_1 / sizeof *table_1; ++i)
    if (!print_density(bench, &table_1[i], n))
      return false;
  printf("  V_n/V_e without cutting tells the size of the root cell: ours is fitted, that of the "
         "paper\n"
         "  must have been larger than its scene. selected, true: pairs of pieces, several of "
         "which may\n"
         "  be the same two spheres; unique: pairs of spheres that overlap, which theory puts at 4 "
         "N d\n"
         "  less what the edges take.\n");
  return true;
}

/* ---- tables 2 and 3 -------------------------------------------------------------------------- */

static const struct {
  size_t count;
  double sweep_ms, delaunay_ms, kdtree_1_ms, kdtree_2_ms; /* 0: not in the paper */
  double candidates_1, candidates_2, mb_1, mb_2;
} tables_2_3[] = {
    {50000, 64662, 11350, 211, 297, 3.30e6, 277806, 9, 18},
    {100000, 266840, 23616, 434, 620, 5.84e6, 565180, 17, 35},
    {500000, 0, 118408, 2261, 3288, 35.8e6, 3.01e6, 82, 193},
    {1000000, 0, 240563, 4194, 6153, 78.9e6, 6.01e6, 144, 353},
    {5000000, 0, 0, 18885, 24205, 518e6, 30.4e6, 558, 1536},
};

/* kd-tree-1 and kd-tree-2 as published; they are no choices, because pairs of kd-tree-1 are not
 * unique and those of kd-tree-2 are of spheres. */
static bool measure_published(broad_group *group, const broad_scene *scene) {
  broad_model with;
  tl_kdtree_statistics s = {0};
  double times[2][3];
  const int repeat = 3;
  talus_box *boxes = malloc((scene->count + 1) * sizeof *boxes);
  bool good = broad_model_make(&with, scene->count, group->threads) && boxes;
  if (good)
    broad_scene_boxes(scene, boxes);
  for (int i = 0; good && i < repeat; ++i) {
    good = tl_arena_reset(&with.arena) == TALUS_OK &&
           tl_kdtree_measure(&with.crowd, boxes, true, 0, &s) == TALUS_OK;
    times[0][i] = 1e3 * (s.seconds_build + s.seconds_sweep_1);
    times[1][i] = 1e3 * (s.seconds_build + s.seconds_sweep_2);
  }
  for (int k = 0; good && k < 2; ++k) {
    broad_row *row = broad_group_add(group, k == 0 ? "kd-tree-1" : "kd-tree-2");
    row->ms = broad_median(times[k], repeat);
    row->candidates = k == 0 ? s.candidates : s.unique;
    row->bytes = (double)s.bytes;
    row->is_reference = true;
  }
  broad_model_free(&with);
  free(boxes);
  return good || fail("kd-tree-1");
}

/* One size: settles for 50 steps, then measures every method at a step in the middle of 50 ...
 * 60. */
static bool measure_settled(broad_bench *bench, size_t row, size_t n) {
  const broad_options *options = &bench->options;
  const int steps = options->quick ? 15 : 55;
  const broad_recipe recipe = {
      .count = n, .fraction = 0.1, .smallest = 1, .highest = BROAD_SETTLE_HEIGHT, .seed = 2};
  broad_scene scene;
  talus_detector *detector = NULL;
  bool good = broad_scene_make(&recipe, &scene) && broad_settle_begin(&scene) &&
              talus_detector_create(NULL, &detector) == TALUS_OK;
  for (int i = 0; good && i < steps; ++i)
    good = broad_settle_step(&scene, detector);
  talus_detector_destroy(detector);
  for (int t = 0; good && t < options->thread_counts; ++t) {
    broad_group *group =
        broad_group_begin(bench, "tables23", "settling from d 0.1", n, options->threads[t]);
    good = group &&
           broad_measure(bench, group, &scene,
                         BROAD_WITH_SWEEP | BROAD_WITH_BRUTE | BROAD_WITH_PEERS |
                             BROAD_WITH_DELAUNAY) &&
           measure_published(group, &scene);
    if (good)
      broad_group_end(bench, group);
  }
  if (good && row < sizeof tables_2_3 / sizeof *tables_2_3)
    printf("  the paper (Intel E2180, 1 thread): kd-tree-1 %.0f ms, %.3g candidates, %.0f MB; "
           "kd-tree-2 %.0f ms,\n  %.3g, %.0f MB; Delaunay %.0f ms; sweep %.0f ms (0: not given)\n",
           tables_2_3[row].kdtree_1_ms, tables_2_3[row].candidates_1, tables_2_3[row].mb_1,
           tables_2_3[row].kdtree_2_ms, tables_2_3[row].candidates_2, tables_2_3[row].mb_2,
           tables_2_3[row].delaunay_ms, tables_2_3[row].sweep_ms);
  broad_scene_free(&scene);
  return good || fail("settling");
}

bool broad_tables_2_3(broad_bench *bench) {
  const size_t rows = sizeof tables_2_3 / sizeof *tables_2_3;
  printf("\n== Tables 2 and 3: spheres that settle, asked at step %d ==\n",
         bench->options.quick ? 15 : 55);
  if (bench->options.max < tables_2_3[0].count)
    return measure_settled(bench, rows, bench->options.max);
  for (size_t i = 0; i < rows; ++i)
    if (tables_2_3[i].count <= bench->options.max && tables_2_3[i].count >= bench->options.min &&
        !measure_settled(bench, i, tables_2_3[i].count))
      return false;
  return true;
}

/* ---- figures 11 and 12 ----------------------------------------------------------------------- */

/* Times of one method over all steps and runs of a figure. */
typedef struct series {
  const char *name;
  talus_broad_kind kind;
  bool keeps;       /* data kept from step to step: the sweep's order */
  double times[64]; /* ms */
  int count;
  uint64_t pairs;
  broad_model with;
} series;

static const series small_methods[] = {
    {.name = "bins", .kind = TALUS_BROAD_BINS},
    {.name = "kdtree", .kind = TALUS_BROAD_KDTREE},
    {.name = "cells", .kind = TALUS_BROAD_CELLS},
    {.name = "bvh", .kind = TALUS_BROAD_BVH},
    {.name = "sweep", .kind = TALUS_BROAD_SWEEP},
    {.name = "sweep-kept", .kind = TALUS_BROAD_SWEEP, .keeps = true},
    {.name = "brute", .kind = TALUS_BROAD_BRUTE},
    {.name = "auto", .kind = TALUS_BROAD_AUTO},
};
#define SMALL (sizeof small_methods / sizeof *small_methods)

/* Includes putting the pairs in order, as a step of a simulation does. */
static bool time_step(series *of, const talus_box *boxes, bool counts) {
  tl_pairs pairs;
  const char *reason;
  if (tl_arena_reset(&of->with.arena) != TALUS_OK)
    return false;
  of->with.crowd.broad_cache = of->keeps ? &of->with.cache : NULL;
  const double begun = broad_now_ms();
  talus_broad_kind kind = of->kind;
  if (kind == TALUS_BROAD_AUTO)
    kind = tl_broad_choose(&of->with.crowd, boxes, &reason);
  if (tl_broad_find_pairs(kind, &of->with.crowd, boxes, &pairs) != TALUS_OK)
    return false;
  const double took = broad_now_ms() - begun;
  if (!counts)
    return true;
  if (of->count < 64)
    of->times[of->count++] = took;
  of->pairs = pairs.count;
  return true;
}

/* All methods on the boxes of a step. */
static bool time_all(series *methods, const talus_box *boxes, bool counts) {
  for (size_t i = 0; i < SMALL; ++i)
    if (!time_step(&methods[i], boxes, counts))
      return false;
  return true;
}

/* One run. Steps before `first` warm up memory and orders. *scene is then that of the last step. */
static bool follow(series *methods, int first, int steps, uint64_t seed, broad_scene *scene) {
  const size_t n = methods[0].with.model.bodies;
  const broad_recipe recipe = {
      .count = n, .fraction = 0.1, .smallest = 1, .highest = BROAD_SETTLE_HEIGHT, .seed = seed};
  talus_detector *detector = NULL;
  talus_box *boxes = malloc((n + 1) * sizeof *boxes);
  broad_scene_free(scene);
  bool good = broad_scene_make(&recipe, scene) && broad_settle_begin(scene) && boxes &&
              talus_detector_create(NULL, &detector) == TALUS_OK;
  for (int step = 0; good && step < first + steps; ++step) {
    if (step > 0)
      good = broad_settle_step(scene, detector);
    if (step >= first - 3)
      broad_scene_boxes(scene, boxes);
    for (int i = 0; good && i < 3 && step == 0 && first == 0; ++i)
      good = time_all(methods, boxes, false);
    if (good && step >= first - 3)
      good = time_all(methods, boxes, step >= first);
  }
  talus_detector_destroy(detector);
  free(boxes);
  return good;
}

static bool measure_small(broad_bench *bench, const char *name, size_t n, int first, int steps) {
  series methods[SMALL];
  broad_scene scene = {0};
  bool good = true;
  memcpy(methods, small_methods, sizeof methods);
  for (size_t i = 0; i < SMALL; ++i)
    good = broad_model_make(&methods[i].with, n, 1) && good;
  for (uint64_t run = 0; good && run < (bench->options.quick ? 1u : 4u); ++run)
    good = follow(methods, first, steps, 10 + run, &scene);
  broad_group *group = good ? broad_group_begin(bench, "figures", name, n, 1) : NULL;
  for (size_t i = 0; i < SMALL; ++i) {
    if (group) {
      broad_row *row = broad_group_add(group, methods[i].name);
      row->ms = broad_median(methods[i].times, methods[i].count);
      row->pairs = methods[i].pairs; /* of the last step, which peers measure */
      row->has_pairs = true;
      row->is_reference = methods[i].keeps;
    }
    broad_model_free(&methods[i].with);
  }
  good = group && broad_measure_peers(bench, group, &scene, true);
  if (good)
    broad_group_end(bench, group);
  broad_scene_free(&scene);
  return good || fail("small scenes");
}

bool broad_figures(broad_bench *bench) {
  static const size_t counts[] = {100, 300, 1000, 2000, 4000, 8000};
  const int steps = bench->options.quick ? 3 : 11;
  printf("\n== Figures 11 and 12: few bodies, median over %d steps, in order (peers: not) ==\n",
         steps);
  for (int late = 0; late < 2; ++late)
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i)
      if (counts[i] <= bench->options.max &&
          !measure_small(bench, late ? "settling, steps 50-60" : "settling, steps 0-10", counts[i],
                         late && !bench->options.quick ? 50
                         : late                        ? 10
                                                       : 0,
                         steps))
        return false;
  return true;
}
