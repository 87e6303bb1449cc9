/* Local and adaptive against fixed steps: number of steps of all bodies until an audit of every
 * step finds no overlap. */
#include "fast.h"

#include "cli.h"
#include "step/paths.h"
#include "tools.h"
#include "world/world.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <talus/scene.h>

typedef struct outcome {
  uint64_t steps, bodies;
  size_t overlaps;
  double deepest; /* over the smaller bounding radius; negative: a gap */
  double seconds;
  uint64_t cut, cut_by_walls; /* adaptive steps that end because bodies meet; with a fixed one */
} outcome;

typedef struct watcher {
  const talus_world *world;
  outcome *out;
} watcher;

/* Counts the last step if it was cut short. */
static void note_cut(const talus_world *world, outcome *out) {
  if (world->adaptive.cut == out->cut)
    return;
  out->cut = world->adaptive.cut;
  for (size_t i = 0; i < world->model.bodies; ++i)
    if (tl_body_is_static(&world->model, i) &&
        (world->model.property.uid[i] == world->adaptive.cut_by[0] ||
         world->model.property.uid[i] == world->adaptive.cut_by[1])) {
      out->cut_by_walls++;
      return;
    }
}

/* Both use the same rule: no pair may overlap by more than a hundredth of the halo of adaptive
 * steps. */
static talus_status watch(void *context, const tl_crowd *crowd) {
  const watcher *w = context;
  const tl_model *model = crowd->model;
  uint8_t *flies;
  talus_real *halos;
  TL_TAKE(crowd->arena, model->bodies, &flies);
  TL_TAKE(crowd->arena, model->bodies, &halos);
  for (size_t i = 0; i < model->bodies; ++i)
    halos[i] = tl_halo_of(model, i);
  tl_paths_rule rule = {
      .floor = {.halos = -0.01}, .fine = {.halos = 0.01}, .goes_on = true, .halos = halos};
  if (model->step == TALUS_STEP_ADAPTIVE) {
    tl_step_find_flying(crowd, flies);
    rule.flies = flies;
  }
  tl_paths_report found;
  if (model->step == TALUS_STEP_LOCAL)
    TL_TRY(tl_local_check_pieces(crowd->local, &rule, &found));
  else
    TL_TRY(tl_step_check_paths(w->world->backend, crowd, &rule, &found));
  w->out->overlaps += found.short_count;
  note_cut(w->world, w->out); /* the step before this one */
  w->out->steps++;
  w->out->bodies += model->bodies;
  return TALUS_OK;
}

/* Runs a built-in scene to the end. is_watched: audits every step, which takes longer. */
static talus_status run(const char *name, const char *step, double until, bool is_watched,
                        outcome *out) {
  char settings[3][96];
  talus_scene *scene = NULL;
  talus_world *world = NULL;
  snprintf(settings[0], sizeof settings[0], "step=%s", step);
  snprintf(settings[1], sizeof settings[1], "until=%g", until);
  snprintf(settings[2], sizeof settings[2], "output.every=%g", until);
  const char *list[] = {settings[0], settings[1], settings[2]};
  *out = (outcome){0};
  talus_status status = talus_scene_load(name, list, 3, &scene, NULL);
  if (status == TALUS_OK)
    status = talus_scene_build(scene, 1, NULL, NULL, &world);
  if (status == TALUS_OK) {
    watcher w = {world, out};
    if (is_watched)
      world->watch = watch, world->watch_context = &w;
    const uint64_t steps = (uint64_t)(until / world->model.dt + 0.5);
    const double begun = bench_cpu();
    for (uint64_t i = 0; i < steps && status == TALUS_OK && !(is_watched && out->overlaps > 0); ++i)
      status = talus_world_step(world, 1);
    out->seconds = bench_cpu() - begun;
    if (is_watched)
      note_cut(world, out);
    if (world->model.step == TALUS_STEP_LOCAL) { /* clusters use their own */
      out->bodies = world->local.counts.body_steps;
      out->steps = world->local.counts.rounds;
    }
  }
  talus_world_destroy(world);
  talus_scene_free(scene);
  return status;
}

static void print_row(const fast_bench *bench, const char *name, const char *step,
                      const outcome *looked, const outcome *ran) {
  printf("  %-10s %-36s %10llu %12llu %9s %9.2f\n", name, step, (unsigned long long)looked->steps,
         (unsigned long long)looked->bodies, looked->overlaps > 0 ? "overlaps" : "clean",
         ran->seconds);
  fflush(stdout);
  if (bench->csv)
    fprintf(bench->csv, "steps,%s,\"%s\",%llu,%llu,%zu,%.4g\n", name, step,
            (unsigned long long)looked->steps, (unsigned long long)looked->bodies, looked->overlaps,
            ran->seconds);
}

/* No rule by which a step of everybody ends where bodies come to touch takes fewer steps than there
 * are such times. Their number hardly depends on the longest step: it is the scene's. */
static talus_status count_meetings(const char *name, double until, double longest) {
  talus_status status = TALUS_OK;
  for (int i = -1; i <= 2 && status == TALUS_OK; ++i) {
    char step[64];
    outcome looked;
    snprintf(step, sizeof step, "{kind: adaptive, max: %g, min: 1e-9}", ldexp(longest, i));
    status = run(name, step, until, true, &looked);
    if (status == TALUS_OK)
      printf("  %-10s %-36s %10llu steps, %llu end where bodies come to touch, %llu of these with "
             "what is fixed\n",
             name, step, (unsigned long long)looked.steps, (unsigned long long)looked.cut,
             (unsigned long long)looked.cut_by_walls);
    fflush(stdout);
  }
  return status;
}

/* Halves the fixed step until nothing overlaps, or until `enough` times as many steps are known to
 * be needed. A run that overlaps ends there. */
static talus_status compare(const fast_bench *bench, const char *name, const char *limits,
                            double until, double longest, double enough) {
  static const char *const kinds[] = {"local", "adaptive"};
  outcome looked, ran;
  talus_status status = TALUS_OK;
  for (int i = 0; i < 2 && status == TALUS_OK; ++i) {
    char step[64];
    snprintf(step, sizeof step, "{kind: %s, %s}", kinds[i], limits);
    status = run(name, step, until, true, &looked);
    if (status == TALUS_OK)
      status = run(name, step, until, false, &ran);
    if (status == TALUS_OK)
      print_row(bench, name, step, &looked, &ran);
  }
  if (status != TALUS_OK)
    return status;
  const double most = enough * (double)looked.steps;
  bool is_clean = false;
  for (double dt = longest; status == TALUS_OK && !is_clean && until / dt < 2 * most; dt *= 0.5) {
    char step[64];
    snprintf(step, sizeof step, "{kind: fixed, dt: %.10g}", dt);
    status = run(name, step, until, true, &looked);
    if (status != TALUS_OK)
      break;
    is_clean = looked.overlaps == 0;
    print_row(bench, name, step, &looked, &looked);
  }
  return status;
}

int fast_steps(const fast_bench *bench) {
  const bool quick = bench->is_quick;
  printf("\nadaptive and fixed steps; a run with an overlap ends there; seconds without looking, "
         "where it is clean\n\n  %-10s %-36s %10s %12s %9s %9s\n",
         "scene", "step", "steps", "body-steps", "audit", "CPU s");
  talus_status status =
      compare(bench, "dominoes", "max: 0.01, min: 1e-8", quick ? 0.05 : 0.6, 0.01, quick ? 1 : 4);
  if (status == TALUS_OK && !quick)
    status = compare(bench, "burst", "max: 0.001, min: 1e-9", 0.06, 0.001, 8);
  if (status == TALUS_OK && !quick)
    status = count_meetings("burst", 0.06, 0.001);
  if (status != TALUS_OK)
    cli_error("bench fast: %s", talus_last_error());
  return status == TALUS_OK ? CLI_DONE : CLI_FAILED;
}
