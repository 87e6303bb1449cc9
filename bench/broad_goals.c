/* Our own goals: even and uneven sizes, order in memory, little motion, the choice of `auto`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "broad.h"
#include "broad/packed.h"
#include "broad_model.h"

static bool fail(const char *doing) {
  fprintf(stderr, "talus bench broad: %s: %s\n", doing, talus_last_error());
  return false;
}

/* Measures a scene with every method and number of threads. */
static bool measure(broad_bench *bench, const char *section, const char *name,
                    const broad_recipe *recipe, int with) {
  broad_scene scene;
  bool good = broad_scene_make(recipe, &scene) || fail("making a scene");
  for (int t = 0; good && t < bench->options.thread_counts; ++t) {
    broad_group *group =
        broad_group_begin(bench, section, name, recipe->count, bench->options.threads[t]);
    good = group && broad_measure(bench, group, &scene, with);
    if (good)
      broad_group_end(bench, group);
  }
  broad_scene_free(&scene);
  return good;
}

static size_t most(const broad_bench *bench, size_t n) {
  return bench->options.max < n ? bench->options.max : n;
}

/* ---- even ------------------------------------------------------------------------------------ */

/* Bytes that bins move per body, counting each cache line once: boxes are read three times (sizes
 * and extents, histogram, records); records of 32 bytes are written, which first reads the cache
 * lines, and read; the same amount is written in order and read by the search; cells and pairs are
 * written and read. */
static double bins_bytes(double pairs_per_body) {
  const double boxes = 3 * 48, records = 3 * 32, sorted = 3 * 32, cells = 12;
  return boxes + records + sorted + cells + 40 * pairs_per_body;
}

/* Seconds of the stages of bins, in the last of a few calls. */
static bool measure_stages(const broad_group *group, tl_bins_stages *stages) {
  const broad_recipe recipe = {.count = group->count, .fraction = 0.1, .smallest = 1, .seed = 3};
  broad_scene scene;
  broad_model with;
  tl_pairs pairs;
  talus_box *boxes = malloc((group->count + 1) * sizeof *boxes);
  bool good = broad_scene_make(&recipe, &scene) && boxes;
  good = broad_model_make(&with, group->count, group->threads) && good;
  if (good)
    broad_scene_boxes(&scene, boxes);
  tl_bins_stages_of_bench = stages;
  for (int i = 0; good && i < 4; ++i)
    good = tl_arena_reset(&with.arena) == TALUS_OK &&
           tl_bins_find_pairs(&with.crowd, boxes, &pairs) == TALUS_OK;
  tl_bins_stages_of_bench = NULL;
  broad_model_free(&with);
  broad_scene_free(&scene);
  free(boxes);
  return good;
}

/* Prints the time of each stage of bins, beside that of moving its bytes at the measured
 * bandwidth. */
static void print_stages(const broad_bench *bench, const broad_group *group,
                         const broad_row *bins) {
  const double n = (double)group->count, bytes = bins_bytes((double)bins->pairs / n);
  tl_bins_stages s = {0};
  double bandwidth = NAN;
  for (int i = 0; i < bench->options.thread_counts; ++i)
    if (bench->options.threads[i] == group->threads)
      bandwidth = bench->bandwidth[i];
  if (!measure_stages(group, &s))
    return;
  const double floor = 1e9 * bytes / bandwidth, whole = 1e6 * bins->ms / n;
  printf(
      "           ns/body: sizes %.1f, cells and sort %.1f, search %.1f; %.0f bytes at %.1f GB/s "
      "take %.1f: %s\n",
      1e9 * s.measure / n, 1e9 * s.sort / n, 1e9 * (s.all - s.measure - s.sort) / n, bytes,
      1e-9 * bandwidth, floor,
      floor > 0.6 * whole ? "memory limits" : "latency and arithmetic limit");
}

static void compare_peers(const broad_bench *bench) {
  for (size_t i = 0; i < bench->groups; ++i) {
    const broad_group *group = &bench->group[i];
    const broad_row *bins = broad_group_find(group, "bins");
    const broad_row *kdtree = broad_group_find(group, "kdtree");
    const broad_row *embree = broad_group_find(group, "embree-low");
    if (!bins || !kdtree || strcmp(group->section, "uniform") != 0)
      continue;
    const double n = (double)group->count;
    printf("  %8zu bodies, %d thread%s: bins %.1f ns/body, about %.0f bytes/body moved",
           group->count, group->threads, group->threads == 1 ? " " : "s", 1e6 * bins->ms / n,
           bins_bytes((double)bins->pairs / n));
    if (embree)
      printf("; Embree (low) takes %.2f x bins, %.2f x kdtree", embree->ms / bins->ms,
             embree->ms / kdtree->ms);
    printf("\n");
    print_stages(bench, group, bins);
  }
}

bool broad_uniform(broad_bench *bench) {
  static const size_t counts[] = {10000, 50000, 100000, 500000, 1000000, 5000000};
  const int with = BROAD_WITH_SWEEP | BROAD_WITH_BRUTE | BROAD_WITH_PEERS | BROAD_WITH_DELAUNAY;
  printf("\n== Equal spheres, volume fraction 0.1, random order ==\n");
  broad_recipe recipe = {.fraction = 0.1, .smallest = 1, .seed = 3};
  if (bench->options.max < counts[0]) {
    recipe.count = bench->options.max;
    return measure(bench, "uniform", "equal d 0.1", &recipe, with);
  }
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    recipe.count = counts[i];
    if (counts[i] <= bench->options.max && counts[i] >= bench->options.min &&
        !measure(bench, "uniform", "equal d 0.1", &recipe, with))
      return false;
  }
  printf("\n");
  compare_peers(bench);
  return true;
}

/* ---- sizes, order ---------------------------------------------------------------------------- */

bool broad_sizes(broad_bench *bench) {
  const broad_recipe recipe = {
      .count = most(bench, 1000000), .fraction = 0.1, .smallest = 0.01, .seed = 4};
  printf("\n== Radii 1:100, logarithms uniform, volume fraction 0.1 ==\n");
  return measure(bench, "sizes", "radii 1:100 d 0.1", &recipe, BROAD_WITH_PEERS);
}

bool broad_order(broad_bench *bench) {
  broad_recipe recipe = {
      .count = most(bench, 1000000), .fraction = 0.1, .smallest = 1, .ordered = true, .seed = 3};
  printf("\n== Equal spheres, volume fraction 0.1, in spatial order (a Morton curve) ==\n");
  return measure(bench, "order", "equal d 0.1 ordered", &recipe, 0);
}

/* ---- skin ------------------------------------------------------------------------------------ */

/* All bodies move straight, 1/200 of a radius per step, each in its own direction. */
#define STEP_LENGTH 0.005
#define SKIN        0.2 /* radii */

static void move(broad_scene *scene) {
  for (size_t i = 0; i < scene->count; ++i) {
    tl_random random = tl_random_start(5, 1003, i);
    double v[3], square = 0;
    for (int k = 0; k < 3; ++k) {
      v[k] = tl_random_normal(&random);
      square += v[k] * v[k];
    }
    for (int k = 0; k < 3; ++k)
      scene->record[4 * i + (size_t)k] += STEP_LENGTH * v[k] / sqrt(square + 1e-30);
  }
}

/* One step with sorted pairs: a rebuild, or with kept candidates. */
static bool step(broad_model *with, const talus_box *boxes, double *ms, size_t *count) {
  tl_pairs pairs;
  if (tl_arena_reset(&with->arena) != TALUS_OK)
    return fail("skin");
  const double begun = broad_now_ms();
  if (tl_broad_find_pairs(TALUS_BROAD_BINS, &with->crowd, boxes, &pairs) != TALUS_OK)
    return fail("skin");
  *ms = broad_now_ms() - begun;
  *count = pairs.count;
  return true;
}

/* Steps before the measurement; and measured ones: there are 21 from one renewal to the next, so
 * that the mean covers two cycles. */
#define WARM  3
#define STEPS 42

typedef struct skin_times {
  double anew[64], kept[64], renewed[64];
  int steps, keeps, renewals;
  size_t pairs, kept_pairs;
} skin_times;

static bool take_steps(broad_scene *scene, broad_model *plain, broad_model *skinned,
                       talus_box *boxes, int steps, skin_times *times) {
  for (int i = 0; i < steps; ++i) {
    double ms;
    const uint64_t before = skinned->cache.renewals;
    broad_scene_boxes(scene, boxes);
    if (i == WARM - 1) /* a second renewal, so that a measured one finds its memory mapped */
      tl_broad_forget(&skinned->cache);
    if (!step(plain, boxes, &times->anew[times->steps], &times->pairs) ||
        !step(skinned, boxes, &ms, &times->kept_pairs))
      return false;
    if (times->pairs != times->kept_pairs) {
      printf("  MISMATCH: %zu pairs anew, %zu with a skin\n", times->pairs, times->kept_pairs);
      return false;
    }
    if (i >= WARM) {
      times->steps++;
      if (skinned->cache.renewals == before)
        times->kept[times->keeps++] = ms;
      else
        times->renewed[times->renewals++] = ms;
    }
    move(scene);
  }
  return true;
}

static void print_skin(broad_bench *bench, size_t n, int threads, skin_times *times,
                       size_t candidates) {
  double sum = 0;
  for (int i = 0; i < times->keeps; ++i)
    sum += times->kept[i];
  for (int i = 0; i < times->renewals; ++i)
    sum += times->renewed[i];
  const double anew = broad_median(times->anew, times->steps);
  const double kept = broad_median(times->kept, times->keeps);
  const double renewed = broad_median(times->renewed, times->renewals);
  const double mean = sum / times->steps;
  printf("  %8zu %7d %10.2f %10.2f %10.2f %10.2f %9.2f %9.2f %10zu %10zu\n", n, threads, anew, kept,
         renewed, mean, anew / kept, anew / mean, times->pairs, candidates);
  if (bench->csv) {
    fprintf(bench->csv, "skin,rebuild,%zu,%d,bins,%.6g,%.6g,,%zu,,\n", n, threads, anew,
            1e6 * anew / (double)n, times->pairs);
    fprintf(bench->csv, "skin,kept,%zu,%d,bins,%.6g,%.6g,,%zu,%zu,\n", n, threads, kept,
            1e6 * kept / (double)n, times->pairs, candidates);
    fprintf(bench->csv, "skin,mean,%zu,%d,bins,%.6g,%.6g,,%zu,%zu,\n", n, threads, mean,
            1e6 * mean / (double)n, times->pairs, candidates);
  }
}

bool broad_skin(broad_bench *bench) {
  const size_t n = most(bench, 1000000);
  const int steps = bench->options.quick ? 8 : WARM + STEPS;
  const broad_recipe recipe = {.count = n, .fraction = 0.1, .smallest = 1, .seed = 3};
  printf("\n== A little motion: a skin of %g radii, steps of %g; pairs in order ==\n\n", SKIN,
         STEP_LENGTH);
  printf("  %8s %7s %10s %10s %10s %10s %9s %9s %10s %10s\n", "bodies", "threads", "anew ms",
         "kept ms", "renew ms", "mean ms", "anew/kept", "anew/mean", "pairs", "candidates");
  for (int t = 0; t < bench->options.thread_counts; ++t) {
    broad_scene scene;
    broad_model plain, skinned;
    skin_times times = {.steps = 0};
    talus_box *boxes = malloc((n + 1) * sizeof *boxes);
    bool good = broad_scene_make(&recipe, &scene) && boxes;
    good = broad_model_make(&plain, n, bench->options.threads[t]) && good;
    good = broad_model_make(&skinned, n, bench->options.threads[t]) && good;
    skinned.model.skin = SKIN;
    skinned.crowd.broad_cache = &skinned.cache;
    good = good && take_steps(&scene, &plain, &skinned, boxes, steps, &times);
    if (good)
      print_skin(bench, n, bench->options.threads[t], &times, skinned.cache.candidates.count);
    broad_model_free(&plain);
    broad_model_free(&skinned);
    broad_scene_free(&scene);
    free(boxes);
    if (!good)
      return false;
  }
  return true;
}

/* ---- auto ------------------------------------------------------------------------------------ */

bool broad_auto(broad_bench *bench) {
  static const struct {
    const char *name;
    size_t count;
    int layout;
    double fraction, smallest;
  } scenes[] = {
      {"30 d 0.1", 30, BROAD_EVEN, 0.1, 1},
      {"300 d 0.1", 300, BROAD_EVEN, 0.1, 1},
      {"3000 d 0.1", 3000, BROAD_EVEN, 0.1, 1},
      {"thin d 0.01", 100000, BROAD_EVEN, 0.01, 1},
      {"dense d 0.6", 100000, BROAD_EVEN, 0.6, 1},
      {"radii 1:100", 100000, BROAD_EVEN, 0.1, 0.01},
      {"radii 1:10000", 100000, BROAD_EVEN, 0.1, 0.0001},
      {"line", 100000, BROAD_LINE, 0.1, 1},
      {"sheet", 100000, BROAD_SHEET, 0.1, 1},
      {"clouds d 0.01", 100000, BROAD_CLOUDS, 0.01, 1},
      {"clouds d 0.6", 100000, BROAD_CLOUDS, 0.6, 1},
  };
  printf("\n== The choice of auto: other scenes, random order ==\n");
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i) {
    const broad_recipe recipe = {.count = most(bench, scenes[i].count),
                                 .layout = scenes[i].layout,
                                 .fraction = scenes[i].fraction,
                                 .smallest = scenes[i].smallest,
                                 .seed = 6};
    if (!measure(bench, "auto", scenes[i].name, &recipe,
                 BROAD_WITH_SWEEP | (recipe.count <= 3000 ? BROAD_WITH_BRUTE : 0)))
      return false;
  }
  return true;
}
