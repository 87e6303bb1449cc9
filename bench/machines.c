/* talus bench machines: joints, chains, closed loops and a vehicle. */
#include "machines.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/parallel.h"
#include "bench.h"
#include "cli.h"

static const struct {
  const char *name;
  machines_section_fn *run;
} sections[] = {
    {"joints", machines_joints},
    {"chains", machines_chains},
    {"loops", machines_loops},
    {"vehicle", machines_vehicle},
};
#define SECTIONS (sizeof sections / sizeof *sections)

bool machines_fail(const char *doing) {
  cli_error("bench machines: %s: %s", doing, talus_last_error());
  return false;
}

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double machines_cpu(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }
double machines_wall(void) { return seconds_of(CLOCK_MONOTONIC); }

/* ---- worlds ---------------------------------------------------------------------------------- */

static bool add_bar_shape(machines_rig *rig, double x, double z, talus_shape *shape) {
  talus_shape_def def = talus_shape_def_default();
  def.kind = TALUS_BOX;
  def.size[0] = x;
  def.size[1] = 0.1 * (x > z ? x : z);
  def.size[2] = z;
  return talus_world_add_shape(rig->world, &def, shape) == TALUS_OK;
}

bool machines_rig_make(const machines_solve *solve, double length, machines_rig *rig) {
  *rig = (machines_rig){0};
  talus_world_def def = talus_world_def_default();
  const talus_material_def material = talus_material_def_default();
  def.threads = solve->threads > 0 ? solve->threads : 1;
  def.solve.joints = solve->joints;
  def.solve.iterations = solve->iterations;
  def.solve.tolerance = solve->tolerance;
  if (talus_world_create(&def, &rig->world) != TALUS_OK ||
      talus_world_add_material(rig->world, &material, &rig->material) != TALUS_OK ||
      !add_bar_shape(rig, length, 0.1 * length, &rig->bar) ||
      !add_bar_shape(rig, 0.1 * length, length, &rig->upright))
    return machines_fail("making a world");
  /* Bars of one machine do not collide. */
  uint32_t group;
  if (talus_world_group(rig->world, "machine", &group) != TALUS_OK ||
      talus_world_ignore_groups(rig->world, group, group) != TALUS_OK)
    return machines_fail("making a world");
  return true;
}

void machines_rig_free(machines_rig *rig) {
  talus_world_destroy(rig->world);
  rig->world = NULL;
}

bool machines_add_bar(machines_rig *rig, talus_shape shape, double x, double z, talus_body *body) {
  talus_body_def def = talus_body_def_default();
  def.shape = shape;
  def.material = rig->material;
  def.position = (talus_dvec3){x, 0, z};
  def.mass = 1;
  if (talus_world_group(rig->world, "machine", &def.group) != TALUS_OK)
    return machines_fail("adding a bar");
  return talus_world_add_body(rig->world, &def, body) == TALUS_OK || machines_fail("adding a bar");
}

bool machines_add_joint(machines_rig *rig, talus_joint_kind kind, talus_body a, talus_body b,
                        double x, double z) {
  talus_joint_def def = talus_joint_def_default();
  def.kind = kind;
  def.a = a;
  def.b = b;
  def.at = def.to = (talus_dvec3){x, 0, z};
  def.axis = (talus_vec3){0, 1, 0};
  if (kind == TALUS_JOINT_UNIVERSAL)
    def.axis_b = (talus_vec3){0, 0, 1};
  if (kind == TALUS_JOINT_DISTANCE)
    def.to.x += 0.05;
  return talus_world_add_joint(rig->world, &def, NULL) == TALUS_OK ||
         machines_fail("adding a joint");
}

bool machines_chain_make(const machines_solve *solve, talus_joint_kind kind, int n,
                         machines_rig *rig) {
  const double length = 0.1;
  bool good = machines_rig_make(solve, length, rig);
  talus_body last = {0};
  for (int i = 0; i < n && good; ++i) {
    talus_body link;
    good = machines_add_bar(rig, rig->bar, (i + 0.5) * length, 0, &link) &&
           machines_add_joint(rig, kind, last, link, i * length, 0);
    last = link;
  }
  return good;
}

/* ---- the command ----------------------------------------------------------------------------- */

static void print_machine(void) {
  char line[256] = "";
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && fgets(line, sizeof line, file) && strncmp(line, "model name", 10) != 0)
    line[0] = '\0';
  if (file)
    fclose(file);
  const char *model = strchr(line, ':');
  line[strcspn(line, "\n")] = '\0';
  printf("talus %s (%s),%s, %ld cores\n", talus_version(), talus_features(),
         model ? model + 1 : " unknown processor", sysconf(_SC_NPROCESSORS_ONLN));
  fflush(stdout);
}

static bool is_known(const char *table) {
  const char *names[SECTIONS];
  for (size_t i = 0; i < SECTIONS; ++i)
    names[i] = sections[i].name;
  return bench_has_table("machines", table, names, SECTIONS);
}

static int run(machines_bench *bench, const char *table) {
  if (bench->folder && access(bench->folder, W_OK) != 0 &&
      (errno != ENOENT || mkdir(bench->folder, 0777) != 0)) {
    cli_error("%s: %s", bench->folder, strerror(errno));
    return CLI_FAILED;
  }
  print_machine();
  for (size_t i = 0; i < SECTIONS; ++i)
    if (!table || strcmp(table, sections[i].name) == 0) {
      printf("\n== %s\n", sections[i].name);
      if (!sections[i].run(bench))
        return CLI_FAILED;
    }
  return CLI_DONE;
}

int bench_machines(int argc, char **argv) {
  const char *table = NULL, *output = NULL;
  machines_options wanted = {.max = 100000, .pebbles = 1200};
  const cli_option list[] = {
      {"table", 0, CLI_TEXT, "NAME", "one table alone, below", &table},
      {"max", 0, CLI_COUNT, "N", "links of the longest chain (default 100000)", &wanted.max},
      {"pebbles", 0, CLI_COUNT, "N", "under the vehicle (default 1200)", &wanted.pebbles},
      {"steps", 0, CLI_COUNT, "STEPS", "measured; 0 (default): by table", &wanted.steps},
      {"threads", 0, CLI_COUNT, "N", "of vehicle, long chains; 0 (default): all cores",
       &wanted.threads},
      {"quick", 0, CLI_FLAG, NULL, "short chains, few steps: to see that it works", &wanted.quick},
      {"output", 'o', CLI_TEXT, "FOLDER", "tables as CSV and plots as SVG", &output},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus bench machines [options]",
      .about = "Joints, chains, closed loops and a vehicle: time per step, and drift.",
      .options = list,
      .more = "Tables:\n"
              "  joints       ns per joint and iteration, by kind; and of a direct solve\n"
              "  chains       time of a step over the number of links; long ones by threads too\n"
              "  loops        a ladder of closed loops: error over time, one joint after the\n"
              "               other (iterative) against all at once (direct)\n"
              "  vehicle      the scene `vehicle`: steps per second, by stage\n"
              "\n"
              "Times of the first three are CPU time of one thread, unless noted.\n",
      .most = 0};
  const int parsed = bench_parse(&usage, "bench machines", argc, argv);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  if (!is_known(table))
    return CLI_INPUT;
  if (wanted.max < 10 || wanted.pebbles < 1) {
    cli_error("bench machines: --max is at least 10, --pebbles 1");
    return CLI_INPUT;
  }
  if (wanted.threads == 0)
    wanted.threads = tl_par_default_threads();
  machines_bench bench = {.options = wanted, .folder = output};
  return run(&bench, table);
}
