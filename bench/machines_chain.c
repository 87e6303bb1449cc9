/* The time of a joint, and of chains by number of links.
 *
 * The same steps are made with few iterations and with many: the difference is that of iterations
 * alone, without making rows, factorising and moving bodies. */
#include <math.h>

#include "ccp.h"
#include "machines.h"

enum { FEW = 10, MANY = 60 };

#define SHARED 4096 /* links from which a team works on one chain (solve/ccp/ccp.h) */

typedef double clock_fn(void);

/* Seconds per step, minimum of three; the first step, which takes memory, is not counted. */
static bool time_by(clock_fn *now, machines_rig *rig, int steps, double *seconds) {
  *seconds = INFINITY;
  if (talus_world_step(rig->world, 1) != TALUS_OK)
    return machines_fail("a step");
  for (int i = 0; i < 3; ++i) {
    const double begun = now();
    if (talus_world_step(rig->world, (uint64_t)steps) != TALUS_OK)
      return machines_fail("a step");
    *seconds = fmin(*seconds, (now() - begun) / steps);
  }
  return true;
}

static bool time_steps(machines_rig *rig, int steps, double *seconds) {
  return time_by(machines_cpu, rig, steps, seconds);
}

/* ---- joints ---------------------------------------------------------------------------------- */

static const talus_joint_kind kinds[] = {
    TALUS_JOINT_DISTANCE,  TALUS_JOINT_SPHERICAL,   TALUS_JOINT_UNIVERSAL, TALUS_JOINT_REVOLUTE,
    TALUS_JOINT_PRISMATIC, TALUS_JOINT_CYLINDRICAL, TALUS_JOINT_FIXED,
};
#define KINDS (sizeof kinds / sizeof *kinds)

static bool price(talus_joints_solver joints, talus_joint_kind kind, int links, int steps,
                  double *fixed_ns, double *iteration_ns) {
  double seconds[2];
  for (int k = 0; k < 2; ++k) {
    const machines_solve solve = {joints, k == 0 ? FEW : MANY, 0, 1};
    machines_rig rig;
    const bool good =
        machines_chain_make(&solve, kind, links, &rig) && time_steps(&rig, steps, &seconds[k]);
    machines_rig_free(&rig);
    if (!good)
      return false;
  }
  *iteration_ns = 1e9 * (seconds[1] - seconds[0]) / (MANY - FEW) / links;
  *fixed_ns = 1e9 * seconds[0] / links - FEW * *iteration_ns;
  return true;
}

bool machines_joints(machines_bench *bench) {
  const machines_options *options = &bench->options;
  const int links = options->quick ? 50 : 1000;
  const int steps = options->steps > 0 ? options->steps : options->quick ? 2 : 10;
  FILE *csv;
  if (!bench_csv_open(bench->folder, "joints",
                      "kind,links,iterative_ns_per_joint_and_iteration,iterative_ns_per_joint_"
                      "and_step,direct_ns_per_joint_and_iteration,direct_ns_per_joint_and_step",
                      &csv))
    return false;
  printf("Chains of %d links, one thread. iteration: ns per joint and iteration, gauss-seidel;\n"
         "step: ns per joint for the rest of a step (rows, factors, bodies).\n",
         links);
  printf("%-12s %14s %14s %14s %14s\n", "kind", "iterative", "step", "direct", "step");
  bool good = true;
  for (size_t i = 0; i < KINDS && good; ++i) {
    double fixed[2], iteration[2];
    good = price(TALUS_JOINTS_ITERATIVE, kinds[i], links, steps, &fixed[0], &iteration[0]) &&
           price(TALUS_JOINTS_DIRECT, kinds[i], links, steps, &fixed[1], &iteration[1]);
    if (!good)
      break;
    printf("%-12s %14.0f %14.0f %14.0f %14.0f\n", talus_joint_kind_name(kinds[i]), iteration[0],
           fixed[0], iteration[1], fixed[1]);
    fflush(stdout);
    if (csv)
      fprintf(csv, "%s,%d,%g,%g,%g,%g\n", talus_joint_kind_name(kinds[i]), links, iteration[0],
              fixed[0], iteration[1], fixed[1]);
  }
  return bench_csv_close(csv) && good;
}

/* ---- chains ---------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  machines_solve solve;
} ways[2] = {
    {"direct", {TALUS_JOINTS_DIRECT, 50, 1e-6, 1}},
    {"iterative", {TALUS_JOINTS_ITERATIVE, 50, 0, 1}},
};

/* Wall clock time of a step by one thread and by a team, s; NAN if a chain is too short to be
 * shared. */
static bool share_chain(int way, int links, int steps, int threads, double wall[2]) {
  wall[0] = wall[1] = NAN;
  for (int k = 0; links >= SHARED && k < 2; ++k) {
    machines_solve solve = ways[way].solve;
    machines_rig rig;
    solve.threads = k == 0 ? 1 : threads;
    const bool good = machines_chain_make(&solve, TALUS_JOINT_SPHERICAL, links, &rig) &&
                      time_by(machines_wall, &rig, steps, &wall[k]);
    machines_rig_free(&rig);
    if (!good)
      return false;
  }
  return true;
}

static bool one_chain(int way, int links, int steps, int threads, ccp_curve *curve, FILE *csv) {
  machines_rig rig;
  double seconds, wall[2];
  talus_report report;
  bool good = share_chain(way, links, steps, threads, wall);
  if (!good)
    return false;
  good = machines_chain_make(&ways[way].solve, TALUS_JOINT_SPHERICAL, links, &rig) &&
         time_steps(&rig, steps, &seconds);
  if (good && talus_world_report(rig.world, &report) != TALUS_OK)
    good = machines_fail("a report");
  machines_rig_free(&rig);
  if (!good)
    return false;
  /* Slope between the previous length and this one on logarithmic axes: 1 is linear. */
  double slope = NAN;
  if (curve->points > 0) {
    const int last = curve->points - 1;
    slope = log(1e3 * seconds / curve->y[last]) / log(links / curve->x[last]);
  }
  printf("%8d  %-10s %10.4f %10.3f %8.2f %6d %10.2e %10.2e", links, ways[way].name, 1e3 * seconds,
         1e6 * seconds / links, slope, report.iterations, report.residual_rms, report.joint_drift);
  if (links >= SHARED)
    printf(" %9.1f %9.1f", 1e3 * wall[0], 1e3 * wall[1]);
  putchar('\n');
  fflush(stdout);
  if (csv)
    fprintf(csv, "%d,%s,%g,%g,%g,%d,%g,%g,%g,%g\n", links, ways[way].name, 1e3 * seconds,
            1e6 * seconds / links, slope, report.iterations, report.residual_rms,
            report.joint_drift, 1e3 * wall[0], 1e3 * wall[1]);
  curve->x[curve->points] = links;
  curve->y[curve->points++] = 1e3 * seconds;
  return true;
}

bool machines_chains(machines_bench *bench) {
  const machines_options *options = &bench->options;
  const int most = options->quick && options->max > 300 ? 300 : options->max;
  FILE *csv;
  if (!bench_csv_open(bench->folder, "chains",
                      "links,joints,ms_per_step,us_per_link,slope,iterations,residual_rms,"
                      "joint_drift_m,wall_ms_one_thread,wall_ms_team",
                      &csv))
    return false;
  printf(
      "A chain of N links on ball joints falls from level, held at one end; one thread. direct:\n"
      "to 1e-6 m/s; iterative: 50 sweeps. slope: d log(time) / d log(N), 1 is linear.\n"
      "From %d links on also ms of wall clock by one thread and by %d.\n",
      SHARED, options->threads);
  printf("%8s  %-10s %10s %10s %8s %6s %10s %10s %9s %9s\n", "links", "joints", "ms/step",
         "us/link", "slope", "iter", "res rms", "drift m", "one, ms", "team, ms");
  ccp_curve curves[2] = {{.name = "direct", .colour = 0}, {.name = "iterative", .colour = 1}};
  bool good = true;
  for (int decade = 10; decade <= most && good; decade *= 10)
    for (int part = 1; part <= 3 && good; part += 2) {
      const int links = decade * part;
      if (links > most)
        break;
      const int steps = options->steps > 0 ? options->steps
                        : options->quick   ? 3
                        : links > 20000    ? 3
                                           : (links > 2000 ? 10 : 20000 / links);
      for (int way = 0; way < 2 && good; ++way)
        good = one_chain(way, links, steps, options->threads, &curves[way], csv);
    }
  if (good && bench->folder) {
    char path[600];
    snprintf(path, sizeof path, "%s/chains.svg", bench->folder);
    good = ccp_plot(path, "A chain of N links: time of a step", "links", "ms", curves, 2) ||
           machines_fail("writing the plot");
  }
  return bench_csv_close(csv) && good;
}
