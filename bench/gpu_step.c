/* talus bench gpu-step: steps of spheres in a container, on a device and then on the CPU with all
 * threads from the same state.
 *
 * The spheres begin as a jittered lattice, fall together on the device, and are measured at rest.
 * Times are those of whole steps by the host's clock, means of the repeats. */
#include "bench.h"
#include "tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <talus/talus.h>

#define MOST   8
#define RADIUS 0.05 /* m */

typedef struct options {
  const char *backend, *bodies, *csv, *method;
  double most_cpu, tolerance, restitution;
  int warmup, repeat, repeat_cpu, sweeps;
} options;

typedef struct figures {
  double step, find, solve, rest; /* ms */
  double rms;
  int sweeps;
  size_t contacts;
  talus_device_use use;
} figures;

/* ---- the tank ---------------------------------------------------------------------------------
 */

static talus_status add_spheres(talus_world *world, talus_body_def *body, size_t n, size_t side) {
  const double pitch = 2.02 * RADIUS;
  uint64_t state = 11;
  for (size_t i = 0; i < n; ++i) {
    const size_t x = i % side, y = i / side % side, z = i / side / side;
    const double jitter[3] = {bench_random(&state), bench_random(&state), bench_random(&state)};
    body->position.x = pitch * ((double)x - 0.5 * (double)(side - 1)) + 4e-4 * (jitter[0] - 0.5);
    body->position.y = pitch * ((double)y - 0.5 * (double)(side - 1)) + 4e-4 * (jitter[1] - 0.5);
    body->position.z = RADIUS + pitch * (double)z + 4e-4 * jitter[2];
    const talus_status status = talus_world_add_body(world, body, NULL);
    if (status != TALUS_OK)
      return status;
  }
  return TALUS_OK;
}

/* As wide as high, and twice as high as the spheres need. */
static talus_status fill(talus_world *world, size_t n, double restitution) {
  const size_t side = (size_t)ceil(cbrt((double)n));
  const double edge = 2.02 * RADIUS * (double)side + 0.01;
  talus_material_def glass = talus_material_def_default();
  talus_shape_def ball = talus_shape_def_default(), tank = ball;
  talus_body_def body = talus_body_def_default();
  glass.density = 2500, glass.friction = 0.3, glass.restitution = restitution;
  ball.size[0] = RADIUS;
  tank.kind = TALUS_CONTAINER;
  tank.size[0] = tank.size[1] = edge, tank.size[2] = 2 * edge;
  talus_material material = {0};
  talus_shape shape = {0};
  talus_status status = talus_world_add_material(world, &glass, &material);
  if (status == TALUS_OK)
    status = talus_world_add_shape(world, &tank, &shape);
  body.material = material, body.shape = shape, body.kind = TALUS_FIXED;
  body.position.z = edge;
  if (status == TALUS_OK)
    status = talus_world_add_body(world, &body, NULL);
  if (status == TALUS_OK)
    status = talus_world_add_shape(world, &ball, &shape);
  body.shape = shape, body.kind = TALUS_FREE;
  return status == TALUS_OK ? add_spheres(world, &body, n, side) : status;
}

static const char *const methods[] = {[TALUS_GAUSS_SEIDEL] = "gauss-seidel",
                                      [TALUS_JACOBI] = "jacobi",
                                      [TALUS_APGD] = "apgd",
                                      [TALUS_BB] = "bb"};
#define METHODS ((int)(sizeof methods / sizeof *methods))

/* METHODS: there is none of this name. */
static talus_ccp_method method_of(const char *name) {
  int k = 0;
  while (k < METHODS && strcmp(methods[k], name) != 0)
    k++;
  return (talus_ccp_method)k;
}

static talus_status make_tank(const options *opt, talus_backend backend, size_t n,
                              talus_world **world) {
  talus_world_def def = talus_world_def_default();
  def.dt = 1e-3;
  def.solve.iterations = opt->sweeps;
  def.solve.tolerance = opt->tolerance;
  def.solve.method = method_of(opt->method);
  def.backend = backend;
  def.no_fallback = true;
  const talus_status status = talus_world_create(&def, world);
  return status == TALUS_OK ? fill(*world, n, opt->restitution) : status;
}

/* ---- measures ---------------------------------------------------------------------------------
 */

static talus_status time_steps(talus_world *world, int steps, figures *f) {
  talus_report before, after;
  talus_status status = talus_world_report(world, &before);
  if (status == TALUS_OK)
    status = talus_world_step(world, 1); /* rows that came home for the report are sent again */
  if (status == TALUS_OK)
    status = talus_world_report(world, &before);
  const double begun = bench_now();
  if (status == TALUS_OK)
    status = talus_world_step(world, (uint64_t)steps);
  const double share = 1e3 / steps;
  f->step = share * (bench_now() - begun);
  if (status == TALUS_OK)
    status = talus_world_report(world, &after);
  if (status != TALUS_OK)
    return status;
  f->find = share * (after.wall_broad + after.wall_narrow - before.wall_broad - before.wall_narrow);
  f->solve = share * (after.wall_solve - before.wall_solve);
  f->rest = f->step - f->find - f->solve;
  f->contacts = after.contacts_near;
  f->rms = after.residual_rms;
  f->sweeps = after.iterations;
  talus_world_device_use(world, &f->use);
  return TALUS_OK;
}

static void tell(const char *where, size_t n, const figures *f, double times, FILE *csv) {
  printf("%-6s %9zu %10zu %9.3f %9.3f %9.3f %9.3f %7d %10.3g %8.0f %8.2f %7.1f\n", where, n,
         f->contacts, f->step, f->find, f->solve, f->rest, f->sweeps, f->rms,
         (double)f->use.step_bytes, 1e-9 * (double)f->use.device_bytes, times);
  fflush(stdout);
  if (csv)
    fprintf(csv, "%s,%zu,%zu,%.4f,%.4f,%.4f,%.4f,%d,%.6g,%.0f,%.0f,%.2f\n", where, n, f->contacts,
            f->step, f->find, f->solve, f->rest, f->sweeps, f->rms, (double)f->use.step_bytes,
            (double)f->use.device_bytes, times);
}

static talus_status measure(const options *opt, talus_backend backend, size_t n, FILE *csv) {
  talus_world *world = NULL;
  figures device = {0}, cpu = {0};
  talus_status status = make_tank(opt, backend, n, &world);
  if (status == TALUS_OK)
    status = talus_world_step(world, (uint64_t)opt->warmup);
  if (status == TALUS_OK)
    status = time_steps(world, opt->repeat, &device);
  if (status == TALUS_OK)
    tell(opt->backend, n, &device, 1, csv);
  if (status == TALUS_OK && (double)n <= opt->most_cpu) {
    status = talus_world_set_backend(world, TALUS_BACKEND_CPU, false);
    if (status == TALUS_OK)
      status = time_steps(world, opt->repeat_cpu, &cpu);
    if (status == TALUS_OK)
      tell("cpu", n, &cpu, cpu.step / device.step, csv);
  }
  talus_world_destroy(world);
  return status;
}

/* ---- the benchmark ----------------------------------------------------------------------------
 */

int bench_gpu_step(int argc, char **argv) {
  options opt = {.backend = "cuda",
                 .bodies = "16000,128000,1000000",
                 .method = "gauss-seidel",
                 .most_cpu = 1e6,
                 .tolerance = 0,
                 .warmup = 400,
                 .repeat = 10,
                 .repeat_cpu = 3,
                 .sweeps = 100};
  const cli_option list[] = {
      {"backend", 0, CLI_TEXT, "NAME", "cuda (default) or check", &opt.backend},
      {"bodies", 0, CLI_TEXT, "N,N", "how many (default 16000,128000,1000000)", &opt.bodies},
      {"sweeps", 0, CLI_COUNT, "N", "of a step, or iterations (default 100)", &opt.sweeps},
      {"method", 0, CLI_TEXT, "NAME", "gauss-seidel (default), jacobi, apgd or bb", &opt.method},
      {"tolerance", 0, CLI_NUMBER, "V", "m/s; 0: all sweeps (default), < 0: automatic",
       &opt.tolerance},
      {"restitution", 0, CLI_NUMBER, "E", "of the spheres (default 0)", &opt.restitution},
      {"warmup", 0, CLI_COUNT, "N", "steps before (default 400)", &opt.warmup},
      {"repeat", 0, CLI_COUNT, "N", "steps that are timed (default 10)", &opt.repeat},
      {"repeat-cpu", 0, CLI_COUNT, "N", "on the CPU (default 3)", &opt.repeat_cpu},
      {"most-cpu", 0, CLI_NUMBER, "N", "with more spheres the CPU is left out (default 1e6)",
       &opt.most_cpu},
      {"csv", 0, CLI_TEXT, "FILE", "the table as a file", &opt.csv},
      {0}};
  const cli_usage usage = {.synopsis = "talus bench gpu-step [options]",
                           .about = "Steps of a tank of spheres on a device, beside the CPU.",
                           .options = list};
  double bodies[MOST];
  talus_backend backend;
  const int parsed = bench_parse(&usage, "bench gpu-step", argc, argv);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  const int sizes = bench_list(opt.bodies, bodies, MOST);
  bool is_counted = sizes > 0;
  for (int k = 0; k < sizes; ++k)
    is_counted &= bodies[k] >= 1 && bodies[k] < 2147483648.0;
  if (!is_counted || (int)method_of(opt.method) == METHODS || opt.repeat < 1 ||
      opt.repeat_cpu < 1 || opt.sweeps < 1 ||
      talus_backend_by_name(opt.backend, &backend) != TALUS_OK) {
    cli_error(
        "bench gpu-step: --bodies is up to 8 numbers from 1 to 2^31 - 1 with commas between "
        "them, --sweeps and the repeats are 1 or more, --backend is cuda or check, --method is "
        "gauss-seidel, jacobi, apgd or bb");
    return CLI_INPUT;
  }
  FILE *csv = opt.csv ? bench_open(opt.csv) : NULL;
  if (opt.csv && !csv)
    return CLI_FAILED;
  if (csv)
    fputs("backend,bodies,contacts,step_ms,find_ms,solve_ms,rest_ms,sweeps,residual_rms,step_bytes,"
          "device_bytes,times\n",
          csv);
  printf("talus %s (%s), %s\n", talus_version(), talus_features(), talus_backends());
  printf("%-6s %9s %10s %9s %9s %9s %9s %7s %10s %8s %8s %7s\n", "where", "bodies", "contacts",
         "step ms", "find", "solve", "rest", "sweeps", "rms m/s", "moved B", "GB", "times");
  talus_status status = TALUS_OK;
  for (int k = 0; k < sizes && status == TALUS_OK; ++k)
    status = measure(&opt, backend, (size_t)bodies[k], csv);
  const bool written = !csv || bench_close(csv);
  if (status != TALUS_OK)
    cli_error("bench gpu-step: %s", talus_last_error());
  return status != TALUS_OK ? cli_exit_code(status) : written ? CLI_DONE : CLI_FAILED;
}
