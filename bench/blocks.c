/* talus bench blocks: the command, its worlds and its measurements. */
#include "blocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/parallel.h"
#include "bench.h"
#include "cli.h"
#include "peer_pipe.h"

static const struct {
  const char *name;
  blocks_section_fn *run;
} sections[] = {
    {"pyramid", blocks_pyramid}, {"hulls", blocks_hulls},     {"rubble", blocks_rubble},
    {"wall", blocks_wall},       {"jointed", blocks_jointed}, {"vehicle", blocks_vehicle},
    {"pairs", blocks_pairs},
};
#define SECTIONS (sizeof sections / sizeof *sections)
#define HULL     32

bool blocks_fail(const char *doing) {
  cli_error("bench blocks: %s: %s", doing, talus_last_error());
  return false;
}

/* ---- worlds ---------------------------------------------------------------------------------- */

/* Points of a sphere along a spiral (Vogel 1979): evenly spread, and every face is a triangle. */
static bool add_hull(blocks_rig *rig) {
  double points[3 * HULL];
  talus_shape_def def = talus_shape_def_default();
  for (int i = 0; i < HULL; ++i) {
    const double z = 1 - (2 * i + 1.0) / HULL, r = sqrt(1 - z * z), angle = 2.399963229728653 * i;
    points[3 * i] = 0.5 * r * cos(angle);
    points[3 * i + 1] = 0.5 * r * sin(angle);
    points[3 * i + 2] = 0.5 * z;
  }
  def.kind = TALUS_HULL;
  def.points = points;
  def.point_count = HULL;
  return talus_world_add_shape(rig->world, &def, &rig->hull) == TALUS_OK;
}

bool blocks_add_shape(blocks_rig *rig, talus_shape_kind kind, double a, double b, double c,
                      talus_shape *shape) {
  talus_shape_def def = talus_shape_def_default();
  def.kind = kind;
  def.size[0] = a, def.size[1] = b, def.size[2] = c;
  return talus_world_add_shape(rig->world, &def, shape) == TALUS_OK || blocks_fail("a shape");
}

bool blocks_add_body(blocks_rig *rig, talus_body_kind kind, talus_shape shape, talus_dvec3 at,
                     talus_quat rotation, talus_body *body) {
  talus_body_def def = talus_body_def_default();
  def.kind = kind;
  def.shape = shape;
  def.material = rig->material;
  def.position = at;
  def.rotation = rotation;
  return talus_world_add_body(rig->world, &def, body) == TALUS_OK || blocks_fail("a body");
}

talus_quat blocks_rotation(uint64_t i) {
  double q[4], square = 0;
  for (unsigned k = 0; k < 4; ++k) {
    q[k] = sin(12.9898 * (double)(4 * i + k + 1)) * 43758.5453;
    q[k] = 2 * (q[k] - floor(q[k])) - 1;
    square += q[k] * q[k];
  }
  const double s = 1 / sqrt(square);
  return (talus_quat){(talus_real)(s * q[0]), (talus_real)(s * q[1]), (talus_real)(s * q[2]),
                      (talus_real)(s * q[3])};
}

bool blocks_rig_make(const blocks_options *options, bool floored, blocks_rig *rig) {
  talus_world_def def = talus_world_def_default();
  talus_material_def material = talus_material_def_default();
  talus_shape floor;
  *rig = (blocks_rig){0};
  def.dt = 1.0 / 60;
  def.substeps = options->substeps;
  def.threads = options->threads;
  def.solve.iterations = options->iterations;
  if (strcmp(options->solve, "impulse") == 0)
    def.solve.kind = TALUS_SOLVE_IMPULSE;
  material.friction = (talus_real)0.6;
  if (talus_world_create(&def, &rig->world) != TALUS_OK ||
      talus_world_add_material(rig->world, &material, &rig->material) != TALUS_OK || !add_hull(rig))
    return blocks_fail("making a world");
  const talus_quat none = {1, 0, 0, 0};
  return blocks_add_shape(rig, TALUS_BOX, 1, 1, 1, &rig->box) &&
         (!floored ||
          (blocks_add_shape(rig, TALUS_PLANE, 0, 0, 1, &floor) &&
           blocks_add_body(rig, TALUS_FIXED, floor, (talus_dvec3){0, 0, 0}, none, NULL)));
}

/* ---- measuring ------------------------------------------------------------------------------- */

typedef struct places {
  size_t count;
  talus_dvec3 *at; /* of free bodies; NaN for others */
} places;

static bool note_places(const talus_world *world, places *p) {
  p->count = talus_world_body_count(world);
  p->at = calloc(p->count + 1, sizeof *p->at);
  for (size_t i = 0; p->at && i < p->count; ++i) {
    talus_body body;
    talus_body_info info;
    if (talus_world_body_at(world, i, &body) != TALUS_OK ||
        talus_world_get_body(world, body, &info) != TALUS_OK)
      return blocks_fail("a body");
    p->at[i] = info.position;
    if (info.kind != TALUS_FREE)
      p->at[i].x = NAN;
  }
  return p->at != NULL;
}

typedef struct drift {
  double creep, creep_most, sag, sag_most; /* m: mean and most, sideways and downwards */
} drift;

static drift drift_of(const places *from, const places *to) {
  drift d = {0};
  size_t n = 0;
  for (size_t i = 0; i < from->count; ++i) {
    if (isnan(from->at[i].x))
      continue;
    const double creep = hypot(to->at[i].x - from->at[i].x, to->at[i].y - from->at[i].y);
    const double sag = from->at[i].z - to->at[i].z;
    d.creep += creep, d.sag += sag, n++;
    d.creep_most = fmax(d.creep_most, creep);
    d.sag_most = fmax(d.sag_most, sag);
  }
  d.creep /= n > 0 ? (double)n : 1;
  d.sag /= n > 0 ? (double)n : 1;
  return d;
}

bool blocks_begin(const blocks_bench *bench, const char *name, FILE **csv) {
  const blocks_options *options = &bench->options;
  printf("dt 1/60 s, %d substeps, %s with %d sweeps, friction 0.6, %d threads; ms per step.\n",
         options->substeps, options->solve, options->iterations, options->threads);
  printf("%-10s %7s %6s %9s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "scene", "bodies", "steps",
         "contacts", "total", "settled", "broad", "narrow", "solve", "move", "creep", "most", "sag",
         "most");
  fflush(stdout);
  return bench_csv_open(bench->folder, name,
                        "scene,bodies,steps,contacts,total_ms,settled_ms,broad_ms,narrow_ms,"
                        "solve_ms,move_ms,creep_m,creep_most_m,sag_m,sag_most_m",
                        csv);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool step(talus_world *world, int steps, double *ms) {
  const double begun = now();
  if (talus_world_step(world, (uint64_t)steps) != TALUS_OK)
    return blocks_fail("a step");
  *ms = 1e3 * (now() - begun);
  return true;
}

bool blocks_measure(const blocks_bench *bench, const char *name, talus_world *world, int steps,
                    FILE *csv) {
  places from = {0}, to = {0};
  talus_report before, report;
  double first = 0, last = 0;
  const int all = bench->options.steps > 0 ? bench->options.steps
                  : bench->options.quick   ? 4
                                           : steps;
  const int settled = all >= 4 ? all / 4 : 1, falling = all - settled;
  bool good = note_places(world, &from) && talus_world_report(world, &before) == TALUS_OK &&
              step(world, falling, &first) && step(world, settled, &last) &&
              note_places(world, &to) && talus_world_report(world, &report) == TALUS_OK;
  if (good) {
    const drift d = drift_of(&from, &to);
    const double each = 1e3 / all;
    const double ms[] = {(first + last) / all,
                         last / settled,
                         each * (report.wall_broad - before.wall_broad),
                         each * (report.wall_narrow - before.wall_narrow),
                         each * (report.wall_solve - before.wall_solve),
                         each * (report.wall_step - before.wall_step)};
    printf("%-10s %7zu %6d %9zu %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8.3f %8.3f %8.3f %8.3f\n",
           name, to.count, all, report.contacts_near, ms[0], ms[1], ms[2], ms[3], ms[4], ms[5],
           d.creep, d.creep_most, d.sag, d.sag_most);
    fflush(stdout);
    if (csv)
      fprintf(csv, "%s,%zu,%d,%zu,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g\n", name, to.count, all,
              report.contacts_near, ms[0], ms[1], ms[2], ms[3], ms[4], ms[5], d.creep, d.creep_most,
              d.sag, d.sag_most);
  }
  free(from.at);
  free(to.at);
  return good;
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool is_known(const char *table) {
  const char *names[SECTIONS];
  for (size_t i = 0; i < SECTIONS; ++i)
    names[i] = sections[i].name;
  return bench_has_table("blocks", table, names, SECTIONS);
}

/* Prints the same table as measured by the other build, behind a bar. */
static bool run_other(const blocks_bench *bench, const char *table) {
  const blocks_options *o = &bench->options;
  const int numbers[] = {o->bodies, o->steps, o->threads, o->substeps, o->iterations};
  const char *const names[] = {"--bodies", "--steps", "--threads", "--substeps", "--iterations"};
  enum { NUMBERS = sizeof numbers / sizeof *numbers };
  char text[NUMBERS][16], line[512];
  const char *argv[9 + 2 * NUMBERS] = {bench->against, "bench",   "blocks", "--table",
                                       table,          "--solve", o->solve};
  size_t n = 7;
  for (int i = 0; i < NUMBERS; ++i) {
    snprintf(text[i], sizeof text[i], "%d", numbers[i]);
    argv[n++] = names[i];
    argv[n++] = text[i];
  }
  if (o->quick)
    argv[n++] = "--quick";
  peer_pipe other;
  printf("against %s:\n", bench->against);
  if (peer_pipe_open(&other, (char *const *)argv))
    while (fgets(line, sizeof line, other.from))
      printf("| %s", line);
  fflush(stdout);
  if (peer_pipe_close(&other))
    return true;
  cli_error("bench blocks: %s: it failed, or does not have table %s", bench->against, table);
  return false;
}

static int run(const blocks_bench *bench, const char *table) {
  if (bench->folder && access(bench->folder, W_OK) != 0 &&
      (errno != ENOENT || mkdir(bench->folder, 0777) != 0)) {
    cli_error("%s: %s", bench->folder, strerror(errno));
    return CLI_FAILED;
  }
  printf("talus %s (%s)\n", talus_version(), talus_features());
  for (size_t i = 0; i < SECTIONS; ++i)
    if (!table || strcmp(table, sections[i].name) == 0) {
      printf("\n== %s\n", sections[i].name);
      if (!sections[i].run(bench) || (bench->against && !run_other(bench, sections[i].name)))
        return CLI_FAILED;
    }
  return CLI_DONE;
}

int bench_blocks(int argc, char **argv) {
  const char *table = NULL, *output = NULL, *against = NULL;
  blocks_options wanted = {.substeps = 4, .iterations = 10, .solve = "ccp"};
  const cli_option list[] = {
      {"table", 0, CLI_TEXT, "NAME", "one table alone, below", &table},
      {"bodies", 0, CLI_COUNT, "N", "of every scene; 0 (default): by table", &wanted.bodies},
      {"steps", 0, CLI_COUNT, "STEPS", "0 (default): by table", &wanted.steps},
      {"threads", 0, CLI_COUNT, "N", "0 (default): all cores", &wanted.threads},
      {"substeps", 0, CLI_COUNT, "N", "of a step (default 4)", &wanted.substeps},
      {"iterations", 0, CLI_COUNT, "N", "sweeps of a substep (default 10)", &wanted.iterations},
      {"solve", 0, CLI_TEXT, "KIND", "ccp (default) or impulse", &wanted.solve},
      {"quick", 0, CLI_FLAG, NULL, "few bodies and steps: to see that it works", &wanted.quick},
      {"against", 0, CLI_TEXT, "TALUS", "another build, which runs each table too", &against},
      {"output", 'o', CLI_TEXT, "FOLDER", "tables as CSV", &output},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus bench blocks [options]",
      .about = "Boxes, hulls and machines at 1/60 s: ms by stage, creep and sag.",
      .options = list,
      .more = "Tables:\n"
              "  pyramid      1,275, 5,050 and 20,100 boxes, 200 steps\n"
              "  hulls        2,000 and 10,000 hulls of 32 vertices poured into a tank, 300 steps\n"
              "  rubble       2,000 boxes, hulls, cylinders, cones and capsules\n"
              "  wall         bricks that a ball hits\n"
              "  jointed      a sheet of 2,500 boxes held together by joints\n"
              "  vehicle      the scene `vehicle` on 10,000 pebbles, by its own step\n"
              "  pairs        ns of narrow phase per touching and per missing pair, by kinds, on\n"
              "               one thread\n"
              "--against takes talus-peer-bullet-blocks too (pyramid, hulls; -DTALUS_PEERS=ON).\n",
      .most = 0};
  const int parsed = bench_parse(&usage, "bench blocks", argc, argv);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  if (!is_known(table))
    return CLI_INPUT;
  if (strcmp(wanted.solve, "ccp") != 0 && strcmp(wanted.solve, "impulse") != 0) {
    cli_error("bench blocks: --solve is ccp or impulse");
    return CLI_INPUT;
  }
  if (against && access(against, X_OK) != 0) {
    cli_error("bench blocks: --against %s: %s; give the path of another talus", against,
              strerror(errno));
    return CLI_INPUT;
  }
  if (wanted.threads == 0)
    wanted.threads = tl_par_default_threads();
  const blocks_bench bench = {.options = wanted, .folder = output, .against = against};
  return run(&bench, table);
}
