/* The scene `vehicle` by stage: joints and contacts together. */
#include <math.h>

#include "ccp.h"
#include "machines.h"
#include <talus/scene.h>

typedef struct stages {
  double total, broad, narrow, solve, step; /* s per step */
  talus_report report;
} stages;

static bool make(int pebbles, const char *joints, int threads, talus_world **world) {
  char count[64], solver[64];
  const char *const settings[] = {count, solver};
  talus_scene *scene = NULL;
  snprintf(count, sizeof count, "bodies.1.fill.count=%d", pebbles);
  snprintf(solver, sizeof solver, "solve.joints=%s", joints);
  if (talus_scene_load("vehicle", settings, 2, &scene, NULL) != TALUS_OK)
    return machines_fail("the scene vehicle");
  const talus_status status = talus_scene_build(scene, threads, NULL, NULL, world);
  talus_scene_free(scene);
  return status == TALUS_OK || machines_fail("the scene vehicle");
}

static bool measure(talus_world *world, int settle, int steps, stages *out) {
  talus_report before;
  if (talus_world_step(world, (uint64_t)settle) != TALUS_OK ||
      talus_world_report(world, &before) != TALUS_OK)
    return machines_fail("settling");
  const double begun = ccp_now();
  if (talus_world_step(world, (uint64_t)steps) != TALUS_OK)
    return machines_fail("a step");
  out->total = (ccp_now() - begun) / steps;
  if (talus_world_report(world, &out->report) != TALUS_OK)
    return machines_fail("a report");
  out->broad = (out->report.wall_broad - before.wall_broad) / steps;
  out->narrow = (out->report.wall_narrow - before.wall_narrow) / steps;
  out->solve = (out->report.wall_solve - before.wall_solve) / steps;
  out->step = (out->report.wall_step - before.wall_step) / steps;
  return true;
}

static void print(const stages *s, int pebbles, const char *joints, int threads, FILE *csv) {
  printf("%8d %7d  %-10s %7zu %8zu %9.1f %8.3f %8.3f %8.3f %8.3f %10.2e %10.2e\n", pebbles, threads,
         joints, s->report.joints, s->report.contacts_near, 1 / s->total, 1e3 * s->broad,
         1e3 * s->narrow, 1e3 * s->solve, 1e3 * s->step, s->report.residual_rms,
         s->report.joint_drift);
  fflush(stdout);
  if (csv)
    fprintf(csv, "%d,%d,%s,%zu,%zu,%g,%g,%g,%g,%g,%g,%g\n", pebbles, threads, joints,
            s->report.joints, s->report.contacts_near, 1 / s->total, 1e3 * s->broad,
            1e3 * s->narrow, 1e3 * s->solve, 1e3 * s->step, s->report.residual_rms,
            s->report.joint_drift);
}

bool machines_vehicle(machines_bench *bench) {
  const machines_options *options = &bench->options;
  static const char *const joints[] = {"direct", "iterative"};
  const int settle = options->quick ? 10 : 400;
  const int steps = options->steps > 0 ? options->steps : options->quick ? 10 : 200;
  const int pebbles[] = {1, options->quick && options->pebbles > 50 ? 50 : options->pebbles};
  FILE *csv;
  if (!TALUS_HAVE_YAML) {
    printf("skipped: scenes need libyaml, which this build does not have\n");
    return true;
  }
  if (!bench_csv_open(bench->folder, "vehicle",
                      "pebbles,threads,joints_solver,joints,contacts,steps_per_s,broad_ms,"
                      "narrow_ms,solve_ms,move_ms,residual_rms,joint_drift_m",
                      &csv))
    return false;
  printf("The scene vehicle: %d steps of 1 ms after %d, wall clock; ms per step by stage.\n", steps,
         settle);
  printf("%8s %7s  %-10s %7s %8s %9s %8s %8s %8s %8s %10s %10s\n", "pebbles", "threads", "solver",
         "joints", "contacts", "steps/s", "broad", "narrow", "solve", "move", "res rms", "drift m");
  bool good = true;
  for (int p = 0; p < 2 && good; ++p)
    for (int k = 0; k < 2 && good; ++k)
      for (int threads = 1; threads <= options->threads && good; threads *= 2) {
        talus_world *world = NULL;
        stages s;
        good = make(pebbles[p], joints[k], threads, &world) && measure(world, settle, steps, &s);
        if (good)
          print(&s, pebbles[p], joints[k], threads, csv);
        talus_world_destroy(world);
      }
  return bench_csv_close(csv) && good;
}
