/* Residual over iterations and over time: every method, cold and with the impulses of the last
 * step, on the same step of the same settled heap. Each point is a separate step that starts from
 * the same state and makes exactly that number of iterations. */
#include <math.h>
#include <stdlib.h>

#include "ccp.h"

static const int counts[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
#define COUNTS ((int)(sizeof counts / sizeof *counts))

typedef struct study {
  ccp_bench *bench;
  ccp_heap heap;
  ccp_snapshot start;
  FILE *csv;
  ccp_curve by_count[2 * CCP_METHODS], by_time[2 * CCP_METHODS];
  int curves;
} study;

static int repeats(const ccp_options *options, int count) {
  return options->quick || count >= 200 ? 1 : 3;
}

static bool take_point(study *s, int method, bool warm, int count, ccp_curve *by_count,
                       ccp_curve *by_time) {
  double seconds[3];
  ccp_times times = {0};
  const int n = repeats(&s->bench->options, count);
  for (int i = 0; i < n; ++i) {
    if (!ccp_snapshot_restore(&s->heap, &s->start))
      return false;
    ccp_heap_solve_with(&s->heap, method, count, warm);
    if (!ccp_measure(&s->heap, 1, &times))
      return false;
    seconds[i] = times.solve;
  }
  const double time = ccp_median(seconds, n);
  printf("%-12s %-5s %6d %11.3e %11.3e %11.3f\n", ccp_method_name(method), warm ? "warm" : "cold",
         times.iterations, times.residual_rms, times.residual_max, 1e3 * time);
  fflush(stdout);
  if (s->csv)
    fprintf(s->csv, "%zu,%g,%s,%s,%d,%g,%g,%g\n", s->heap.bodies, times.contacts,
            ccp_method_name(method), warm ? "warm" : "cold", times.iterations, times.residual_rms,
            times.residual_max, time);
  by_count->x[by_count->points] = times.iterations;
  by_time->x[by_time->points] = 1e3 * time;
  by_count->y[by_count->points++] = by_time->y[by_time->points++] = times.residual_rms;
  return true;
}

static bool take_curve(study *s, int method, bool warm) {
  ccp_curve *by_count = &s->by_count[s->curves], *by_time = &s->by_time[s->curves];
  const int most = s->bench->options.quick ? 4 : COUNTS;
  *by_count = (ccp_curve){.colour = method, .dashed = warm};
  snprintf(by_count->name, sizeof by_count->name, "%s, %s", ccp_method_name(method),
           warm ? "warm" : "cold");
  *by_time = *by_count;
  s->curves++;
  for (int i = 0; i < most; ++i)
    if (!take_point(s, method, warm, counts[i], by_count, by_time))
      return false;
  return true;
}

static bool draw(const study *s) {
  char path[600], title[120];
  if (!s->bench->folder)
    return true;
  snprintf(title, sizeof title, "%zu settled spheres, %d thread%s: residual of one step",
           s->heap.bodies, s->bench->options.threads, s->bench->options.threads == 1 ? "" : "s");
  snprintf(path, sizeof path, "%s/convergence-iterations.svg", s->bench->folder);
  bool good =
      ccp_plot(path, title, "sweeps or products", "RMS residual [m/s]", s->by_count, s->curves);
  snprintf(path, sizeof path, "%s/convergence-time.svg", s->bench->folder);
  good = good &&
         ccp_plot(path, title, "solver time [ms]", "RMS residual [m/s]", s->by_time, s->curves);
  if (!good)
    fprintf(stderr, "talus bench ccp: %s could not be written\n", path);
  return good;
}

/* Prints how fast the heap moves: warm starts are good if consecutive steps are similar. */
static bool print_start(const study *s) {
  talus_report report;
  if (talus_world_report(s->heap.world, &report) != TALUS_OK)
    return ccp_fail("reporting");
  const talus_material_def grain = talus_material_def_default();
  const double mass = (double)s->heap.bodies * grain.density * 4.18879020478639 * CCP_RADIUS *
                      CCP_RADIUS * CCP_RADIUS;
  printf("after %llu steps: RMS speed %.2e m/s, %zu contacts, last residual %.2e m/s after %d "
         "sweeps\n%-12s %-5s %6s %11s %11s %11s\n",
         (unsigned long long)report.steps, sqrt(2 * report.kinetic_energy / mass),
         report.contacts_near, report.residual_rms, report.iterations, "method", "start", "iter",
         "res rms", "res max", "solver ms");
  return true;
}

static bool run_study(study *s) {
  const ccp_options *options = &s->bench->options;
  const long steps = options->settle > 0 ? options->settle : options->quick ? 60 : 1000;
  if (talus_world_step(s->heap.world, (uint64_t)steps) != TALUS_OK)
    return ccp_fail("settling");
  if (!ccp_snapshot_take(&s->heap, &s->start) || !print_start(s))
    return false;
  bool good = true;
  for (int method = 0; method < CCP_METHODS; ++method)
    for (int warm = 0; warm < 2 && good; ++warm)
      if (options->method[method])
        good = take_curve(s, method, warm != 0);
  good = good && draw(s);
  ccp_snapshot_free(&s->start);
  return good;
}

bool ccp_convergence(ccp_bench *bench) {
  const ccp_options *options = &bench->options;
  const ccp_recipe recipe = {.bodies = options->max < 20000 ? options->max : 20000,
                             .dt = 1e-3,
                             .iterations = options->quick ? 50 : 100,
                             .threads = options->threads};
  study *s = calloc(1, sizeof *s);
  if (!s) {
    fprintf(stderr, "talus bench ccp: out of memory\n");
    return false;
  }
  s->bench = bench;
  bool good = bench_csv_open(
      bench->folder, "convergence",
      "bodies,contacts,method,start,iterations,residual_rms,residual_max,solve_s", &s->csv);
  if (good)
    printf("One step of a settled heap of %zu spheres (Coulomb friction), g dt = 9.8e-3 m/s.\n",
           recipe.bodies);
  good = good && ccp_heap_make(&recipe, &s->heap);
  if (good) {
    good = run_study(s);
    ccp_heap_free(&s->heap);
  }
  good = bench_csv_close(s->csv) && good;
  free(s);
  return good;
}
