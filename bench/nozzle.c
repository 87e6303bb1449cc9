/* talus bench nozzle: hard spheres in the nozzle of Bell's report.
 *
 *   simple  its 720 balls from two sides: steps per second of the whole sequence
 *   flow    the nozzle full of moving balls: steps per second by stage, for each method of finding
 *           pairs, with the wall in cells and tested against all bodies
 *   fields  the same with and without averaged fields, in turn (nozzle_fields.c)
 *   drift   energy of the published response beside the symmetric one, 10 % filled
 *   gas     collisions per second by number and density (talus bench events)
 *
 * Balls have a radius of 0.2 and fly at 0.5 along z, with 0.1 in each direction; dt is 0.01. */
#include "nozzle.h"
#include "tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <talus/scene.h>
#include <talus/talus.h>

#define RADIUS  0.2
#define DT      0.01
#define MOST    8
#define WARM_UP 5 /* steps */

static const double profile[6][2] = {{1, 10}, {5, 10}, {25, 8.1}, {30, 8.1}, {50, 10}, {64.4, 10}};

typedef struct options {
  const char *only, *bodies, *csv;
  int threads, steps, drift_steps;
} options;

typedef nozzle_way way;

/* ---- a nozzle full of balls ------------------------------------------------------------------ */

static double wall_radius(double z) {
  int k = 0;
  while (k < 4 && z > profile[k + 1][0])
    k++;
  const double share = (z - profile[k][0]) / (profile[k + 1][0] - profile[k][0]);
  return profile[k][1] + share * (profile[k + 1][1] - profile[k][1]);
}

/* Calls fn for every site of a face-centred lattice of edge a in which a ball fits, keeping `take`
 * of `of` sites, evenly; returns the number of all sites. */
typedef talus_status place_fn(void *context, double x, double y, double z);

static long each_place(double a, long take, long of, place_fn *fn, void *context,
                       talus_status *status) {
  const long across = (long)(20 / a) + 1, along = (long)(64 / a) + 1;
  long count = 0;
  for (long k = 0; k <= 2 * along; ++k)
    for (long j = -2 * across; j <= 2 * across; ++j)
      for (long i = -2 * across; i <= 2 * across; ++i) {
        const double x = 0.5 * a * (double)i, y = 0.5 * a * (double)j;
        const double z = 1 + RADIUS + 0.5 * a * (double)k;
        if (((i + j + k) & 1) != 0 || z > 64.4 - RADIUS)
          continue;
        const double room = wall_radius(z) - 1.01 * RADIUS; /* the slope is 5.4 degrees */
        if (x * x + y * y > room * room)
          continue;
        const bool is_kept =
            fn && *status == TALUS_OK && count * take / of != (count + 1) * take / of;
        if (is_kept)
          *status = fn(context, x, y, z);
        count++;
      }
  return count;
}

/* The widest lattice with that number of sites. */
static double find_edge(long bodies) {
  double low = 2 * sqrt(2) * RADIUS * 1.0001, high = 20; /* low: they touch */
  talus_status status = TALUS_OK;
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (low + high);
    if (each_place(middle, 1, 1, NULL, NULL, &status) >= bodies)
      low = middle;
    else
      high = middle;
  }
  return low;
}

typedef struct filling {
  talus_world *world;
  talus_body_def ball;
  uint64_t seed;
} filling;

static double next_normal(uint64_t *state) { /* approximately: twelve uniform numbers minus six */
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    sum += (double)(*state >> 11) * 0x1p-53;
  }
  return sum;
}

static talus_status add_ball(void *context, double x, double y, double z) {
  filling *f = context;
  f->ball.position = (talus_dvec3){x, y, z};
  f->ball.velocity.x = (talus_real)(0.1 * next_normal(&f->seed));
  f->ball.velocity.y = (talus_real)(0.1 * next_normal(&f->seed));
  f->ball.velocity.z = (talus_real)(0.5 + 0.1 * next_normal(&f->seed));
  return talus_world_add_body(f->world, &f->ball, NULL);
}

static talus_status add_wall(talus_world *world, talus_material material) {
  talus_shape_def def = talus_shape_def_default();
  talus_body_def wall = talus_body_def_default();
  def.kind = TALUS_REVOLVED;
  def.points = profile[0];
  def.point_count = 6;
  wall.kind = TALUS_FIXED;
  wall.material = material;
  const talus_status status = talus_world_add_shape(world, &def, &wall.shape);
  return status == TALUS_OK ? talus_world_add_body(world, &wall, NULL) : status;
}

talus_status nozzle_make(const way *how, long bodies, int threads, talus_world **world) {
  talus_world_def def = talus_world_def_default();
  talus_material_def steel = talus_material_def_default();
  talus_shape_def sphere = talus_shape_def_default();
  filling f = {.ball = talus_body_def_default(), .seed = 1};
  steel.restitution = 1, steel.friction = 0;
  sphere.size[0] = RADIUS;
  def.gravity = (talus_vec3){0, 0, 0};
  def.dt = DT, def.threads = threads;
  def.step = how->step, def.broad = how->broad, def.skin = how->skin;
  def.solve.kind = TALUS_SOLVE_ELASTIC;
  def.solve.shell = how->shell, def.solve.response = how->response;
  talus_status status = talus_world_create(&def, world);
  f.world = *world;
  f.ball.mass = 1;
  if (status == TALUS_OK)
    status = talus_world_add_material(*world, &steel, &f.ball.material);
  if (status == TALUS_OK)
    status = talus_world_add_shape(*world, &sphere, &f.ball.shape);
  if (status == TALUS_OK && !how->has_wall_last)
    status = add_wall(*world, f.ball.material);
  const double edge = find_edge(bodies);
  talus_status none = TALUS_OK;
  const long room = each_place(edge, 1, 1, NULL, NULL, &none);
  if (status == TALUS_OK)
    each_place(edge, bodies < room ? bodies : room, room, add_ball, &f, &status);
  if (status == TALUS_OK && how->has_wall_last)
    status = add_wall(*world, f.ball.material);
  return status;
}

/* ---- flow ------------------------------------------------------------------------------------ */

static const way ways[] = {
    {"hard, neighbours kept", TALUS_STEP_FIXED, TALUS_SHELL_HARD, 0, TALUS_BROAD_BINS, -1, false},
    {"hard, bins", TALUS_STEP_FIXED, TALUS_SHELL_HARD, 0, TALUS_BROAD_BINS, 0, false},
    {"hard, cells", TALUS_STEP_FIXED, TALUS_SHELL_HARD, 0, TALUS_BROAD_CELLS, 0, false},
    {"hard, bins, wall without cells", TALUS_STEP_FIXED, TALUS_SHELL_HARD, 0, TALUS_BROAD_BINS, 0,
     true},
    {"soft", TALUS_STEP_FIXED, TALUS_SHELL_SOFT, 0, TALUS_BROAD_AUTO, 0, false},
    {"events", TALUS_STEP_EVENT, TALUS_SHELL_SOFT, 0, TALUS_BROAD_AUTO, 0, false},
};

static talus_status measure(const way *how, long bodies, const options *opt, FILE *csv) {
  talus_world *world = NULL;
  talus_report from, to;
  talus_status status = nozzle_make(how, bodies, opt->threads, &world);
  if (status == TALUS_OK)
    status = talus_world_step(world, WARM_UP);
  if (status == TALUS_OK)
    status = talus_world_report(world, &from);
  const double begun = bench_now();
  if (status == TALUS_OK)
    status = talus_world_step(world, (uint64_t)opt->steps);
  const double spent = bench_now() - begun;
  if (status == TALUS_OK)
    status = talus_world_report(world, &to);
  talus_world_destroy(world);
  if (status != TALUS_OK)
    return status;
  const double each = 1e3 / opt->steps;
  const double stage[4] = {
      each * (to.wall_broad - from.wall_broad), each * (to.wall_narrow - from.wall_narrow),
      each * (to.wall_solve - from.wall_solve), each * (to.wall_step - from.wall_step)};
  const uint64_t pairs = to.wall_pairs - from.wall_pairs, tests = to.wall_tests - from.wall_tests;
  const double share = pairs > 0 ? 100 * (double)tests / (double)pairs : NAN;
  printf("%8ld  %-31s %8.1f %8.2f %8.2f %8.2f %8.2f %8.1f%% %9.0f %8zu\n", bodies, how->name,
         opt->steps / spent, stage[0], stage[1], stage[2], stage[3], share,
         (double)(to.collisions - from.collisions) / opt->steps, to.outside);
  fflush(stdout);
  if (csv)
    fprintf(csv, "%ld,\"%s\",%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%zu\n", bodies, how->name,
            opt->steps / spent, stage[0], stage[1], stage[2], stage[3], share,
            (double)(to.collisions - from.collisions) / opt->steps, to.outside);
  return TALUS_OK;
}

static int parse_bodies(const char *text, long *bodies) {
  int n = 0;
  char *end;
  for (const char *at = text; *at && n < MOST; at = *end == ',' ? end + 1 : end) {
    bodies[n] = strtol(at, &end, 10);
    if (end == at || bodies[n] < 1 || bodies[n] > 400000 || (*end && *end != ','))
      return 0;
    n++;
  }
  return n;
}

static talus_status run_flow(const options *opt, FILE *csv) {
  long bodies[MOST];
  const int n = parse_bodies(opt->bodies, bodies);
  talus_status status = TALUS_OK;
  printf("Full flow, dt %g, %d threads (0: all), %d steps; stages in ms a step\n", DT, opt->threads,
         opt->steps);
  printf("%8s  %-31s %8s %8s %8s %8s %8s %9s %9s %8s\n", "bodies", "way", "steps/s", "broad",
         "narrow", "solve", "move", "at wall", "coll/step", "outside");
  for (int k = 0; k < n; ++k)
    for (size_t i = 0; i < sizeof ways / sizeof *ways && status == TALUS_OK; ++i)
      status = measure(&ways[i], bodies[k], opt, csv);
  return status;
}

/* ---- drift ----------------------------------------------------------------------------------- */

static talus_status run_drift(const options *opt, FILE *csv) {
  static const way responses[] = {
      {"symmetric", TALUS_STEP_FIXED, TALUS_SHELL_HARD, TALUS_RESPONSE_SYMMETRIC, 0, -1, false},
      {"published", TALUS_STEP_FIXED, TALUS_SHELL_HARD, TALUS_RESPONSE_PUBLISHED, 0, -1, false}};
  const long bodies = 51000; /* 10 % */
  printf("Energy after %d steps, %ld balls fill 10 %%\n", opt->drift_steps, bodies);
  for (int i = 0; i < 2; ++i) {
    talus_world *world = NULL;
    talus_report from, to;
    talus_status status = nozzle_make(&responses[i], bodies, opt->threads, &world);
    if (status == TALUS_OK)
      status = talus_world_report(world, &from);
    if (status == TALUS_OK)
      status = talus_world_step(world, (uint64_t)opt->drift_steps);
    if (status == TALUS_OK)
      status = talus_world_report(world, &to);
    talus_world_destroy(world);
    if (status != TALUS_OK)
      return status;
    const double change = to.kinetic_energy / from.kinetic_energy - 1;
    printf("  %-10s %+.2e of it; %llu collisions; violations: %zu outside, %d no numbers\n",
           responses[i].name, change, (unsigned long long)to.collisions, to.outside,
           !isfinite(to.kinetic_energy));
    fflush(stdout);
    if (csv)
      fprintf(csv, "%s,%d,%.6g,%llu,%zu\n", responses[i].name, opt->drift_steps, change,
              (unsigned long long)to.collisions, to.outside);
  }
  return TALUS_OK;
}

/* ---- the simple sequence --------------------------------------------------------------------- */

static talus_status run_simple(const options *opt, FILE *csv) {
  static const char *const kinds[] = {"fixed", "event"};
  talus_status status = TALUS_OK;
  printf("The simple sequence: 6 + 6 balls, 60 times, until all have come\n");
  for (int i = 0; i < 2 && status == TALUS_OK; ++i) {
    talus_scene *scene = NULL;
    talus_world *world = NULL;
    char setting[32];
    snprintf(setting, sizeof setting, "step.kind=%s", kinds[i]);
    const char *settings[] = {setting};
    status = talus_scene_load("nozzle-simple", settings, 1, &scene, NULL);
    if (status == TALUS_OK)
      status = talus_scene_build(scene, opt->threads, NULL, NULL, &world);
    const uint64_t steps = 6000;
    const double begun = bench_now();
    if (status == TALUS_OK)
      status = talus_world_step(world, steps);
    const double spent = bench_now() - begun;
    talus_report report;
    if (status == TALUS_OK)
      status = talus_world_report(world, &report);
    if (status == TALUS_OK) {
      printf("  %-6s %8.0f steps/s, %zu bodies at the end, %llu collisions, %zu outside\n",
             kinds[i], (double)steps / spent, report.bodies, (unsigned long long)report.collisions,
             report.outside);
      if (csv)
        fprintf(csv, "%s,%.6g,%llu,%zu\n", kinds[i], (double)steps / spent,
                (unsigned long long)report.collisions, report.outside);
    }
    talus_world_destroy(world);
    talus_scene_free(scene);
  }
  return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const char *const tables[] = {"simple", "flow", "fields", "drift", "gas"};

static talus_status run_table(const char *table, const options *opt) {
  static const char flow[] = "bodies,way,steps_per_s,broad_ms,narrow_ms,solve_ms,move_ms,at_wall_"
                             "percent,collisions_per_step,outside";
  FILE *csv;
  if (opt->only && strcmp(opt->only, table) != 0)
    return TALUS_OK;
  if (strcmp(table, "gas") == 0) {
    char name[] = "events", *argv[] = {name, NULL};
    return bench_events(1, argv) == 0 ? TALUS_OK : TALUS_ERROR_INVALID;
  }
  if (strcmp(table, "fields") == 0) {
    long bodies[MOST];
    (void)parse_bodies(opt->bodies, bodies);
    return nozzle_fields(bodies[0], opt->threads, opt->steps, opt->csv);
  }
  const bool is_flow = strcmp(table, "flow") == 0, is_drift = strcmp(table, "drift") == 0;
  char name[32];
  snprintf(name, sizeof name, "nozzle-%s", table);
  const char *head = is_flow    ? flow
                     : is_drift ? "response,steps,energy_change,collisions,outside"
                                : "step,steps_per_s,collisions,outside";
  if (!bench_csv_open(opt->csv, name, head, &csv))
    return TALUS_ERROR_IO;
  const talus_status status = is_flow    ? run_flow(opt, csv)
                              : is_drift ? run_drift(opt, csv)
                                         : run_simple(opt, csv);
  return bench_csv_close(csv) ? status : TALUS_ERROR_IO;
}

int bench_nozzle(int argc, char **argv) {
  options opt = {.bodies = "156924,115712,246784", .steps = 100, .drift_steps = 1500};
  const cli_option list[] = {
      {"only", 0, CLI_TEXT, "TABLE", "simple, flow, fields, drift or gas; default: all", &opt.only},
      {"bodies", 0, CLI_TEXT, "N,N", "flow (156924,115712,246784); fields: the first", &opt.bodies},
      {"steps", 0, CLI_COUNT, "N", "flow, fields: steps that are measured (100)", &opt.steps},
      {"drift-steps", 0, CLI_COUNT, "N", "drift (1500)", &opt.drift_steps},
      {"threads", 0, CLI_COUNT, "N", "0 (default): all cores", &opt.threads},
      {"csv", 0, CLI_TEXT, "DIR", "tables as files", &opt.csv},
      {0}};
  const cli_usage usage = {.synopsis = "talus bench nozzle [options]",
                           .about = "Hard spheres in a converging-diverging nozzle (Bell).",
                           .options = list};
  const int parsed = bench_parse(&usage, "bench nozzle", argc, argv);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  long bodies[MOST];
  if (!bench_has_table("nozzle", opt.only, tables, 5))
    return CLI_INPUT;
  if (parse_bodies(opt.bodies, bodies) == 0 || opt.steps < 1 || opt.drift_steps < 1) {
    cli_error("bench nozzle: --bodies are whole numbers from 1 to 400000, --steps 1 or more");
    return CLI_INPUT;
  }
  printf("talus %s (%s)\n", talus_version(), talus_features());
  for (int i = 0; i < 5; ++i)
    if (run_table(tables[i], &opt) != TALUS_OK) {
      cli_error("bench nozzle: %s", talus_last_error());
      return CLI_FAILED;
    }
  return CLI_DONE;
}
