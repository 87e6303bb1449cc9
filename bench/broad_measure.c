/* One scene, every method: in turn, several times, and the median of each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/parallel.h"
#include "broad.h"

double broad_now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double broad_median(double *values, int n) {
  if (n == 0)
    return NAN;
  qsort(values, (size_t)n, sizeof *values, compare);
  return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

/* ---- the machine ----------------------------------------------------------------------------- */

typedef struct stream {
  double *to;
  const double *from;
} stream;

static void copy(void *context, size_t begin, size_t end) {
  const stream *work = context;
  for (size_t i = begin; i < end; ++i)
    work->to[i] = 0.5 * work->from[i] + 1;
}

/* Arrays of 64 MiB, which exceed all caches; the first pass maps their pages. Reads that the
 * processor makes before writes are not counted. */
double broad_bandwidth(int threads, bool quick) {
  const size_t n = (size_t)1 << (quick ? 20 : 23);
  const tl_par par = {.threads = threads};
  double *memory = calloc(2 * n, sizeof *memory);
  double times[9];
  if (!memory)
    return NAN;
  stream work = {memory, memory + n};
  for (int i = 0; i < 10; ++i) {
    const double begun = broad_now_ms();
    tl_for(&par, n, 65536, copy, &work);
    if (i > 0)
      times[i - 1] = broad_now_ms() - begun;
    work = i % 2 ? (stream){memory, memory + n} : (stream){memory + n, memory};
  }
  free(memory);
  return 2 * (double)n * sizeof(double) / (1e-3 * broad_median(times, 9));
}

/* ---- methods --------------------------------------------------------------------------------- */

typedef struct method {
  talus_broad_kind kind;
  double power; /* exponent of the number of bodies in the time */
  int with;     /* only if asked for */
} method;

static const method methods[] = {
    {TALUS_BROAD_BINS, 1, 0},
    {TALUS_BROAD_KDTREE, 1, 0},
    {TALUS_BROAD_CELLS, 1, 0},
    {TALUS_BROAD_BVH, 1.05, 0},
    {TALUS_BROAD_SWEEP, 5.0 / 3.0, BROAD_WITH_SWEEP},
    {TALUS_BROAD_BRUTE, 2, BROAD_WITH_BRUTE},
    {TALUS_BROAD_AUTO, 1, 0},
};
#define METHODS (sizeof methods / sizeof *methods)

double broad_predict(const broad_bench *bench, const broad_group *group, const char *name,
                     double power) {
  const broad_group *best = NULL;
  const broad_row *row = NULL;
  for (size_t i = 0; i < bench->groups; ++i) {
    const broad_group *other = &bench->group[i];
    const broad_row *found = broad_group_find(other, name);
    if (other == group || !found || isnan(found->ms) || other->threads != group->threads ||
        strcmp(other->section, group->section) != 0 || (best && other->count < best->count))
      continue;
    best = other;
    row = found;
  }
  return best ? 1e-3 * row->ms * pow((double)group->count / (double)best->count, power) : 0;
}

/* A detector for each method, whose memory stays mapped between its turns. */
typedef struct turn {
  talus_detector *detector;
  double times[64];
  int taken, wanted;
  talus_detect_stats stats;
} turn;

static bool take_turn(turn *of, const talus_box *boxes, size_t n) {
  talus_pairs pairs;
  if (talus_detector_find_box_pairs(of->detector, boxes, n, &pairs, &of->stats) != TALUS_OK) {
    fprintf(stderr, "talus bench broad: %s\n", talus_last_error());
    return false;
  }
  of->times[of->taken++] = of->stats.broad_ms;
  return true;
}

/* The first call of a method maps its memory, the second maps it again in one piece: neither counts
 * if a call is short enough to be repeated. */
static bool warm_up(turn *of, const broad_options *options, const talus_box *boxes, size_t n) {
  for (int i = 0; i < 3; ++i) {
    if (!take_turn(of, boxes, n))
      return false;
    const double seconds = 1e-3 * of->stats.broad_ms;
    if (seconds > 0.1 * options->patience || (options->quick && i > 0)) {
      of->wanted = 1;
      return true;
    }
    if (i < 2)
      of->taken = 0;
  }
  const double calls = 4.0 / (1e-3 * of->stats.broad_ms + 1e-6); /* a few seconds are enough */
  of->wanted = options->repeat < 63 ? options->repeat : 63;
  if (calls < of->wanted)
    of->wanted = calls < 2 ? 2 : (int)calls;
  return true;
}

/* Predicted time of a call; for brute force it is known without a measurement. */
static double seconds_of(const broad_bench *bench, const broad_group *group, const method *of) {
  const double n = (double)group->count;
  const double seconds = broad_predict(bench, group, talus_broad_name(of->kind), of->power);
  return seconds > 0 || of->kind != TALUS_BROAD_BRUTE ? seconds : 5e-9 * 0.5 * n * n;
}

static bool make_turns(const broad_bench *bench, const broad_group *group, int with, turn *turns,
                       int *order, int *count) {
  *count = 0;
  for (size_t i = 0; i < METHODS; ++i) {
    if (methods[i].with && !(with & methods[i].with))
      continue;
    const double seconds = seconds_of(bench, group, &methods[i]);
    if (seconds > bench->options.patience) {
      printf("  %s is left out: about %.0f s for a call, --patience is %g\n",
             talus_broad_name(methods[i].kind), seconds, bench->options.patience);
      continue;
    }
    talus_detect_def def = talus_detect_def_default();
    def.broad = methods[i].kind;
    def.threads = group->threads;
    turns[*count] = (turn){0};
    if (talus_detector_create(&def, &turns[*count].detector) != TALUS_OK)
      return false;
    order[(*count)++] = (int)i;
  }
  return true;
}

static void add_row(broad_group *group, turn *of, const char *name) {
  broad_row *row = broad_group_add(group, name);
  row->ms = broad_median(of->times, of->taken);
  row->pairs = of->stats.pairs;
  row->bytes = (double)of->stats.peak_bytes;
  row->has_pairs = true;
  if (strcmp(name, "brute") == 0)
    row->candidates = (uint64_t)group->count * (group->count - 1) / 2;
}

static bool measure_methods(const broad_bench *bench, broad_group *group, const talus_box *boxes,
                            int with) {
  turn turns[METHODS];
  int order[METHODS], count;
  bool good = make_turns(bench, group, with, turns, order, &count);
  for (int i = 0; good && i < count; ++i) {
    good = warm_up(&turns[i], &bench->options, boxes, group->count);
    /* Large scenes are measured one method after the other, so that memory is not needed for
     * all. */
    if (good && group->count > 2000000) {
      while (good && turns[i].taken < turns[i].wanted)
        good = take_turn(&turns[i], boxes, group->count);
      talus_detector_destroy(turns[i].detector);
      turns[i].detector = NULL;
    }
  }
  for (int round = 1; good && round < 64; ++round)
    for (int i = 0; good && i < count; ++i)
      if (turns[i].taken == round && turns[i].taken < turns[i].wanted)
        good = take_turn(&turns[i], boxes, group->count);
  for (int i = 0; i < count; ++i) {
    if (good)
      add_row(group, &turns[i], talus_broad_name(methods[order[i]].kind));
    talus_detector_destroy(turns[i].detector);
  }
  return good;
}

bool broad_measure(broad_bench *bench, broad_group *group, const broad_scene *scene, int with) {
  talus_box *boxes = malloc((scene->count + 1) * sizeof *boxes);
  if (!boxes) {
    fprintf(stderr, "talus bench broad: out of memory for %zu boxes\n", scene->count);
    return false;
  }
  broad_scene_boxes(scene, boxes);
  const bool good = measure_methods(bench, group, boxes, with);
  free(boxes);
  if (good && (with & BROAD_WITH_PEERS))
    return broad_measure_peers(bench, group, scene, with & BROAD_WITH_DELAUNAY);
  return good;
}
