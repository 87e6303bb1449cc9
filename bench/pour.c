/* talus bench pour: boxes of spheres, pouring and settled; step time by stage, threads, memory.
 *
 * Pouring: a loose cloud (about 30 % by volume) falls into an open box; measured while it lands.
 * Settled: a jittered lattice that has come to rest in the box. Every row of the table is measured
 * in one run of this program, thread counts in turn on the same state, so that ratios mean
 * something on a shared machine. */
#include "bench.h"
#include "tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <talus/talus.h>

#define RADIUS 0.005

typedef struct options {
  long bodies[8];
  int sizes;
  int threads[8];
  int thread_counts;
  int sweeps;
  long settle, steps;
  const char *csv;
  long skin; /* percent of a radius */
} options;

static int fail(const char *doing) {
  fprintf(stderr, "talus bench pour: %s: %s\n", doing, talus_last_error());
  return 1;
}

/* An open box with a square floor, half as wide as the settled heap is meant to be high. */
static talus_status make_box(long bodies, const options *opt, int threads, double *side,
                             talus_world **world, talus_body_def *ball) {
  talus_world_def def = talus_world_def_default();
  def.threads = threads;
  def.solve.iterations = opt->sweeps;
  def.solve.tolerance = 0;
  def.skin = 1e-2 * RADIUS * (double)opt->skin;
  talus_status status = talus_world_create(&def, world);
  talus_material_def grain = talus_material_def_default();
  talus_shape_def box = talus_shape_def_default(), sphere = talus_shape_def_default();
  talus_body_def body = talus_body_def_default();
  *side = 2 * RADIUS * cbrt((double)bodies);
  box.kind = TALUS_CONTAINER;
  box.size[0] = box.size[1] = *side;
  box.size[2] = 8 * *side;
  box.open = TALUS_SIDE_TOP;
  sphere.size[0] = RADIUS;
  *ball = talus_body_def_default();
  if (status == TALUS_OK)
    status = talus_world_add_material(*world, &grain, &body.material);
  if (status == TALUS_OK)
    status = talus_world_add_shape(*world, &box, &body.shape);
  body.kind = TALUS_FIXED;
  body.position.z = 4 * *side;
  ball->material = body.material;
  if (status == TALUS_OK)
    status = talus_world_add_body(*world, &body, NULL);
  if (status == TALUS_OK)
    status = talus_world_add_shape(*world, &sphere, &ball->shape);
  return status;
}

static talus_status add_cloud(talus_world *world, long bodies, double side,
                              const talus_body_def *ball) {
  talus_fill_def fill = talus_fill_def_default();
  const double volume = (double)bodies * 4.18879020478639 * RADIUS * RADIUS * RADIUS;
  fill.body = *ball;
  fill.body.velocity.z = (talus_real)-1;
  fill.in.kind = TALUS_REGION_BOX;
  fill.in.box =
      (talus_box){{-side / 2, -side / 2, 0}, {side / 2, side / 2, volume / (0.3 * side * side)}};
  fill.count = (uint64_t)bodies;
  fill.seed = 1;
  return talus_world_fill(world, &fill, NULL);
}

/* Rows of a cubic lattice with a small deterministic jitter, so that it collapses into a random
 * heap. */
static talus_status add_lattice(talus_world *world, long bodies, double side,
                                const talus_body_def *ball) {
  const double pitch = 2.06 * RADIUS;
  const long across = (long)((side - 2 * RADIUS) / pitch) + 1;
  talus_status status = TALUS_OK;
  for (long i = 0; status == TALUS_OK && i < bodies; ++i) {
    talus_body_def body = *ball;
    const long x = i % across, y = i / across % across, z = i / across / across;
    const double jitter = 0.02 * RADIUS * (double)((i * 7919L) % 13 - 6) / 6;
    body.position.x = -side / 2 + RADIUS + pitch * (double)x + (x == 0 ? 0 : jitter);
    body.position.y = -side / 2 + RADIUS + pitch * (double)y + (y == 0 ? 0 : -jitter);
    body.position.z = RADIUS + pitch * (double)z;
    body.velocity.x = (talus_real)(0.05 * (double)((i * 104729L) % 11 - 5));
    body.velocity.y = (talus_real)(0.05 * (double)((i * 1299709L) % 11 - 5));
    status = talus_world_add_body(world, &body, NULL);
  }
  return status;
}

/* Steps and prints one row: where the time of a step goes. */
static talus_status measure(talus_world *world, const char *state, const options *opt, int threads,
                            FILE *csv) {
  talus_report before, after;
  talus_status status = talus_world_report(world, &before);
  const double begun = bench_now();
  if (status == TALUS_OK)
    status = talus_world_step(world, (uint64_t)opt->steps);
  const double wall = bench_now() - begun;
  if (status == TALUS_OK)
    status = talus_world_report(world, &after);
  if (status != TALUS_OK)
    return status;
  const double n = (double)after.bodies, steps = (double)opt->steps, per = 1e9 / (n * steps);
  size_t bytes;
  talus_memory(&bytes, NULL);
  printf("%-8s %8zu %7d %8.2f %8.1f %8.1f %8.1f %8.1f %8.2f %9.3f %9.2e %9.0f\n", state,
         after.bodies, threads, 1e3 * wall / steps, per * (after.wall_broad - before.wall_broad),
         per * (after.wall_narrow - before.wall_narrow),
         per * (after.wall_solve - before.wall_solve), per * (after.wall_step - before.wall_step),
         (double)after.contacts_near / n, n * steps / wall * 1e-6, after.residual_rms,
         (double)bytes / n);
  fflush(stdout);
  if (csv)
    fprintf(csv, "%s,%zu,%d,%g,%g,%g,%g,%g,%g,%g,%g,%g\n", state, after.bodies, threads,
            wall / steps, (after.wall_broad - before.wall_broad) / steps,
            (after.wall_narrow - before.wall_narrow) / steps,
            (after.wall_solve - before.wall_solve) / steps,
            (after.wall_step - before.wall_step) / steps, (double)after.contacts_near / n,
            n * steps / wall, after.residual_rms, (double)bytes / n);
  return TALUS_OK;
}

/* A fresh world for each thread count: the same state by construction, whatever the threads. */
static talus_status run_state(const char *state, long bodies, int threads, const options *opt,
                              FILE *csv) {
  const bool settled = strcmp(state, "settled") == 0;
  talus_world *world = NULL;
  talus_body_def ball;
  double side;
  talus_status status = make_box(bodies, opt, threads, &side, &world, &ball);
  if (status == TALUS_OK)
    status =
        settled ? add_lattice(world, bodies, side, &ball) : add_cloud(world, bodies, side, &ball);
  if (status == TALUS_OK)
    status = talus_world_step(world, (uint64_t)(settled ? opt->settle : opt->settle / 4));
  if (status == TALUS_OK)
    status = measure(world, state, opt, threads, csv);
  talus_world_destroy(world);
  return status;
}

static int parse_list(const char *text, long *out, int most) {
  int n = 0;
  char *end;
  for (const char *at = text; *at && n < most; at = *end == ',' ? end + 1 : end) {
    out[n] = strtol(at, &end, 10);
    if (end == at || out[n] <= 0 || (*end && *end != ','))
      return 0;
    n++;
  }
  return n;
}

static int usage(void) {
  fputs("usage: talus bench pour [--bodies N,N] [--threads N,N] [--sweeps N] [--settle STEPS] "
        "[--steps STEPS] [--skin PERCENT] [--csv FILE]\n"
        "  Spheres in a box, pouring and settled: milliseconds per step, nanoseconds per body and "
        "step by stage,\n"
        "  contacts per body, million body-steps per second, RMS residual (m/s), bytes per body.\n"
        "  --skin: Verlet distance in percent of a radius.\n"
        "  Defaults: --bodies 20000,100000 --threads 1,2 --sweeps 20 --settle 400 --steps 50 "
        "--skin 0\n",
        stderr);
  return 2;
}

static int parse(int argc, char **argv, options *opt) {
  *opt = (options){{20000, 100000}, 2, {1, 2}, 2, 20, 400, 50, NULL, 0};
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 >= argc)
      return usage();
    long values[8];
    const int n = parse_list(argv[i + 1], values, 8);
    if (strcmp(argv[i], "--csv") == 0) {
      opt->csv = argv[i + 1];
    } else if (strcmp(argv[i], "--skin") == 0) {
      opt->skin = strtol(argv[i + 1], NULL, 10);
    } else if (n == 0) {
      return usage();
    } else if (strcmp(argv[i], "--bodies") == 0) {
      memcpy(opt->bodies, values, sizeof values);
      opt->sizes = n;
    } else if (strcmp(argv[i], "--threads") == 0) {
      for (int k = 0; k < n; ++k)
        opt->threads[k] = (int)values[k];
      opt->thread_counts = n;
    } else if (strcmp(argv[i], "--sweeps") == 0) {
      opt->sweeps = (int)values[0];
    } else if (strcmp(argv[i], "--settle") == 0) {
      opt->settle = values[0];
    } else if (strcmp(argv[i], "--steps") == 0) {
      opt->steps = values[0];
    } else {
      return usage();
    }
  }
  return 0;
}

int bench_pour(int argc, char **argv) {
  options opt;
  if (parse(argc, argv, &opt) != 0)
    return 2;
  FILE *csv = opt.csv ? bench_open(opt.csv) : NULL;
  if (opt.csv && !csv)
    return 1;
  if (csv)
    fputs("state,bodies,threads,step_s,broad_s,narrow_s,solve_s,move_s,contacts_per_body,body_"
          "steps_per_s,residual_rms,"
          "bytes_per_body\n",
          csv);
  printf("talus %s (%s), %d Gauss-Seidel sweeps\n", talus_version(), talus_features(), opt.sweeps);
  printf("%-8s %8s %7s %8s %8s %8s %8s %8s %8s %9s %9s %9s\n", "state", "bodies", "threads",
         "ms/step", "broad", "narrow", "solve", "move", "contacts", "Mbody-st/s", "residual",
         "B/body");
  static const char *const states[2] = {"pouring", "settled"};
  talus_status status = TALUS_OK;
  for (int s = 0; s < 2; ++s)
    for (int k = 0; k < opt.sizes; ++k)
      for (int t = 0; t < opt.thread_counts && status == TALUS_OK; ++t)
        status = run_state(states[s], opt.bodies[k], opt.threads[t], &opt, csv);
  const bool written = !csv || bench_close(csv);
  return status != TALUS_OK ? fail("stepping") : written ? 0 : 1;
}
