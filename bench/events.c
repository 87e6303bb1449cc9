/* talus bench events: gases of hard spheres, event by event (step: event) on one thread: collisions
 * per second for several numbers of spheres and filled parts of the periodic box.
 *
 * The time is that of the whole step: loading, planning, events and the end. dt is such that there
 * are `--collisions` of them for each sphere in a step; the lattice has melted before. */
#include "bench.h"
#include "tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <talus/talus.h>

#define PI       3.14159265358979323846
#define MOST     8
#define WARM_UP  2 /* collisions of each sphere */
#define MEASURED 4

typedef struct options {
  long bodies[MOST];
  double filled[MOST];
  int sizes, fillings;
  double collisions; /* of each sphere in a step */
  const char *csv;
} options;

/* Collisions of one sphere per second, for diameter, mass and speed 1 (kT = 1/3). */
static double rate_of(double phi) {
  const double g = (1 - phi / 2) / pow(1 - phi, 3);
  return 4 * (6 * phi / PI) * g * sqrt(PI / 3);
}

/* A face-centred lattice of at least that number of spheres in a periodic box, with speeds 1. */
static talus_status make_gas(long bodies, double phi, double dt, talus_world **world) {
  static const double corner[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  talus_world_def def = talus_world_def_default();
  talus_body_def ball = talus_body_def_default();
  talus_material_def glass = talus_material_def_default();
  talus_shape_def sphere = talus_shape_def_default();
  long side = 1;
  while (4 * side * side * side < bodies)
    side++;
  const double length = cbrt((double)(4 * side * side * side) * PI / 6 / phi),
               a = length / (double)side;
  glass.restitution = 1;
  def.gravity = (talus_vec3){0, 0, 0};
  def.dt = dt;
  def.threads = 1;
  def.solve.kind = TALUS_SOLVE_ELASTIC;
  def.step = TALUS_STEP_EVENT;
  def.domain.enabled = true;
  def.domain.box.hi = (talus_dvec3){length, length, length};
  def.domain.periodic[0] = def.domain.periodic[1] = def.domain.periodic[2] = true;
  talus_status status = talus_world_create(&def, world);
  if (status == TALUS_OK)
    status = talus_world_add_material(*world, &glass, &ball.material);
  if (status == TALUS_OK)
    status = talus_world_add_shape(*world, &sphere, &ball.shape);
  ball.mass = 1;
  uint64_t seed = 1;
  for (long i = 0; status == TALUS_OK && i < 4 * side * side * side; ++i) {
    const long cell = i / 4, x = cell % side, y = cell / side % side, z = cell / side / side;
    const double up = 2 * bench_random(&seed) - 1, turn = 2 * PI * bench_random(&seed),
                 flat = sqrt(1 - up * up);
    ball.position =
        (talus_dvec3){((double)x + corner[i % 4][0]) * a, ((double)y + corner[i % 4][1]) * a,
                      ((double)z + corner[i % 4][2]) * a};
    ball.velocity = (talus_vec3){(talus_real)(flat * cos(turn)), (talus_real)(flat * sin(turn)),
                                 (talus_real)up};
    status = talus_world_add_body(*world, &ball, NULL);
  }
  return status;
}

static uint64_t steps_for(double collisions, const options *opt) {
  const double n = ceil(collisions / opt->collisions);
  return n > 1 ? (uint64_t)n : 1;
}

static talus_status measure(long bodies, double phi, const options *opt, FILE *csv) {
  talus_world *world = NULL;
  talus_report from, to;
  talus_status status = make_gas(bodies, phi, opt->collisions / rate_of(phi), &world);
  if (status == TALUS_OK)
    status = talus_world_step(world, steps_for(WARM_UP, opt));
  if (status == TALUS_OK)
    status = talus_world_report(world, &from);
  const double begun = bench_cpu();
  if (status == TALUS_OK)
    status = talus_world_step(world, steps_for(MEASURED, opt));
  const double spent = bench_cpu() - begun;
  if (status == TALUS_OK)
    status = talus_world_report(world, &to);
  talus_world_destroy(world);
  if (status != TALUS_OK)
    return status;
  const double n = (double)(to.collisions - from.collisions),
               steps = (double)(to.steps - from.steps);
  const double share = 100 / spent;
  printf("%9zu %6g %10.0f %9.3f %12.3f %8.0f%% %8.0f%% %8.0f%%\n", to.bodies, phi, n / steps,
         1e3 * spent / steps, 1e-6 * n / spent, share * (to.wall_broad - from.wall_broad),
         share * (to.wall_narrow - from.wall_narrow), share * (to.wall_solve - from.wall_solve));
  fflush(stdout);
  if (csv)
    fprintf(csv, "%zu,%g,%.17g,%.6f,%.6f\n", to.bodies, phi, n / steps, spent / steps,
            1e-6 * n / spent);
  return TALUS_OK;
}

static int usage(void) {
  fputs(
      "usage: talus bench events [--bodies N,N] [--filled SHARE,SHARE] [--collisions N] [--csv "
      "FILE]\n"
      "  Event-driven hard spheres in a periodic box, one thread: million collisions per second.\n"
      "  --filled: share of the box (at most 0.5); --collisions: of each sphere in a step.\n"
      "  Defaults: --bodies 10000,100000,1000000 --filled 0.01,0.1,0.3,0.45 --collisions 2\n",
      stderr);
  return 2;
}

static int parse(int argc, char **argv, options *opt) {
  *opt = (options){{10000, 100000, 1000000}, {0.01, 0.1, 0.3, 0.45}, 3, 4, 2, NULL};
  for (int i = 1; i < argc; i += 2) {
    double values[MOST];
    if (i + 1 < argc && strcmp(argv[i], "--csv") == 0) {
      opt->csv = argv[i + 1];
      continue;
    }
    const int n = i + 1 < argc ? bench_list(argv[i + 1], values, MOST) : 0;
    if (n == 0)
      return usage();
    if (strcmp(argv[i], "--bodies") == 0) {
      opt->sizes = n;
      for (int k = 0; k < n; ++k)
        opt->bodies[k] = (long)values[k];
    } else if (strcmp(argv[i], "--filled") == 0) {
      opt->fillings = n;
      for (int k = 0; k < n; ++k)
        opt->filled[k] = values[k];
    } else if (strcmp(argv[i], "--collisions") == 0) {
      opt->collisions = values[0];
    } else {
      return usage();
    }
  }
  return 0;
}

int bench_events(int argc, char **argv) {
  options opt;
  if (parse(argc, argv, &opt) != 0)
    return 2;
  FILE *csv = opt.csv ? bench_open(opt.csv) : NULL;
  if (opt.csv && !csv)
    return 1;
  if (csv)
    fputs("bodies,filled,collisions_per_step,step_s,mcollisions_per_s\n", csv);
  printf("talus %s (%s), one thread\n", talus_version(), talus_features());
  printf("%9s %6s %10s %9s %12s %9s %9s %9s\n", "bodies", "filled", "coll/step", "ms/step",
         "Mcoll/s", "load", "plan", "events");
  talus_status status = TALUS_OK;
  for (int k = 0; k < opt.sizes; ++k)
    for (int f = 0; f < opt.fillings && status == TALUS_OK; ++f)
      status = measure(opt.bodies[k], opt.filled[f], &opt, csv);
  const bool written = !csv || bench_close(csv);
  if (status != TALUS_OK)
    fprintf(stderr, "talus bench events: %s\n", talus_last_error());
  return status == TALUS_OK && written ? 0 : 1;
}
